//! The system's word that something changed.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use notify::{Config, Event, PathOp, RecommendedWatcher, RecursiveMode, WatchPathConfig, Watcher as _};

use crate::tree::{Hint, Steps};

use super::event::{self, said};
use super::known::{Known, Orders};
use super::lock;
use super::pending::Pending;

/// As many directories are named one by one even if there are no others.
const NAMED_MAX: usize = 1_000;
/// How many watches are changed at a time, which bounds what is held for it.
const OPERATIONS_MAX: usize = 1_000;

/// Turns events of the directories that it follows into hints.
#[derive(Debug)]
pub(super) struct Source {
    watcher: RecommendedWatcher,
    pub(super) known: Arc<Mutex<Known>>,
    pending: Arc<Pending>,
}

impl Source {
    /// # Errors
    /// The system does not tell of changes, or not to one more.
    pub(super) fn new(pending: &Arc<Pending>) -> notify::Result<Self> {
        let known = Arc::<Mutex<Known>>::default();
        let config = Config::default().with_event_kinds(event::KINDS).with_follow_symlinks(false);
        let (heard, hints) = (Arc::clone(&known), Arc::clone(pending));
        let hear = move |event: notify::Result<Event>| match event {
            Ok(event) => {
                let said = said(event);
                let hint = lock(&heard).hear(&said);
                hints.add_said(hint, said);
            }
            Err(error) if event::is_fatal(&error) => hints.fail(error),
            Err(_) => hints.add(Hint::Everything),
        };
        let watcher = RecommendedWatcher::new(hear, config)?;
        Ok(Self { watcher, known, pending: Arc::clone(pending) })
    }

    /// Goes along with the steps of a tree.
    ///
    /// # Errors
    /// No more directories can be watched.
    pub(super) fn follow(&mut self, steps: Steps, gates: &HashSet<PathBuf>) -> notify::Result<()> {
        // The lock is not held while the watcher works, for what it hears meanwhile needs it.
        let Orders { unwatch, watch } = lock(&self.known).step(steps, gates);
        // What happened in these before they were watched was not heard. Naming most of all costs more than looking at all.
        let is_mostly = watch.len() > NAMED_MAX.max(lock(&self.known).len() / 2);
        let mut new = if is_mostly { HashSet::new() } else { watch.iter().cloned().collect() };
        let config = WatchPathConfig::new(RecursiveMode::NonRecursive).with_dereference_symlinks(false);
        let watch = watch.into_iter().map(|dir| PathOp::Watch(dir, config.clone()));
        let mut ops = unwatch.into_iter().map(PathOp::Unwatch).chain(watch);
        loop {
            let some: Vec<_> = ops.by_ref().take(OPERATIONS_MAX).collect();
            if some.is_empty() {
                break;
            }
            for dir in self.update(some)? {
                new.remove(&dir);
                lock(&self.known).not_watched(dir);
            }
        }
        self.pending.add(if is_mostly { Hint::Everything } else { Hint::Directories(new) });
        Ok(())
    }

    /// Sets and removes watches, and says which directories cannot be watched. They may be gone, or closed to us: what is
    /// around them will tell of that.
    ///
    /// # Errors
    /// No more directories can be watched.
    fn update(&mut self, mut ops: Vec<PathOp>) -> notify::Result<Vec<PathBuf>> {
        let mut not_watched = Vec::new();
        while let Err(error) = self.watcher.update_paths(std::mem::take(&mut ops)) {
            if event::is_fatal(&error.source) {
                return Err(error.source);
            }
            match error.origin {
                Some(PathOp::Watch(dir, _)) => not_watched.push(dir),
                // What is gone cannot be unwatched.
                Some(PathOp::Unwatch(_)) => {}
                None => return Err(error.source),
            }
            ops = error.remaining;
        }
        Ok(not_watched)
    }
}
