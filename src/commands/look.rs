//! One look at the directories: open, walk, build. Every command does this and nothing else to find skills.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::catalog::{self, Built, Snapshot, Standing};
use crate::cli::Source;
use crate::finding::Finding;
use crate::index::Index;
use crate::log;
use crate::progress::Progress;
use crate::report::{self, Skipped};
use crate::tree::{Hint, RootError, Roots, Tree};

/// How often a directory that is not there yet is looked for.
const WAIT_STEP: Duration = Duration::from_millis(200);

/// What a look found, and what the next one can take over.
#[derive(Debug)]
pub(super) struct Looked {
    /// What was walked.
    pub tree: Tree,
    /// What is served of it, what is wrong, and what the next look can take over.
    pub built: Built,
    at: SystemTime,
    took: Duration,
}

/// Opens the roots. One that is missing is waited for, for at most `wait` in all.
pub(super) fn open(source: &Source, wait: Duration) -> Result<Roots, RootError> {
    let start = Instant::now();
    let mut has_told = false;
    loop {
        match Roots::open(&source.mounts, &source.tree) {
            Err(RootError::Missing(dir)) if start.elapsed() < wait => {
                if !has_told {
                    tracing::info!("waiting for {}", report::escape::path(&dir));
                    has_told = true;
                }
                thread::sleep(WAIT_STEP);
            }
            done => return done,
        }
    }
}

/// Looks once at everything.
pub(super) fn look(roots: &Roots, options: &catalog::Options) -> Looked {
    look_first(roots, options, || None, |_| ()).0
}

/// Looks once at everything, with what an earlier run has read, which `load` gives. What is done with the tree alone,
/// `follow` does.
pub(super) fn look_first(
    roots: &Roots,
    options: &catalog::Options,
    load: impl FnOnce() -> Option<Index> + Send,
    follow: impl Fn(&Tree) + Sync,
) -> (Looked, Option<Index>) {
    let begun = Begun::new();
    // The others are too short for anybody to wait for them.
    let _progress = Progress::show(options.count.clone());
    let (index, (tree, walked)) = rayon::join(load, || roots.walk());
    let walked_in = begun.start.elapsed();
    let build = || catalog::build_first(&tree, walked, options, index.as_ref());
    let built = beside(|| follow(&tree), build);
    (begun.looked(tree, built, walked_in), index)
}

/// Looks where something may have changed since the look before. For `follow` see [`look_first`].
pub(super) fn look_again(
    roots: &Roots,
    options: &catalog::Options,
    before: &Looked,
    hint: &Hint,
    follow: impl Fn(&Tree) + Sync,
) -> Looked {
    let begun = Begun::new();
    let (tree, walked) = roots.look(Some(&before.tree), hint);
    let walked_in = begun.start.elapsed();
    let build = || catalog::build(&tree, walked, options, Some(&before.built));
    let built = beside(|| follow(&tree), build);
    begun.looked(tree, built, walked_in)
}

/// Builds, and meanwhile does what has to wait for others and must not keep the builders' threads from their work.
fn beside<T>(waiting: impl Fn() + Sync, build: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let has_thread = thread::Builder::new().spawn_scoped(scope, &waiting).is_ok();
        let built = build();
        if !has_thread {
            waiting();
        }
        built
    })
}

/// When a look began.
struct Begun {
    at: SystemTime,
    start: Instant,
}

impl Begun {
    fn new() -> Self {
        Self { at: SystemTime::now(), start: Instant::now() }
    }

    /// A look that ends now.
    fn looked(self, tree: Tree, built: Built, walked_in: Duration) -> Looked {
        let took = self.start.elapsed();
        tracing::debug!(directories = tree.listed, ?walked_in, built_in = ?(took - walked_in), "looked");
        Looked { tree, built, at: self.at, took }
    }
}

impl Looked {
    /// What is served.
    pub(super) fn snapshot(&self) -> &Arc<Snapshot> {
        &self.built.snapshot
    }

    /// How things stand since.
    pub(super) fn standing(&self) -> Standing {
        Standing::new(&self.tree, &self.built, self.at, self.took)
    }

    /// What is not, and why.
    pub(super) fn findings(&self) -> &[Finding] {
        &self.built.findings
    }

    /// What each root passed over, a line a root.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.tree.roots.iter().filter_map(|root| {
            Some(format!("{}: {}", report::escape::path(&root.shown), report::left_out(root.left_out)?))
        })
    }

    /// How much the findings cost.
    pub(super) fn skipped(&self) -> Skipped {
        Skipped::of(self.findings())
    }

    /// Tells all of it on stderr.
    pub(super) fn tell(&self) {
        self.findings().iter().for_each(log::finding);
        self.notes().for_each(|note| tracing::info!("{note}"));
    }
}
