//! Bytes of served files in memory, within a bound. They are found by their digest, so bytes that stand at two paths are
//! held once, and bytes can never go out against a digest that is not theirs. What is prepared of them for answers has its
//! room in the same bound, and is of use as long as the shard is served that it was made of.
//!
//! The snapshot alone says which digest that is. So a change that no look has seen (without a watcher, until `SIGHUP` or the
//! next poll) is not followed by files that are held: their bytes, sizes and digests stay what they were, all together.

mod entry;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::hash::RandomState;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use quick_cache::sync::Cache as Shards;
use quick_cache::{Lifecycle, OptionsBuilder};

use crate::skill::Digest;

use super::doubts::Doubts;

use entry::{Cost, Entry, Key, Wanted, cost_of};

pub use entry::Part;
pub(super) use entry::{Basis, cost};

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
    held: Shards<Key, Entry, Cost, RandomState, Evictions>,
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
        let entry = self.0.held.get(&Wanted::File(digest))?;
        self.count_hit();
        Some(entry.bytes)
    }

    /// Counts a read that was answered from memory.
    pub(super) fn count_hit(&self) {
        self.0.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// The bytes with this digest, for a read that [`get`](Self::get) had no answer for. What is kept is found too.
    pub(super) fn get_kept(&self, digest: &Digest) -> Option<Bytes> {
        let kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).get(digest).cloned();
        let counter = if kept.is_some() { &self.0.hits } else { &self.0.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        kept
    }

    /// The bytes with this digest, without regard to whether they are worth their room.
    pub(super) fn peek(&self, digest: &Digest) -> Option<Bytes> {
        let kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).get(digest).cloned();
        kept.or_else(|| self.0.held.peek(&Wanted::File(digest)).map(|entry| entry.bytes))
    }

    /// What was prepared for answers about what is at this URI, and of what.
    pub(super) fn prepared(&self, part: Part, uri: &str) -> Option<(Bytes, Basis)> {
        let Entry { bytes, basis } = self.0.held.get(&Wanted::Prepared(part, uri))?;
        Some((bytes, basis?))
    }

    /// Takes what was prepared, in the place of what was prepared before.
    pub(super) fn prepare(&self, part: Part, uri: &str, basis: Basis, bytes: Bytes) {
        if self.has_room_for((uri.len() + bytes.len()) as u64, 0) {
            self.0.held.insert(Key::Prepared(part, uri.into()), Entry { bytes, basis: Some(basis) });
        }
    }

    /// Takes bytes that were read because somebody asked for them.
    pub(super) fn put(&self, digest: Digest, bytes: &Bytes) {
        self.0.reads.fetch_add(1, Ordering::Relaxed);
        if self.has_room_for(bytes.len() as u64, 0) {
            self.0.held.insert(Key::File(digest), Entry::of_file(bytes.clone()));
        }
    }

    /// Takes bytes that were read before anybody asked for them, if it [wants](Self::wants) them.
    pub(super) fn fill(&self, digest: Digest, bytes: Bytes) {
        if self.wants(&digest, bytes.len() as u64) {
            self.0.held.insert(Key::File(digest), Entry::of_file(bytes));
        }
    }

    /// Whether a file of `size` bytes that nobody asked for is of use: there is much room, and it is not held.
    pub(super) fn wants(&self, digest: &Digest, size: u64) -> bool {
        let filled = self.0.held.weight().saturating_add(self.0.held_max_bytes / FILLED_SHARE);
        self.has_room_for(size, filled) && self.0.held.peek(&Wanted::File(digest)).is_none()
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

/// Counts what makes room.
#[derive(Clone)]
struct Evictions(Arc<AtomicU64>);

impl Lifecycle<Key, Entry> for Evictions {
    /// What is let go of, so that its memory is given back when no lock is held any more.
    type RequestState = Vec<(Key, Entry)>;

    fn on_evict(&self, let_go: &mut Vec<(Key, Entry)>, key: Key, entry: Entry) {
        if entry.basis.is_none() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        let_go.push((key, entry));
    }
}
