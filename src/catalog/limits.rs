//! What one skill may hold (E7).

use std::path::Path;

use crate::finding::{Code, Finding, Severity};
use crate::skill::{SKILL_MAX_BYTES, SKILL_MAX_FILES};
use crate::tree::Directory;

/// The limits that hold for every skill.
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

/// How much a skill holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub files: usize,
    pub bytes: u64,
}

impl Sum {
    /// What a directory held when it was walked. Counting stops soon after `limits` are passed, so that a chain of nested
    /// skills does not count a large tree once for each.
    pub(super) fn of(dir: &Directory, limits: Limits) -> Self {
        let mut sum = Self::default();
        sum.add_all(dir, limits);
        sum
    }

    fn add_all(&mut self, dir: &Directory, limits: Limits) {
        for file in dir.files() {
            self.add(file.size());
        }
        for child in &dir.dirs {
            if self.files > limits.max_files {
                return;
            }
            self.add_all(child, limits);
        }
    }

    /// Counts one more file.
    pub(super) fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// The finding for the skill whose `SKILL.md` is `shown`, if this is more than it may hold.
    pub(super) fn over(self, limits: Limits, shown: &Path) -> Option<Finding> {
        let (code, message, help) = if self.files > limits.max_files {
            (
                Code::TooManyFiles,
                format!("the skill has more than {} files, nested skills' files included", limits.max_files),
                "move files out of it, leave some out with a .skillignore, or raise --max-files for hosts that take more",
            )
        } else if self.bytes > limits.max_bytes {
            (
                Code::TooLarge,
                format!("the skill's files are larger than {} bytes in sum", limits.max_bytes),
                "move large files out of it, leave some out with a .skillignore, or raise --max-bytes for hosts that take more",
            )
        } else {
            return None;
        };
        Some(Finding::new(code, Severity::Error, shown, message, help))
    }
}
