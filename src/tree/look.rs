//! A look at all roots, at the cost of what changed since the look before.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::dirt::Dirt;
use super::list::Walk;
use super::memory::Memory;
use super::spot::Spot;
use super::zone::{Place, Zone, Zones};
use super::{Disk, Hint, Root, Roots, Setup, Tree};
use crate::finding::{Code, Finding, Severity};

impl Roots {
    /// Looks at everything once.
    pub fn walk(&self) -> (Tree, Vec<Finding>) {
        self.look(None, &Hint::Everything)
    }

    /// Looks again. A directory in which nothing changed since `before`, nor in any below it, is the same [`Arc`] as
    /// there; and no directory is listed again that cannot have changed according to `hint`, unless links make it
    /// depend on one that has. The tree, and the findings, are what [`Roots::walk`] would give. `before` must be a tree
    /// of these roots.
    ///
    /// The roots themselves are always opened anew, so that the swapped link of a root is followed. A root that cannot be
    /// opened any more is empty and costs a finding; the other roots are served all the same.
    pub fn look(&self, before: Option<&Tree>, hint: &Hint) -> (Tree, Vec<Finding>) {
        let Setup { mounts, dirs, follow, policy, budgets } = &*self.0;
        let paths = || dirs.iter().chain(follow);
        let before_zones = before.map(|before| &before.disk.zones);
        let (zones, errors) = Zones::open_all(paths(), before_zones);
        let shown = mounts.iter().map(|mount| (&mount.dir, Severity::Error));
        let shown = shown.chain(follow.iter().map(|dir| (dir, Severity::Warning)));
        let gone =
            shown.zip(errors).filter_map(|((path, severity), error)| Some(gone(path, severity, &error?)));
        let mut findings: Vec<Finding> = gone.collect();

        let has_same_zones = before_zones.is_some_and(|before| before.are(&zones));
        let listed = AtomicU64::new(0);
        let mut roots = Vec::with_capacity(mounts.len());
        let mut memories = Vec::with_capacity(mounts.len());
        for (at, mount) in mounts.iter().enumerate() {
            let walk = Walk { zones: &zones, shown: &mount.dir, policy, budgets: *budgets, listed: &listed };
            let zone = zones.nth(at);
            let before = before.and_then(|before| before.memories.get(at));
            let memory = match (zone, before, hint) {
                (None, ..) => Arc::new(Memory::new(None, None, Vec::new(), before.map(|before| &**before))),
                (Some(zone), Some(before), Hint::Directories(dirs)) => {
                    walk.again(zone, before, dirs, has_same_zones)
                }
                (Some(zone), before, _) => walk.anew(zone, before),
            };
            findings.extend(memory.findings());
            roots.push(Root {
                prefix: mount.prefix.clone(),
                shown: mount.dir.clone(),
                real_name: zone.map(Zone::name).unwrap_or_default(),
                is_lost: zone.is_none(),
                top: Arc::clone(&memory.directory),
                left_out: memory.sums().left_out,
            });
            memories.push(memory);
        }
        (
            Tree {
                roots,
                disk: Disk { zones },
                listed: listed.into_inner(),
                memories,
                made_from: self.clone(),
            },
            findings,
        )
    }
}

impl Walk<'_> {
    fn anew(&self, zone: &Zone, before: Option<&Arc<Memory>>) -> Arc<Memory> {
        let memory = self.everything(top(zone), before.map(|before| &**before));
        match (&memory.top, before) {
            (Some(top), Some(before))
                if before.top.as_ref().is_some_and(|old| Arc::ptr_eq(top, old))
                    && memory.over_budget == before.over_budget =>
            {
                Arc::clone(before)
            }
            _ => Arc::new(memory),
        }
    }

    fn again(
        &self,
        zone: &Zone,
        before: &Arc<Memory>,
        dirs: &HashSet<PathBuf>,
        has_same_zones: bool,
    ) -> Arc<Memory> {
        let is_same_root = before.zone == Some(zone.id) && (has_same_zones || !before.sums().has_links);
        // Which links are followed when not all can be is decided by all together.
        if !is_same_root || !before.over_budget.is_empty() && before.top.is_some() {
            return self.anew(zone, Some(before));
        }
        if before.top.is_none() {
            let is_in = dirs.iter().any(|dir| dir.starts_with(&zone.real));
            return if is_in { self.anew(zone, Some(before)) } else { Arc::clone(before) };
        }
        let dirt = Dirt::of(before, dirs, zone, self.zones);
        if dirt.is_clean() {
            return Arc::clone(before);
        }
        match self.dirty(top(zone), before, &dirt) {
            Ok(memory) => Arc::new(memory),
            Err(_) => self.anew(zone, Some(before)),
        }
    }
}

fn top(zone: &Zone) -> Spot {
    Spot::top(Place { zone: zone.id, path: PathBuf::new() })
}

fn gone(path: &Path, severity: Severity, error: &io::Error) -> Finding {
    let message =
        format!("the directory cannot be opened any more, so there is nothing to read in it: {error}");
    Finding::new(Code::Unreadable, severity, path, message, "put it back, or restart without it")
}
