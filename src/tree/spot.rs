//! A directory that is still to be listed, what is known of it before, and how many entries it may cost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::rules::Rules;
use super::zone::{Inode, Place};

/// A directory that is to be listed.
#[derive(Clone)]
pub(super) struct Spot {
    /// Its served path below the root.
    pub(super) served: String,
    pub(super) place: Arc<Place>,
    pub(super) depth: usize,
    /// Whether it is reached through a link.
    pub(super) linked: bool,
    pub(super) rules: Rules,
    pub(super) around: Trail,
}

impl Spot {
    /// The top of a root.
    pub(super) fn top(place: Place) -> Self {
        Self {
            served: String::new(),
            place: Arc::new(place),
            depth: 0,
            linked: false,
            rules: Rules::default(),
            around: Trail::default(),
        }
    }

    /// The last name of its served path; empty for the root.
    pub(super) fn name(&self) -> &str {
        self.served.rsplit('/').next().unwrap_or_default()
    }
}

/// The directories around a directory, as they are served, told by what they really are.
#[derive(Clone, Default)]
pub(super) struct Trail(Option<Arc<(Inode, Trail)>>);

impl Trail {
    pub(super) fn with(&self, inode: Inode) -> Self {
        Self(Some(Arc::new((inode, self.clone()))))
    }

    pub(super) fn has(&self, inode: Inode) -> bool {
        let mut trail = self;
        while let Some(step) = &trail.0 {
            if step.0 == inode {
                return true;
            }
            trail = &step.1;
        }
        false
    }
}

/// How many entries may still be looked at. Shared by those who look in parallel.
pub(super) struct Budget {
    used: AtomicU64,
    max: u64,
}

/// There are more entries than the budget allows.
pub(super) struct OverBudget;

impl Budget {
    pub(super) fn new(max: u64) -> Self {
        Self { used: AtomicU64::new(0), max }
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn spend(&self) -> Result<(), OverBudget> {
        if self.used.fetch_add(1, Ordering::Relaxed) < self.max { Ok(()) } else { Err(OverBudget) }
    }
}
