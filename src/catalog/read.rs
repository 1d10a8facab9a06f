//! What a file's bytes are, from one read of them; bytes that may be wanted again are held within a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use bytes::Bytes;

use crate::finding::{Place, Problem};
use crate::hidden;
use crate::skill::{Content, Digest};
use crate::tree::{Disk, File, ReadError};

/// The largest file of which the escapes are not counted: 1 MiB. With them it has at most six times as many bytes.
const SMALL_MAX_BYTES: u64 = 1024 * 1024;

/// What one read of a file gave.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub digest: Digest,
    pub size: u64,
    pub content: Content,
    /// Whether a file with the same identity is sure to have the same bytes.
    pub is_settled: bool,
    /// The bytes, if they are held.
    pub held: Option<Arc<Held>>,
    /// What nobody sees in it.
    pub hidden: Option<Arc<Hidden>>,
    /// How many bytes of a message carry it.
    pub wire_bytes: u64,
}

/// What nobody sees in a text: as a finding says it, and where.
#[derive(Debug)]
pub(super) struct Hidden {
    pub problem: Problem,
    pub place: Place,
}

impl Read {
    /// Describes bytes that were read at or after `now` from a file that was looked at before.
    pub(super) fn of(bytes: &[u8], file: File<'_>, now: SystemTime) -> Self {
        let content = Content::of(bytes);
        let text = std::str::from_utf8(bytes).ok().filter(|_| content == Content::Text);
        let hidden = text.and_then(hidden::in_text).map(|problem| {
            let place = Place::of(bytes, &problem.span);
            Arc::new(Hidden { problem, place })
        });
        Self {
            digest: Digest::of(bytes),
            size: bytes.len() as u64,
            content,
            hidden,
            wire_bytes: wire_bytes(bytes, content),
            is_settled: file.identity().is_settled(now),
            held: None,
        }
    }

    /// Reads a file and forgets its bytes.
    pub(super) fn file(
        disk: &Disk,
        file: File<'_>,
        max_bytes: u64,
        now: SystemTime,
    ) -> Result<Self, ReadError> {
        Ok(Self::of(&disk.read(&file.source(), max_bytes)?, file, now))
    }

    /// Whether a file that was read as `before` still has the bytes that were read.
    pub(super) fn is_still(&self, before: File<'_>, file: File<'_>) -> bool {
        self.is_settled && before.identity() == file.identity()
    }
}

/// How many bytes of a message carry a file: a JSON text with its escapes, or base64.
fn wire_bytes(bytes: &[u8], content: Content) -> u64 {
    match content {
        Content::Binary => bytes.len().div_ceil(3) as u64 * 4,
        Content::Text => {
            let escaped = |byte: &u8| match byte {
                b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
                0..0x20 => 6,
                _ => 1,
            };
            // Of a small file it does not matter.
            let is_large = bytes.len() as u64 > SMALL_MAX_BYTES;
            if is_large { bytes.iter().map(escaped).sum() } else { bytes.len() as u64 }
        }
    }
}

/// The room for bytes that are held.
#[derive(Clone, Debug)]
pub(super) struct Room {
    taken_bytes: Arc<AtomicU64>,
    max_bytes: u64,
}

/// Bytes that take room as long as they live.
#[derive(Debug)]
pub(super) struct Held {
    bytes: Bytes,
    taken_bytes: Arc<AtomicU64>,
}

impl Room {
    /// Room for `max_bytes`.
    pub(super) fn new(max_bytes: u64) -> Self {
        Self { taken_bytes: Arc::default(), max_bytes }
    }

    /// Holds bytes if there is room.
    pub(super) fn hold(&self, bytes: Vec<u8>) -> Option<Arc<Held>> {
        let size = bytes.len() as u64;
        let with = |taken: u64| taken.checked_add(size).filter(|taken| *taken <= self.max_bytes);
        self.taken_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with).ok()?;
        Some(Arc::new(Held { bytes: bytes.into(), taken_bytes: self.taken_bytes.clone() }))
    }
}

impl Held {
    /// The bytes.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.taken_bytes.fetch_sub(self.bytes.len() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_held_than_there_is_room_for() {
        let room = Room::new(10);
        let first = room.hold(vec![0; 6]);
        assert!(first.is_some());
        assert!(room.hold(vec![0; 5]).is_none());
        assert!(room.hold(vec![0; 4]).is_some());
        drop(first);
        assert_eq!(room.hold(vec![1; 10]).map(|held| held.bytes().len()), Some(10));
    }
}
