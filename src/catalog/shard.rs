//! A served skill that lies in no other, with all that is in it.
//!
//! All nodes stand in one list, in tree order, so that a directory is followed by all that is in it. A skill's files are
//! therefore one range of it, a nested skill's files lie inside the range of the skill around it (E6) without being kept
//! twice, and a directory's children are found by stepping over sub-ranges. All paths are one text.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use crate::skill::{Content, Digest};
use crate::tree::{self, Directory, Disk, Modified, Source};
use crate::uri;

use super::fields::Fields;
use super::order::{in_tree_order, is_at_or_before, is_within};
use super::place::descend;
use super::read::Read;

/// A file or a directory of a served skill.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The served path.
    pub path: &'a str,
    /// Present for a file, absent for a directory.
    pub file: Option<&'a File>,
}

/// What is known of a served file.
#[derive(Clone, Debug)]
pub struct File {
    /// What its bytes are.
    pub(super) read: Read,
    pub(super) modified: Modified,
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

/// What reads a served file, and what is stated of it.
#[derive(Debug)]
pub(super) struct Origin {
    pub stated: Stated,
    pub source: Source,
    pub disk: Disk,
}

impl File {
    /// What a read of it gives beside its bytes.
    pub fn stated(&self) -> Stated {
        Stated { digest: self.digest(), size: self.size(), content: self.content() }
    }

    /// When the file was last modified, where the file system says so.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified.time()
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
    skills: Box<[Skill]>,
    totals: Totals,
    /// Whether every path stands in its URI as it is.
    has_plain_paths: bool,
    /// The directory of the outermost skill.
    dir: Arc<Directory>,
    disk: Disk,
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
        let totals = nodes.files.iter().fold(nothing, |sum, file| sum + one(file));
        let has_plain_paths = uri::is_plain(&nodes.paths);
        (!skills.is_empty()).then_some(Self { nodes, skills, totals, has_plain_paths, dir, disk })
    }

    /// Whether every path stands in its URI as it is.
    pub(super) fn has_plain_paths(&self) -> bool {
        self.has_plain_paths
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
        self.nodes.find(path).map(|at| self.nodes.get(at))
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
            let child = (!rest.is_empty()).then(|| nodes.get(rest.start))?;
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
            && self.nodes.files.iter().zip(&other.nodes.files).all(holds_same)
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

/// Files and directories in tree order.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// All paths, one after the other.
    paths: Box<str>,
    ends: Box<[Ends]>,
    files: Box<[File]>,
}

/// Where what belongs to a node ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Ends {
    /// Its path, among the paths.
    path: u32,
    /// The files up to it, itself included.
    files: u32,
}

impl Nodes {
    /// Takes the paths of nodes in tree order, with what is known of those that are files. `None` if the paths have more than
    /// 4 GiB together.
    pub(super) fn new(nodes: Vec<(String, Option<File>)>) -> Option<Self> {
        let mut paths = String::with_capacity(nodes.iter().map(|(path, _)| path.len()).sum());
        let mut ends = Vec::with_capacity(nodes.len());
        let mut files = Vec::with_capacity(nodes.len());
        for (path, file) in nodes {
            paths.push_str(&path);
            files.extend(file);
            ends.push(Ends {
                path: u32::try_from(paths.len()).ok()?,
                files: u32::try_from(files.len()).ok()?,
            });
        }
        Some(Self { paths: paths.into(), ends: ends.into(), files: files.into() })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.len()).map(|at| self.get(at))
    }

    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where what belongs to the node at `at` begins.
    fn start(&self, at: usize) -> Ends {
        at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default()
    }

    fn get(&self, at: usize) -> Node<'_> {
        let (start, end) = (self.start(at), self.start(at + 1));
        let file = (start.files < end.files).then(|| &self.files[start.files as usize]);
        Node { path: &self.paths[start.path as usize..end.path as usize], file }
    }

    fn files_in(&self, range: Range<usize>) -> impl Iterator<Item = (&str, &File)> {
        range.map(|at| self.get(at)).filter_map(|node| Some((node.path, node.file?)))
    }

    /// The first node in `range` for whose path `is_before` does not hold; those for which it does come first.
    fn first_not(&self, range: Range<usize>, is_before: impl Fn(&str) -> bool) -> usize {
        let Range { mut start, mut end } = range;
        while start < end {
            let at = start.midpoint(end);
            if is_before(self.get(at).path) { start = at + 1 } else { end = at }
        }
        start
    }

    fn find(&self, path: &str) -> Option<usize> {
        let at = self.first_not(0..self.len(), |other| in_tree_order(other, path).is_lt());
        (at < self.len() && self.get(at).path == path).then_some(at)
    }

    /// The range of the node at `path` and all that is in it, if there is one.
    fn subtree(&self, path: &str) -> Option<Range<usize>> {
        let start = self.find(path)?;
        Some(start..self.first_not(start..self.len(), |other| is_within(other, path)))
    }

    /// A copy of some of them.
    fn part(&self, range: Range<usize>) -> Self {
        let (start, end) = (self.start(range.start), self.start(range.end));
        let moved = |ends: &Ends| Ends { path: ends.path - start.path, files: ends.files - start.files };
        Self {
            paths: self.paths[start.path as usize..end.path as usize].into(),
            ends: self.ends[range].iter().map(moved).collect(),
            files: self.files[start.files as usize..end.files as usize].into(),
        }
    }

    fn has_same_paths(&self, other: &Self) -> bool {
        self.ends == other.ends && self.paths == other.paths
    }
}
