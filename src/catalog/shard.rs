//! A served skill that lies in no other, with all that is in it.
//!
//! A skill's files are one range of all [`Nodes`], a nested skill's files lie inside the range of the skill around it (E6)
//! without being kept twice, and a directory's children are found by stepping over sub-ranges.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::skill::SKILL_MD;
use crate::tree::{self, Directory, Disk, Source};
use crate::uri;

use super::fields::Fields;
use super::file::{File, Stated};
use super::nodes::{Entry, Nodes};
use super::number::Number;
use super::order::{in_tree_order, is_at_or_before, is_within};
use super::place::descend;

/// A file or a directory of a served skill.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The served path.
    pub path: &'a str,
    /// Present for a file, absent for a directory.
    pub file: Option<&'a File>,
    shard: &'a Shard,
}

impl<'a> Node<'a> {
    /// Whether its path is known to stand in its URI as it is. It is known of all paths of a skill or of none.
    pub fn has_plain_path(self) -> bool {
        self.shard.has_plain_paths
    }

    /// The skill whose `SKILL.md` it is.
    pub fn described(self) -> Option<Listed<'a>> {
        let dir = self.path.strip_suffix(SKILL_MD)?.strip_suffix('/')?;
        Some(Listed { skill: self.shard.skill(dir)?, shard: self.shard })
    }
}

/// What reads a served file, and what is stated of it.
#[derive(Debug)]
pub(super) struct Origin {
    pub stated: Stated,
    pub source: Source,
    pub disk: Disk,
}

/// A served skill.
#[derive(Debug)]
pub struct Skill {
    /// The served path of its directory; the last segment is its name (U2).
    pub path: Box<str>,
    /// The whole frontmatter (E2).
    pub frontmatter: Fields,
    /// Its nodes, the directory itself first.
    nodes: Range<usize>,
}

impl Skill {
    /// Its name (N2, U2).
    pub fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&*self.path, |(_, name)| name)
    }
}

/// A skill of a snapshot. What it holds need not be searched for.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// The skill.
    pub skill: &'a Skill,
    pub(super) shard: &'a Shard,
}

impl<'a> Listed<'a> {
    /// Every file of the skill, nested skills' included, with its served path (E4, E6).
    pub fn files(self) -> impl Iterator<Item = (&'a str, &'a File)> {
        self.shard.files(self.skill)
    }

    /// Whether the path of each of them, and of the skill, stands in its URI as it is: what is known need not be found out
    /// for each answer.
    pub fn has_plain_paths(self) -> bool {
        self.shard.has_plain_paths
    }

    /// The file or directory at a served path within the skill.
    pub fn node(self, path: &str) -> Option<Node<'a>> {
        self.shard.node(path)
    }
}

/// How much is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Served skills.
    pub skills: usize,
    /// Served files, one of a nested skill counted once.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl std::ops::Add for Totals {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            skills: self.skills + other.skills,
            files: self.files + other.files,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl std::ops::Sub for Totals {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            skills: self.skills - other.skills,
            files: self.files - other.files,
            bytes: self.bytes - other.bytes,
        }
    }
}

/// A skill that lies in no other, those nested in it, and everything that they hold.
#[derive(Debug)]
pub(super) struct Shard {
    nodes: Nodes,
    /// How long the path of the first node is.
    path_bytes: usize,
    skills: Box<[Skill]>,
    totals: Totals,
    /// Whether every path stands in its URI as it is.
    has_plain_paths: bool,
    /// The directory of the outermost skill.
    dir: Arc<Directory>,
    disk: Disk,
    number: Number,
}

impl Shard {
    /// Puts a skill together: `nodes` holds every file and directory of it once, its own directory `dir` first; `skills` its
    /// path and frontmatter and those of the skills nested in it. `None` if there is no skill.
    pub(super) fn new(
        nodes: Nodes,
        skills: Vec<(String, Fields)>,
        dir: Arc<Directory>,
        disk: Disk,
    ) -> Option<Self> {
        let range = |path: &str| nodes.subtree(path).unwrap_or_default();
        let skill =
            |(path, frontmatter): (String, _)| Skill { nodes: range(&path), path: path.into(), frontmatter };
        let mut skills: Box<[Skill]> = skills.into_iter().map(skill).collect();
        skills.sort_unstable_by(|a, b| in_tree_order(&a.path, &b.path));
        let nothing = Totals { skills: skills.len(), ..Totals::default() };
        let one = |file: &File| Totals { skills: 0, files: 1, bytes: file.size() };
        let totals = nodes.files().iter().fold(nothing, |sum, file| sum + one(file));
        let has_plain_paths = uri::is_plain(&nodes.paths);
        let path_bytes = skills.first()?.path.len();
        Some(Self { nodes, path_bytes, skills, totals, has_plain_paths, dir, disk, number: Number::next() })
    }

