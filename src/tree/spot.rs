//! A directory that is still to be looked at, what is known of it before, and how many entries it may cost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::identity::Identity;
use super::memory::Node;
use super::rules::Rules;
use super::site::Site;
use super::zone::Place;

/// A directory that is to be listed.
#[derive(Clone)]
pub(super) struct Spot {
    /// Its served path below the root.
    pub(super) served: String,
    pub(super) site: Arc<Site>,
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
            site: Arc::new(Site::new("", place)),
            depth: 0,
            linked: false,
            rules: Rules::default(),
            around: Trail::default(),
        }
    }
}

/// A directory that is to be looked at, with what the look before remembers of it.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) spot: Spot,
    pub(super) memory: Option<Arc<Node>>,
    pub(super) trust: Trust,
}

/// What of a memory may be used without asking the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Nothing. All is listed again, and what turns out to be the same stays the same in memory.
    Nothing,
    /// What is below, unless the directory turns out to be another.
    Below,
    /// All that no hint names.
    All,
}

/// The directories around a directory, as they are served, told by what they really are.
#[derive(Clone, Default)]
pub(super) struct Trail(Option<Arc<(Identity, Trail)>>);

impl Trail {
    pub(super) fn with(&self, identity: Identity) -> Self {
        Self(Some(Arc::new((identity, self.clone()))))
    }

    pub(super) fn has(&self, identity: Identity) -> bool {
        let mut trail = self;
        while let Some(step) = &trail.0 {
            if step.0.is_same_inode(&identity) {
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

    /// How many entries were looked at. Whatever was over the budget counts as one entry.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed).min(self.max.saturating_add(1))
    }

    pub(super) fn spend(&self, entries: u64) -> Result<(), OverBudget> {
        let before = self.used.fetch_add(entries, Ordering::Relaxed);
        if before.saturating_add(entries) <= self.max { Ok(()) } else { Err(OverBudget) }
    }
}
