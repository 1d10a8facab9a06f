//! Numbers that tell what is immutable apart, also from what is gone.

use std::sync::atomic::{AtomicU64, Ordering};

/// Tells a snapshot or a shard from all others of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(u64);

impl Number {
    /// One that nothing has had.
    pub(super) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
