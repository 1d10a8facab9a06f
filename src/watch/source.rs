//! The system's word that something changed.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::tree::{Hint, Steps};

use super::event::{Failure, Said};
use super::known::Known;
use super::lock;
use super::pending::Pending;
use super::system::{BESIDE, Watcher};

/// As many directories are named one by one even if there are no others.
const NAMED_MAX: usize = 1_000;

/// Turns events of the directories that it follows into hints.
#[derive(Debug)]
pub(super) struct Source {
    watcher: Watcher,
    pub(super) known: Arc<Mutex<Known>>,
    pending: Arc<Pending>,
}

impl Source {
    /// # Errors
    /// The system does not tell of changes, or not to one more.
    pub(super) fn new(pending: &Arc<Pending>) -> Result<Self, Failure> {
        let known = Arc::new(Mutex::new(Known::new(BESIDE)));
        let (heard, hints) = (Arc::clone(&known), Arc::clone(pending));
        let hear = move |said: Result<Said, Failure>| match said {
            Ok(said) => {
                let hint = lock(&heard).hear(&said);
                hints.add_said(hint, said);
            }
            Err(failure) => hints.fail(failure),
        };
        Ok(Self { watcher: Watcher::new(hear)?, known, pending: Arc::clone(pending) })
    }

    /// Goes along with the steps of a tree. Directories that cannot be watched may be gone, or closed to us: what is around
    /// them will tell of that.
    ///
    /// # Errors
    /// No more directories can be watched.
    pub(super) fn follow(&mut self, steps: Steps, gates: &HashSet<PathBuf>) -> Result<(), Failure> {
        // The lock is not held while the watcher works, for what it hears meanwhile needs it.
        let orders = lock(&self.known).step(steps, gates);
        // What happened in these before they were watched was not heard. Naming most of all costs more than looking at all.
        let is_mostly = orders.watch.len() > NAMED_MAX.max(lock(&self.known).len() / 2);
        let new: Vec<_> =
            orders.watch.iter().filter(|_| !is_mostly).map(|order| Arc::clone(&order.dir)).collect();
        self.watcher.follow(orders, &self.known)?;
        let known = lock(&self.known);
        let new = new.into_iter().filter(|dir| known.is_watched(dir)).map(|dir| dir.to_path_buf());
        self.pending.add(if is_mostly { Hint::Everything } else { Hint::Directories(new.collect()) });
        Ok(())
    }
}
