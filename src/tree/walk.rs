//! The walk of one root: level by level, so that nothing recurses and no handle outlives its directory's listing.
//!
//! First comes the root's own tree, in parallel. Then each link to a directory in it is followed with a budget of its
//! own and whole or not at all, so that links to links to links, which double at every step, cost a bounded time and
//! only themselves.

use std::sync::Arc;

use rayon::prelude::*;

use super::list::{Listing, Walk};
use super::spot::{Budget, OverBudget, Spot};
use super::{Directory, File, LeftOut};
use crate::finding::{Code, Finding};

/// What a walk found.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) top: Arc<Directory>,
    pub(super) findings: Vec<Finding>,
    pub(super) left_out: LeftOut,
}

impl Walk<'_> {
    /// Walks all that is at and below `top`.
    pub(super) fn root(&self, top: Spot) -> Walked {
        let Ok(mut own) = self.expand(top, &Budget::new(self.budgets.root), Mode::OwnTree) else {
            return Walked { findings: vec![self.too_many_entries()], ..Walked::default() };
        };
        // The small ones first, so that a few large ones cannot use up what is meant for all.
        let mut links = std::mem::take(&mut own.links);
        let mut left = Left { served: self.budgets.linked, vain: self.budgets.vain };
        for (max, at_a_time) in [(self.budgets.small_link, 64), (self.budgets.link, 4)] {
            links = self.follow_all(links, max, at_a_time, &mut left, &mut own);
        }
        own.findings.extend(links.iter().map(|(_, link)| self.over_budget(link)));
        let Expanded { nodes, mut findings, left_out, .. } = own;
        findings.sort_by(|a, b| (&a.path, a.code).cmp(&(&b.path, b.code)));
        Walked { top: assemble(nodes).unwrap_or_default(), findings, left_out }
    }

    /// Follows links that lead to at most `max` entries each, and gives back the others. What is `at_a_time` bounds how
    /// much is held for those that turn out to be others.
    fn follow_all(
        &self,
        links: Vec<Link>,
        max: u64,
        at_a_time: usize,
        left: &mut Left,
        own: &mut Expanded,
    ) -> Vec<Link> {
        let mut over = Vec::new();
        let mut links = links.into_iter();
        loop {
            let some: Vec<_> = links.by_ref().take(at_a_time).collect();
            if some.is_empty() {
                return over;
            }
            let max = max.min(left.served).min(left.vain);
            let followed: Vec<_> = some.into_par_iter().map(|link| self.follow(link, max)).collect();
            for (link, expanded, used) in followed {
                match expanded {
                    Ok(linked) if used <= left.served => {
                        left.served -= used;
                        own.attach(link.0, linked);
                    }
                    Ok(_) | Err(OverBudget) => {
                        left.vain = left.vain.saturating_sub(used);
                        over.push(link);
                    }
                }
            }
        }
    }

    fn follow(&self, link: Link, max: u64) -> (Link, Result<Expanded, OverBudget>, u64) {
        let budget = Budget::new(max);
        let expanded = self.expand(link.1.clone(), &budget, Mode::Linked);
        (link, expanded, budget.used())
    }

    fn expand(&self, top: Spot, budget: &Budget, mode: Mode) -> Result<Expanded, OverBudget> {
        let mut expanded = Expanded::default();
        let mut level = vec![(0, top)];
        while !level.is_empty() {
            let list = |(_, spot): &(usize, Spot)| self.list(spot, budget);
            let listings: Vec<Result<Listing, OverBudget>> = match mode {
                Mode::OwnTree => level.par_iter().map(list).collect(),
                Mode::Linked => level.iter().map(list).collect(),
            };
            let mut next = Vec::new();
            for ((parent, spot), listing) in level.into_iter().zip(listings) {
                let listing = listing?;
                expanded.findings.extend(listing.findings);
                expanded.left_out += listing.left_out;
                let Some(contents) = listing.contents else { continue };
                let at = expanded.nodes.len();
                expanded.nodes.push(Node {
                    parent,
                    name: spot.name().into(),
                    files: contents.files,
                    dirs: vec![],
                });
                next.extend(contents.dirs.into_iter().map(|dir| (at, dir)));
                let links = contents.links.into_iter().map(|link| (at, link));
                match mode {
                    Mode::OwnTree => expanded.links.extend(links),
                    Mode::Linked => next.extend(links),
                }
            }
            level = next;
        }
        Ok(expanded)
    }

    fn too_many_entries(&self) -> Finding {
        let max = self.budgets.root;
        let message = format!("the directory has more than {max} entries, so nothing of it is served");
        self.finding(
            "",
            Code::TooManyEntries,
            message,
            "serve a directory further down, or exclude what is no skill",
        )
    }

    fn over_budget(&self, link: &Spot) -> Finding {
        let message = "the link leads to more entries than are looked at through links".to_owned();
        self.finding(
            &link.served,
            Code::LinkBudget,
            message,
            "serve its target as a root of its own, or exclude the link",
        )
    }
}

/// What is done with links to directories.
#[derive(Clone, Copy)]
enum Mode {
    /// They are put aside.
    OwnTree,
    /// They are followed like directories.
    Linked,
}

/// How many entries links may still lead to.
struct Left {
    served: u64,
    vain: u64,
}

/// A link to a directory, with the node that it is in.
type Link = (usize, Spot);

#[derive(Default)]
struct Expanded {
    /// A directory comes after the one around it.
    nodes: Vec<Node>,
    /// Links that were put aside.
    links: Vec<Link>,
    findings: Vec<Finding>,
    left_out: LeftOut,
}

struct Node {
    parent: usize,
    name: Box<str>,
    files: Vec<File>,
    dirs: Vec<Arc<Directory>>,
}

impl Expanded {
    fn attach(&mut self, parent: usize, linked: Self) {
        self.findings.extend(linked.findings);
        self.left_out += linked.left_out;
        if let (Some(node), Some(dir)) = (self.nodes.get_mut(parent), assemble(linked.nodes)) {
            node.dirs.push(dir);
        }
    }
}

/// Makes one tree of the nodes; the first is its top.
fn assemble(mut nodes: Vec<Node>) -> Option<Arc<Directory>> {
    loop {
        let Node { parent, name, files, mut dirs } = nodes.pop()?;
        dirs.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let dir = Arc::new(Directory { name, dirs, files });
        match nodes.get_mut(parent) {
            Some(node) => node.dirs.push(dir),
            None => return Some(dir),
        }
    }
}
