//! The cell that holds the current snapshot, and reads that never go out against another digest than it states.

use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{Mutex, watch};

use crate::tree::Hint;
use crate::uri;

use super::cache::{Basis, Cache, CacheCounts, Part};
use super::file::{File, Stated};
use super::flights::{Flights, Unlike};
use super::looks::{LookCounts, Looks};
use super::proof::Proof;
use super::snapshot::Snapshot;
use super::standing::Standing;

/// How often a read looks at the directory again before it gives up on a file that keeps changing.
const READ_TRIES: u32 = 3;

/// The current catalog, which many requests share. Cheap to clone.
#[derive(Clone)]
pub struct Catalog {
    shared: Arc<Shared>,
}

type Look = dyn Fn(&Hint) -> Result<Standing, String> + Send + Sync;

struct Shared {
    current: watch::Sender<State>,
    /// Looks at the directories and builds a snapshot. It blocks.
    look: Box<Look>,
    /// Held by the one look that runs.
    looking: Mutex<()>,
    /// What all looks cost.
    looks: Looks,
    /// When the directories are looked at next, where they are polled.
    next_look: std::sync::Mutex<Option<Instant>>,
    /// What was read lately.
    cache: Cache,
    /// What is being read.
    flights: Flights,
}

#[derive(Clone)]
enum State {
    Building,
    Ready(Standing),
    /// There never was a snapshot, and why.
    Failed(Arc<str>),
}

/// Why a served path could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Nothing is served there, or a directory is.
    #[error("nothing is served there")]
    NotServed,
    /// The file changes faster than it can be read and digested.
    #[error("the file is changing right now; try again in a moment")]
    Changing,
    /// The catalog could not be built.
    #[error("the catalog is not available")]
    Unavailable,
}

impl Catalog {
    /// A catalog whose first snapshot is made by `look` on a thread of its own, started at once. `look` runs again when it
    /// is asked for, and when a read finds that a file is not what the snapshot says; never twice at a time. An error of
    /// the first look says in a sentence why there is no catalog; after that, the last snapshot stays. `cache` holds what is
    /// read; it should be the one that `look` fills. Must be called within a Tokio runtime.
    pub fn start<T: Into<Standing>>(
        cache: Cache,
        look: impl Fn(&Hint) -> Result<T, String> + Send + Sync + 'static,
    ) -> Self {
        let shared = Shared {
            current: watch::Sender::new(State::Building),
            look: Box::new(move |hint| look(hint).map(Into::into)),
            looking: Mutex::new(()),
            looks: Looks::default(),
            next_look: std::sync::Mutex::new(None),
            flights: Flights::new(cache.clone()),
            cache,
        };
        let catalog = Self { shared: Arc::new(shared) };
        let first = catalog.clone();
        tokio::spawn(async move { first.look(Hint::Everything, None).await });
        catalog
    }

    /// The current snapshot; waits while the first one is being built.
    ///
    /// # Errors
    /// [`ReadError::Unavailable`] when there will be none.
    pub async fn snapshot(&self) -> Result<Arc<Snapshot>, ReadError> {
        let mut current = self.shared.current.subscribe();
        let state = current.wait_for(|state| !matches!(state, State::Building)).await;
        match state.as_deref() {
            Ok(State::Ready(standing)) => Ok(standing.snapshot.clone()),
            _ => Err(ReadError::Unavailable),
        }
    }

    /// The current snapshot, if the first one has been built.
    pub fn current(&self) -> Option<Arc<Snapshot>> {
        match &*self.shared.current.borrow() {
            State::Ready(standing) => Some(standing.snapshot.clone()),
            State::Building | State::Failed(_) => None,
        }
    }

    /// How things stand since the last look, if there has been one.
    pub fn standing(&self) -> Option<Standing> {
        match &*self.shared.current.borrow() {
            State::Ready(standing) => Some(standing.clone()),
            State::Building | State::Failed(_) => None,
        }
    }

    /// What all looks cost since the start.
    pub fn look_counts(&self) -> LookCounts {
        self.shared.looks.read()
    }

    /// Waits until something else than in `seen` is served, or something else is not. Never ends when there will be
    /// nothing else.
    pub async fn other_than(&self, seen: &Standing) -> Standing {
        self.wait_for(|standing| !standing.tells_same(seen)).await
    }

