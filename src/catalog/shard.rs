//! A served skill that lies in no other, with all that is in it.
//!
//! All nodes stand in one list, in tree order, so that a directory is followed by all that is in it. A skill's files are
//! therefore one range of it, a nested skill's files lie inside the range of the skill around it (E6) without being kept
//! twice, and a directory's children are found by stepping over sub-ranges.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::skill::{Content, Digest};
use crate::tree::{Disk, Source};

use super::order::{in_tree_order, is_at_or_before, is_within};
use super::read::Read;

/// A file or a directory of a served skill.
#[derive(Clone, Debug)]
pub struct Node {
    /// The served path.
    pub path: Box<str>,
    /// Present for a file, absent for a directory.
    pub file: Option<File>,
}

/// What is known of a served file.
#[derive(Clone, Debug)]
pub struct File {
    /// What its bytes are.
    pub(super) read: Read,
    /// When the file was last modified, where the file system says so.
    pub modified: Option<SystemTime>,
    /// Where the bytes are.
    pub(super) source: Source,
}

/// What a snapshot states of a file that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    digest: Digest,
    size: u64,
    content: Content,
}

impl Stated {
    /// The digest of its bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The number of its bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether its bytes go out as text.
    pub fn content(&self) -> Content {
        self.content
    }
}

impl File {
    /// What a read of it gives beside its bytes.
    pub fn stated(&self) -> Stated {
        Stated { digest: self.digest(), size: self.size(), content: self.content() }
    }

    /// The digest of its bytes.
    pub fn digest(&self) -> Digest {
        self.read.digest
    }

    /// The number of its bytes.
    pub fn size(&self) -> u64 {
        self.read.size
    }

    /// Whether its bytes go out as text.
    pub fn content(&self) -> Content {
        self.read.content
    }
}

/// A served skill.
#[derive(Debug)]
pub struct Skill {
    /// The served path of its directory; the last segment is its name (U2).
    pub path: Box<str>,
    /// The whole frontmatter (E2).
    pub frontmatter: Arc<Map<String, Value>>,
    /// Its nodes, the directory itself first.
    nodes: Range<usize>,
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

/// A skill that lies in no other, those nested in it, and everything that they hold.
#[derive(Debug)]
pub(super) struct Shard {
    nodes: Vec<Node>,
    skills: Vec<Skill>,
    totals: Totals,
    disk: Disk,
}

impl Shard {
    /// Puts a skill together: `nodes` holds every file and directory of it once, its own directory included; `skills` its
    /// path and frontmatter and those of the skills nested in it. `None` if there is no skill.
    pub(super) fn new(
        mut nodes: Vec<Node>,
        skills: Vec<(String, Arc<Map<String, Value>>)>,
        disk: Disk,
    ) -> Option<Self> {
        nodes.sort_unstable_by(|a, b| in_tree_order(&a.path, &b.path));
        let range = |path: &str| subtree(&nodes, path).unwrap_or_default();
        let skill =
            |(path, frontmatter): (String, _)| Skill { nodes: range(&path), path: path.into(), frontmatter };
        let mut skills: Vec<Skill> = skills.into_iter().map(skill).collect();
        skills.sort_unstable_by(|a, b| in_tree_order(&a.path, &b.path));
        let files = nodes.iter().filter_map(|node| node.file.as_ref());
        let nothing = Totals { skills: skills.len(), ..Totals::default() };
        let totals =
            files.fold(nothing, |sum, file| sum + Totals { skills: 0, files: 1, bytes: file.size() });
        (!skills.is_empty()).then_some(Self { nodes, skills, totals, disk })
    }

    /// The path of the skill that holds all others.
    pub(super) fn path(&self) -> &str {
        self.skills.first().map_or("", |skill| &skill.path)
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
        self.nodes.iter().filter_map(|node| Some((&*node.path, node.file.as_ref()?)))
    }

    /// Every node, to make other shards of.
    pub(super) fn into_nodes(self) -> Vec<Node> {
        self.nodes
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
            let nodes = self.nodes[outer.nodes.clone()].to_vec();
            shards.extend(Self::new(nodes, kept, self.disk.clone()));
        }
        shards
    }

    /// How much it holds.
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }

    /// Every file of one of these skills, nested skills' included, with its served path (E4, E6).
    pub(super) fn files<'a>(&'a self, skill: &Skill) -> impl Iterator<Item = (&'a str, &'a File)> + use<'a> {
        self.nodes[skill.nodes.clone()].iter().filter_map(|node| Some((&*node.path, node.file.as_ref()?)))
    }

    /// The file or directory at a served path.
    pub(super) fn node(&self, path: &str) -> Option<&Node> {
        self.nodes.binary_search_by(|node| in_tree_order(&node.path, path)).ok().map(|at| &self.nodes[at])
    }

    /// The direct children of the directory at `path`, those after the path `after` only. `None` if there is no such
    /// directory.
    pub(super) fn children<'a>(
        &'a self,
        path: &str,
        after: Option<&str>,
    ) -> Option<impl Iterator<Item = &'a Node> + use<'a>> {
        let within = subtree(&self.nodes, path).filter(|range| self.nodes[range.start].file.is_none())?;
        let mut rest = &self.nodes[within.start + 1..within.end];
        if let Some(after) = after {
            rest = &rest[rest.partition_point(|node| is_at_or_before(&node.path, after))..];
        }
        Some(std::iter::from_fn(move || {
            let child = rest.first()?;
            let stepped_over = match child.file {
                Some(_) => 1,
                None => rest.partition_point(|node| is_at_or_before(&node.path, &child.path)),
            };
            rest = &rest[stepped_over..];
            Some(child)
        }))
    }

    /// As [`super::Snapshot::lists_as`].
    pub(super) fn lists_as(&self, other: &Self) -> bool {
        let is_same = |(a, b): (&Skill, &Skill)| a.path == b.path && a.frontmatter == b.frontmatter;
        let digest = |node: &Node| node.file.as_ref().map(File::digest);
        let holds_same = |(a, b): (&Node, &Node)| a.path == b.path && digest(a) == digest(b);
        self.skills.len() == other.skills.len()
            && self.nodes.len() == other.nodes.len()
            && self.skills.iter().zip(&other.skills).all(is_same)
            && self.nodes.iter().zip(&other.nodes).all(holds_same)
    }

    /// Reads its files.
    pub(super) fn disk(&self) -> &Disk {
        &self.disk
    }
}

/// The range of the node at `path` and all that is in it, if there is one.
fn subtree(nodes: &[Node], path: &str) -> Option<Range<usize>> {
    let start = nodes.binary_search_by(|node| in_tree_order(&node.path, path)).ok()?;
    let len = nodes[start..].partition_point(|node| is_within(&node.path, path));
    Some(start..start + len)
}
