//! Bytes of served files in memory, within a bound. They are found by their digest, so bytes that stand at two paths are
//! held once, and bytes can never go out against a digest that is not theirs.
//!
//! The snapshot alone says which digest that is. So a change that no look has seen (without a watcher, until `SIGHUP` or the
//! next poll) is not followed by files that are held: their bytes, sizes and digests stay what they were, all together.

use std::collections::HashMap;
use std::fmt;
use std::hash::RandomState;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use quick_cache::sync::Cache as Shards;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter};

use crate::skill::Digest;

use super::doubts::Doubts;

/// What one entry costs beside its bytes, at most: the digest, the places in a list and a table that both grow by
/// doubling, and what counts the bytes' readers.
const ENTRY_MAX_BYTES: u64 = 256;

/// How many parts the cache has, each with a lock and a share of the bound: enough for threads not to wait for one another,
/// and few enough for a share to take a large file.
const PARTS: usize = 4;

/// The part of the bound that the largest file may have, as a divisor. It must fit into one of [`PARTS`].
const LARGEST_SHARE: u64 = 5;

/// The part of the bound that is filled before anybody asked for anything, as a divisor. What is asked for finds room.
const FILLED_SHARE: u64 = 2;

/// The part of the bound, as a divisor, that is for bytes of skills that are kept though the disk has other ones by now.
const KEPT_SHARE: u64 = 8;

/// The size that files have in the mean, as far as it matters for how many can be told apart from those that are asked for
/// the first time: 16 KiB.
const MEAN_BYTES: u64 = 16 * 1024;

/// Bytes of served files, as many as there is room for. Cheap to clone; the default has room for nothing.
///
/// The bound counts bytes, keys and what an entry costs beside them. Bytes that a read has been given live until that read
/// lets go of them, wherever they are held by then.
#[derive(Clone)]
pub struct Cache(Arc<Shared>);

struct Shared {
    held: Shards<Key, Bytes, Cost, RandomState, Evictions>,
    /// What stays as long as the skills that need it are kept.
    kept: Mutex<HashMap<Digest, Bytes>>,
    kept_max_bytes: u64,
    held_max_bytes: u64,
    hits: AtomicU64,
    misses: AtomicU64,
    reads: AtomicU64,
    evictions: Arc<AtomicU64>,
    doubts: Doubts,
}

/// What is held.
type Key = (Digest, Form);

/// In which form a file is held. A form that nobody asks for any more makes room for those that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    /// Its bytes, which have the digest.
    Plain,
    /// A text with the escapes of JSON, so that they are not made anew for each answer.
    Escaped,
}

/// A file that is in memory, in the form that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// Its bytes.
    Plain(Bytes),
    /// A text with the escapes of JSON.
    Escaped(Bytes),
}

/// What a cache did since the start, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Reads that were answered from memory.
    pub hits: u64,
    /// Reads that had to wait for the disk.
    pub misses: u64,
    /// Files that were read for them: fewer than misses where several waited for one.
    pub reads: u64,
    /// Files that made room for others.
    pub evictions: u64,
    /// What is held now, as the bound counts it.
    pub held_bytes: u64,
    /// The bound.
    pub max_bytes: u64,
}

impl Cache {
    /// Room for `max_bytes`.
    pub fn new(max_bytes: u64) -> Self {
        let kept_max_bytes = max_bytes / KEPT_SHARE;
        let held_max_bytes = max_bytes - kept_max_bytes;
        let evictions = Arc::<AtomicU64>::default();
        let items = usize::try_from(held_max_bytes / MEAN_BYTES).unwrap_or(usize::MAX);
        let options = OptionsBuilder::new()
            .shards(PARTS)
            .estimated_items_capacity(items)
            .weight_capacity(held_max_bytes)
            .build();
        let lifecycle = Evictions(evictions.clone());
        let held = match options {
            Ok(options) => Shards::with_options(options, Cost, RandomState::new(), lifecycle),
            // Both numbers that it needs are given.
            Err(_) => Shards::with(0, 0, Cost, RandomState::new(), lifecycle),
        };
        Self(Arc::new(Shared {
            held,
            kept: Mutex::default(),
            kept_max_bytes,
            held_max_bytes,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            evictions,
            doubts: Doubts::default(),
        }))
    }

