//! Every directory of a tree that says it is a skill, found and judged one by one, without regard to any other.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::finding::{Code, Finding, Place, Problem, Severity};
use crate::skill::{Digest, SKILL_MD, SkillName};
use crate::tree::{Directory, Disk, File, ReadError, Root};
use crate::{format, frontmatter};

use super::shard::Content;

/// A directory with a `SKILL.md`.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    /// The directory.
    pub dir: &'a Directory,
    /// Its path below its root; empty for the root itself.
    pub path: String,
    /// The name that the skill must have (N2): the directory's own, for a root that of the real directory.
    pub dir_name: &'a str,
    /// The directory that it stands in; none for a root.
    pub parent: Option<&'a Directory>,
    /// The nearest candidate around it, as an index into the same list.
    pub within: Option<usize>,
    /// `SKILL.md` as findings show it.
    pub shown: PathBuf,
    skill_md: &'a File,
}

/// A `SKILL.md` that is fit to be served, as far as it alone can say.
#[derive(Debug)]
pub(super) struct Judged {
    /// The name that it states.
    pub name: SkillName,
    /// All that its frontmatter says.
    pub frontmatter: Map<String, Value>,
    /// Where it states its name, for findings about it.
    pub name_place: Place,
    /// The digest, size and kind of the very bytes that were parsed.
    pub read: Read,
}

/// What one read of a file gave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub digest: Digest,
    pub size: u64,
    pub content: Content,
}

impl Read {
    /// Reads a file and forgets its bytes.
    pub(super) fn file(disk: &Disk, file: &File, max_bytes: u64) -> Result<Self, ReadError> {
        Ok(Self::of(&disk.read(&file.source, max_bytes)?))
    }

    fn of(bytes: &[u8]) -> Self {
        Self { digest: Digest::of(bytes), size: bytes.len() as u64, content: Content::of(bytes) }
    }
}

/// The candidates of a root, an enclosing one before those in it, and a finding for each file that is misnamed.
pub(super) fn find(root: &Root) -> (Vec<Candidate<'_>>, Vec<Finding>) {
    let mut search = Search { root, candidates: Vec::new(), findings: Vec::new() };
    search.visit(&root.top, "", None, None);
    if search.candidates.is_empty() && search.findings.is_empty() {
        search.findings.push(no_skills(root));
    }
    (search.candidates, search.findings)
}

struct Search<'a> {
    root: &'a Root,
    candidates: Vec<Candidate<'a>>,
    findings: Vec<Finding>,
}

impl<'a> Search<'a> {
    fn visit(
        &mut self,
        dir: &'a Directory,
        path: &str,
        parent: Option<&'a Directory>,
        mut within: Option<usize>,
    ) {
        let shown = self.root.shown.join(path);
        if let Some(skill_md) = dir.files.iter().find(|file| &*file.name == SKILL_MD) {
            self.candidates.push(Candidate {
                dir,
                path: path.to_owned(),
                dir_name: if parent.is_some() { &dir.name } else { &self.root.real_name },
                parent,
                within,
                shown: shown.join(SKILL_MD),
                skill_md,
            });
            within = Some(self.candidates.len() - 1);
        } else if within.is_none() {
            // Inside a skill such a file is as good a supporting file as any other.
            let misnamed = dir.files.iter().find(|file| file.name.eq_ignore_ascii_case(SKILL_MD));
            self.findings.extend(misnamed.map(|file| wrong_case(&shown, &file.name)));
        }
        for child in &dir.dirs {
            self.visit(child, &join(path, &child.name), Some(dir), within);
        }
    }
}

/// Joins two served or relative paths, either of which may be empty.
pub(super) fn join(path: &str, rest: &str) -> String {
    match (path, rest) {
        ("", only) | (only, "") => only.to_owned(),
        (path, rest) => format!("{path}/{rest}"),
    }
}

impl Candidate<'_> {
    /// Reads and judges the `SKILL.md`.
    pub(super) fn judge(&self, disk: &Disk, max_bytes: u64) -> (Option<Judged>, Vec<Finding>) {
        let bytes = match disk.read(&self.skill_md.source, max_bytes) {
            Ok(bytes) => bytes,
            Err(error) => return (None, vec![unread(&self.shown, &error, Severity::Error)]),
        };
        let told = |problem: Problem, severity| Finding {
            code: problem.code,
            severity,
            path: self.shown.clone(),
            place: Some(Place::of(&bytes, &problem.span)),
            message: problem.message,
            help: problem.help,
        };
        let frontmatter = match frontmatter::parse(&bytes) {
            Ok(frontmatter) => frontmatter,
            Err(problem) => return (None, vec![told(problem, Severity::Error)]),
        };
        let (name, problems) = format::judge(&frontmatter);
        let severity = if name.is_some() { Severity::Warning } else { Severity::Error };
        let findings = problems.into_iter().map(|problem| told(problem, severity)).collect();
        let name_span = frontmatter.spans.get("name").map_or(0..0, |span| span.value.clone());
        let judged = name.map(|name| Judged {
            name,
            name_place: Place::of(&bytes, &name_span),
            frontmatter: frontmatter.fields,
            read: Read::of(&bytes),
        });
        (judged, findings)
    }
}

/// The finding for a file that could not be read.
pub(super) fn unread(path: &Path, error: &ReadError, severity: Severity) -> Finding {
    let (code, help) = match error {
        ReadError::TooLarge { .. } => {
            (Code::TooLarge, "make the file smaller, or raise --max-bytes for hosts that take larger skills")
        }
        ReadError::Gone => (Code::Changing, "let the writer finish, then look again"),
        ReadError::Io(_) => (Code::Unreadable, "give the server's user the right to read it, or exclude it"),
    };
    Finding {
        code,
        severity,
        path: path.to_owned(),
        place: None,
        message: format!("the file could not be read: {error}"),
        help: help.to_owned(),
    }
}

fn wrong_case(dir: &Path, name: &str) -> Finding {
    Finding {
        code: Code::WrongCase,
        severity: Severity::Error,
        path: dir.join(name),
        place: None,
        message: format!("only a file named {SKILL_MD} makes a directory a skill; this one is named {name}"),
        help: format!("rename it to {SKILL_MD}"),
    }
}

fn no_skills(root: &Root) -> Finding {
    let flat = root.top.files.iter().find(|file| file.name.ends_with(".md") && &*file.name != "README.md");
    let help = match flat.and_then(|file| file.name.strip_suffix(".md")) {
        Some(stem) => format!("a skill is a directory: turn {stem}.md into {stem}/{SKILL_MD}"),
        None => format!("put a directory with a {SKILL_MD} into it, or name another directory"),
    };
    Finding {
        code: Code::NoSkills,
        severity: Severity::Warning,
        path: root.shown.clone(),
        place: None,
        message: format!("no directory in it has a {SKILL_MD}, so it serves no skill"),
        help,
    }
}
