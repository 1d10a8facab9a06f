//! From the skills that are to be served to shards: every file is read once, digested, and forgotten.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::iter::Either;
use rayon::prelude::*;

use crate::finding::{Finding, Severity};
use crate::skill::SKILL_MD;
use crate::tree::{Directory, Disk, File as TreeFile};

use super::candidate::{self, Candidate, Judged, Read, join};
use super::limits::{Limits, Sum};
use super::order::is_within;
use super::shard::{File, Node, Shard};

/// A skill that is served, unless its files turn out to be more or larger than they looked.
pub(super) struct Served<'a> {
    /// The served path.
    pub path: String,
    /// Where it comes from.
    pub candidate: Candidate<'a>,
    /// What its `SKILL.md` says.
    pub judged: Judged,
    /// Whether it lies in another served skill, whose files then hold its own.
    pub nested: bool,
}

/// Reads and digests all files of a skill that lies in no other, and of those nested in it. There is one shard, unless
/// files have grown since they were walked: then a skill that is now too large is left out, which can leave several that
/// were nested in it.
pub(super) fn shards(mut skills: Vec<Served<'_>>, disk: &Disk, limits: Limits) -> (Vec<Shard>, Vec<Finding>) {
    let known: HashMap<String, Read> =
        skills.iter().map(|skill| (join(&skill.path, SKILL_MD), skill.judged.read)).collect();
    let mut listing = Listing::default();
    if let Some(outer) = skills.first() {
        listing.add(
            outer.candidate.dir,
            &outer.path,
            outer.candidate.shown.parent().unwrap_or(Path::new("")),
        );
    }
    let read = |wanted: Wanted<'_>| match known.get(&wanted.path) {
        Some(read) => Either::Left(wanted.node(*read)),
        None => match Read::file(disk, wanted.file, limits.max_bytes) {
            Ok(read) => Either::Left(wanted.node(read)),
            Err(error) => Either::Right(candidate::unread(&wanted.shown, &error, Severity::Warning)),
        },
    };
    let (files, mut findings): (Vec<_>, Vec<_>) = listing.wanted.into_par_iter().partition_map(read);
    let mut nodes = listing.directories;
    nodes.extend(files);

    skills.retain(|skill| {
        let mut sum = Sum::default();
        let within = nodes.iter().filter(|node| is_within(&node.path, &skill.path));
        within.filter_map(|node| node.file.as_ref()).for_each(|file| sum.add(file.size));
        let over = sum.over(limits, &skill.candidate.shown);
        let is_fit = over.is_none();
        findings.extend(over);
        is_fit
    });
    // An enclosing skill comes before those in it.
    let mut shards = Vec::new();
    while let Some(outer) = skills.first().map(|skill| skill.path.clone()) {
        let within = skills.iter().take_while(|skill| is_within(&skill.path, &outer)).count();
        let skills = skills.drain(..within).map(|skill| (skill.path, skill.judged.frontmatter)).collect();
        let nodes = nodes.extract_if(.., |node| is_within(&node.path, &outer)).collect();
        shards.extend(Shard::new(nodes, skills, disk.clone()));
    }
    (shards, findings)
}

/// A file that will be served.
struct Wanted<'a> {
    path: String,
    file: &'a TreeFile,
    shown: PathBuf,
}

impl Wanted<'_> {
    fn node(self, read: Read) -> Node {
        let Read { digest, size, content } = read;
        let file =
            File { digest, size, content, modified: self.file.modified, source: self.file.source.clone() };
        Node { path: self.path.into(), file: Some(file) }
    }
}

/// Everything in a directory.
#[derive(Default)]
struct Listing<'a> {
    directories: Vec<Node>,
    wanted: Vec<Wanted<'a>>,
}

impl<'a> Listing<'a> {
    /// Lists a directory that is served at `path` and shown as `shown`, with all that is in it.
    fn add(&mut self, dir: &'a Directory, path: &str, shown: &Path) {
        self.directories.push(Node { path: path.into(), file: None });
        for file in &dir.files {
            self.wanted.push(Wanted { path: join(path, &file.name), file, shown: shown.join(&*file.name) });
        }
        for child in &dir.dirs {
            self.add(child, &join(path, &child.name), &shown.join(&*child.name));
        }
    }
}
