//! Between reads and an [`Index`]: what is taken from one at the first look, and what goes into one.

use crate::index::{Index, Key, Kind, Record};
use crate::skill::SKILL_MD;
use crate::tree::File as TreeFile;

use super::read::Read;
use super::shard::File;
use super::snapshot::Snapshot;
use super::unit::Setting;

/// What an earlier read gave of the file that is served at `path`, if the index of this look knows it.
pub(super) fn known(path: &str, file: &TreeFile, setting: &Setting<'_>) -> Option<Read> {
    let record = setting.index?.find(path, &file.identity)?;
    (record.size == file.size && record.size <= setting.limits.max_bytes).then(|| Read {
        digest: record.digest,
        size: record.size,
        content: record.content,
        identity: file.identity,
        is_settled: file.identity.is_settled(setting.now),
        hidden: None,
        wire_bytes: record.wire_bytes,
    })
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
