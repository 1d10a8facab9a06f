//! From one directory down: what is listed, what is taken over from memory, and what comes next.

use std::sync::Arc;

use rayon::prelude::*;

use super::dirt::Dirt;
use super::draft::{Draft, Drafts, Gathered};
use super::files::Files;
use super::list::{Contents, Walk};
use super::memory::{self, Node};
use super::spot::{Budget, OverBudget, Spot, Task, Trust};

/// A directory to look at, and what at and below it is dirty where its memory is trusted.
#[derive(Clone)]
pub(super) struct Item<'d> {
    pub(super) task: Task,
    pub(super) dirt: Option<&'d Dirt>,
}

/// What is done with links to directories.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    /// They are put aside.
    OwnTree,
    /// They are followed like directories.
    Linked,
}

/// A link to a directory, with the draft that it is in.
pub(super) type Link<'d> = (usize, Item<'d>);

/// A directory and what is below.
#[derive(Default)]
pub(super) struct Expanded<'d> {
    pub(super) drafts: Drafts,
    /// Links that were put aside.
    pub(super) links: Vec<Link<'d>>,
}

/// How many directories of a level are looked at before what they gave is put together: enough to keep all processors busy,
/// and few enough that what is held for it does not count.
const AT_A_TIME: usize = 1_000;

/// What a look at one directory gave.
struct Step<'d> {
    draft: Draft,
    dirs: Vec<Item<'d>>,
    links: Vec<Item<'d>>,
}

impl Walk<'_> {
    pub(super) fn expand<'d>(
        &self,
        top: Item<'d>,
        budget: &Budget,
        mode: Mode,
    ) -> Result<Expanded<'d>, OverBudget> {
        let mut expanded = Expanded::default();
        let mut level = vec![(0, top)];
        while !level.is_empty() {
            let step = |(parent, item)| self.step(item, budget, mode).map(|step| (parent, step));
            let mut ahead = std::mem::take(&mut level).into_iter();
            loop {
                let some: Vec<_> = ahead.by_ref().take(AT_A_TIME).collect();
                if some.is_empty() {
                    break;
                }
                let steps: Vec<Result<(usize, Step<'d>), OverBudget>> = match mode {
                    Mode::OwnTree => some.into_par_iter().map(step).collect(),
                    Mode::Linked => some.into_iter().map(step).collect(),
                };
                for step in steps {
                    let (parent, Step { draft, dirs, links }) = step?;
                    let at = expanded.drafts.add(parent, draft);
                    level.extend(dirs.into_iter().map(|dir| (at, dir)));
                    let links = links.into_iter().map(|link| (at, link));
                    match mode {
                        Mode::OwnTree => expanded.links.extend(links),
                        Mode::Linked => level.extend(links),
                    }
                }
            }
        }
        Ok(expanded)
    }

    fn step<'d>(&self, item: Item<'d>, budget: &Budget, mode: Mode) -> Result<Step<'d>, OverBudget> {
        let Item { task, dirt } = item;
        let mut step = match (&task.memory, dirt) {
            (Some(node), Some(dirt)) if task.trust == Trust::All && !dirt.here => {
                budget.spend(node.own.entries)?;
                pass(&task.spot, node, dirt)
            }
            _ => {
                let listing = self.list(&task, budget)?;
                let (files, Contents { dirs, links, .. }) = match listing.contents {
                    None => (Gathered::LeftOut, Contents::default()),
                    Some(mut contents) => {
                        let files = Files::new(std::mem::take(&mut contents.files));
                        (Gathered::Listed(files), contents)
                    }
                };
                let item = |task: Task| Item {
                    dirt: dirt.and_then(|dirt| dirt.below.get(task.spot.site.name())),
                    task,
                };
                Step {
                    draft: Draft::new(listing.own, files, task.memory),
                    dirs: dirs.into_iter().map(item).collect(),
                    links: links.into_iter().map(item).collect(),
                }
            }
        };
        step.take_over_clean();
        let entries = step.draft.taken.iter().chain(&step.draft.children).map(|node| match mode {
            Mode::OwnTree => node.sums.own_entries,
            Mode::Linked => node.sums.rare().linked_entries,
        });
        budget.spend(entries.sum())?;
        Ok(step)
    }
}

/// Goes by a clean directory to what is dirty below it.
fn pass<'d>(spot: &Spot, node: &Arc<Node>, dirt: &'d Dirt) -> Step<'d> {
    let around = node.own.identity.map_or_else(|| spot.around.clone(), |identity| spot.around.with(identity));
    let (mut taken, mut rest) = (Vec::with_capacity(node.children.len()), &*node.children);
    let mut dirs = Vec::new();
    let mut links = Vec::new();
    for (name, dirt) in &dirt.below {
        // Both are sorted by name.
        let (before, from) = rest.split_at(rest.partition_point(|child| child.own.name() < &**name));
        taken.extend_from_slice(before);
        rest = from;
        let Some((child, after)) = rest.split_first().filter(|(child, _)| child.own.name() == &**name) else {
            continue;
        };
        rest = after;
        let spot = Spot {
            served: memory::below(&spot.served, name),
            site: Arc::clone(&child.own.site),
            depth: spot.depth + 1,
            linked: child.own.linked,
            rules: node.own.rules.clone(),
            around: around.clone(),
        };
        let is_link = child.own.linked && !node.own.linked;
        let item = Item {
            task: Task { spot, memory: Some(Arc::clone(child)), trust: Trust::All },
            dirt: Some(dirt),
        };
        if is_link { links.push(item) } else { dirs.push(item) }
    }
    taken.extend_from_slice(rest);
    let draft = Draft {
        own: Arc::clone(&node.own),
        files: Gathered::Remembered,
        taken,
        children: Vec::new(),
        memory: Some(Arc::clone(node)),
    };
    Step { draft, dirs, links }
}

impl Step<'_> {
    /// Takes over the children that are trusted and clean.
    fn take_over_clean(&mut self) {
        let is_clean = |item: &mut Item<'_>| item.task.trust == Trust::All && item.dirt.is_none();
        let memory = |item: Item<'_>| item.task.memory;
        // Directories are listed by name, and links among them.
        self.draft.taken.extend(self.dirs.extract_if(.., is_clean).filter_map(memory));
        self.draft.children.extend(self.links.extract_if(.., is_clean).filter_map(memory));
    }
}