    /// What it did and what it holds.
    pub fn counts(&self) -> CacheCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept_bytes: u64 = kept.values().map(cost).sum();
        CacheCounts {
            hits: count(&self.0.hits),
            misses: count(&self.0.misses),
            reads: count(&self.0.reads),
            evictions: count(&self.0.evictions),
            held_bytes: self.0.held.weight() + kept_bytes,
            max_bytes: self.0.held_max_bytes + self.0.kept_max_bytes,
        }
    }

    /// The bytes with this digest, for a read.
    pub(super) fn get(&self, digest: &Digest) -> Option<Bytes> {
        self.hit((*digest, Form::Plain))
    }

    /// The same as `escape` makes it, if it makes something of it. What it makes is held too.
    pub(super) fn get_escaped(
        &self,
        digest: Digest,
        escape: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
    ) -> Option<Held> {
        let key = (digest, Form::Escaped);
        if let Some(escaped) = self.hit(key) {
            return Some(Held::Escaped(escaped));
        }
        let plain = self.get(&digest)?;
        let Some(escaped) = escape(&plain).map(exactly) else { return Some(Held::Plain(plain)) };
        if self.has_room_for(escaped.len() as u64, 0) {
            self.0.held.insert(key, escaped.clone());
        }
        Some(Held::Escaped(escaped))
    }

    fn hit(&self, key: Key) -> Option<Bytes> {
        let held = self.0.held.get(&key)?;
        self.0.hits.fetch_add(1, Ordering::Relaxed);
        Some(held)
    }

    /// The same for a read that [`get`](Self::get) had no answer for. It finds what is kept too.
    pub(super) fn get_kept(&self, digest: &Digest) -> Option<Bytes> {
        let kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).get(digest).cloned();
        let counter = if kept.is_some() { &self.0.hits } else { &self.0.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        kept
    }

    /// The bytes with this digest, without regard to whether they are worth their room.
    pub(super) fn peek(&self, digest: &Digest) -> Option<Bytes> {
        let kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).get(digest).cloned();
        kept.or_else(|| self.0.held.peek(&(*digest, Form::Plain)))
    }

    /// Takes bytes that were read because somebody asked for them.
    pub(super) fn put(&self, digest: Digest, bytes: &Bytes) {
        self.0.reads.fetch_add(1, Ordering::Relaxed);
        if self.has_room_for(bytes.len() as u64, 0) {
            self.0.held.insert((digest, Form::Plain), bytes.clone());
        }
    }

    /// Takes bytes that were read before anybody asked for them, if it [wants](Self::wants) them.
    pub(super) fn fill(&self, digest: Digest, bytes: Bytes) {
        if self.wants(&digest, bytes.len() as u64) {
            self.0.held.insert((digest, Form::Plain), bytes);
        }
    }

    /// Whether a file of `size` bytes that nobody asked for is of use: there is much room, and it is not held.
    pub(super) fn wants(&self, digest: &Digest, size: u64) -> bool {
        let filled = self.0.held.weight().saturating_add(self.0.held_max_bytes / FILLED_SHARE);
        self.has_room_for(size, filled) && self.0.held.peek(&(*digest, Form::Plain)).is_none()
    }

    /// How many bytes of skills that are kept have room, as [`cost`] counts them.
    pub(super) fn kept_max_bytes(&self) -> u64 {
        self.0.kept_max_bytes
    }

    /// Holds these, and nothing else beyond what is worth its room.
    pub(super) fn keep(&self, kept: HashMap<Digest, Bytes>) {
        *self.0.kept.lock().unwrap_or_else(PoisonError::into_inner) = kept;
    }

    /// What reads found to be otherwise than stated, for the next look.
    pub(super) fn doubts(&self) -> &Doubts {
        &self.0.doubts
    }

    /// Whether a file of `size` bytes has room beside what takes `taken` bytes of the bound.
    fn has_room_for(&self, size: u64, taken: u64) -> bool {
        let max = self.0.held_max_bytes;
        cost_of(size) <= (max / LARGEST_SHARE).min(max.saturating_sub(taken))
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(0)
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cache").field(&self.counts()).finish()
    }
}

/// Bytes that take no more memory than they are long.
pub(super) fn exactly(bytes: Vec<u8>) -> Bytes {
    bytes.into_boxed_slice().into()
}

/// What an entry with these bytes costs.
pub(super) fn cost(bytes: &Bytes) -> u64 {
    cost_of(bytes.len() as u64)
}

/// What an entry with `size` bytes costs.
fn cost_of(size: u64) -> u64 {
    size.saturating_add(ENTRY_MAX_BYTES)
}

#[derive(Clone)]
struct Cost;

impl Weighter<Key, Bytes> for Cost {
    fn weight(&self, _: &Key, bytes: &Bytes) -> u64 {
        cost(bytes)
    }
}

/// Counts what makes room.
#[derive(Clone)]
struct Evictions(Arc<AtomicU64>);

impl Lifecycle<Key, Bytes> for Evictions {
    /// What is let go of, so that its memory is given back when no lock is held any more.
    type RequestState = Vec<Bytes>;

