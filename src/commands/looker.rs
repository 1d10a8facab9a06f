//! The looks of a serving command: what was told once is not told again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use crate::catalog::Snapshot;
use crate::cli::Source;
use crate::finding::Finding;
use crate::log;
use crate::report;
use crate::tree::{Hint, RootError, Roots};
use crate::watch::{Watch, When};

use super::look::{Looked, look_again, open};

/// Looks at the roots whenever the catalog asks for it.
#[derive(Debug)]
pub(super) struct Looker {
    source: Source,
    wait_for_root: Duration,
    strict: bool,
    roots: OnceLock<Roots>,
    last: Mutex<Option<Arc<Looked>>>,
    watch: Watch,
}

impl Looker {
    /// Opens the roots, unless they may be waited for: then the first look does. Must be called within a Tokio runtime.
    pub(super) fn new(
        source: Source,
        wait_for_root: Duration,
        strict: bool,
        when: When,
    ) -> Result<Self, RootError> {
        let roots = OnceLock::new();
        if wait_for_root.is_zero() {
            // An empty cell takes its first value.
            let _ = roots.set(open(&source, Duration::ZERO)?);
        }
        Ok(Self { source, wait_for_root, strict, roots, last: Mutex::default(), watch: Watch::start(when) })
    }

    /// Looks where something may have changed, and tells what is new.
    ///
    /// # Errors
    /// A sentence that says why nothing is served.
    pub(super) fn look(&self, hint: &Hint) -> Result<Arc<Snapshot>, String> {
        let before = self.last();
        let looked = Arc::new(look_again(self.roots()?, &self.source.catalog, before.as_deref(), hint));
        self.watch.follow(&looked.tree);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(looked.clone());
        tell(before.as_deref(), &looked);
        let skipped = looked.skipped().skills;
        if self.strict && before.is_none() && skipped > 0 {
            return Err(format!(
                "{skipped} skipped, so --strict serves nothing: cure the errors above, or leave --strict out"
            ));
        }
        Ok(looked.snapshot().clone())
    }

    /// Waits until there is a reason to look again.
    pub(super) async fn reason(&self) -> Hint {
        let again_at = self.last().and_then(|last| last.built.again_at(Instant::now()));
        tokio::select! {
            hint = self.watch.next() => hint,
            // Nothing is known to have changed, but what is kept may have to go, and a lost root may be back.
            () = sleep_until(again_at.unwrap_or_else(Instant::now).into()), if again_at.is_some() => {
                Hint::Directories(HashSet::new())
            }
        }
    }

    /// When the next look is, where that is known.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.watch.until_next().map(|until| Instant::now() + until)
    }

    /// The look before.
    pub(super) fn last(&self) -> Option<Arc<Looked>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn roots(&self) -> Result<&Roots, String> {
        if let Some(roots) = self.roots.get() {
            return Ok(roots);
        }
        let opened = open(&self.source, self.wait_for_root).map_err(|error| error.to_string())?;
        Ok(self.roots.get_or_init(|| opened))
    }
}

/// Tells what the look before did not.
fn tell(before: Option<&Looked>, looked: &Looked) {
    let told: HashSet<&Finding> = before.iter().flat_map(|before| before.findings()).collect();
    looked.findings().iter().filter(|finding| !told.contains(finding)).for_each(log::finding);
    if before.is_none() {
        looked.notes().for_each(|note| tracing::info!("{note}"));
    }
    let sum = |looked: &Looked| (looked.snapshot().totals(), looked.skipped());
    if before.map(sum) != Some(sum(looked)) {
        let (totals, skipped) = sum(looked);
        tracing::info!("{}", report::serving(totals, skipped));
    }
}
