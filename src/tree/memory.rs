//! What a look leaves behind for the next one: of each directory that was listed, what listing it gave.

use std::collections::HashMap;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::identity::Identity;
use super::rules::Rules;
use super::site::Site;
use super::zone::{Place, ZoneId, Zones};
use super::{Directory, LeftOut};
use crate::finding::Finding;

/// A directory that was listed, and those below it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) own: Arc<Own>,
    /// As it is served. Absent when it is left out after all: then only its own findings and counts matter.
    pub(super) directory: Option<Arc<Directory>>,
    /// Sorted by name.
    pub(super) children: Box<[Arc<Node>]>,
    pub(super) sums: Sums,
}

/// What listing one directory gave, but for the files.
#[derive(Debug, PartialEq)]
pub(super) struct Own {
    pub(super) site: Arc<Site>,
    /// Whether it is reached through a link.
    pub(super) linked: bool,
    /// What it was when listing began. Absent when it could not be opened.
    pub(super) identity: Option<Identity>,
    /// Those that hold in it.
    pub(super) rules: Rules,
    /// How many entries it has, whatever becomes of them, and what the patterns of its ignore file count as.
    pub(super) entries: u64,
    /// What few directories have.
    rare: Option<Box<Rare>>,
}

/// What listing gave of what few directories have.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Rare {
    pub(super) findings: Vec<Finding>,
    pub(super) left_out: LeftOut,
    /// The other directories whose entries decide where its links lead, sorted.
    pub(super) via: Vec<Place>,
    /// Whether it has links that were followed, or tried to.
    pub(super) has_links: bool,
}

/// Sums over a directory and all below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Entries that are reached without a link.
    pub(super) own_entries: u64,
    rare: Option<Box<RareSums>>,
}

/// Sums of what few directories have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RareSums {
    /// Entries that are reached through links.
    pub(super) linked_entries: u64,
    /// Links to directories that lead to more than a small link may.
    pub(super) large_links: u64,
    pub(super) findings: usize,
    pub(super) left_out: LeftOut,
    /// Whether anything depends on where a link leads.
    pub(super) has_links: bool,
}

impl Sums {
    pub(super) fn rare(&self) -> RareSums {
        self.rare.as_deref().copied().unwrap_or_default()
    }

    fn add(&mut self, more: &Self) {
        self.own_entries += more.own_entries;
        if let Some(rare) = &more.rare {
            **self.rare.get_or_insert_default() += **rare;
        }
    }

    fn add_rare(&mut self, more: RareSums) {
        if more != RareSums::default() {
            **self.rare.get_or_insert_default() += more;
        }
    }
}

impl AddAssign for RareSums {
    fn add_assign(&mut self, more: Self) {
        self.linked_entries += more.linked_entries;
        self.large_links += more.large_links;
        self.findings += more.findings;
        self.left_out += more.left_out;
        self.has_links |= more.has_links;
    }
}

impl Own {
    /// What is known before a directory is listed.
    pub(super) fn new(site: Arc<Site>, linked: bool, rules: Rules) -> Self {
        Self { site, linked, identity: None, rules, entries: 0, rare: None }
    }

    /// Its name under its parent; empty for the top.
    pub(super) fn name(&self) -> &str {
        self.site.name()
    }

    pub(super) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    pub(super) fn findings(&self) -> &[Finding] {
        self.rare.as_ref().map_or(&[], |rare| &rare.findings)
    }

    pub(super) fn left_out(&self) -> LeftOut {
        self.rare.as_ref().map(|rare| rare.left_out).unwrap_or_default()
    }

    pub(super) fn via(&self) -> &[Place] {
        self.rare.as_ref().map_or(&[], |rare| &rare.via)
    }

    /// Puts what was gathered in its final form.
    pub(super) fn finish(&mut self) {
        let Some(rare) = &mut self.rare else { return };
        rare.via.sort_unstable();
        rare.via.dedup();
        rare.via.retain(|place| *place != self.site.place);
        rare.via.shrink_to_fit();
        rare.findings.shrink_to_fit();
    }
}

