//! How much of a build is done, for whoever waits for it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts files while they are read. A build that reads nothing counts nothing.
#[derive(Debug, Default)]
pub struct Count {
    read: AtomicU64,
    all: AtomicU64,
}

impl Count {
    /// How many files have been read, and how many there are to read; 0 while that is not known.
    pub fn get(&self) -> (u64, u64) {
        (self.read.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }

    pub(super) fn begin(&self, all: u64) {
        self.read.store(0, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
    }

    pub(super) fn add(&self, files: u64) {
        self.read.fetch_add(files, Ordering::Relaxed);
    }
}
