//! Between reads and an [`Index`]: what is taken from one at the first look, and what goes into one.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::index::{Index, Key, Kind, Record};
use crate::tree::File as TreeFile;

use super::file::File;
use super::read::Read;
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
        let record = self.find(path, file)?;
        (record.size <= setting.limits.max_bytes).then(|| self.take(Read::known(record, file, setting.now)))
    }

    /// The same for a file that was read and has this text, of which no more than the digest is taken from the index.
    pub(super) fn digested(
        &self,
        path: &str,
        file: TreeFile<'_>,
        text: &[u8],
        setting: &Setting<'_>,
    ) -> Option<Read> {
        let digest = self.find(path, file)?.digest;
        Read::plain(text, digest, file, setting.now).map(|read| self.take(read))
    }

    fn find(&self, path: &str, file: TreeFile<'_>) -> Option<&Record> {
        self.index.find(path, &file.identity()).filter(|record| record.size == file.size())
    }

    fn take(&self, read: Read) -> Read {
        self.taken.fetch_add(1, Ordering::Relaxed);
        read
    }
}

impl Snapshot {
    /// What is known of the files that are served, for another start.
    pub fn to_index(&self, kind: Kind) -> Index {
        let record = |(path, file, found): (&str, &File, TreeFile<'_>)| record(kind, path, file, found);
        Index::new(kind, self.found_files().filter_map(record))
    }
}

/// The record of a file. None of that of which more is to be said, and of what may have changed unseen since it was read.
fn record(kind: Kind, path: &str, file: &File, found: TreeFile<'_>) -> Option<(Key, Record)> {
    // A copy is made of what stands still, and verified.
    let is_sure = file.read.is_settled || kind == Kind::AnyCopy;
    if !is_sure {
        return None;
    }
    Some((kind.key(path, &found.identity()), file.read.to_record()?))
}
