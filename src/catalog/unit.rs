//! A unit: a directory that says it is a skill and lies in no other that does, with every candidate in it judged. What did
//! not change since the look before is not read again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rayon::prelude::*;

use crate::finding::{Finding, Severity};
use crate::rules::Rules;
use crate::skill::SKILL_MD;
use crate::tree::{Directory, Disk, File};

use super::cache::Cache;
use super::find::{Found, join, skill_md};
use super::judge::{Judged, judge, unread};
use super::known::Known;
use super::limits::{Limits, Sum};
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
    /// When the look began.
    pub now: SystemTime,
}

/// A directory with a `SKILL.md` that lies in no other such directory.
#[derive(Debug)]
pub(super) struct Unit {
    /// The directory.
    pub dir: Arc<Directory>,
    /// The directory as findings show it.
    pub shown: PathBuf,
    /// Itself and the candidates nested in it, an enclosing one before those in it.
    pub candidates: Vec<Candidate>,
}

/// A directory with a `SKILL.md`.
#[derive(Debug)]
pub(super) struct Candidate {
    /// Its path below the unit's directory; empty for the unit itself.
    pub path: String,
    /// The name that the skill must have (N2).
    pub dir_name: String,
    /// The nearest candidate around it, as an index into the unit's list.
    pub within: Option<usize>,
    /// `SKILL.md` as findings show it.
    pub shown: PathBuf,
    /// What its `SKILL.md` says.
    pub verdict: Arc<Verdict>,
    /// The finding, if it holds more than it may.
    pub over: Option<Finding>,
}

/// What a `SKILL.md` says.
#[derive(Debug)]
pub(super) struct Verdict {
    /// What is served, if it is fit to be.
    pub judged: Option<Judged>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// What was read; nothing if it could not be.
    pub read: Option<Read>,
}

impl Unit {
    /// Judges a directory and all that is nested in it; `before` is what stood there at the look before.
    pub(super) fn examine(found: &Found<'_>, before: Option<&Self>, setting: &Setting<'_>) -> Self {
        let mut nested = Vec::new();
        list(found.dir, String::new(), None, &mut nested);
        let known = before.into_iter().filter(|before| before.shown == found.shown);
        let known: HashMap<&str, &Candidate> =
            known.flat_map(|unit| &unit.candidates).map(|c| (c.path.as_str(), c)).collect();
        let candidate = |(path, dir, file, within): (String, &Arc<Directory>, &File, Option<usize>)| {
            let shown = found.shown.join(&path).join(SKILL_MD);
            let before = known.get(path.as_str()).map(|candidate| &candidate.verdict);
            let verdict = match before {
                Some(verdict) if verdict.read.as_ref().is_some_and(|read| read.is_still(file)) => {
                    verdict.clone()
                }
                _ => Arc::new(Verdict::of(file, &shown, dir, setting)),
            };
            let dir_name = if path.is_empty() { found.dir_name } else { &dir.name };
            let over = Sum::of(dir, setting.limits).over(setting.limits, &shown);
            Candidate { dir_name: dir_name.to_owned(), path, within, shown, verdict, over }
        };
        let candidates = nested.into_par_iter().map(candidate).collect();
        Self { dir: found.dir.clone(), shown: found.shown.clone(), candidates }
    }
}

impl Verdict {
    fn of(file: &File, shown: &Path, dir: &Directory, setting: &Setting<'_>) -> Self {
        let bytes = match setting.disk.read(&file.source, setting.limits.max_bytes) {
            Ok(bytes) => bytes,
            Err(error) => {
                let findings = vec![unread(shown, &error, Severity::Error)];
                return Self { judged: None, findings, read: None };
            }
        };
        let (judged, findings) = judge(&bytes, shown, dir, setting.rules);
        let read = Read::of(&bytes, file, setting.now);
        if judged.is_some() {
            setting.cache.fill(read.digest, bytes);
        }
        Self { judged, findings, read: Some(read) }
    }
}

type Nested<'a> = (String, &'a Arc<Directory>, &'a File, Option<usize>);

fn list<'a>(dir: &'a Arc<Directory>, path: String, mut within: Option<usize>, nested: &mut Vec<Nested<'a>>) {
    let children = dir.dirs.iter().map(|child| (child, join(&path, &child.name))).collect::<Vec<_>>();
    if let Some(file) = skill_md(dir) {
        nested.push((path, dir, file, within));
        within = Some(nested.len() - 1);
    }
    for (child, path) in children {
        list(child, path, within, nested);
    }
}
