//! From a walked tree to a snapshot: which candidates are served, under which paths, and what their files digest to.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rayon::prelude::*;

use crate::finding::{Code, Finding, Host, Severity};
use crate::hosts;
use crate::index::Index;
use crate::rules::Rules;
use crate::tree::{Reader, Tree};

use super::branch::{Branch, Sums};
use super::cache::Cache;
use super::claims::Claims;
use super::count::Count;
use super::find::{Found, Search, no_skills};
use super::keep::{Kept, Now, keep};
use super::known::Known;
use super::limits::{Limits, Sum};
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
    /// Counts the files that are read.
    pub count: Arc<Count>,
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
    /// What is not, and why; the very list of the build before if nothing changed.
    pub findings: Arc<[Finding]>,
    /// What stands in each root.
    branches: Vec<Branch>,
    kept: Vec<Kept>,
    /// Whether the snapshot holds what was placed, nothing less and nothing else.
    is_plain: bool,
    /// Whether a root could not be opened.
    has_unread: bool,
    /// Whether something changed between the walk and its reading, told or not.
    has_changing: bool,
    has_lost_roots: bool,
    /// How many skills of such roots the build before served and this one does not.
    withdrawn: usize,
    taken: usize,
}

/// The number of a root, and a path below it.
pub(super) type Location = (usize, String);

impl Built {
    /// When it is time to build again though nothing is known to have changed: a skill that is only kept is withdrawn, or
    /// a root that could not be opened may be there again.
    pub fn again_at(&self, now: Instant) -> Option<Instant> {
        let retry = self.has_lost_roots.then(|| now + LOST_ROOT_RETRY);
        self.kept.iter().map(|kept| kept.until).chain(retry).min()
    }

    /// Of how many files the digest is an index's, and was not made anew.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// How many skills are withdrawn because their root cannot be opened any more, and they cannot be kept.
    pub fn withdrawn(&self) -> usize {
        self.withdrawn
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
        count: &options.count,
        now: SystemTime::now(),
    };
    // Under one root no two skills meet, unless one is moved; then a unit that is as it was is where it was.
    let may_meet = tree.roots.len() > 1 || options.on_name_mismatch == OnNameMismatch::UseName;
    // What is doubted is found, and read, though its directory did not change.
    let doubted = options.cache.doubts().take();
    let may_share = !may_meet && doubted.is_empty();
    let mut search = Search::default();
    for (number, root) in tree.roots.iter().enumerate() {
        search.add(root, before.and_then(|before| before.branches.get(number)), may_share);
    }
    let placed = place_all(&search.found, options.on_name_mismatch, may_meet, &doubted, &setting);
    let mut changes = Changes::default();
    for (found, placed) in search.found.iter().zip(&placed) {
        if found.known.is_none_or(|known| !Arc::ptr_eq(known, placed)) {
            changes.new.push(placed.clone());
            changes.old.extend(found.known.map(|known| ((found.root, found.path.clone()), known)));
        }
    }
    changes.old.append(&mut search.gone);
    let branches = search.finish(&placed);
    let lost_roots = lost_roots(tree);

    let mut verdicts = Verdicts::new(&options.rules);
    tell(tree, &branches, walked, &mut verdicts);
    let mut kept = before.map_or_else(Vec::new, |before| {
        let now =
            Now { branches: &branches, lost_roots: &lost_roots, at: Instant::now(), cache: &options.cache };
        keep(changes.old.iter().cloned(), &before.kept, &now, options.keep_last_good)
    });
    kept.retain(|kept| !verdicts.would_cost(kept.skill_md(), kept.findings()));
    let withdrawn = withdrawn(&changes.old, before.map_or(&[], |before| &before.kept), &kept, &lost_roots);
    verdicts.extend(kept.iter().map(|kept| kept.finding.clone()));
    options.cache.keep(kept.iter().flat_map(|kept| kept.held.clone()).collect());

    let is_plain = !may_meet && kept.is_empty() && !verdicts.has_raised();
    let snapshot = match before {
        Some(before) if is_plain && before.is_plain => before.exchange(&changes),
        _ => {
            let snapshot = snapshot(&branches, &kept, &mut verdicts);
            let same =
                before.map(|before| &before.snapshot).filter(|before| before.shares_all_with(&snapshot));
            same.cloned().unwrap_or_else(|| Arc::new(snapshot))
        }
    };
    verdicts.extend(over_chatgpt(tree, &snapshot, &options.rules));
    let has_lost_roots = !lost_roots.is_empty();
    let (has_unread, has_changing) = (verdicts.has_unread(), verdicts.has_changing());
    let findings = verdicts.into_findings();
    let same = before.map(|before| &before.findings).filter(|before| before[..] == findings[..]);
    let findings = same.cloned().unwrap_or_else(|| findings.into());
    Built {
        snapshot,
        findings,
        branches,
        kept,
        is_plain,
        has_lost_roots,
        withdrawn,
        has_unread,
        has_changing,
        taken: 0,
    }
}

/// What is not as it was at the look before.
#[derive(Default)]
struct Changes<'a> {
    /// The units that stood before and are others now, or gone.
    old: Vec<(Location, &'a Arc<Placed>)>,
    /// The units that did not stand before.
    new: Vec<Arc<Placed>>,
}

impl Built {
    /// What is served after these changes where no more than they decides it.
    fn exchange(&self, changes: &Changes<'_>) -> Arc<Snapshot> {
        let mut old = changes.old.iter().flat_map(|(_, placed)| &placed.shards).peekable();
        let mut new = changes.new.iter().flat_map(|placed| &placed.shards).cloned().peekable();
        if old.peek().is_none() && new.peek().is_none() {
            return self.snapshot.clone();
        }
        Arc::new(self.snapshot.exchange(old, new))
    }
}

