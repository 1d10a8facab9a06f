//! A unit in its place, with every file of its served skills read and digested.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::iter::Either;
use rayon::prelude::*;

use crate::finding::{Finding, Severity};
use crate::skill::SKILL_MD;
use crate::tree::{Directory, File as TreeFile};

use super::find::join;
use super::judge::unread;
use super::limits::Sum;
use super::order::is_within;
use super::place::{Places, descend};
use super::read::Read;
use super::shard::{File, Node, Shard};
use super::unit::{Candidate, Setting, Unit};
use super::whole::whole;

/// A unit in its place.
#[derive(Debug)]
pub(super) struct Placed {
    /// The unit.
    pub unit: Arc<Unit>,
    /// Where its candidates are served.
    pub places: Places,
    /// Its skills: one shard for each that lies in no other.
    pub shards: Vec<Arc<Shard>>,
    /// What keeps files, or whole skills, of it from being served, beside what its candidates and places say.
    pub findings: Vec<Finding>,
    /// Whether a directory tree with the same identities is sure to have the same bytes.
    pub is_settled: bool,
}

impl Placed {
    /// Reads all that is served of a unit, except what `before` has read already.
    pub(super) fn read(
        unit: Arc<Unit>,
        places: Places,
        before: Option<&Self>,
        setting: &Setting<'_>,
    ) -> Self {
        let mut placed = Self { unit, places, shards: Vec::new(), findings: Vec::new(), is_settled: true };
        let unit = placed.unit.clone();
        let mut skills: Vec<(String, &Candidate)> = Vec::new();
        for (candidate, path) in unit.candidates.iter().zip(&placed.places.paths) {
            skills.extend(path.clone().map(|path| (path, candidate)));
        }
        placed.is_settled =
            unit.candidates.iter().all(|c| c.verdict.read.as_ref().is_some_and(|read| read.is_settled));
        // An enclosing skill comes before those in it.
        while let Some((outer, candidate)) = skills.first() {
            let outer = outer.clone();
            let dir = descend(&unit.dir, &candidate.path);
            let shown = candidate.shown.parent().unwrap_or(&unit.shown).to_owned();
            let count = skills.iter().take_while(|(path, _)| is_within(path, &outer)).count();
            let within: Vec<_> = skills.drain(..count).collect();
            if let Some(dir) = dir {
                placed.read_skill(within, dir, &shown, before, setting);
            }
        }
        placed
    }

    /// All that is wrong with the unit.
    pub(super) fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        let judged = self.unit.candidates.iter().flat_map(|candidate| &candidate.verdict.findings);
        judged.chain(&self.places.findings).chain(&self.findings)
    }

    /// Its served skills: the path of each, and its `SKILL.md` as findings show it.
    pub(super) fn served(&self) -> impl Iterator<Item = (&str, &Path)> {
        let candidates = self.unit.candidates.iter().zip(&self.places.paths);
        candidates.filter_map(|(candidate, path)| Some((path.as_deref()?, &*candidate.shown)))
    }

    /// Whether one of these paths is served from it.
    pub(super) fn serves_any(&self, paths: &HashSet<Box<str>>) -> bool {
        paths.iter().any(|path| self.shards.iter().any(|shard| is_within(path, shard.path())))
    }

    /// Its shards without the skills at these paths. Of what they hold, the skills nested in them stay.
    pub(super) fn without(&self, paths: &HashSet<&str>) -> Vec<Arc<Shard>> {
        self.shards.iter().flat_map(|shard| shard.without(paths)).map(Arc::new).collect()
    }

    /// Reads a skill that lies in no other, and those nested in it.
    fn read_skill(
        &mut self,
        skills: Vec<(String, &Candidate)>,
        dir: &Directory,
        shown: &Path,
        before: Option<&Self>,
        setting: &Setting<'_>,
    ) {
        let Some((outer, _)) = skills.first() else { return };
        let mut listing = Listing::default();
        listing.add(dir, outer, shown);

        let mut judged: HashMap<String, &Read> = HashMap::new();
        for (path, candidate) in &skills {
            judged.extend(candidate.verdict.read.as_ref().map(|read| (join(path, SKILL_MD), read)));
        }
        let before: Vec<&Shard> =
            before.into_iter().flat_map(|before| &before.shards).map(Arc::as_ref).collect();
        let read = |wanted: Wanted<'_>| {
            let node = before.iter().find_map(|shard| shard.node(&wanted.path));
            let same =
                node.and_then(|node| node.file.as_ref()).filter(|file| file.read.is_still(wanted.file));
            let read = match (judged.get(&wanted.path), same) {
                (Some(read), _) => Ok((*read).clone()),
                (None, Some(file)) => Ok(file.read.clone()),
                (None, None) => {
                    match setting.known.and_then(|known| known.read(&wanted.path, wanted.file, setting)) {
                        Some(read) => Ok(read),
                        None => Read::file(setting.disk, wanted.file, setting.limits.max_bytes, setting.now),
                    }
                }
            };
            match read {
                Ok(read) => Either::Left(wanted.node(read)),
                Err(error) => Either::Right(unread(&wanted.shown, &error, Severity::Warning)),
            }
        };
        let (files, findings): (Vec<_>, Vec<_>) = listing.wanted.into_par_iter().partition_map(read);
        self.is_settled &= findings.is_empty()
            && files.iter().filter_map(|node| node.file.as_ref()).all(|file| file.read.is_settled);
        self.findings.extend(findings);
        let mut nodes = listing.directories;
        nodes.extend(files);
        self.findings.extend(whole(outer, shown, &nodes, setting.rules));
        self.shard(nodes, skills, setting);
    }

    /// Makes a shard of a skill and those nested in it. Files can have grown since they were walked: then a skill that is
    /// now too large is left out, which can leave several that were nested in it.
    fn shard(&mut self, nodes: Vec<Node>, skills: Vec<(String, &Candidate)>, setting: &Setting<'_>) {
        let served = skills.iter().filter_map(|(path, candidate)| {
            Some((path.clone(), candidate.verdict.judged.as_ref()?.frontmatter.clone()))
        });
        let Some(shard) = Shard::new(nodes, served.collect(), setting.disk.clone()) else { return };
        let over = |(path, candidate): &(String, &Candidate)| {
            let mut sum = Sum::default();
            let files = shard.skill(path).map(|skill| shard.files(skill));
            files.into_iter().flatten().for_each(|(_, file)| sum.add(file.read.size));
            sum.over(setting.limits, &candidate.shown)
        };
        let (mut fit, mut is_fit) = (Vec::new(), true);
        for skill in skills {
            match over(&skill) {
                None => fit.push(skill),
                Some(finding) => {
                    self.findings.push(finding);
                    is_fit = false;
                }
            }
        }
        if is_fit {
            self.shards.push(Arc::new(shard));
            return;
        }
        let mut nodes = shard.into_nodes();
        while let Some(outer) = fit.first().map(|(path, _)| path.clone()) {
            let count = fit.iter().take_while(|(path, _)| is_within(path, &outer)).count();
            let within = fit.drain(..count).collect();
            let inside = nodes.extract_if(.., |node| is_within(&node.path, &outer)).collect();
            self.shard(inside, within, setting);
        }
    }
}

/// A file that will be served.
struct Wanted<'a> {
    path: String,
    file: &'a TreeFile,
    shown: PathBuf,
}

impl Wanted<'_> {
    fn node(self, read: Read) -> Node {
        let file = File { read, modified: self.file.modified, source: self.file.source.clone() };
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
