//! How far the first look is, shown on a terminal and nowhere else.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::catalog::Count;

/// How long a look takes before it is worth telling how far it is.
const DELAY: Duration = Duration::from_millis(500);
/// The time between two pictures.
const STEP: Duration = Duration::from_millis(100);

/// What draws on stderr. It draws on terminals only.
static STDERR: LazyLock<MultiProgress> =
    LazyLock::new(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr()));
/// Whether anything may be drawn.
static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// Says whether bars may be shown from here on; at first they may not. They are for people who read the log as text.
pub(crate) fn allow(is_wanted: bool) {
    IS_WANTED.store(is_wanted, Ordering::Relaxed);
}

/// Writes to stderr with no bar in the way.
#[derive(Debug)]
pub(crate) struct Stderr;

impl io::Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        STDERR.suspend(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// A bar that shows how much of what is to be read has been read. It is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    thread: Option<(Sender<()>, thread::JoinHandle<()>)>,
}

impl Progress {
    /// Begins to show `count`.
    pub(crate) fn show(count: Arc<Count>) -> Self {
        if !IS_WANTED.load(Ordering::Relaxed) || STDERR.is_hidden() {
            return Self { thread: None };
        }
        let (end, is_ended) = channel();
        let draw = move || {
            if is_ended.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = STDERR.add(ProgressBar::no_length());
            while is_ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                let (read, all) = count.get();
                if bar.length().is_none() && all > 0 {
                    bar.set_length(all);
                    bar.set_style(style("reading skills {wide_bar} {human_pos} of {human_len} files"));
                } else if all == 0 {
                    bar.set_style(style("looking for skills"));
                }
                bar.set_position(read);
                bar.tick();
            }
            bar.finish_and_clear();
        };
        let spawned = thread::Builder::new().name("progress".to_owned()).spawn(draw);
        Self { thread: spawned.ok().map(|thread| (end, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            // It draws nothing more once it has ended.
            let _ = thread.join();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
