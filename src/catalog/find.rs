//! The directories of a root that say they are skills and lie in no other that does, and what is misnamed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::finding::{Code, Finding, Severity};
use crate::skill::SKILL_MD;
use crate::tree::{Directory, File, Root};

/// A name that some give to the one file in a directory that was meant to be a skill.
const PLURAL_MD: &str = "SKILLS.md";

/// A directory with a `SKILL.md` that lies in no other such directory.
#[derive(Debug)]
pub(super) struct Found<'a> {
    /// The number of its root.
    pub root: usize,
    /// The directory.
    pub dir: &'a Arc<Directory>,
    /// Its path below its root; empty for the root itself.
    pub path: String,
    /// The name that the skill must have (N2): the directory's own, for a root that of the real directory.
    pub dir_name: &'a str,
    /// The directory that it stands in; none for a root.
    pub parent: Option<&'a Directory>,
    /// The directory as findings show it.
    pub shown: PathBuf,
}

/// Searches a root. Costs no more than the directories that lie in no skill.
pub(super) fn find(number: usize, root: &Root) -> (Vec<Found<'_>>, Vec<Finding>) {
    let mut search = Search { number, root, found: Vec::new(), findings: Vec::new() };
    search.visit(&root.top, "", None);
    if search.found.is_empty() && search.findings.is_empty() && !root.is_lost {
        search.findings.push(no_skills(root));
    }
    (search.found, search.findings)
}

/// The `SKILL.md` of a directory that has one.
pub(super) fn skill_md(dir: &Directory) -> Option<File<'_>> {
    dir.file(SKILL_MD)
}

/// Joins two served or relative paths, either of which may be empty.
pub(super) fn join(path: &str, rest: &str) -> String {
    match (path, rest) {
        ("", only) | (only, "") => only.to_owned(),
        (path, rest) => format!("{path}/{rest}"),
    }
}

struct Search<'a> {
    number: usize,
    root: &'a Root,
    found: Vec<Found<'a>>,
    findings: Vec<Finding>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, dir: &'a Arc<Directory>, path: &str, parent: Option<&'a Directory>) {
        if skill_md(dir).is_some() {
            self.found.push(Found {
                root: self.number,
                dir,
                path: path.to_owned(),
                dir_name: if parent.is_some() { &dir.name } else { &self.root.real_name },
                parent,
                shown: self.root.shown.join(path),
            });
            return;
        }
        let misnamed = dir.files().find(|file| file.name().eq_ignore_ascii_case(SKILL_MD));
        self.findings.extend(misnamed.map(|file| wrong_case(&self.root.shown.join(path), file.name())));
        let found_before = self.found.len();
        for child in &dir.dirs {
            self.visit(child, &join(path, &child.name), Some(dir));
        }
        // Above skills it is a list of them.
        let holds_none = parent.is_some() && self.found.len() == found_before;
        let plural = dir.file(PLURAL_MD).filter(|_| holds_none);
        self.findings.extend(plural.map(|file| wrong_case(&self.root.shown.join(path), file.name())));
    }
}

fn wrong_case(dir: &Path, name: &str) -> Finding {
    let message = format!("only a file named {SKILL_MD} makes a directory a skill; this one is named {name}");
    let help = format!("rename it to {SKILL_MD}");
    Finding::new(Code::WrongCase, Severity::Error, dir.join(name), message, help)
}

fn no_skills(root: &Root) -> Finding {
    let flat = root.top.files().find(|file| file.name().ends_with(".md") && file.name() != "README.md");
    let help = match flat.and_then(|file| file.name().strip_suffix(".md")) {
        Some(stem) => format!("a skill is a directory: turn {stem}.md into {stem}/{SKILL_MD}"),
        None => format!("put a directory with a {SKILL_MD} into it, or name another directory"),
    };
    let message = format!("no directory in it has a {SKILL_MD}, so it serves no skill");
    Finding::new(Code::NoSkills, Severity::Warning, &root.shown, message, help)
}
