//! From a walked tree to a snapshot: which candidates are served, under which paths, and what their files digest to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::finding::{Code, Finding, Severity};
use crate::skill::SKILL_MD;
use crate::tree::{Directory, File as TreeFile, Root, Tree};
use crate::uri;

use super::candidate::{self, Candidate, Judged, Read, join};
use super::claims::{Claims, Conflict};
use super::limits::{Limits, Sum};
use super::snapshot::{File, Node, Snapshot};

/// How skills are judged.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What one skill may hold.
    pub limits: Limits,
    /// What happens to a skill whose name is not its directory's.
    pub on_name_mismatch: OnNameMismatch,
}

/// What happens to a skill whose name is not its directory's (U2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnNameMismatch {
    /// It is not served.
    #[default]
    Skip,
    /// It is served as if its directory had its name. Not inside another skill, whose relative links it would break.
    UseName,
}

/// Builds the snapshot of what is served from `tree`, and says what is not and why.
pub fn build(tree: &Tree, options: &Options) -> (Snapshot, Vec<Finding>) {
    let mut build =
        Build { tree, options, claims: Claims::default(), served: Vec::new(), findings: Vec::new() };
    for (at, root) in tree.roots.iter().enumerate() {
        build.root(at, root);
    }
    build.finish()
}

struct Build<'a> {
    tree: &'a Tree,
    options: &'a Options,
    claims: Claims,
    served: Vec<Served<'a>>,
    findings: Vec<Finding>,
}

/// A skill that is served, unless its files turn out to be more or larger than they looked.
struct Served<'a> {
    path: String,
    candidate: Candidate<'a>,
    judged: Judged,
    /// Whether it lies in another served skill, whose files then hold its own.
    nested: bool,
}

impl<'a> Build<'a> {
    /// Decides which skills of a root are served, and where.
    fn root(&mut self, number: usize, root: &'a Root) {
        let (candidates, findings) = candidate::find(root);
        self.findings.extend(findings);
        let max_bytes = self.options.limits.max_bytes;
        let verdicts: Vec<_> = candidates.par_iter().map(|c| c.judge(&self.tree.disk, max_bytes)).collect();

        // For each candidate met so far, the paths of the nearest served skill at or around it: below the root, served.
        let mut around: Vec<Option<(String, String)>> = Vec::with_capacity(candidates.len());
        for (candidate, (judged, findings)) in candidates.into_iter().zip(verdicts) {
            self.findings.extend(findings);
            let enclosing = candidate.within.and_then(|within| around[within].clone());
            let decided = judged.map(|judged| {
                let limits = self.options.limits;
                if let Some(over) = Sum::of(candidate.dir, limits).over(limits, &candidate.shown) {
                    return Err(Box::new(over));
                }
                let path = self.place(number, root, &candidate, &judged, enclosing.as_ref())?;
                Ok((path, judged))
            });
            around.push(match decided {
                Some(Ok((path, judged))) => {
                    let paths = (candidate.path.clone(), path.clone());
                    self.served.push(Served { path, candidate, judged, nested: enclosing.is_some() });
                    Some(paths)
                }
                Some(Err(finding)) => {
                    self.findings.push(*finding);
                    enclosing
                }
                None => enclosing,
            });
        }
    }

    /// The served path of a candidate: below the served skill around it, else below the root's prefix.
    fn place(
        &mut self,
        number: usize,
        root: &Root,
        candidate: &Candidate<'_>,
        judged: &Judged,
        enclosing: Option<&(String, String)>,
    ) -> Result<String, Box<Finding>> {
        let name = judged.name.as_str();
        let is_named = name == candidate.dir_name;
        let may_move = self.options.on_name_mismatch == OnNameMismatch::UseName && enclosing.is_none();
        if !is_named && !may_move {
            return Err(mismatch(candidate, judged, self.options.on_name_mismatch));
        }
        // A directory that has the name already keeps it, also if it is only a category of skills.
        let is_taken = |parent: &Directory| !is_named && parent.dirs.iter().any(|dir| &*dir.name == name);
        let path = match enclosing {
            Some((below_root, served)) => {
                join(served, candidate.path[below_root.len()..].trim_start_matches('/'))
            }
            None => {
                let category = candidate.path.rsplit_once('/').map_or("", |(category, _)| category);
                join(&join(&root.prefix, category), name)
            }
        };
        let claimed = if candidate.parent.is_some_and(is_taken) {
            Err(Conflict::Taken)
        } else {
            self.claims.claim(&path, number)
        };
        claimed.map(|()| path.clone()).map_err(|conflict| conflicting(candidate, &path, &conflict))
    }

