//! A unit: a directory that says it is a skill and lies in no other that does, with every candidate in it judged. What did
//! not change since the look before is not read again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rayon::prelude::*;

use crate::finding::{Finding, Severity};
use crate::rules::Rules;
use crate::skill::SKILL_MD;
use crate::tree::{Directory, Disk, File, Reader};

use super::cache::{Cache, exactly};
use super::count::Count;
use super::find::{Found, join, skill_md};
use super::judge::{Judged, judge, unread};
use super::known::Known;
use super::limits::{Limits, Sum};
use super::place::descend;
use super::read::Read;

/// What every look at a unit needs.
pub(super) struct Setting<'a> {
    /// Reads the files.
    pub disk: &'a Disk,
    /// What one skill may hold.
    pub limits: Limits,
    /// What to look for.
    pub rules: &'a Rules,
    /// Where the bytes of `SKILL.md` files are held, which hosts ask for first.
    pub cache: &'a Cache,
    /// What an earlier run read.
    pub known: Option<&'a Known<'a>>,
    /// Counts the files that are read.
    pub count: &'a Count,
    /// When the look began.
    pub now: SystemTime,
}

/// A directory with a `SKILL.md` that lies in no other such directory.
#[derive(Debug)]
pub(super) struct Unit {
    /// The directory.
    pub dir: Arc<Directory>,
    /// The directory as findings show it.
    pub shown: Box<Path>,
    /// The name that its own skill must have, where that is not its directory's: that of a root.
    root_name: Option<Box<str>>,
    /// Itself and the candidates nested in it, an enclosing one before those in it.
    pub candidates: Box<[Candidate]>,
}

/// A directory with a `SKILL.md`.
#[derive(Debug)]
pub(super) struct Candidate {
    /// Its path below the unit's directory; empty for the unit itself.
    pub path: Box<str>,
    /// The nearest candidate around it, as an index into the unit's list.
    pub within: Option<u32>,
    /// What its `SKILL.md` says.
    pub verdict: Arc<Verdict>,
    /// The finding, if it holds more than it may.
    pub over: Option<Box<Finding>>,
}

/// What a `SKILL.md` says.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// What is served, if it is fit to be.
    pub judged: Option<Judged>,
    /// What is wrong with it.
    pub findings: Box<[Finding]>,
    /// What was read; nothing if it could not be.
    pub read: Option<Read>,
}

impl Unit {
    /// Judges a directory and all that is nested in it; `before` is what stood there at the look before.
    pub(super) fn examine(
        found: &Found<'_>,
        before: Option<&Self>,
        reader: &mut Reader<'_>,
        setting: &Setting<'_>,
    ) -> Self {
        let before = before.filter(|before| *before.shown == *found.shown);
        let mut unit = Self {
            dir: found.dir.clone(),
            shown: found.shown.as_path().into(),
            root_name: (found.dir_name != found.dir.name()).then(|| found.dir_name.into()),
            candidates: Box::default(),
        };
        let candidate = |reader: &mut Reader<'_>, Nested { path, dir, file, within }: Nested<'_>| {
            let mut candidate = Candidate { path: path.into(), within, verdict: Arc::default(), over: None };
            let shown = unit.skill_md(&candidate);
            let dir_name = unit.dir_name(&candidate);
            let known = before.and_then(|before| before.verdict_of(&candidate.path, dir_name, file));
            let served = || join(&join(found.prefix, &join(&found.path, &candidate.path)), SKILL_MD);
            let judged = || Arc::new(Verdict::of(file, served, &shown, dir, dir_name, reader, setting));
            candidate.verdict = known.unwrap_or_else(judged);
            candidate.over = Sum::of(dir, setting.limits).over(setting.limits, &shown).map(Box::new);
            candidate
        };
        let nested = nested(found.dir);
        let candidates: Vec<_> = match nested.len() {
            // What most have.
            1 => nested.into_iter().map(|nested| candidate(reader, nested)).collect(),
            _ => nested.into_par_iter().map_init(|| setting.disk.reader(), candidate).collect(),
        };
        unit.candidates = candidates.into();
        unit
    }

