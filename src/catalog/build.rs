//! From a walked tree to a snapshot: which candidates are served, under which paths, and what their files digest to.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use rayon::prelude::*;

use crate::finding::Finding;
use crate::tree::Tree;

use super::claims::Claims;
use super::find::{Found, find};
use super::limits::Limits;
use super::place::{Places, place};
use super::placed::Placed;
use super::read::Room;
use super::snapshot::Snapshot;
use super::unit::{Setting, Unit};

/// The most bytes of `SKILL.md` files that are held in memory: 64 MiB. Those beyond it are read from disk when asked for.
const HELD_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// How skills are judged.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What one skill may hold.
    pub limits: Limits,
    /// What happens to a skill whose name is not its directory's.
    pub on_name_mismatch: OnNameMismatch,
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
    /// What is served.
    pub snapshot: Arc<Snapshot>,
    /// What is not, and why.
    pub findings: Vec<Finding>,
    /// Every unit, by the number of its root and its path there.
    units: HashMap<Location, Arc<Placed>>,
    room: Room,
}

type Location = (usize, String);

/// Builds the snapshot of what is served from `tree`, and says what is not and why. What stands as it did in `before` is
/// taken over from there, unread.
pub fn build(tree: &Tree, options: &Options, before: Option<&Built>) -> Built {
    let room = before.map_or_else(|| Room::new(HELD_MAX_BYTES), |before| before.room.clone());
    let setting = Setting { disk: &tree.disk, limits: options.limits, room: &room, now: SystemTime::now() };
    let mut findings = Vec::new();
    let mut all = Vec::new();
    for (number, root) in tree.roots.iter().enumerate() {
        let (found, misnamed) = find(number, root);
        all.extend(found);
        findings.extend(misnamed);
    }

    let known = |found: &Found<'_>| before?.units.get(&(found.root, found.path.clone()));
    let examine = |found: &Found<'_>| match known(found) {
        Some(known) if is_as_before(known, found) => known.unit.clone(),
        known => Arc::new(Unit::examine(found, known.map(|known| &*known.unit), &setting)),
    };
    let units: Vec<Arc<Unit>> = all.par_iter().map(examine).collect();

    let mut claims = Claims::default();
    let place = |(found, unit): (&Found<'_>, &Arc<Unit>)| {
        let prefix = tree.roots.get(found.root).map_or("", |root| &root.prefix);
        place(unit, found, prefix, options.on_name_mismatch, &mut claims)
    };
    let places: Vec<Places> = all.iter().zip(&units).map(place).collect();

    let placed: Vec<Arc<Placed>> = (&all, units, places)
        .into_par_iter()
        .map(|(found, unit, places)| match known(found) {
            Some(known) if Arc::ptr_eq(&known.unit, &unit) && known.places == places => known.clone(),
            known => Arc::new(Placed::read(unit, places, known.map(|known| &**known), &setting)),
        })
        .collect();

    findings.extend(placed.iter().flat_map(|placed| placed.all_findings()).cloned());
    findings.sort_by(|a, b| a.path.cmp(&b.path));
    let snapshot = Snapshot::new(placed.iter().flat_map(|placed| placed.shards.iter().cloned()).collect());
    let locations = all.into_iter().map(|found| (found.root, found.path));
    Built { snapshot: Arc::new(snapshot), findings, units: locations.zip(placed).collect(), room }
}

/// Whether the directory that was found is the very one that was placed, and no file in it can have changed unseen.
fn is_as_before(known: &Placed, found: &Found<'_>) -> bool {
    Arc::ptr_eq(&known.unit.dir, found.dir) && known.is_settled && known.unit.shown == found.shown
}
