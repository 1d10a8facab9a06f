//! When to look again: on the system's word that something changed, every so often, or when told to by a signal.
//!
//! ```text
//! system ─ inotify, notified: what an event says ─▶ known: is it of interest? ─▶ Hint, gathered until it is quiet ─▶
//! Watch::next
//!    ▲                                                ▲ Watch::follow(Tree): watch the directories that it depends on
//!    └────────── source: what to watch ───────────────┘
//! ```
//!
//! Every directory is watched by itself, never what is below it, so that nothing but what a tree depends on costs
//! anything. What happens in a new directory before its watch is set is not missed: it is hinted at once more after that.

mod event;
mod known;
mod pending;
mod source;
#[cfg(target_os = "linux")]
#[path = "watch/inotify.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "watch/notified.rs"]
mod system;

// What the tests expect to the last directory only this system tells.
#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::tree::{Footprint, Hint, Tree};

use event::Failure;
use pending::Pending;
use source::Source;

/// How often the directories are looked at where the system cannot say when they change.
pub const FALLBACK_POLL: Duration = Duration::from_secs(10);
/// The longest time between looks: longer than any process runs, and short enough for every clock.
const POLL_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How long it must be quiet after a change, so that many changes at once cost one look.
const QUIET: Duration = Duration::from_millis(20);
/// How long changes that go on and on are gathered at most.
const GATHERED_MAX: Duration = Duration::from_millis(80);
/// How long whoever writes to a file is waited for, where the system tells when it is closed.
const WRITTEN_MAX: Duration = Duration::from_millis(500);

/// When the directories are looked at again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// When the system says that something changed.
    #[default]
    Changed,
    /// Every so often. File systems over a network tell nothing of what others change.
    Every(Duration),
    /// Never.
    Never,
}

/// Says when to look again. On Unix the signal SIGHUP is such an occasion too, whatever else is.
#[derive(Debug)]
pub struct Watch {
    pending: Arc<Pending>,
    polling: Mutex<Option<Polling>>,
    source: Mutex<Option<Source>>,
    followed: Mutex<Footprint>,
}

#[derive(Clone, Copy, Debug)]
struct Polling {
    period: Duration,
    next: Instant,
}

impl Polling {
    fn every(period: Duration) -> Self {
        Self { period, next: Instant::now() + period }
    }
}

impl Watch {
    /// Begins to watch. Must be called in a tokio runtime. Where the system cannot say what changes, that is told on
    /// stderr and the directories are looked at every [`FALLBACK_POLL`].
    pub fn start(when: When) -> Self {
        let watch = Self {
            pending: Arc::default(),
            polling: Mutex::default(),
            source: Mutex::default(),
            followed: Mutex::default(),
        };
        match when {
            When::Never => {}
            When::Every(period) => *lock(&watch.polling) = Some(Polling::every(period.min(POLL_MAX))),
            When::Changed => match Source::new(&watch.pending) {
                Ok(source) => *lock(&watch.source) = Some(source),
                Err(failure) => watch.fall_back(&failure),
            },
        }
        #[cfg(unix)]
        hear_hangups(&watch.pending);
        watch
    }

    /// Waits until there is a reason to look again, and for a short while more, because changes seldom come alone. Where
    /// there never is a reason, it never returns. A call that is dropped loses nothing. One caller at a time.
    pub async fn next(&self) -> Hint {
        loop {
            if let Some(failure) = self.pending.take_failure() {
                *lock(&self.source) = None;
                self.fall_back(&failure);
            }
            if self.pending.is_urgent() {
                return self.pending.take();
            }
            if !self.pending.is_empty() {
                self.gather().await;
                return self.pending.take();
            }
            let next_poll = lock(&self.polling).map(|polling| polling.next);
            tokio::select! {
                () = self.pending.changed() => {}
                () = sleep_until(next_poll.unwrap_or_else(Instant::now)), if next_poll.is_some() => {
                    if let Some(polling) = &mut *lock(&self.polling) {
                        polling.next = Instant::now() + polling.period;
                    }
                    return Hint::Everything;
                }
            }
        }
    }

    /// Watches the directories that `tree` depends on, and no longer those that only trees before did. Blocks for about
    /// 10 µs for each that is new. Must be called after every look, or changes go unseen.
    pub fn follow(&self, tree: &Tree) {
        let mut source = lock(&self.source);
        let Some(watching) = &mut *source else { return };
        let mut followed = lock(&self.followed);
        let footprint = tree.footprint();
        let steps = footprint.steps_since(&followed);
        if let Err(failure) = watching.follow(steps, footprint.gates()) {
            *source = None;
            self.fall_back(&failure);
        }
        *followed = footprint;
    }

    /// How often the directories are looked at, where that is what happens.
    pub fn period(&self) -> Option<Duration> {
        lock(&self.polling).map(|polling| polling.period)
    }

    /// How long it is until the next look, where that is known.
    pub fn until_next(&self) -> Option<Duration> {
        lock(&self.polling).map(|polling| polling.next.saturating_duration_since(Instant::now()))
    }

    /// Waits until there are no more changes for a moment, and nobody is in the middle of writing a file.
    async fn gather(&self) {
        let start = Instant::now();
        while !self.pending.is_urgent() {
            let quiet = match self.pending.has_open_files() {
                true => start + WRITTEN_MAX,
                false => (Instant::now() + QUIET).min(start + GATHERED_MAX),
            };
            tokio::select! {
                () = self.pending.changed() => {}
                () = sleep_until(quiet) => return,
            }
        }
    }

    /// Looks every so often from now on.
    fn fall_back(&self, failure: &Failure) {
        let mut polling = lock(&self.polling);
        if polling.is_none() {
            tracing::warn!("{}", failure.cure());
            *polling = Some(Polling::every(FALLBACK_POLL));
            // What is missed from here on is found by the next look; what was missed, by one now.
            self.pending.add(Hint::Everything);
        }
    }
}

/// What a panicking thread left behind is at worst an old state, which the next change mends.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes every SIGHUP for a reason to look, as long as somebody waits for reasons.
#[cfg(unix)]
fn hear_hangups(pending: &Arc<Pending>) {
    use tokio::signal::unix::{SignalKind, signal};
    let pending = Arc::downgrade(pending);
    match signal(SignalKind::hangup()) {
        Ok(mut hangups) => {
            tokio::spawn(async move {
                while hangups.recv().await.is_some() {
                    let Some(pending) = pending.upgrade() else { return };
                    tracing::info!("looking at everything, as SIGHUP asks");
                    pending.add_urgent();
                }
            });
        }
        Err(error) => tracing::warn!("SIGHUP cannot be caught, so it does not cause a look: {error}"),
    }
}