    /// Waits for a snapshot that is not `seen`. Those in between are passed over, so a slow reader is never behind by more
    /// than one. Never ends when there will be none.
    pub async fn newer_than(&self, seen: &Arc<Snapshot>) -> Arc<Snapshot> {
        self.wait_for(|standing| !Arc::ptr_eq(&standing.snapshot, seen)).await.snapshot
    }

    async fn wait_for(&self, mut is_it: impl FnMut(&Standing) -> bool) -> Standing {
        let mut current = self.shared.current.subscribe();
        let is_it = |state: &State| matches!(state, State::Ready(standing) if is_it(standing));
        let found = match current.wait_for(is_it).await.as_deref() {
            Ok(State::Ready(standing)) => Some(standing.clone()),
            _ => None,
        };
        match found {
            Some(found) => found,
            None => std::future::pending().await,
        }
    }

    /// Says when the directories will be looked at next; `None` where changes are seen when they happen.
    pub fn set_next_look(&self, at: Option<Instant>) {
        *self.shared.next_look.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    /// How long it is until the directories are looked at next, where they are polled.
    pub fn until_next_look(&self) -> Option<Duration> {
        let at = *self.shared.next_look.lock().unwrap_or_else(PoisonError::into_inner);
        at.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Waits for the failure of the first look, and says why it failed. Never ends when there is a snapshot.
    pub async fn failure(&self) -> Arc<str> {
        let mut current = self.shared.current.subscribe();
        match current.wait_for(|state| matches!(state, State::Failed(_))).await.as_deref() {
            Ok(State::Failed(why)) => why.clone(),
            _ => std::future::pending().await,
        }
    }

    /// The bytes of the file at a served path, with what the current snapshot states of it. A file that is not what its
    /// entry says is looked at again first, so that what goes out always agrees with what `skills/get` says next.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub async fn read(&self, path: &str) -> Result<(Stated, Bytes), ReadError> {
        if let Some(held) = self.held(path) {
            return Ok(held);
        }
        self.agreed(path, true).await
    }

    /// Makes sure that a served file is what the current snapshot states, as [`read`](Self::read) does, though its bytes are
    /// in memory, and without holding them.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub async fn verify(&self, path: &str) -> Result<(), ReadError> {
        self.agreed(path, false).await.map(drop)
    }

    /// Takes a served file into memory before anybody asks for it, as the first look does with what it reads: if there is
    /// much room, in nobody's place, and without counting it among what was asked for. Its bytes are
    /// [verified](Self::verify).
    ///
    /// # Errors
    /// See [`ReadError`].
    pub async fn warm(&self, path: &str) -> Result<(), ReadError> {
        let cache = &self.shared.cache;
        let stated = self.snapshot().await?.file(path).ok_or(ReadError::NotServed)?.stated();
        if cache.wants(&stated.digest(), stated.size()) {
            let (stated, bytes) = self.agreed(path, false).await?;
            cache.fill(stated.digest(), bytes);
        }
        Ok(())
    }

    /// Reads a file, from memory too if it `is_to_hold` there. Where the disk has other bytes than are stated, its
    /// directory is looked at again before the next try; with doubts, where that look saw no change.
    async fn agreed(&self, path: &str, is_to_hold: bool) -> Result<(Stated, Bytes), ReadError> {
        let Shared { cache, flights, .. } = &*self.shared;
        let mut refuted = None;
        for _ in 0..READ_TRIES {
            let snapshot = self.snapshot().await?;
            let origin = snapshot.origin(path).ok_or(ReadError::NotServed)?;
            let (stated, directory) = (origin.stated, origin.disk.directory(&origin.source));
            let proof = snapshot.file(path).map(|file| &file.read.proof);
            let may_be_held = is_to_hold && proof.is_some_and(Proof::is_given);
            let held = if may_be_held { cache.get_kept(&stated.digest()) } else { None };
            let read = match held {
                Some(bytes) => Ok(bytes),
                None if is_to_hold => flights.read(path, origin).await,
                None => flights.read_alone(origin).await,
            };
            let unlike = match read {
                Ok(bytes) => {
                    proof.inspect(|proof| proof.give());
                    return Ok((stated, bytes));
                }
                Err(unlike) => unlike,
            };
            if unlike == Unlike::Other && refuted.replace(stated.digest()) == Some(stated.digest()) {
                cache.doubts().raise(path);
            }
            let hint = directory.map_or(Hint::Everything, |directory| Hint::Directories([directory].into()));
            self.look(hint, Some(snapshot)).await;
        }
        Err(ReadError::Changing)
    }

