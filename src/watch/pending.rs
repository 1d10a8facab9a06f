//! What is to be looked at and was not yet asked for. It is bounded: by the number of directories, or by being everything;
//! and what is waited for by [`OPEN_MAX`].

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Mutex;

use tokio::sync::Notify;

use crate::tree::Hint;

use super::event::{Failure, How, Said};
use super::lock;

/// How many files that are written to are waited for at most: more than anybody writes at once by hand. Others are looked at
/// in the middle, and once more when they are closed.
const OPEN_MAX: usize = 1_000;

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

impl State {
    /// Takes note of who is writing.
    fn take_note(&mut self, said: Said) {
        match said {
            Said::Changed { entries, how: How::Written } => {
                self.open.extend(entries.into_iter().take(OPEN_MAX - self.open.len()));
            }
            Said::Changed { entries, how: How::Closed | How::Gone } => {
                self.open.retain(|open| !entries.contains(open));
            }
            // Among what was lost may be that they are closed.
            Said::Lost => self.open.clear(),
            Said::Changed { how: How::Other, .. } | Said::Nothing => {}
        }
    }
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
        lock(&self.state).take_note(said);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn say(pending: &Pending, said: Said) {
        pending.add_said(Hint::Everything, said);
    }

    fn say_of(pending: &Pending, file: usize, how: How) {
        say(pending, Said::Changed { entries: vec![format!("/r/{file}").into()], how });
    }

    #[test]
    fn a_bounded_number_of_open_files_is_waited_for() {
        let pending = Pending::default();
        (0..3 * OPEN_MAX).for_each(|file| say_of(&pending, file, How::Written));
        assert_eq!(lock(&pending.state).open.len(), OPEN_MAX);
        (0..OPEN_MAX).for_each(|file| say_of(&pending, file, How::Closed));
        assert!(!pending.has_open_files());
    }

    #[test]
    fn what_may_be_closed_unheard_is_not_waited_for() {
        let pending = Pending::default();
        say_of(&pending, 1, How::Written);
        assert!(pending.has_open_files());
        say(&pending, Said::Lost);
        assert!(!pending.has_open_files());
    }
}
