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
    pub(super) fn read(&self, path: &str, file: TreeFile<'_>, setting: &Setting<'_>) -> Option<Read> {
        let record = self.index.find(path, &file.identity())?;
        if record.size != file.size() || record.size > setting.limits.max_bytes {
            return None;
        }
        self.taken.fetch_add(1, Ordering::Relaxed);
        Some(Read::known(record, file, setting.now))
    }
}

impl Snapshot {
    /// What is known of the files that are served, for another start.
    pub fn to_index(&self, kind: Kind) -> Index {
        let record = |(path, file, found): (&str, &File, TreeFile<'_>)| record(kind, path, file, found);
        Index::new(kind, self.found_files().filter_map(record).collect())
    }
}

/// The record of a file. None of what is read at each start, of that of which more is to be said, and of what may have
/// changed unseen since it was read.
fn record(kind: Kind, path: &str, file: &File, found: TreeFile<'_>) -> Option<(Key, Record)> {
    // A copy is made of what stands still, and verified.
    let is_sure = file.read.is_settled || kind == Kind::AnyCopy;
    if found.name() == SKILL_MD || !is_sure {
        return None;
    }
    Some((kind.key(path, &found.identity()), file.read.to_record()?))
}