    /// What [`read`](Self::read) gives, without waiting and without the disk, if the bytes are in memory.
    pub fn held(&self, path: &str) -> Option<(Stated, Bytes)> {
        let State::Ready(standing) = &*self.shared.current.borrow() else { return None };
        let file = standing.snapshot.file(path).filter(|file| file.read.proof.is_given())?;
        Some((file.stated(), self.shared.cache.get(&file.digest())?))
    }

    /// The bytes of a file of a snapshot, if they are in memory.
    pub fn held_of(&self, file: &File) -> Option<Bytes> {
        file.read.proof.is_given().then(|| self.shared.cache.get(&file.digest()))?
    }

    /// What was [prepared](Self::prepare) of a part of a snapshot, or of an earlier one that has the same there, if it is
    /// still in memory.
    pub fn prepared(&self, snapshot: &Snapshot, part: Part, uri: &str) -> Option<Bytes> {
        let cache = &self.shared.cache;
        let (bytes, basis) = cache.prepared(part, uri)?;
        if basis.snapshot != snapshot.number() {
            let basis = basis_of(snapshot, uri).filter(|now| now.shard == basis.shard)?;
            // The next one need not look for it again.
            cache.prepare(part, uri, basis, bytes.clone());
        }
        if part == Part::File {
            cache.count_hit();
        }
        Some(bytes)
    }

    /// Takes what answers about a part of a snapshot consist of, so that it need not be looked up and written for each of
    /// them. Its room is that of what is read. An unusual spelling of a URI is not taken.
    pub fn prepare(&self, snapshot: &Snapshot, part: Part, uri: &str, bytes: &[u8]) {
        if let Some(basis) = basis_of(snapshot, uri) {
            self.shared.cache.prepare(part, uri, basis, Bytes::copy_from_slice(bytes));
        }
    }

    /// What reads cost so far.
    pub fn cache_counts(&self) -> CacheCounts {
        self.shared.cache.counts()
    }

    /// Looks again where `hint` says that something may have changed.
    pub async fn refresh(&self, hint: Hint) {
        self.look(hint, None).await;
    }

    /// How many more files may be read right now.
    #[cfg(test)]
    pub(super) fn free_reads(&self) -> usize {
        self.shared.flights.free()
    }

    /// Looks, unless the current snapshot is another one than `stale` by the time that the look before has ended.
    async fn look(&self, hint: Hint, stale: Option<Arc<Snapshot>>) {
        let shared = self.shared.clone();
        // On a task of its own, because a request that is cancelled while it waits must not undo the look.
        let look = tokio::spawn(async move { shared.look(hint, stale).await });
        if let Err(error) = look.await {
            tracing::error!("a look ended early: {error}");
        }
    }
}

impl Shared {
    async fn look(self: Arc<Self>, hint: Hint, stale: Option<Arc<Snapshot>>) {
        let _one_at_a_time = self.looking.lock().await;
        let is_stale =
            |current: &Arc<Snapshot>| stale.as_ref().is_none_or(|stale| Arc::ptr_eq(stale, current));
        if matches!(&*self.current.borrow(), State::Ready(current) if !is_stale(&current.snapshot)) {
            return;
        }
        let looking = self.clone();
        let looked = tokio::task::spawn_blocking(move || (looking.look)(&hint)).await;
        let looked =
            looked.unwrap_or_else(|panicked| Err(format!("the catalog could not be built: {panicked}")));
        self.looks.count(looked.as_ref().ok().map(|standing| &standing.look));
        match looked {
            Ok(standing) => self.current.send_if_modified(|state| {
                let is_new = !matches!(state, State::Ready(current) if current.tells_same(&standing));
                *state = State::Ready(standing);
                is_new
            }),
            Err(why) => self.current.send_if_modified(|state| {
                let is_first = matches!(state, State::Building);
                if is_first {
                    *state = State::Failed(why.into());
                } else {
                    tracing::error!("{why}");
                }
                is_first
            }),
        };
    }
}

/// What answers about a URI are made of; `None` if nothing is there, or if the URI is not spelled as in listings: of other
/// spellings there are too many.
fn basis_of(snapshot: &Snapshot, uri: &str) -> Option<Basis> {
    let path = uri::to_path(uri).ok().filter(|path| uri::is_of_path(uri, path))?;
    let shard = snapshot.shard_number(&path)?;
    Some(Basis { snapshot: snapshot.number(), shard })
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog").finish_non_exhaustive()
    }
}
