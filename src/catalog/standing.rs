//! What the last look found: what is served, and what is not and why.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::finding::Finding;
use crate::tree::{LeftOut, Root, Tree};

use super::build::Built;
use super::snapshot::Snapshot;

/// How things stand since the last look. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Standing {
    /// What is served.
    pub snapshot: Arc<Snapshot>,
    /// What is not, and why; the very list of the look before if nothing changed.
    pub findings: Arc<[Finding]>,
    /// What was looked at, in the order of the mounts.
    pub roots: Arc<[Mounted]>,
    /// The look itself.
    pub look: Look,
}

/// A root as the last look found it.
#[derive(Clone, Debug)]
pub struct Mounted {
    /// The served path in front of everything in it.
    pub prefix: String,
    /// The directory, as it was typed.
    pub shown: PathBuf,
    /// Whether it could not be opened any more.
    pub is_lost: bool,
    /// What was passed over on purpose.
    pub left_out: LeftOut,
}

/// When a look was, and what it cost.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// When it began.
    pub at: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// How many directories were listed for it.
    pub directories: u64,
}

impl Standing {
    /// What a look at `tree` found that began at `at` and took `took`.
    pub fn new(tree: &Tree, built: &Built, at: SystemTime, took: Duration) -> Self {
        Self {
            snapshot: built.snapshot.clone(),
            findings: built.findings.clone(),
            roots: tree.roots.iter().map(Mounted::of).collect(),
            look: Look { at, took, directories: tree.listed },
        }
    }

    /// Whether `other` tells nothing else than this of what is served and what is not.
    pub(super) fn tells_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.snapshot, &other.snapshot) && Arc::ptr_eq(&self.findings, &other.findings)
    }
}

/// Which of `roots` a path lies in, by its number, and what of the path is below it. Where one root holds another, it is
/// the inner one.
pub fn innermost<'a>(roots: impl Iterator<Item = &'a Path>, path: &Path) -> Option<(usize, &Path)> {
    let holding =
        roots.enumerate().filter_map(|(number, root)| Some((number, path.strip_prefix(root).ok()?)));
    holding.min_by_key(|(_, below)| below.as_os_str().len())
}

impl Mounted {
    fn of(root: &Root) -> Self {
        Self {
            prefix: root.prefix.clone(),
            shown: root.shown.clone(),
            is_lost: root.is_lost,
            left_out: root.left_out,
        }
    }
}

/// A snapshot of which nothing else is known.
#[cfg(test)]
impl From<Arc<Snapshot>> for Standing {
    fn from(snapshot: Arc<Snapshot>) -> Self {
        let look = Look { at: SystemTime::now(), took: Duration::ZERO, directories: 0 };
        Self { snapshot, findings: Arc::default(), roots: Arc::default(), look }
    }
}
