//! What reads of files gave, kept in one file from one start to the next, so that files which are still the same need not be
//! read again.
//!
//! ```text
//! catalog ─▶ Index ─ format ─▶ bytes ─ store ─▶ FILE ─ store ─▶ bytes ─ format ─▶ Index ─▶ the first look
//! ```
//!
//! An index is a memory, not an authority. What it says of a file is the file's digest and size, never a byte of it: the
//! first bytes of a file that go out were read from it and found to have that digest, and if they have not, the file is
//! looked at again without an index. A `SKILL.md` is read and judged at each start all the same, and only its digest is
//! taken from here. So who can write the index can make a start slower, and a listing state a digest that no read confirms,
//! until the first one, and keep quiet about what nobody sees in a file that is no `SKILL.md`; nothing else.
//!
//! Neither paths nor names are in it: what it says is found by a [`Key`].

mod format;
mod store;

use std::collections::HashMap;

use crate::skill::{Content, Digest};
use crate::tree::Identity;

pub use format::{Flaw, Seal, decode, encode};
pub use store::{INDEX_MAX_BYTES, LoadError, SaveError, is_free, load, save};

/// By what a file is found to be the one that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By its whole [`Identity`] and its served path: on the machine where it was read, on a file system that tells when
    /// a file was changed, this is as good as reading it.
    SameDisk,
    /// By its size, the second in which it was modified, and its served path, which a copy has too, for example in a
    /// container's image. Programs can set them as they like, so what is found by them has to be verified soon.
    AnyCopy,
}

/// What a file is found by: the beginning of a digest over what [`Kind`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; 16]);

/// What one read of a file gave. A file in which a reader would not see everything has no record: what is said of it is made
/// anew from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The digest of its bytes.
    pub digest: Digest,
    /// The number of its bytes.
    pub size: u64,
    /// Whether they go out as text.
    pub content: Content,
    /// How many bytes of a message carry it.
    pub wire_bytes: u64,
}

/// Records of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    kind: Kind,
    records: HashMap<Key, Record>,
}

impl Kind {
    /// The key of the file with this identity that is served at `path`.
    pub fn key(self, path: &str, identity: &Identity) -> Key {
        use sha2::Digest as _;
        let mut hash = sha2::Sha256::new();
        match self {
            Self::SameDisk => hash.update(identity.to_bytes()),
            Self::AnyCopy => hash.update(identity.to_bytes_of_copy()),
        }
        hash.update(path.as_bytes());
        let mut key = [0; 16];
        key.copy_from_slice(&hash.finalize()[..16]);
        Key(key)
    }
}

impl Index {
    /// An index of these records, in any order.
    pub fn new(kind: Kind, records: impl IntoIterator<Item = (Key, Record)>) -> Self {
        Self { kind, records: records.into_iter().collect() }
    }

    /// The same with other records in the place of all, as somebody makes it who can write the file.
    #[cfg(test)]
    pub(crate) fn tampered(mut self, tamper: impl Fn(&mut Record)) -> Self {
        self.records.values_mut().for_each(tamper);
        self
    }

    /// By what its files are found.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How many files it knows.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// What was read of the file with this identity that is served at `path`.
    pub fn find(&self, path: &str, identity: &Identity) -> Option<&Record> {
        self.records.get(&self.kind.key(path, identity))
    }
}
