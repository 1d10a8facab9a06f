//! From a walked tree to a snapshot: which candidates are served, under which paths, and what their files digest to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rayon::prelude::*;

use crate::finding::{Code, Finding, Host, Severity};
use crate::hosts;
use crate::index::Index;
use crate::rules::Rules;
use crate::tree::Tree;

use super::cache::Cache;
use super::claims::Claims;
use super::find::{Found, find};
use super::keep::{Kept, Now, keep};
use super::known::Known;
use super::limits::Limits;
use super::lost::weigh;
use super::place::{Places, place};
use super::placed::Placed;
use super::shard::Shard;
use super::snapshot::Snapshot;
use super::unit::{Setting, Unit};
use super::verdicts::Verdicts;

/// How long after a root could not be opened it is tried again.
const LOST_ROOT_RETRY: Duration = Duration::from_secs(2);

/// How skills are judged.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What one skill may hold.
    pub limits: Limits,
    /// What happens to a skill whose name is not its directory's.
    pub on_name_mismatch: OnNameMismatch,
    /// How long the last good version of a skill that cannot be built any more is served.
    pub keep_last_good: Duration,
    /// Which findings are told, and what they cost.
    pub rules: Rules,
    /// Where bytes that were read are held for the reads of a [`super::Catalog`].
    pub cache: Cache,
}

/// What happens to a skill whose name is not its directory's (U2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnNameMismatch {
    /// It is not served.
    #[default]
    Skip,
    /// It is served as if its directory had its name. Not inside another skill, whose relative links it would break.
    UseName,
}

/// What a build made, and what the next one can take over.
#[derive(Debug)]
pub struct Built {
    /// What is served; the very snapshot of the build before if nothing changed.
    pub snapshot: Arc<Snapshot>,
    /// What is not, and why.
    pub findings: Vec<Finding>,
    units: Units,
    kept: Vec<Kept>,
    /// Whether a root could not be opened.
    has_unread: bool,
    /// Whether something changed between the walk and its reading, told or not.
    has_changing: bool,
    has_lost_roots: bool,
    taken: usize,
}

/// The number of a root, and a path below it.
pub(super) type Location = (usize, String);

/// Every unit, by the number of its root and its path there.
pub(super) type Units = Vec<HashMap<String, Arc<Placed>>>;

impl Built {
    /// When it is time to build again though nothing is known to have changed: a skill that is only kept is withdrawn, or
    /// a root that could not be opened may be there again.
    pub fn again_at(&self, now: Instant) -> Option<Instant> {
        let retry = self.has_lost_roots.then(|| now + LOST_ROOT_RETRY);
        self.kept.iter().map(|kept| kept.until).chain(retry).min()
    }

    /// Of how many files an index said what they are.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Whether something changed between the walk and its reading.
    pub fn has_changing(&self) -> bool {
        self.has_changing
    }

    /// Whether something could not be read for a reason that may pass without any change on the disk, such as too many
    /// open files.
    pub fn has_unread(&self) -> bool {
        self.has_unread
    }
}

/// Builds the snapshot of what is served from `tree`, and says what is not and why. `walked` is what the walk says; what the
/// rules make of it is among the findings. What stands as it did in `before` is taken over from there, unread.
pub fn build(tree: &Tree, walked: Vec<Finding>, options: &Options, before: Option<&Built>) -> Built {
    build_from(tree, walked, options, before, None)
}

/// The same for the first time, with what an earlier run read. A `SKILL.md` is read all the same, and so is each file that
/// `index` does not know as it is.
pub fn build_first(tree: &Tree, walked: Vec<Finding>, options: &Options, index: Option<&Index>) -> Built {
    let known = index.map(Known::new);
    let built = build_from(tree, walked, options, None, known.as_ref());
    Built { taken: known.map_or(0, |known| known.taken()), ..built }
}