    fn on_evict(&self, let_go: &mut Vec<Bytes>, _: Key, bytes: Bytes) {
        self.0.fetch_add(1, Ordering::Relaxed);
        let_go.push(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_BYTES: u64 = 1024 * 1024;

    fn file(number: usize, size: usize) -> (Digest, Bytes) {
        let mut bytes = number.to_string().into_bytes();
        bytes.resize(size, b' ');
        let bytes = exactly(bytes);
        (Digest::of(&bytes), bytes)
    }

    #[test]
    fn no_more_is_held_than_there_is_room_for() {
        let cache = Cache::new(MAX_BYTES);
        for number in 0..5_000 {
            let (digest, bytes) = file(number, 10 + number % 30_000);
            cache.put(digest, &bytes);
            assert_eq!(cache.peek(&digest), Some(bytes));
            assert!(cache.counts().held_bytes <= MAX_BYTES, "{cache:?}");
        }
        let counts = cache.counts();
        assert!(counts.held_bytes > MAX_BYTES / 2 && counts.evictions > 1_000, "{counts:?}");
    }

    #[test]
    fn what_is_too_large_takes_nobodys_room() {
        let cache = Cache::new(MAX_BYTES);
        let (small, large) = (file(1, 1_000), file(2, 300_000));
        cache.put(small.0, &small.1);
        cache.put(large.0, &large.1);
        assert_eq!((cache.get(&large.0), cache.get(&small.0)), (None, Some(small.1)));
        assert_eq!(cache.counts().evictions, 0);
        // The largest that is held is held wherever its digest puts it.
        for number in 0..64 {
            let largest = (MAX_BYTES - MAX_BYTES / KEPT_SHARE) / LARGEST_SHARE - ENTRY_MAX_BYTES;
            let (digest, bytes) = file(number, largest as usize);
            cache.put(digest, &bytes);
            assert!(cache.get(&digest).is_some());
        }
    }

    #[test]
    fn a_cache_of_nothing_holds_nothing() {
        let cache = Cache::default();
        let (digest, bytes) = file(1, 0);
        cache.put(digest, &bytes);
        cache.fill(digest, bytes);
        assert_eq!(cache.get(&digest), None);
        assert_eq!(cache.counts(), CacheCounts { reads: 1, ..CacheCounts::default() });
    }

    #[test]
    fn half_is_filled_before_anybody_asks() {
        let cache = Cache::new(MAX_BYTES);
        for number in 0..1_000 {
            let (digest, bytes) = file(number, 2_000);
            cache.fill(digest, bytes);
        }
        let counts = cache.counts();
        assert!(counts.held_bytes <= MAX_BYTES / 2 && counts.held_bytes > MAX_BYTES / 3, "{counts:?}");
        assert_eq!(counts.evictions, 0);
    }

    #[test]
    fn what_is_made_of_bytes_is_made_once_and_counted() {
        let cache = Cache::new(MAX_BYTES);
        let (digest, bytes) = file(1, 1_000);
        let twice = |bytes: &[u8]| Some(bytes.repeat(2));
        assert_eq!(cache.get_escaped(digest, twice), None);
        cache.put(digest, &bytes);
        assert_eq!(cache.get_escaped(digest, |_| None), Some(Held::Plain(bytes.clone())));
        let held_bytes = cache.counts().held_bytes;
        let escaped = Some(Held::Escaped(bytes.repeat(2).into()));
        assert_eq!(cache.get_escaped(digest, twice), escaped);
        assert_eq!(cache.get_escaped(digest, |_| None), escaped);
        assert_eq!(cache.counts().held_bytes, held_bytes + 2_000 + ENTRY_MAX_BYTES);
        assert_eq!((cache.get(&digest), cache.counts().hits), (Some(bytes), 4));
    }

    #[test]
    fn what_is_asked_for_again_outlives_what_is_asked_for_once() {
        let cache = Cache::new(MAX_BYTES);
        let hot: Vec<_> = (0..20).map(|number| file(number, 5_000)).collect();
        hot.iter().for_each(|(digest, bytes)| cache.put(*digest, bytes));
        let mut lost = 0;
        for number in 100..2_000 {
            let (digest, bytes) = file(number, 5_000);
            cache.put(digest, &bytes);
            lost += hot.iter().filter(|(digest, _)| cache.get(digest).is_none()).count();
        }
        assert_eq!(lost, 0);
    }

    #[test]
    fn what_is_kept_stays_until_it_is_not() {
        let cache = Cache::new(MAX_BYTES);
        let (digest, bytes) = file(1, 5_000);
        cache.keep([(digest, bytes.clone())].into());
        assert_eq!((cache.get(&digest), cache.get_kept(&digest)), (None, Some(bytes)));
        cache.keep(HashMap::new());
        assert_eq!((cache.get_kept(&digest), cache.peek(&digest)), (None, None));
        let counts = cache.counts();
        assert_eq!((counts.hits, counts.misses, counts.held_bytes), (1, 1, 0));
    }
}