    /// The name that a candidate's skill must have (N2).
    pub(super) fn dir_name<'a>(&'a self, candidate: &'a Candidate) -> &'a str {
        match candidate.path.rsplit('/').next() {
            None | Some("") => self.root_name.as_deref().unwrap_or(self.dir.name()),
            Some(name) => name,
        }
    }

    /// The directory of a candidate as findings show it.
    pub(super) fn shown(&self, candidate: &Candidate) -> PathBuf {
        if candidate.path.is_empty() { self.shown.to_path_buf() } else { self.shown.join(&*candidate.path) }
    }

    /// The `SKILL.md` of a candidate as findings show it.
    pub(super) fn skill_md(&self, candidate: &Candidate) -> PathBuf {
        let mut shown = self.shown(candidate);
        shown.push(SKILL_MD);
        shown
    }

    /// What was found of the `SKILL.md` at `path`, if it is sure to be what `file` is.
    fn verdict_of(&self, path: &str, dir_name: &str, file: File<'_>) -> Option<Arc<Verdict>> {
        let candidate = self.candidates.iter().find(|candidate| *candidate.path == *path)?;
        let found = skill_md(descend(&self.dir, path)?)?;
        let is_still = candidate.verdict.read.as_ref()?.is_still(found, file);
        (is_still && self.dir_name(candidate) == dir_name).then(|| candidate.verdict.clone())
    }
}

impl Verdict {
    /// Reads and judges a `SKILL.md`, which is served at `served` unless its skill is moved. Its bytes are judged whole, also
    /// where an earlier run knew what they digest to: so what is said of a skill never comes from elsewhere than its file.
    fn of(
        file: File<'_>,
        served: impl FnOnce() -> String,
        shown: &Path,
        dir: &Directory,
        dir_name: &str,
        reader: &mut Reader<'_>,
        setting: &Setting<'_>,
    ) -> Self {
        setting.count.add(1);
        let (bytes, seen) = match reader.whole(&file.source(), setting.limits.max_bytes) {
            Ok(read) => read,
            Err(error) => {
                let findings = [unread(shown, &error, Severity::Error)].into();
                return Self { judged: None, findings, read: None };
            }
        };
        let (judged, findings) = judge(bytes, shown, dir, dir_name, setting.rules);
        // What was read must be what the walk saw, or the digest would be that of other bytes than the frontmatter.
        let known = setting.known.filter(|_| judged.is_some() && seen == file.identity());
        let read = known.and_then(|known| known.digested(&served(), file, bytes, setting));
        let read = read.unwrap_or_else(|| {
            let read = Read::of(bytes, file, setting.now);
            if judged.is_some() {
                setting.cache.fill(read.digest, exactly(bytes.to_vec()));
            }
            read
        });
        Self { judged, findings: findings.into(), read: Some(read) }
    }
}

/// A candidate that is still to be judged: its path, its directory, its `SKILL.md`, and the nearest one around it.
struct Nested<'a> {
    path: String,
    dir: &'a Arc<Directory>,
    file: File<'a>,
    within: Option<u32>,
}

/// All candidates of a unit, an enclosing one before those in it.
fn nested(dir: &Arc<Directory>) -> Vec<Nested<'_>> {
    let mut nested = Vec::new();
    list(dir, String::new(), None, &mut nested);
    nested
}

fn list<'a>(dir: &'a Arc<Directory>, path: String, mut within: Option<u32>, nested: &mut Vec<Nested<'a>>) {
    let children = dir.dirs.iter().map(|child| (child, join(&path, child.name()))).collect::<Vec<_>>();
    if let Some(file) = skill_md(dir) {
        let at = u32::try_from(nested.len()).ok();
        nested.push(Nested { path, dir, file, within });
        within = at.or(within);
    }
    for (child, path) in children {
        list(child, path, within, nested);
    }
}
