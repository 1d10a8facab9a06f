//! A served skill that lies in no other, with all that is in it.
//!
//! All nodes stand in one list, in tree order, so that a directory is followed by all that is in it. A skill's files are
//! therefore one range of it, a nested skill's files lie inside the range of the skill around it (E6) without being kept
//! twice, and a directory's children are found by stepping over sub-ranges.

use std::ops::Range;
use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::skill::Digest;
use crate::tree::{Disk, Source};

use super::order::{in_tree_order, is_at_or_before, is_within};

/// A file or a directory of a served skill.
#[derive(Debug)]
pub struct Node {
    /// The served path.
    pub path: Box<str>,
    /// Present for a file, absent for a directory.
    pub file: Option<File>,
}

/// What is known of a served file.
#[derive(Clone, Debug)]
pub struct File {
    /// The digest of its bytes.
    pub digest: Digest,
    /// Their number.
    pub size: u64,
    /// What they are.
    pub content: Content,
    /// When the file was last modified, where the file system says so.
    pub modified: Option<SystemTime>,
    /// Where the bytes are.
    pub source: Source,
}

/// Whether a file's bytes go out as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// UTF-8 without NUL.
    Text,
    /// Anything else.
    Binary,
}

impl Content {
    /// Judges by the bytes alone, never by a name.
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.contains(&0) || std::str::from_utf8(bytes).is_err() { Self::Binary } else { Self::Text }
    }
}

/// A served skill.
#[derive(Debug)]
pub struct Skill {
    /// The served path of its directory; the last segment is its name (U2).
    pub path: Box<str>,
    /// The whole frontmatter (E2).
    pub frontmatter: Map<String, Value>,
    /// Its nodes, the directory itself first.
    nodes: Range<usize>,
}

/// A skill that lies in no other, those nested in it, and everything that they hold.
#[derive(Debug)]
pub(super) struct Shard {
    nodes: Vec<Node>,
    skills: Vec<Skill>,
    disk: Disk,
}

impl Shard {
    /// Puts a skill together: `nodes` holds every file and directory of it once, its own directory included; `skills` its
    /// path and frontmatter and those of the skills nested in it. `None` if there is no skill.
    pub(super) fn new(
        mut nodes: Vec<Node>,
        skills: Vec<(String, Map<String, Value>)>,
        disk: Disk,
    ) -> Option<Self> {
        nodes.sort_unstable_by(|a, b| in_tree_order(&a.path, &b.path));
        let range = |path: &str| subtree(&nodes, path).unwrap_or_default();
        let skill =
            |(path, frontmatter): (String, _)| Skill { nodes: range(&path), path: path.into(), frontmatter };
        let mut skills: Vec<Skill> = skills.into_iter().map(skill).collect();
        skills.sort_unstable_by(|a, b| in_tree_order(&a.path, &b.path));
        (!skills.is_empty()).then_some(Self { nodes, skills, disk })
    }

    /// The path of the skill that holds all others.
    pub(super) fn path(&self) -> &str {
        self.skills.first().map_or("", |skill| &skill.path)
    }

    /// The skills, the enclosing one first.
    pub(super) fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// Every node, in tree order.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
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
        let skill = |skill: &Skill| (skill.path.clone(), skill.frontmatter.clone());
        let node = |node: &Node| (node.path.clone(), node.file.as_ref().map(|file| file.digest));
        self.skills.iter().map(skill).eq(other.skills.iter().map(skill))
            && self.nodes.iter().map(node).eq(other.nodes.iter().map(node))
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
