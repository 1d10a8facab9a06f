//! What is to be looked at and was not yet asked for. It is bounded: by the number of directories, or by being everything.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Mutex;

use tokio::sync::Notify;

use crate::tree::Hint;

use super::event::{Failure, How, Said};
use super::lock;

/// Hints between those who find them and the one who waits for them.
#[derive(Debug, Default)]
pub(super) struct Pending {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    hint: Option<Hint>,
    is_urgent: bool,
    /// The files that somebody is still writing to.
    open: HashSet<PathBuf>,
    failure: Option<Failure>,
}

impl Pending {
    pub(super) fn add(&self, hint: Hint) {
        if hint == Hint::Directories(HashSet::new()) {
            return;
        }
        let state = &mut *lock(&self.state);
        match &mut state.hint {
            Some(known) => known.add(hint),
            none => *none = Some(hint),
        }
        self.changed.notify_one();
    }

    /// Adds what an event makes worth a look.
    pub(super) fn add_said(&self, hint: Hint, said: Said) {
        if hint == Hint::Directories(HashSet::new()) {
            return;
        }
        if let Said::Changed { entries, how } = said {
            let state = &mut *lock(&self.state);
            for entry in entries {
                match how {
                    How::Written => state.open.insert(entry),
                    How::Closed | How::Gone => state.open.remove(&entry),
                    How::Other => false,
                };
            }
        }
        self.add(hint);
    }

    /// Adds everything, for somebody who does not want to wait.
    #[cfg(unix)]
    pub(super) fn add_urgent(&self) {
        lock(&self.state).is_urgent = true;
        self.add(Hint::Everything);
    }

    /// Tells that no more hints will come.
    pub(super) fn fail(&self, failure: Failure) {
        lock(&self.state).failure = Some(failure);
        self.changed.notify_one();
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.state).hint.is_none()
    }

    pub(super) fn is_urgent(&self) -> bool {
        lock(&self.state).is_urgent
    }

    /// Whether somebody is still writing to a file.
    pub(super) fn has_open_files(&self) -> bool {
        !lock(&self.state).open.is_empty()
    }

    pub(super) fn take_failure(&self) -> Option<Failure> {
        lock(&self.state).failure.take()
    }

    /// Takes what there is.
    pub(super) fn take(&self) -> Hint {
        let state = &mut *lock(&self.state);
        state.is_urgent = false;
        // Whoever goes on writing will be heard again.
        state.open.clear();
        state.hint.take().unwrap_or_else(|| Hint::Directories(HashSet::new()))
    }

    /// Waits until something is added, unless that happened since the last wait.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}
