//! From a walked tree to a snapshot.

use crate::finding::Finding;
use crate::skill::{SKILL_MAX_BYTES, SKILL_MAX_FILES};
use crate::tree::{Roots, Tree};

use super::snapshot::Snapshot;

/// How skills are judged.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What one skill may hold.
    pub limits: Limits,
    /// What happens to a skill whose name is not its directory's.
    pub on_name_mismatch: OnNameMismatch,
}

/// What one skill may hold (E7).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Files, `SKILL.md` included.
    pub max_files: usize,
    /// Bytes, summed over the files.
    pub max_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_files: SKILL_MAX_FILES, max_bytes: SKILL_MAX_BYTES }
    }
}

/// What happens to a skill whose name is not its directory's (U2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnNameMismatch {
    /// It is not served.
    #[default]
    Skip,
    /// It is served as if its directory had its name. Not inside another skill, whose links it would break.
    UseName,
}

/// Builds the snapshot of what is served from `tree`, and says what is not and why.
pub fn build(roots: &Roots, tree: Tree, options: &Options) -> (Snapshot, Vec<Finding>) {
    let _ = (roots, tree, options);
    (Snapshot::default(), Vec::new())
}
