//! One look at the directories: open, walk, build. Every command does this and nothing else to find skills.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::catalog::{self, Snapshot};
use crate::cli::Source;
use crate::finding::Finding;
use crate::log;
use crate::report::{self, Skipped};
use crate::tree::{LeftOut, RootError, Roots};

/// How often a directory that is not there yet is looked for.
const WAIT_STEP: Duration = Duration::from_millis(200);

/// What a look found.
#[derive(Debug)]
pub(super) struct Looked {
    /// What is served.
    pub snapshot: Snapshot,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// What each root passed over on purpose.
    pub left_out: Vec<(PathBuf, LeftOut)>,
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

/// Looks once.
pub(super) fn look(roots: &Roots, options: &catalog::Options) -> Looked {
    let (tree, mut findings) = roots.walk();
    let (snapshot, judged) = catalog::build(&tree, options);
    findings.extend(judged);
    // One skill's findings stand together, whichever room found them.
    findings.sort_by(|a, b| a.path.cmp(&b.path));
    let left_out = tree.roots.iter().map(|root| (root.shown.clone(), root.left_out)).collect();
    Looked { snapshot, findings, left_out }
}

impl Looked {
    /// What each root passed over, a line a root.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.left_out.iter().filter_map(|(root, left_out)| {
            Some(format!("{}: {}", report::escape::path(root), report::left_out(*left_out)?))
        })
    }

    /// How much the findings cost.
    pub(super) fn skipped(&self) -> Skipped {
        Skipped::of(&self.findings)
    }

    /// Tells all of it on stderr.
    pub(super) fn tell(&self) {
        self.findings.iter().for_each(log::finding);
        self.notes().for_each(|note| tracing::info!("{note}"));
    }
}
