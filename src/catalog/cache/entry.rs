//! What a cache holds: how it is found, and what it costs.

use std::hash::{Hash, Hasher};

use bytes::Bytes;
use quick_cache::{Equivalent, Weighter};

use crate::catalog::number::Number;
use crate::skill::Digest;

/// What one entry costs beside its bytes and its URI, at most: the rest of the key, the places in a list and a table that
/// both grow by doubling, and what counts the bytes' readers.
pub(super) const ENTRY_MAX_BYTES: u64 = 256;

/// What of a catalog an answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A skill's entry.
    Skill,
    /// A file's contents.
    File,
    /// What is in a directory.
    Children,
}

/// How something is found that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// The bytes of files, by their digest.
    File(Digest),
    /// What was prepared for answers about what is at a URI.
    Prepared(Part, Box<str>),
}

/// The same where it is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wanted<'a> {
    File(&'a Digest),
    Prepared(Part, &'a str),
}

impl Key {
    fn wanted(&self) -> Wanted<'_> {
        match self {
            Self::File(digest) => Wanted::File(digest),
            Self::Prepared(part, uri) => Wanted::Prepared(*part, uri),
        }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.wanted().hash(state);
    }
}

impl Equivalent<Key> for Wanted<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self == key.wanted()
    }
}

/// Something that is held.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub bytes: Bytes,
    /// What it was prepared of. A file's bytes are the same wherever their digest is stated.
    pub basis: Option<Basis>,
}

/// What something was prepared of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::catalog) struct Basis {
    /// The last snapshot in which it is known to hold.
    pub snapshot: Number,
    /// The shard of it that was looked at, which later snapshots may share.
    pub shard: Number,
}

impl Entry {
    pub(super) fn of_file(bytes: Bytes) -> Self {
        Self { bytes, basis: None }
    }
}

/// What a file with these bytes costs.
pub(in crate::catalog) fn cost(bytes: &Bytes) -> u64 {
    cost_of(bytes.len() as u64)
}

/// What an entry costs whose bytes and URI have this size.
pub(super) fn cost_of(size: u64) -> u64 {
    size.saturating_add(ENTRY_MAX_BYTES)
}

/// Weighs entries.
#[derive(Clone)]
pub(super) struct Cost;

impl Weighter<Key, Entry> for Cost {
    fn weight(&self, key: &Key, entry: &Entry) -> u64 {
        let uri = match key {
            Key::File(_) => 0,
            Key::Prepared(_, uri) => uri.len(),
        };
        cost_of((uri + entry.bytes.len()) as u64)
    }
}
