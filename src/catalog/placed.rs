//! A unit in its place, with every file of its served skills read and digested.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::finding::{Code, Finding, Severity};
use crate::skill::SKILL_MD;
use crate::tree::{self, Directory, Reader};

use super::file::File;
use super::find::join;
use super::judge::unread;
use super::limits::Sum;
use super::nodes::Nodes;
use super::order::is_within;
use super::place::{Places, descend};
use super::read::Read;
use super::shard::Shard;
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
    pub shards: Box<[Arc<Shard>]>,
    /// What keeps files, or whole skills, of it from being served, beside what its candidates and places say.
    findings: Box<[Finding]>,
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
        let mut reading =
            Reading { unit: &unit, before, setting, shards: vec![], findings: vec![], is_settled: true };
        reading.is_settled =
            unit.candidates.iter().all(|c| c.verdict.read.as_ref().is_some_and(|read| read.is_settled));
        let mut skills: Vec<(&str, &Candidate)> = Vec::new();
        for (candidate, path) in unit.candidates.iter().zip(&places.paths) {
            skills.extend(path.as_deref().map(|path| (path, candidate)));
        }
        // An enclosing skill comes before those in it.
        while let Some((outer, candidate)) = skills.first().copied() {
            let count = skills.iter().take_while(|(path, _)| is_within(path, outer)).count();
            let within: Vec<_> = skills.drain(..count).collect();
            if let Some(dir) = descend(&unit.dir, &candidate.path) {
                reading.read_skill(&within, dir, &unit.shown(candidate));
            }
        }
        let Reading { shards, findings, is_settled, .. } = reading;
        Self { unit, places, shards: shards.into(), findings: findings.into(), is_settled }
    }

    /// All that is wrong with the unit.
    pub(super) fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        let judged = self.unit.candidates.iter().flat_map(|candidate| &candidate.verdict.findings);
        judged.chain(&self.places.findings).chain(&self.findings)
    }

    /// Its served skills: the path of each, and its `SKILL.md` as findings show it.
    pub(super) fn served(&self) -> impl Iterator<Item = (&str, PathBuf)> {
        let candidates = self.unit.candidates.iter().zip(&self.places.paths);
        candidates.filter_map(|(candidate, path)| Some((path.as_deref()?, self.unit.skill_md(candidate))))
    }

    /// Whether one of these paths is served from it.
    pub(super) fn serves_any(&self, paths: &HashSet<Box<str>>) -> bool {
        paths.iter().any(|path| self.shards.iter().any(|shard| is_within(path, shard.path())))
    }

    /// Its shards without the skills at these paths. Of what they hold, the skills nested in them stay.
    pub(super) fn without(&self, paths: &HashSet<&str>) -> Vec<Arc<Shard>> {
        self.shards.iter().flat_map(|shard| shard.without(paths)).map(Arc::new).collect()
    }
}

/// A unit that is being read.
struct Reading<'a> {
    unit: &'a Unit,
    before: Option<&'a Placed>,
    setting: &'a Setting<'a>,
    shards: Vec<Arc<Shard>>,
    findings: Vec<Finding>,
    is_settled: bool,
}

