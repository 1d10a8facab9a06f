//! Between reads and an [`Index`]: what is taken from one at the first look, and what goes into one.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::index::{Index, Key, Kind, Record};
use crate::skill::SKILL_MD;
use crate::tree::File as TreeFile;

use super::read::Read;
use super::shard::File;
use super::snapshot::Snapshot;
use super::unit::Setting;

/// What an earlier run knew, for one look.
#[derive(Debug)]
pub(super) struct Known<'a> {
    index: &'a Index,
    taken: AtomicUsize,
}

impl<'a> Known<'a> {
    /// What stands in an index.
    pub(super) fn new(index: &'a Index) -> Self {
        Self { index, taken: AtomicUsize::new(0) }
    }

    /// How many files were taken from it.
    pub(super) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// What an earlier read gave of the file that is served at `path`, if it is known.
    pub(super) fn read(&self, path: &str, file: &TreeFile, setting: &Setting<'_>) -> Option<Read> {
        let record = self.index.find(path, &file.identity)?;
        let Record { digest, size, content, wire_bytes } = *record;
        if size != file.size || size > setting.limits.max_bytes {
            return None;
        }
        self.taken.fetch_add(1, Ordering::Relaxed);
        let (identity, is_settled) = (file.identity, file.identity.is_settled(setting.now));
        Some(Read { digest, size, content, identity, is_settled, hidden: None, wire_bytes })
    }
}

impl Snapshot {
    /// What is known of the files that are served, for another start.
    pub fn to_index(&self, kind: Kind) -> Index {
        Index::new(kind, self.all_files().filter_map(|(path, file)| record(kind, path, file)).collect())
    }
}

/// The record of a file. None of what is read at each start, of that of which more is to be said, and of what may have
/// changed unseen since it was read.
fn record(kind: Kind, path: &str, file: &File) -> Option<(Key, Record)> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Read { digest, size, content, identity, is_settled, ref hidden, wire_bytes } = file.read;
    // A copy is made of what stands still, and verified.
    let is_sure = is_settled || kind == Kind::AnyCopy;
    (name != SKILL_MD && hidden.is_none() && is_sure)
        .then(|| (kind.key(path, &identity), Record { digest, size, content, wire_bytes }))
}
