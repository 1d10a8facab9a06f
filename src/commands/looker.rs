//! The looks of a serving command: what was told once is not told again.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::catalog::{Snapshot, Totals};
use crate::cli::{Serving, Source};
use crate::finding::Finding;
use crate::log;
use crate::report::{self, Skipped};
use crate::tree::{RootError, Roots};

use super::look::{Looked, look, open};

/// Looks at the roots whenever the catalog asks for it.
#[derive(Debug)]
pub(super) struct Looker {
    source: Source,
    wait_for_root: Duration,
    strict: bool,
    roots: OnceLock<Roots>,
    told: Mutex<Told>,
}

/// What the last look told.
#[derive(Debug, Default)]
struct Told {
    findings: HashSet<Finding>,
    sum: Option<(Totals, Skipped)>,
}

impl Looker {
    /// Opens the roots, unless they may be waited for: then the first look does.
    pub(super) fn new(source: Source, serving: &Serving) -> Result<Self, RootError> {
        let roots = OnceLock::new();
        if serving.wait_for_root.is_zero() {
            // An empty cell takes its first value.
            let _ = roots.set(open(&source, Duration::ZERO)?);
        }
        Ok(Self {
            source,
            wait_for_root: serving.wait_for_root,
            strict: serving.strict,
            roots,
            told: Mutex::default(),
        })
    }

    /// Looks, and tells what is new.
    ///
    /// # Errors
    /// A sentence that says why nothing is served.
    pub(super) fn look(&self) -> Result<Snapshot, String> {
        let looked = look(self.roots()?, &self.source.catalog);
        let is_first = self.tell(&looked);
        let skipped = looked.skipped().skills;
        if self.strict && is_first && skipped > 0 {
            return Err(format!(
                "{skipped} skipped, so --strict serves nothing: cure the errors above, or leave --strict out"
            ));
        }
        Ok(looked.snapshot)
    }

    fn roots(&self) -> Result<&Roots, String> {
        if let Some(roots) = self.roots.get() {
            return Ok(roots);
        }
        let opened = open(&self.source, self.wait_for_root).map_err(|error| error.to_string())?;
        Ok(self.roots.get_or_init(|| opened))
    }

    /// Tells what the look before did not, and whether there was none.
    fn tell(&self, looked: &Looked) -> bool {
        // What a panicking thread left behind is at worst told twice.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        looked.findings.iter().filter(|finding| !told.findings.contains(finding)).for_each(log::finding);
        told.findings = looked.findings.iter().cloned().collect();
        let is_first = told.sum.is_none();
        if is_first {
            looked.notes().for_each(|note| tracing::info!("{note}"));
        }
        let sum = (looked.snapshot.totals(), looked.skipped());
        if told.sum.replace(sum) != Some(sum) {
            tracing::info!("{}", report::serving(sum.0, sum.1));
        }
        is_first
    }
}