impl<'a> Reading<'a> {
    /// Reads a skill that lies in no other, and those nested in it.
    fn read_skill(&mut self, skills: &[(&str, &'a Candidate)], dir: &Arc<Directory>, shown: &Path) {
        let Some((outer, _)) = skills.first() else { return };
        let mut listed = Vec::new();
        list(dir, (*outer).to_owned(), &mut listed);
        let verdict = |(path, candidate): &(&str, &'a Candidate)| {
            Some((join(path, SKILL_MD), candidate.verdict.read.as_ref()?))
        };
        let known: HashMap<String, &Read> = skills.iter().filter_map(verdict).collect();
        let read = |reader: &mut Reader<'_>, (path, found): (String, Option<tree::File<'_>>)| {
            let read = found.map(|found| {
                let read = self.read_file(reader, &path, found, known.get(&path).copied())?;
                Ok(File { read, modified: found.modified() })
            });
            self.setting.count.add(u64::from(read.is_some() && !known.contains_key(&path)));
            (path, read)
        };
        let read: Vec<(String, Option<Result<File, tree::ReadError>>)> =
            listed.into_par_iter().map_init(|| self.setting.disk.reader(), read).collect();
        let mut nodes = Vec::with_capacity(read.len());
        for (path, file) in read {
            match file.transpose() {
                Ok(file) => nodes.push((path, file)),
                Err(error) => {
                    let below = path.get(outer.len() + 1..).unwrap_or_default();
                    self.findings.push(unread(&shown.join(below), &error, Severity::Warning));
                    self.is_settled = false;
                }
            }
        }
        let Some(nodes) = Nodes::new(nodes) else {
            return self.findings.push(too_long(&shown.join(SKILL_MD)));
        };
        self.is_settled &= nodes.files().iter().all(|file| file.read.is_settled);
        self.findings.extend(whole(outer, shown, &nodes, self.setting.rules));
        self.shard(nodes, skills, dir);
    }

    /// Reads a file, unless that was done: for its verdict, which says `known`, or before, and it is still what it was.
    fn read_file(
        &self,
        reader: &mut Reader<'_>,
        path: &str,
        found: tree::File<'_>,
        known: Option<&Read>,
    ) -> Result<Read, tree::ReadError> {
        let before = || {
            let shards = self.before.into_iter().flat_map(|before| &before.shards);
            shards.into_iter().find_map(|shard| Some((&shard.node(path)?.file?.read, shard.found(path)?)))
        };
        let same = || before().filter(|(read, before)| read.is_still(*before, found)).map(|(read, _)| read);
        match known.or_else(same) {
            Some(read) => Ok(read.clone()),
            None => match self.setting.known.and_then(|known| known.read(path, found, self.setting)) {
                Some(read) => Ok(read),
                None => Read::file(reader, found, self.setting.limits.max_bytes, self.setting.now),
            },
        }
    }

    /// Makes a shard of a skill and those nested in it. Files can have grown since they were walked: then a skill that is
    /// now too large is left out, which can leave several that were nested in it.
    fn shard(&mut self, nodes: Nodes, skills: &[(&str, &Candidate)], dir: &Arc<Directory>) {
        let served = skills.iter().filter_map(|(path, candidate)| {
            Some(((*path).to_owned(), candidate.verdict.judged.as_ref()?.frontmatter.clone()))
        });
        let disk = self.setting.disk.clone();
        let Some(shard) = Shard::new(nodes, served.collect(), dir.clone(), disk) else { return };
        let mut unfit = HashSet::new();
        for (path, candidate) in skills {
            let mut sum = Sum::default();
            let files = shard.skill(path).map(|skill| shard.files(skill));
            files.into_iter().flatten().for_each(|(_, file)| sum.add(file.read.size));
            let over = sum.over(self.setting.limits, &self.unit.skill_md(candidate));
            unfit.extend(over.is_some().then_some(*path));
            self.findings.extend(over);
        }
        match unfit.is_empty() {
            true => self.shards.push(Arc::new(shard)),
            false => self.shards.extend(shard.without(&unfit).into_iter().map(Arc::new)),
        }
    }
}

fn too_long(skill_md: &Path) -> Finding {
    let message = "the paths of the skill's files have more than 4 GiB together";
    let help = "move files out of it, or leave some out with a .skillignore";
    Finding::new(Code::TooManyFiles, Severity::Error, skill_md, message, help)
}

/// Lists a directory that is served at `path` and all that is in it, in tree order.
fn list<'a>(dir: &'a Directory, path: String, listed: &mut Vec<(String, Option<tree::File<'a>>)>) {
    let (mut files, mut dirs) = (dir.files().peekable(), dir.dirs.iter().peekable());
    let at = listed.len();
    listed.push((path, None));
    loop {
        let below = |listed: &[(String, _)], name: &str| join(&listed[at].0, name);
        let order = match (files.peek(), dirs.peek()) {
            (Some(file), Some(dir)) => file.name().cmp(dir.name()),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        if let Some(file) = files.next_if(|_| order.is_lt()) {
            listed.push((below(listed, file.name()), Some(file)));
        } else if let Some(child) = dirs.next() {
            list(child, below(listed, child.name()), listed);
        } else {
            return;
        }
    }
}
