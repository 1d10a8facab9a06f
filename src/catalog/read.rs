//! What a file's bytes are, from one read of them.

use std::sync::Arc;
use std::time::SystemTime;

use crate::finding::{Place, Problem};
use crate::hidden;
use crate::skill::{Content, Digest};
use crate::tree::{Disk, File, Identity, ReadError};

/// The largest file of which the escapes are not counted: 1 MiB. With them it has at most six times as many bytes.
const SMALL_MAX_BYTES: u64 = 1024 * 1024;

/// What one read of a file gave.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub digest: Digest,
    pub size: u64,
    pub content: Content,
    /// Of the file, when it was looked at before it was read.
    pub identity: Identity,
    /// Whether a file with the same identity is sure to have the same bytes.
    pub is_settled: bool,
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
    pub(super) fn of(bytes: &[u8], file: &File, now: SystemTime) -> Self {
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
            identity: file.identity,
            is_settled: file.identity.is_settled(now),
        }
    }

    /// Reads a file and forgets its bytes.
    pub(super) fn file(disk: &Disk, file: &File, max_bytes: u64, now: SystemTime) -> Result<Self, ReadError> {
        Ok(Self::of(&disk.read(&file.source, max_bytes)?, file, now))
    }

    /// Whether `file` still has the bytes that were read.
    pub(super) fn is_still(&self, file: &File) -> bool {
        self.is_settled && self.identity == file.identity
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