    /// Reads and digests every file of the served skills.
    fn finish(mut self) -> (Snapshot, Vec<Finding>) {
        let known: HashMap<String, Read> =
            self.served.iter().map(|skill| (join(&skill.path, SKILL_MD), skill.judged.read)).collect();
        let mut nodes = Vec::new();
        let mut wanted = Vec::new();
        for skill in self.served.iter().filter(|skill| !skill.nested) {
            let shown = skill.candidate.shown.parent().unwrap_or(&skill.candidate.shown);
            gather(skill.candidate.dir, &skill.path, shown, &mut nodes, &mut wanted);
        }
        let max_bytes = self.options.limits.max_bytes;
        let read: Vec<Result<Node, Box<Finding>>> = wanted
            .into_par_iter()
            .map(|wanted| match known.get(&wanted.path) {
                Some(read) => Ok(wanted.node(*read)),
                None => match Read::file(&self.tree.disk, wanted.file, max_bytes) {
                    Ok(read) => Ok(wanted.node(read)),
                    Err(error) => Err(Box::new(candidate::unread(&wanted.shown, &error, Severity::Warning))),
                },
            })
            .collect();
        for outcome in read {
            match outcome {
                Ok(node) => nodes.push(node),
                Err(finding) => self.findings.push(*finding),
            }
        }
        let shown: Vec<_> =
            self.served.iter().map(|skill| (skill.path.clone(), skill.candidate.shown.clone())).collect();
        let skills =
            self.served.into_iter().map(|skill| (skill.path.into(), skill.judged.frontmatter)).collect();
        let mut snapshot = Snapshot::new(nodes, skills, self.tree.disk.clone());
        self.findings.extend(drop_grown(&mut snapshot, &shown, self.options.limits));
        self.findings.sort_by(|a, b| a.path.cmp(&b.path));
        (snapshot, self.findings)
    }
}

/// Takes out the skills that were within the limits when they were walked and no longer when their files were read.
fn drop_grown(snapshot: &mut Snapshot, shown: &[(String, PathBuf)], limits: Limits) -> Vec<Finding> {
    let mut paths = Vec::new();
    let mut findings = Vec::new();
    for (path, shown) in shown {
        let mut sum = Sum::default();
        let files = snapshot.skill(path).map(|skill| snapshot.files(skill));
        files.into_iter().flatten().for_each(|(_, file)| sum.add(file.size));
        if let Some(finding) = sum.over(limits, shown) {
            paths.push(path.as_str());
            findings.push(finding);
        }
    }
    if !paths.is_empty() {
        snapshot.remove(&paths);
    }
    findings
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

/// Lists a directory that is served at `path`, with all that is in it: directories are nodes at once, files are wanted.
fn gather<'a>(
    dir: &'a Directory,
    path: &str,
    shown: &Path,
    nodes: &mut Vec<Node>,
    wanted: &mut Vec<Wanted<'a>>,
) {
    nodes.push(Node { path: path.into(), file: None });
    for file in &dir.files {
        wanted.push(Wanted { path: join(path, &file.name), file, shown: shown.join(&*file.name) });
    }
    for child in &dir.dirs {
        gather(child, &join(path, &child.name), &shown.join(&*child.name), nodes, wanted);
    }
}

fn mismatch(candidate: &Candidate<'_>, judged: &Judged, policy: OnNameMismatch) -> Box<Finding> {
    let (name, dir_name) = (&judged.name, candidate.dir_name);
    let help = match policy {
        OnNameMismatch::Skip => {
            format!("make the two equal, or serve it as {name} with --on-name-mismatch use-name")
        }
        OnNameMismatch::UseName => {
            format!("rename the directory to {name}; inside another skill nothing is moved")
        }
    };
    Box::new(Finding {
        code: Code::NameMismatch,
        severity: Severity::Error,
        path: candidate.shown.clone(),
        place: Some(judged.name_place.clone()),
        message: format!("the name \"{name}\" is not that of its directory, \"{dir_name}\""),
        help,
    })
}

fn conflicting(candidate: &Candidate<'_>, path: &str, conflict: &Conflict) -> Box<Finding> {
    let uri = uri::from_path(path);
    let (code, message) = match conflict {
        Conflict::Taken => (Code::UriTaken, format!("another skill is already served at {uri}")),
        Conflict::Inside(other) => (
            Code::InsideAnotherSkill,
            format!("{uri} would lie inside {}, a skill of another root", uri::from_path(other)),
        ),
        Conflict::Encloses(other) => (
            Code::InsideAnotherSkill,
            format!("{uri} would enclose {}, a skill of another root", uri::from_path(other)),
        ),
    };
    Box::new(Finding {
        code,
        severity: Severity::Error,
        path: candidate.shown.clone(),
        place: None,
        message,
        help: "put one of the two roots under a prefix of its own with --mount PREFIX=DIR".to_owned(),
    })
}
