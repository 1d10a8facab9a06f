//! The looks of a serving command: what was told once is not told again.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use crate::catalog::Standing;
use crate::cli::Source;
use crate::finding::Finding;
use crate::log;
use crate::report;
use crate::tree::{Hint, RootError, Roots, Tree};
use crate::watch::{Watch, When};

use super::keeper::Keeper;
use super::look::{Looked, look_again, look_first, open};

/// How often one look is repeated at most while files change under it.
const LOOK_TRIES: u32 = 3;
/// How long after something could not be read it is tried again at first.
const RETRY_MIN: Duration = Duration::from_secs(2);
/// How often that time is doubled at most: to some four minutes.
const RETRY_DOUBLINGS_MAX: u32 = 7;

/// Looks at the roots whenever the catalog asks for it.
#[derive(Debug)]
pub(super) struct Looker {
    source: Source,
    wait_for_root: Duration,
    strict: bool,
    roots: OnceLock<Roots>,
    last: Mutex<Option<Arc<Looked>>>,
    watch: Watch,
    /// Keeps what the first look can take over.
    keeper: Option<Arc<Keeper>>,
    /// How many looks in a row have found something that could not be read.
    unread_looks: AtomicU32,
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
        Ok(Self {
            source,
            wait_for_root,
            strict,
            roots,
            last: Mutex::default(),
            watch: Watch::start(when),
            keeper: None,
            unread_looks: AtomicU32::new(0),
        })
    }

    /// The same with an index for the first look.
    pub(super) fn with_index(self, keeper: Option<Arc<Keeper>>) -> Self {
        Self { keeper, ..self }
    }

    /// Looks where something may have changed, and tells what is new.
    ///
    /// # Errors
    /// A sentence that says why nothing is served.
    pub(super) fn look(&self, hint: &Hint) -> Result<Standing, String> {
        let before = self.last();
        match hint {
            Hint::Everything => tracing::debug!("looking at everything"),
            Hint::Directories(these) => {
                tracing::debug!("looking at what changed, directories: {}", these.len())
            }
        }
        let looked = self.look_until_still(before.as_deref(), hint)?;
        match looked.built.has_unread() {
            true => self.unread_looks.fetch_add(1, Ordering::Relaxed),
            false => self.unread_looks.swap(0, Ordering::Relaxed),
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(looked.clone());
        tell(before.as_deref(), &looked);
        let skipped = looked.skipped().skills;
        if self.strict && before.is_none() && skipped > 0 {
            return Err(format!(
                "{skipped} skipped, so --strict serves nothing: cure the errors above, or leave --strict out"
            ));
        }
        Ok(looked.standing())
    }

    /// Looks, and looks again at once where files changed between the walk and their reading: what is swapped in the middle
    /// of a look, as a whole, must not seem to be gone.
    fn look_until_still(&self, before: Option<&Looked>, hint: &Hint) -> Result<Arc<Looked>, String> {
        let roots = self.roots()?;
        let options = &self.source.catalog;
        let follow = |tree: &Tree| self.watch.follow(tree);
        let mut looked = match before {
            Some(before) => look_again(roots, options, before, hint, follow),
            None => {
                let load = || self.keeper.as_ref().and_then(|keeper| keeper.load());
                let (looked, index) = look_first(roots, options, load, follow);
                if let Some((index, keeper)) = index.zip(self.keeper.as_ref()) {
                    keeper.note(&index, &looked.built);
                }
                looked
            }
        };
        for _ in 1..LOOK_TRIES {
            if !looked.built.has_changing() {
                break;
            }
            looked = look_again(roots, options, &looked, hint, follow);
        }
        Ok(Arc::new(looked))
    }

    /// Waits until there is a reason to look again.
    pub(super) async fn reason(&self) -> Hint {
        let again_at = self.last().and_then(|last| last.built.again_at(Instant::now()));
        let retry_at = self.retry_at();
        let at = |instant: Option<Instant>| sleep_until(instant.unwrap_or_else(Instant::now).into());
        tokio::select! {
            hint = self.watch.next() => hint,
            // Nothing is known to have changed, but what is kept may have to go, and a lost root may be back.
            () = at(again_at), if again_at.is_some() => Hint::Directories(HashSet::new()),
            () = at(retry_at), if retry_at.is_some() => Hint::Everything,
        }
    }

    /// When to try again what could not be read: soon, and then ever more seldom, because it may never be.
    fn retry_at(&self) -> Option<Instant> {
        let doublings = self.unread_looks.load(Ordering::Relaxed).checked_sub(1)?;
        Some(Instant::now() + RETRY_MIN.saturating_mul(1 << doublings.min(RETRY_DOUBLINGS_MAX)))
    }

    /// When the next look is, where that is known.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.watch.until_next().map(|until| Instant::now() + until)
    }

    /// How often the roots are looked at, where that is what happens.
    pub(super) fn period(&self) -> Option<Duration> {
        self.watch.period()
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
    let withdrawn = looked.built.withdrawn();
    if withdrawn > 0 {
        tracing::warn!(
            "skills that are withdrawn because their directory cannot be opened any more, and not all of their files are \
             in memory or --keep-last-good is over: {withdrawn}; they are back with the directory"
        );
    }
    if before.is_none() {
        looked.notes().for_each(|note| tracing::info!("{note}"));
    }
    let sum = |looked: &Looked| (looked.snapshot().totals(), looked.skipped());
    if before.map(sum) != Some(sum(looked)) {
        let (totals, skipped) = sum(looked);
        tracing::info!("{}", report::serving(totals, skipped));
    }
}
