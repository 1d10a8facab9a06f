//! What is known of changes before a look.

use std::collections::HashSet;
use std::path::PathBuf;

/// Where something changed since the look before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Perhaps anywhere.
    Everything,
    /// In these directories only, told by their absolute paths without links: an entry was made, removed or replaced, or
    /// a file written to. What is below a directory that is not named did not change, unless that is new under its path:
    /// then naming the one around it is enough.
    Directories(HashSet<PathBuf>),
}

impl Hint {
    /// Adds what `other` knows.
    pub fn add(&mut self, other: Self) {
        match (self, other) {
            (Self::Directories(all), Self::Directories(more)) => all.extend(more),
            (all, Self::Everything) => *all = Self::Everything,
            (Self::Everything, Self::Directories(_)) => {}
        }
    }
}
