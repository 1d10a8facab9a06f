//! The files and directories of a shard.
//!
//! They stand in one list, in tree order, so that a directory is followed by all that is in it. All paths are one text.

use std::ops::Range;

use super::file::File;
use super::order::{in_tree_order, is_within};

/// Files and directories in tree order.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// All paths, one after the other.
    pub(super) paths: Box<str>,
    ends: Box<[Ends]>,
    files: Box<[File]>,
}

/// A file or a directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    /// The served path.
    pub path: &'a str,
    /// Present for a file, absent for a directory.
    pub file: Option<&'a File>,
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

    pub(super) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.len()).map(|at| self.get(at))
    }

    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where what belongs to the node at `at` begins.
    fn start(&self, at: usize) -> Ends {
        at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default()
    }

    pub(super) fn get(&self, at: usize) -> Entry<'_> {
        let (start, end) = (self.start(at), self.start(at + 1));
        let file = (start.files < end.files).then(|| &self.files[start.files as usize]);
        Entry { path: &self.paths[start.path as usize..end.path as usize], file }
    }

    pub(super) fn files_in(&self, range: Range<usize>) -> impl Iterator<Item = (&str, &File)> {
        range.map(|at| self.get(at)).filter_map(|node| Some((node.path, node.file?)))
    }

    /// The first node in `range` for whose path `is_before` does not hold; those for which it does come first.
    pub(super) fn first_not(&self, range: Range<usize>, is_before: impl Fn(&str) -> bool) -> usize {
        let Range { mut start, mut end } = range;
        while start < end {
            let at = start.midpoint(end);
            if is_before(self.get(at).path) { start = at + 1 } else { end = at }
        }
        start
    }

    pub(super) fn find(&self, path: &str) -> Option<usize> {
        let at = self.first_not(0..self.len(), |other| in_tree_order(other, path).is_lt());
        (at < self.len() && self.get(at).path == path).then_some(at)
    }

    /// The range of the node at `path` and all that is in it, if there is one.
    pub(super) fn subtree(&self, path: &str) -> Option<Range<usize>> {
        let start = self.find(path)?;
        Some(start..self.first_not(start..self.len(), |other| is_within(other, path)))
    }

    /// A copy of some of them.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        let (start, end) = (self.start(range.start), self.start(range.end));
        let moved = |ends: &Ends| Ends { path: ends.path - start.path, files: ends.files - start.files };
        Self {
            paths: self.paths[start.path as usize..end.path as usize].into(),
            ends: self.ends[range].iter().map(moved).collect(),
            files: self.files[start.files as usize..end.files as usize].into(),
        }
    }

    pub(super) fn has_same_paths(&self, other: &Self) -> bool {
        self.ends == other.ends && self.paths == other.paths
    }
}
