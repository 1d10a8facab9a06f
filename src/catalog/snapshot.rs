//! An immutable picture of everything that is served: one [`Shard`] for each skill that lies in no other. A later picture
//! shares those that have not changed.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::tree;

use super::file::File;
use super::number::Number;
use super::order::{in_tree_order, is_within};
use super::shard::{Listed, Node, Origin, Shard, Skill, Totals};

/// Everything that is served, at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// In tree order of their paths; none lies in another.
    shards: Vec<Arc<Shard>>,
    totals: Totals,
    number: Number,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Snapshot {
    /// Puts shards in order, none of which lies in another.
    pub(super) fn new(mut shards: Vec<Arc<Shard>>) -> Self {
        shards.sort_unstable_by(|a, b| in_tree_order(a.path(), b.path()));
        let totals = shards.iter().fold(Totals::default(), |sum, shard| sum + shard.totals());
        Self { shards, totals, number: Number::next() }
    }

    /// Of shards that lie in one another, the outermost.
    pub(super) fn apart(mut shards: Vec<Arc<Shard>>) -> Self {
        shards.sort_by(|a, b| in_tree_order(a.path(), b.path()));
        shards.dedup_by(|inner, outer| is_within(inner.path(), outer.path()));
        Self::new(shards)
    }

    /// This snapshot and more shards, none of which lies in another.
    pub(super) fn with(mut self, more: impl IntoIterator<Item = Arc<Shard>>) -> Self {
        self.shards.extend(more);
        Self::new(self.shards)
    }

    /// This snapshot without some of its shards and with others in their place, none of which lies in another. Costs little
    /// where that is little.
    pub(super) fn exchange<'a>(
        &self,
        old: impl Iterator<Item = &'a Arc<Shard>>,
        new: impl Iterator<Item = Arc<Shard>>,
    ) -> Self {
        let at = |path: &str| self.shards.partition_point(|shard| in_tree_order(shard.path(), path).is_lt());
        let mut new: Vec<_> = new.collect();
        new.sort_unstable_by(|a, b| in_tree_order(a.path(), b.path()));
        // What comes to a place comes before what goes from there.
        let mut edits: Vec<(usize, Option<Arc<Shard>>)> =
            new.into_iter().map(|shard| (at(shard.path()), Some(shard))).collect();
        let mut totals = self.totals;
        for shard in old {
            totals = totals - shard.totals();
            edits.push((at(shard.path()), None));
        }
        edits.sort_by_key(|(at, new)| (*at, new.is_none()));
        let mut shards = Vec::with_capacity(self.shards.len() + edits.len());
        let mut from = 0;
        for (at, edit) in edits {
            shards.extend_from_slice(self.shards.get(from..at).unwrap_or_default());
            from = at + usize::from(edit.is_none());
            totals = edit.iter().fold(totals, |sum, shard| sum + shard.totals());
            shards.extend(edit);
        }
        shards.extend_from_slice(self.shards.get(from..).unwrap_or_default());
        Self { shards, totals, number: Number::next() }
    }

    /// Whether a shard lies at `path`, around it, or in it.
    pub(super) fn overlaps(&self, path: &str) -> bool {
        let at = self.shards.partition_point(|shard| in_tree_order(shard.path(), path) == Ordering::Less);
        let is_inside = self.shards.get(at).is_some_and(|shard| is_within(shard.path(), path));
        is_inside || self.shard(path).is_some()
    }

    /// The served skills, in the order in which they are listed.
    pub fn skills(&self) -> impl Iterator<Item = &Skill> {
        self.skills_after(None)
    }

    /// The skills that are listed after `path`, whether or not a skill stands there; all of them for `None`.
    pub fn skills_after<'a>(&'a self, path: Option<&'a str>) -> impl Iterator<Item = &'a Skill> {
        self.listed_after(path).map(|listed| listed.skill)
    }

    /// The same, with what each of them holds at hand.
    pub fn listed_after<'a>(&'a self, path: Option<&'a str>) -> impl Iterator<Item = Listed<'a>> {
        let is_after =
            move |other: &str| path.is_none_or(|path| in_tree_order(other, path) == Ordering::Greater);
        // The shard before the first one after `path` may hold nested skills that come after it.
        let first = self.shards.partition_point(|shard| !is_after(shard.path())).saturating_sub(1);
        let skills = self.shards[first..]
            .iter()
            .flat_map(|shard| shard.skills().iter().map(move |skill| Listed { skill, shard }));
        skills.skip_while(move |listed| !is_after(&listed.skill.path))
    }

    /// The skill whose directory has this served path.
    pub fn skill(&self, path: &str) -> Option<&Skill> {
        self.listed(path).map(|listed| listed.skill)
    }

    /// The same, with what it holds at hand.
    pub fn listed(&self, path: &str) -> Option<Listed<'_>> {
        let shard = self.shard(path)?;
        Some(Listed { skill: shard.skill(path)?, shard })
    }

    /// Every file of a skill of this snapshot, nested skills' included, with its served path (E4, E6).
    pub fn files(&self, skill: &Skill) -> impl Iterator<Item = (&str, &File)> {
        self.shard(&skill.path).into_iter().flat_map(|shard| shard.files(skill))
    }

    /// The file or directory at a served path.
    pub fn node(&self, path: &str) -> Option<Node<'_>> {
        self.shard(path)?.node(path)
    }

    /// The direct children of the directory at `path`, those after the path `after` only, in listing order. `None` if
    /// there is no such directory.
    pub fn children<'a>(
        &'a self,
        path: &str,
        after: Option<&str>,
    ) -> Option<impl Iterator<Item = Node<'a>> + use<'a>> {
        self.shard(path)?.children(path, after)
    }

    /// Whether a listing of this snapshot's skills says the same as one of `other`'s: the same skills, with the same
    /// frontmatter and the same files of the same bytes.
    pub fn lists_as(&self, other: &Self) -> bool {
        let is_same = |(a, b): (&Arc<Shard>, &Arc<Shard>)| Arc::ptr_eq(a, b) || a.lists_as(b);
        self.shards.len() == other.shards.len() && self.shards.iter().zip(&other.shards).all(is_same)
    }

    /// Whether every shard of this snapshot is the very one of `other`.
    pub(super) fn shares_all_with(&self, other: &Self) -> bool {
        self.shards.len() == other.shards.len()
            && self.shards.iter().zip(&other.shards).all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// Whether what lies at `path` is the very same here and in `other`.
    pub(super) fn shares(&self, other: &Self, path: &str) -> bool {
        match (self.shard(path), other.shard(path)) {
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            _ => false,
        }
    }

    /// What tells it from all others.
    pub(super) fn number(&self) -> Number {
        self.number
    }

    /// The same of the shard that `path` lies in.
    pub(super) fn shard_number(&self, path: &str) -> Option<Number> {
        self.shard(path).map(Shard::number)
    }

    /// How much is served.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// A served file.
    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.node(path)?.file
    }

    /// What reads a served file, and what is stated of it.
    pub(super) fn origin(&self, path: &str) -> Option<Origin> {
        self.shard(path)?.origin(path)
    }

    /// Every served file, with its served path.
    pub fn all_files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.shards.iter().flat_map(|shard| shard.all_files())
    }

    /// The same, and as the walk found it.
    pub(super) fn found_files(&self) -> impl Iterator<Item = (&str, &File, tree::File<'_>)> {
        self.shards.iter().flat_map(|shard| shard.found_files())
    }

    /// The shard that `path` lies in.
    fn shard(&self, path: &str) -> Option<&Shard> {
        let after =
            self.shards.partition_point(|shard| in_tree_order(shard.path(), path) != Ordering::Greater);
        let shard = self.shards[..after].last()?;
        is_within(path, shard.path()).then_some(shard)
    }
}
