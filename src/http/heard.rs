//! Whether the head of another request has begun to come over a connection of HTTP/1.1.
//!
//! hyper closes a connection between two requests at once when it is to end, whatever it has read of the second one. What
//! came together with the end of the first one is not seen here.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// A request has been answered, and nothing has come since.
const QUIET: u8 = 1;
/// Something has.
const BEGUN: u8 = 2;

/// What has been heard of a client since it was last answered; 0 as long as it has not been, or speaks a version that has
/// more on a connection than requests.
#[derive(Debug, Default)]
pub(super) struct Heard(AtomicU8);

impl Heard {
    /// Says that a request of HTTP/1.1 has an answer. All of it has been read.
    pub(super) fn answered(&self) {
        self.0.store(QUIET, Relaxed);
    }

    /// Says that bytes have come.
    pub(super) fn came(&self) {
        if self.0.load(Relaxed) == QUIET {
            self.0.store(BEGUN, Relaxed);
        }
    }

    /// Whether more has come since the last answer.
    pub(super) fn has_begun(&self) -> bool {
        self.0.load(Relaxed) == BEGUN
    }
}
