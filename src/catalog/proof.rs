//! Whether a file's own bytes have been found to have the digest that is stated of it.

use std::sync::atomic::{AtomicBool, Ordering};

/// The word of an index is none, until the file has been read once: other bytes with that digest may be in memory, which are
/// those of another file. It can be given through a snapshot that is being served.
#[derive(Debug)]
pub(super) struct Proof(AtomicBool);

impl Proof {
    /// That of a file that has been read.
    pub(super) fn given() -> Self {
        Self(AtomicBool::new(true))
    }

    /// That of a file of which only an index says what it is.
    pub(super) fn lacking() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Takes note that the file has been read, and is what it is said to be.
    pub(super) fn give(&self) {
        if !self.is_given() {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it has been read.
    pub(super) fn is_given(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Clone for Proof {
    fn clone(&self) -> Self {
        Self(AtomicBool::new(self.is_given()))
    }
}
