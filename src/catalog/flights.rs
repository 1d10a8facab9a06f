//! Reads of the disk: few at once, and one for all who ask for the same file at the same time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::{BoxFuture, WeakShared};
use tokio::sync::Semaphore;

use crate::skill::{Content, Digest};
use crate::tree::ReadError;

use super::cache::{Cache, exactly};
use super::shard::Origin;

/// The most files that are read at once. A read that has begun cannot be broken off: one that nobody waits for any more
/// counts until it has ended.
const READS_MAX: usize = 8;

/// The reads that are under way.
pub(super) struct Flights {
    cache: Cache,
    /// A permit for each file that may be read.
    permits: Arc<Semaphore>,
    under_way: Arc<Mutex<UnderWay>>,
}

type UnderWay = HashMap<Key, WeakShared<Flight>>;
type Flight = BoxFuture<'static, Result<Bytes, Unlike>>;
/// A served path, and the digest that its bytes must have.
type Key = (Box<str>, Digest);

/// Why a read gave no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unlike {
    /// The file has others than are stated.
    Other,
    /// It could not be read.
    Unread,
}

impl Flights {
    /// No reads yet. What they give is put into `cache`.
    pub(super) fn new(cache: Cache) -> Self {
        Self { cache, permits: Arc::new(Semaphore::new(READS_MAX)), under_way: Arc::default() }
    }

    /// The bytes of the file that is served at `path`, if they are what it states. Who asks meanwhile waits for the same
    /// read, which goes on as long as one of them waits.
    pub(super) async fn read(&self, path: &str, origin: Origin) -> Result<Bytes, Unlike> {
        let key: Key = (path.into(), origin.stated.digest());
        let flight = {
            let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
            match under_way.get(&key).and_then(WeakShared::upgrade) {
                Some(flight) => flight,
                None => {
                    let flight = self.begin(key.clone(), origin).shared();
                    // One that has just been dropped still stands there, and is replaced.
                    under_way.extend(flight.downgrade().map(|flight| (key, flight)));
                    flight
                }
            }
        };
        flight.await
    }

    /// The same for nobody else, and without holding what was read.
    pub(super) async fn read_alone(&self, origin: Origin) -> Result<Bytes, Unlike> {
        let permit = self.permits.clone().acquire_owned().await;
        let read = tokio::task::spawn_blocking(move || {
            let _permit = permit.map_err(|_| Unlike::Unread)?;
            Ok(exactly(read(&origin)?))
        });
        read.await.unwrap_or(Err(Unlike::Unread))
    }

    /// How many more files may be read right now.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.permits.available_permits()
    }

    fn begin(&self, key: Key, origin: Origin) -> Flight {
        let entry = Entry { key, under_way: self.under_way.clone() };
        let (permits, cache) = (self.permits.clone(), self.cache.clone());
        async move {
            // Dropped with this future, ended or not.
            let _entry = entry;
            let permit = permits.acquire_owned().await;
            let read = tokio::task::spawn_blocking(move || {
                let _permit = permit.map_err(|_| Unlike::Unread)?;
                let bytes = exactly(read(&origin)?);
                // Here, so that what was read serves the next one although nobody waits for it any more.
                cache.put(origin.stated.digest(), &bytes);
                Ok(bytes)
            });
            read.await.unwrap_or(Err(Unlike::Unread))
        }
        .boxed()
    }
}

/// The bytes of a file, if they are what it states.
fn read(Origin { stated, source, disk }: &Origin) -> Result<Vec<u8>, Unlike> {
    let bytes = disk.read(source, stated.size()).map_err(|error| match error {
        ReadError::TooLarge { .. } => Unlike::Other,
        ReadError::Gone | ReadError::Io(_) => Unlike::Unread,
    })?;
    let is_as_stated = Digest::of(&bytes) == stated.digest() && Content::of(&bytes) == stated.content();
    is_as_stated.then_some(bytes).ok_or(Unlike::Other)
}

/// The place of a read among those under way.
struct Entry {
    key: Key,
    under_way: Arc<Mutex<UnderWay>>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        // If another read of the same file has begun just now, it loses its place and is only not shared.
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