/// Judges, places and reads what was found.
fn place_all(
    all: &[Found<'_>],
    policy: OnNameMismatch,
    may_meet: bool,
    doubted: &HashSet<Box<str>>,
    setting: &Setting<'_>,
) -> Vec<Arc<Placed>> {
    let files = |found: &Found<'_>| Sum::of(found.dir, setting.limits).files as u64;
    setting.count.begin(all.par_iter().map(files).sum());
    let trusted = |found: &Found<'_>| found.known.filter(|known| !known.serves_any(doubted)).cloned();
    let examine = |reader: &mut Reader<'_>, found: &Found<'_>| match trusted(found) {
        Some(known) if is_as_before(&known, found) => known.unit.clone(),
        known => Arc::new(Unit::examine(found, known.as_ref().map(|known| &*known.unit), reader, setting)),
    };
    let units: Vec<Arc<Unit>> = all.par_iter().map_init(|| setting.disk.reader(), examine).collect();

    let places: Vec<Option<Places>> = if may_meet {
        let mut claims = Claims::default();
        let place = |(found, unit): (_, &Arc<Unit>)| Some(place(unit, found, policy, &mut claims));
        all.iter().zip(&units).map(place).collect()
    } else {
        let is_placed =
            |found: &Found<'_>, unit| found.known.is_some_and(|known| Arc::ptr_eq(&known.unit, unit));
        let place = |(found, unit)| {
            (!is_placed(found, unit)).then(|| place(unit, found, policy, &mut Claims::default()))
        };
        all.par_iter().zip(&units).map(place).collect()
    };

    let read = |(found, unit, places): (&Found<'_>, Arc<Unit>, Option<Places>)| match (trusted(found), places)
    {
        (Some(known), None) => known,
        (Some(known), Some(places)) if Arc::ptr_eq(&known.unit, &unit) && known.places == places => known,
        (known, places) => {
            let places = places.unwrap_or_default();
            Arc::new(Placed::read(unit, places, known.as_deref(), setting))
        }
    };
    (all, units, places).into_par_iter().map(read).collect()
}

/// Tells what is wrong with what stands in the roots, and what the walk says of it.
fn tell(tree: &Tree, branches: &[Branch], walked: Vec<Finding>, verdicts: &mut Verdicts<'_>) {
    let visit = |see: &mut dyn FnMut(&Branch)| {
        for branch in branches.iter().filter(|branch| branch.sums().findings > 0) {
            branch.visit(&|sums| sums.findings > 0, &mut |branch| see(branch));
        }
    };
    visit(&mut |branch| {
        if let Branch::Category(category) = branch {
            verdicts.extend(category.misnamed.iter().cloned());
        }
    });
    for (root, branch) in tree.roots.iter().zip(branches) {
        let Sums { units, findings, .. } = branch.sums();
        verdicts.extend((units == 0 && findings == 0 && !root.is_lost).then(|| no_skills(root)));
    }
    let is_in_skill = |path: &Path| {
        let mut roots = tree.roots.iter().zip(branches);
        roots.any(|(root, branch)| path.strip_prefix(&root.shown).is_ok_and(|path| branch.is_in_unit(path)))
    };
    verdicts.extend(weigh(walked, is_in_skill));
    visit(&mut |branch| {
        if let Branch::Unit(placed) = branch {
            verdicts.extend(placed.all_findings().cloned());
        }
    });
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
fn snapshot(branches: &[Branch], kept: &[Kept], verdicts: &mut Verdicts<'_>) -> Snapshot {
    let stand_ins = Snapshot::apart(kept.iter().map(|kept| kept.shard.clone()).collect());
    let is_free = |shard: &&Arc<Shard>| !stand_ins.overlaps(shard.path());
    let mut shards: Vec<Arc<Shard>> = Vec::new();
    let mut add = |branch: &Branch| {
        let Branch::Unit(placed) = branch else { return };
        let mut refused = HashSet::new();
        if verdicts.has_raised() {
            let served = placed.served().filter(|(_, shown)| verdicts.cost(shown));
            refused = served.map(|(path, _)| path).collect();
        }
        match refused.is_empty() {
            true => shards.extend(placed.shards.iter().filter(is_free).cloned()),
            false => shards.extend(placed.without(&refused).iter().filter(is_free).cloned()),
        }
    };
    branches.iter().for_each(|branch| branch.visit(&|sums| sums.units > 0, &mut add));
    stand_ins.with(shards)
}

/// The roots that could not be opened any more.
fn lost_roots(tree: &Tree) -> Vec<usize> {
    tree.roots.iter().enumerate().filter(|(_, root)| root.is_lost).map(|(number, _)| number).collect()
}

/// How many skills of lost roots stood in `old` or were kept before, and are not kept.
fn withdrawn(
    old: &[(Location, &Arc<Placed>)],
    kept_before: &[Kept],
    kept: &[Kept],
    lost_roots: &[usize],
) -> usize {
    let is_lost = |location: &Location| lost_roots.contains(&location.0);
    let count = |kept: &[Kept]| kept.iter().filter(|kept| is_lost(&kept.location)).count();
    let stood: usize =
        old.iter().filter(|(location, _)| is_lost(location)).map(|(_, placed)| placed.shards.len()).sum();
    (stood + count(kept_before)).saturating_sub(count(kept))
}

/// Whether the directory that was found is the very one that was placed, and no file in it can have changed unseen.
fn is_as_before(known: &Placed, found: &Found<'_>) -> bool {
    Arc::ptr_eq(&known.unit.dir, found.dir) && known.is_settled && *known.unit.shown == *found.shown
}