    /// The path of the skill that holds all others. Every search for a path asks for those of many shards, and here it is
    /// nearer than with the skill.
    pub(super) fn path(&self) -> &str {
        self.nodes.paths.get(..self.path_bytes).unwrap_or_default()
    }

    /// The skills, the enclosing one first.
    pub(super) fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// The skill whose directory has this served path.
    pub(super) fn skill(&self, path: &str) -> Option<&Skill> {
        self.skills.binary_search_by(|skill| in_tree_order(&skill.path, path)).ok().map(|at| &self.skills[at])
    }

    /// Every file, with its served path.
    pub(super) fn all_files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.nodes.files_in(0..self.nodes.len())
    }

    /// What is left without the skills at these paths: a shard for each skill that then lies in no other.
    pub(super) fn without(&self, paths: &HashSet<&str>) -> Vec<Self> {
        let mut skills = self.skills.iter().filter(|skill| !paths.contains(&*skill.path)).peekable();
        let mut shards = Vec::new();
        while let Some(outer) = skills.next() {
            let mut kept = vec![(outer.path.to_string(), outer.frontmatter.clone())];
            while let Some(inner) = skills.next_if(|skill| is_within(&skill.path, &outer.path)) {
                kept.push((inner.path.to_string(), inner.frontmatter.clone()));
            }
            let dir = descend(&self.dir, self.below(&outer.path).unwrap_or_default());
            let nodes = self.nodes.part(outer.nodes.clone());
            shards.extend(dir.and_then(|dir| Self::new(nodes, kept, dir.clone(), self.disk.clone())));
        }
        shards
    }

    /// What tells it from all others.
    pub(super) fn number(&self) -> Number {
        self.number
    }

    /// How much it holds.
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }

    /// Every file of one of these skills, nested skills' included, with its served path (E4, E6).
    pub(super) fn files<'a>(&'a self, skill: &Skill) -> impl Iterator<Item = (&'a str, &'a File)> + use<'a> {
        self.nodes.files_in(skill.nodes.clone())
    }

    /// The file or directory at a served path.
    pub(super) fn node(&self, path: &str) -> Option<Node<'_>> {
        self.nodes.find(path).map(|at| self.served(at))
    }

    fn served(&self, at: usize) -> Node<'_> {
        let Entry { path, file } = self.nodes.get(at);
        Node { path, file, shard: self }
    }

    /// The direct children of the directory at `path`, those after the path `after` only. `None` if there is no such
    /// directory.
    pub(super) fn children<'a>(
        &'a self,
        path: &str,
        after: Option<&str>,
    ) -> Option<impl Iterator<Item = Node<'a>> + use<'a>> {
        let nodes = &self.nodes;
        let within = nodes.subtree(path).filter(|range| nodes.get(range.start).file.is_none())?;
        let mut rest = within.start + 1..within.end;
        if let Some(after) = after {
            rest.start = nodes.first_not(rest.clone(), |path| is_at_or_before(path, after));
        }
        Some(std::iter::from_fn(move || {
            let child = (!rest.is_empty()).then(|| self.served(rest.start))?;
            rest.start = match child.file {
                Some(_) => rest.start + 1,
                None => nodes.first_not(rest.clone(), |path| is_at_or_before(path, child.path)),
            };
            Some(child)
        }))
    }

    /// As [`super::Snapshot::lists_as`].
    pub(super) fn lists_as(&self, other: &Self) -> bool {
        let is_same = |(a, b): (&Skill, &Skill)| a.path == b.path && a.frontmatter == b.frontmatter;
        let holds_same = |(a, b): (&File, &File)| a.digest() == b.digest();
        self.skills.len() == other.skills.len()
            && self.nodes.has_same_paths(&other.nodes)
            && self.skills.iter().zip(&other.skills).all(is_same)
            && self.nodes.files().iter().zip(other.nodes.files()).all(holds_same)
    }

    /// The file at a served path as the walk found it.
    pub(super) fn found(&self, path: &str) -> Option<tree::File<'_>> {
        let (parent, name) = path.rsplit_once('/')?;
        descend(&self.dir, self.below(parent)?)?.file(name)
    }

    /// Every file, with its served path and as the walk found it.
    pub(super) fn found_files(&self) -> impl Iterator<Item = (&str, &File, tree::File<'_>)> {
        self.all_files().filter_map(|(path, file)| Some((path, file, self.found(path)?)))
    }

    /// What reads the file at a served path.
    pub(super) fn origin(&self, path: &str) -> Option<Origin> {
        let stated = self.node(path)?.file?.stated();
        Some(Origin { stated, source: self.found(path)?.source(), disk: self.disk.clone() })
    }

    /// Reads its files.
    pub(super) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// What of a served path is below the outermost skill.
    fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix(self.path())?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }
}
