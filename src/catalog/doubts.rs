//! Files that reads found to be otherwise than stated, although a look saw no change: a file system that hides changes, or an
//! index that somebody made up. The next look takes nothing of their skills over.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The most files that are doubted at once. As many requests as there may be do not doubt more; a doubt beyond them is
/// raised again by the next read.
const DOUBTS_MAX: usize = 256;

/// The served paths of files that are doubted.
#[derive(Debug, Default)]
pub(super) struct Doubts(Mutex<HashSet<Box<str>>>);

impl Doubts {
    /// Doubts what is stated of the file that is served at `path`.
    pub(super) fn raise(&self, path: &str) {
        let mut doubts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if doubts.len() < DOUBTS_MAX {
            doubts.insert(path.into());
        }
    }

    /// Those that were raised since this was asked last.
    pub(super) fn take(&self) -> HashSet<Box<str>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
