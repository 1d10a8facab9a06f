//! An immutable picture of everything that is served.
//!
//! All nodes stand in one list, sorted by path so that a directory is followed by all that is in it. A skill's files are
//! therefore one range of it, a nested skill's files lie inside the range of the skill around it (E6) without being
//! kept twice, and a directory's children are found by stepping over sub-ranges.

use std::cmp::Ordering;
use std::ops::Range;
use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::skill::Digest;
use crate::tree::{Disk, Source};

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
    /// How many bytes the frontmatter takes as JSON.
    pub frontmatter_bytes: usize,
    /// Its nodes, the directory itself first.
    pub(super) nodes: Range<usize>,
}

/// A direct child of a directory.
pub type Child<'a> = &'a Node;

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

/// Everything that is served, at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    nodes: Vec<Node>,
    skills: Vec<Skill>,
    totals: Totals,
    disk: Disk,
}

impl Snapshot {
    /// Puts served skills and their nodes into order. `nodes` holds every file and directory of every skill once, each
    /// skill's own directory included.
    pub(super) fn new(mut nodes: Vec<Node>, skills: Vec<(Box<str>, Map<String, Value>)>, disk: Disk) -> Self {
        nodes.sort_unstable_by(|a, b| in_tree_order(&a.path, &b.path));
        let mut skills: Vec<Skill> = skills
            .into_iter()
            .map(|(path, frontmatter)| Skill {
                frontmatter_bytes: serde_json::to_string(&frontmatter).map_or(0, |json| json.len()),
                nodes: 0..0,
                path,
                frontmatter,
            })
            .collect();
        skills.sort_unstable_by(|a, b| in_tree_order(&a.path, &b.path));
        let mut snapshot = Self { nodes, skills, totals: Totals::default(), disk };
        snapshot.settle();
        snapshot
    }

    /// Takes out the skills at `paths`, and the nodes that no other skill holds.
    pub(super) fn remove(&mut self, paths: &[&str]) {
        self.skills.retain(|skill| !paths.contains(&&*skill.path));
        let skills = &self.skills;
        self.nodes.retain(|node| skills.iter().any(|skill| is_within(&node.path, &skill.path)));
        self.settle();
    }

    /// Finds each skill's range anew, and adds up.
    fn settle(&mut self) {
        for skill in &mut self.skills {
            skill.nodes = subtree(&self.nodes, &skill.path).unwrap_or_default();
        }
        let files = self.nodes.iter().filter_map(|node| node.file.as_ref());
        let nothing = Totals { skills: self.skills.len(), ..Totals::default() };
        self.totals = files.fold(nothing, |totals, file| Totals {
            files: totals.files + 1,
            bytes: totals.bytes + file.size,
            ..totals
        });
    }

    /// The served skills, in the order in which they are listed.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// The skills that are listed after `path`, whether or not a skill stands there; all of them for `None`.
    pub fn skills_after(&self, path: Option<&str>) -> &[Skill] {
        let from = path.map_or(0, |path| {
            self.skills.partition_point(|skill| in_tree_order(&skill.path, path) != Ordering::Greater)
        });
        &self.skills[from..]
    }

    /// The skill whose directory has this served path.
    pub fn skill(&self, path: &str) -> Option<&Skill> {
        self.skills.binary_search_by(|skill| in_tree_order(&skill.path, path)).ok().map(|at| &self.skills[at])
    }

    /// Every file of a skill, nested skills' included, with its served path (E4, E6).
    pub fn files<'a>(&'a self, skill: &Skill) -> impl Iterator<Item = (&'a str, &'a File)> {
        self.nodes[skill.nodes.clone()].iter().filter_map(|node| Some((&*node.path, node.file.as_ref()?)))
    }

    /// The file or directory at a served path.
    pub fn node(&self, path: &str) -> Option<&Node> {
        self.nodes.binary_search_by(|node| in_tree_order(&node.path, path)).ok().map(|at| &self.nodes[at])
    }

    /// The direct children of the directory at `path`, those after the child `after` only, in listing order. `None` if
    /// there is no such directory.
    pub fn children<'a>(
        &'a self,
        path: &str,
        after: Option<&str>,
    ) -> Option<impl Iterator<Item = Child<'a>>> {
        let within = subtree(&self.nodes, path).filter(|range| self.nodes[range.start].file.is_none())?;
        let mut rest = &self.nodes[within.start + 1..within.end];
        if let Some(after) = after {
            rest = &rest[rest.partition_point(|node| is_at_or_before(&node.path, after))..];
        }
        Some(std::iter::from_fn(move || {
            let child = rest.first()?;
            let skipped = match child.file {
                Some(_) => 1,
                None => rest.partition_point(|node| is_at_or_before(&node.path, &child.path)),
            };
            rest = &rest[skipped..];
            Some(child)
        }))
    }

    /// Reads the files of this snapshot.
    pub(super) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// How much is served.
    pub fn totals(&self) -> Totals {
        self.totals
    }
}

/// Orders paths as a walk meets them: a slash sorts before every other character, so nothing stands between a directory
/// and what is in it.
pub(super) fn in_tree_order(a: &str, b: &str) -> Ordering {
    let differing = a.bytes().zip(b.bytes()).find(|(a, b)| a != b);
    match differing {
        Some((b'/', _)) => Ordering::Less,
        Some((_, b'/')) => Ordering::Greater,
        Some((a, b)) => a.cmp(&b),
        None => a.len().cmp(&b.len()),
    }
}

/// Whether `path` is `dir` or lies in it.
pub(super) fn is_within(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || dir.is_empty())
}

/// Whether `path` comes no later than `dir` and all that is in it.
fn is_at_or_before(path: &str, dir: &str) -> bool {
    is_within(path, dir) || in_tree_order(path, dir) == Ordering::Less
}

/// The range of the node at `path` and all that is in it, if there is one.
fn subtree(nodes: &[Node], path: &str) -> Option<Range<usize>> {
    let start = nodes.binary_search_by(|node| in_tree_order(&node.path, path)).ok()?;
    let len = nodes[start..].partition_point(|node| is_within(&node.path, path));
    Some(start..start + len)
}