fn build_from(
    tree: &Tree,
    walked: Vec<Finding>,
    options: &Options,
    before: Option<&Built>,
    known: Option<&Known<'_>>,
) -> Built {
    let setting = Setting {
        disk: &tree.disk,
        limits: options.limits,
        rules: &options.rules,
        cache: &options.cache,
        known,
        now: SystemTime::now(),
    };
    let mut verdicts = Verdicts::new(&options.rules);
    let mut all = Vec::new();
    for (number, root) in tree.roots.iter().enumerate() {
        let (found, misnamed) = find(number, root);
        all.extend(found);
        verdicts.extend(misnamed);
    }

    let doubted = options.cache.doubts().take();
    let stood = |found: &Found<'_>| {
        let known = before?.units.get(found.root)?.get(&found.path)?;
        (!known.serves_any(&doubted)).then_some(known)
    };
    let known: Vec<Option<&Arc<Placed>>> = all.iter().map(stood).collect();
    let examine = |(found, known): (&Found<'_>, &Option<&Arc<Placed>>)| match known {
        Some(known) if is_as_before(known, found) => known.unit.clone(),
        known => Arc::new(Unit::examine(found, known.map(|known| &*known.unit), &setting)),
    };
    let units: Vec<Arc<Unit>> = (&all, &known).into_par_iter().map(examine).collect();

    // Under one root no two skills meet, unless one is moved; then a unit that is as it was is where it was.
    let may_meet = tree.roots.len() > 1 || options.on_name_mismatch == OnNameMismatch::UseName;
    let mut claims = Claims::default();
    let mut place = |found: &Found<'_>, unit: &Arc<Unit>, known: Option<&Arc<Placed>>| {
        if !may_meet && known.is_some_and(|known| Arc::ptr_eq(&known.unit, unit)) {
            return None;
        }
        let prefix = tree.roots.get(found.root).map_or("", |root| &root.prefix);
        Some(place(unit, found, prefix, options.on_name_mismatch, &mut claims))
    };
    let places: Vec<Option<Places>> =
        all.iter().zip(&units).zip(&known).map(|((found, unit), known)| place(found, unit, *known)).collect();

    let read =
        |(unit, places, known): (Arc<Unit>, Option<Places>, Option<&Arc<Placed>>)| match (known, places) {
            (Some(known), None) => known.clone(),
            (Some(known), Some(places)) if Arc::ptr_eq(&known.unit, &unit) && known.places == places => {
                known.clone()
            }
            (known, places) => {
                let places = places.unwrap_or_default();
                Arc::new(Placed::read(unit, places, known.map(|known| &**known), &setting))
            }
        };
    let placed: Vec<Arc<Placed>> = (units, places, known).into_par_iter().map(read).collect();

    let skills = || placed.iter().map(|placed| placed.unit.shown.as_path()).collect();
    if !walked.is_empty() {
        verdicts.extend(weigh(walked, &skills()));
    }
    verdicts.extend(placed.iter().flat_map(|placed| placed.all_findings()).cloned());
    let mut units: Units = tree.roots.iter().map(|_| HashMap::new()).collect();
    for (found, placed) in all.into_iter().zip(&placed) {
        if let Some(units) = units.get_mut(found.root) {
            units.insert(found.path, placed.clone());
        }
    }
    let lost_roots = lost_roots(tree);
    let mut kept = before.map_or_else(Vec::new, |before| {
        let cache = &options.cache;
        let now = Now { units: &units, lost_roots: &lost_roots, at: Instant::now(), cache };
        keep(&before.units, &before.kept, &now, options.keep_last_good)
    });
    kept.retain(|kept| !verdicts.would_cost(kept.skill_md(), kept.findings()));
    verdicts.extend(kept.iter().map(|kept| kept.finding.clone()));
    options.cache.keep(kept.iter().flat_map(|kept| kept.held.clone()).collect());
    let snapshot = snapshot(&placed, &kept, &mut verdicts);
    let same = before.map(|before| &before.snapshot).filter(|before| before.shares_all_with(&snapshot));
    let snapshot = same.cloned().unwrap_or_else(|| Arc::new(snapshot));
    verdicts.extend(over_chatgpt(tree, &snapshot, &options.rules));
    let has_lost_roots = !lost_roots.is_empty();
    let (has_unread, has_changing) = (verdicts.has_unread(), verdicts.has_changing());
    let findings = verdicts.into_findings();
    Built { snapshot, findings, units, kept, has_lost_roots, has_unread, has_changing, taken: 0 }
}

/// The finding for more skills than ChatGPT imports, if it is among the hosts.
fn over_chatgpt(tree: &Tree, snapshot: &Snapshot, rules: &Rules) -> Option<Finding> {
    let root = tree.roots.first().filter(|_| rules.hosts().contains(&Host::ChatGpt))?;
    let (message, elsewhere) = hosts::too_many_for_chatgpt(snapshot.totals().skills)?;
    let help = "serve fewer skills to ChatGPT, for example from a directory of their own";
    let finding = Finding::new(Code::ChatgptLimits, Severity::Warning, &root.shown, message, help);
    Some(Finding { elsewhere, ..finding })
}

/// Everything that is served. What is kept has its place until it is withdrawn, whatever stands there now.
fn snapshot(placed: &[Arc<Placed>], kept: &[Kept], verdicts: &mut Verdicts<'_>) -> Snapshot {
    let stand_ins = Snapshot::apart(kept.iter().map(|kept| kept.shard.clone()).collect());
    let is_free = |shard: &&Arc<Shard>| !stand_ins.overlaps(shard.path());
    let mut shards: Vec<Arc<Shard>> = Vec::with_capacity(placed.len());
    for placed in placed {
        let refused = placed.served().filter(|(_, shown)| verdicts.cost(shown)).map(|(path, _)| path);
        let refused: HashSet<&str> = refused.collect();
        match refused.is_empty() {
            true => shards.extend(placed.shards.iter().filter(is_free).cloned()),
            false => shards.extend(placed.without(&refused).iter().filter(is_free).cloned()),
        }
    }
    stand_ins.with(shards)
}

/// The roots that could not be opened any more.
fn lost_roots(tree: &Tree) -> Vec<usize> {
    tree.roots.iter().enumerate().filter(|(_, root)| root.is_lost).map(|(number, _)| number).collect()
}

/// Whether the directory that was found is the very one that was placed, and no file in it can have changed unseen.
fn is_as_before(known: &Placed, found: &Found<'_>) -> bool {
    Arc::ptr_eq(&known.unit.dir, found.dir) && known.is_settled && known.unit.shown == found.shown
}