impl Node {
    pub(super) fn new(
        own: Arc<Own>,
        directory: Option<Arc<Directory>>,
        children: Vec<Arc<Self>>,
        small_link: u64,
    ) -> Self {
        let mut sums = Sums { own_entries: if own.linked { 0 } else { own.entries }, rare: None };
        sums.add_rare(RareSums {
            linked_entries: if own.linked { own.entries } else { 0 },
            large_links: 0,
            findings: own.findings().len(),
            left_out: own.left_out(),
            has_links: own.linked || own.rare.as_ref().is_some_and(|rare| rare.has_links),
        });
        for child in &children {
            sums.add(&child.sums);
            if child.sums.rare().linked_entries > small_link && child.own.linked && !own.linked {
                sums.add_rare(RareSums { large_links: 1, ..RareSums::default() });
            }
        }
        Self { own, directory, children: children.into(), sums }
    }

    /// The index of the child `name`.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.children.binary_search_by(|child| child.own.name().cmp(name)).ok()
    }

    pub(super) fn child(&self, name: &str) -> Option<&Arc<Self>> {
        self.position(name).map(|at| &self.children[at])
    }

    /// Goes to every directory at and below this one, its served path in hand, that is in a part for which `enter` holds.
    pub(super) fn visit<'a>(&'a self, enter: impl Fn(RareSums) -> bool, mut see: impl FnMut(&str, &'a Self)) {
        let mut ahead = vec![(String::new(), self)];
        while let Some((served, node)) = ahead.pop() {
            see(&served, node);
            let inside = node.children.iter().filter(|child| enter(child.sums.rare()));
            ahead.extend(inside.map(|child| (below(&served, child.own.name()), &**child)));
        }
    }
}

/// The served path of `name` in the directory that is served as `served`.
pub(super) fn below(served: &str, name: &str) -> String {
    if served.is_empty() { name.to_owned() } else { [served, "/", name].concat() }
}

/// What a look at one root leaves behind.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Absent when the root could not be opened.
    pub(super) zone: Option<ZoneId>,
    /// Absent when there is no zone, or too many entries in it.
    pub(super) top: Option<Arc<Node>>,
    /// As it is served.
    pub(super) directory: Arc<Directory>,
    /// What costs the whole root, and the links that lead to too many entries to be followed.
    pub(super) over_budget: Vec<Finding>,
    /// The served paths of the directories that depend on a real directory through links.
    dependents: OnceLock<HashMap<PathBuf, Vec<String>>>,
}

impl Memory {
    pub(super) fn new(
        zone: Option<ZoneId>,
        top: Option<Arc<Node>>,
        over_budget: Vec<Finding>,
        before: Option<&Self>,
    ) -> Self {
        let empty = || {
            let before = before.map(|before| &before.directory);
            before.filter(|dir| dir.dirs.is_empty() && dir.files.is_empty()).cloned().unwrap_or_default()
        };
        let directory = top.as_ref().and_then(|top| top.directory.clone()).unwrap_or_else(empty);
        Self { zone, top, directory, over_budget, dependents: OnceLock::new() }
    }

    pub(super) fn sums(&self) -> RareSums {
        self.top.as_ref().map(|top| top.sums.rare()).unwrap_or_default()
    }

    /// All findings, sorted.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut findings = self.over_budget.clone();
        if let Some(top) = &self.top {
            top.visit(|sums| sums.findings > 0, |_, node| findings.extend_from_slice(node.own.findings()));
        }
        findings.sort_by(|a, b| (&a.path, a.code).cmp(&(&b.path, b.code)));
        findings
    }

    /// The served paths of the directories that are what they are because of the real directory `dir`, which they are
    /// reached through or which their links lead through.
    pub(super) fn dependents(&self, dir: &Path, zones: &Zones) -> &[String] {
        let Some(top) = self.top.as_ref().filter(|top| top.sums.rare().has_links) else { return &[] };
        let dependents = self.dependents.get_or_init(|| {
            let mut dependents: HashMap<PathBuf, Vec<String>> = HashMap::new();
            top.visit(
                |sums| sums.has_links,
                |served, node| {
                    let itself = Some(&node.own.site.place).filter(|_| node.own.linked);
                    for real in itself.into_iter().chain(node.own.via()).filter_map(|place| zones.real(place))
                    {
                        dependents.entry(real).or_default().push(served.to_owned());
                    }
                },
            );
            dependents
        });
        dependents.get(dir).map_or(&[], Vec::as_slice)
    }
}
