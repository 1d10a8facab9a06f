//! From a walked tree to a snapshot: which candidates are served, under which paths, and what their files digest to.

use std::sync::Arc;

use rayon::prelude::*;

use crate::finding::Finding;
use crate::tree::{Directory, Root, Tree};

use super::candidate::{self, Candidate, Judged, join};
use super::claims::{Claims, Conflict};
use super::complain::{conflicting, mismatch};
use super::limits::{Limits, Sum};
use super::read::{Served, shards};
use super::snapshot::Snapshot;

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
        let mut outermost: Vec<Vec<Served<'a>>> = Vec::new();
        for skill in self.served {
            match outermost.last_mut() {
                Some(around) if skill.nested => around.push(skill),
                _ => outermost.push(vec![skill]),
            }
        }
        let disk = &self.tree.disk;
        let limits = self.options.limits;
        let read: Vec<_> = outermost.into_par_iter().map(|skills| shards(skills, disk, limits)).collect();
        let mut all = Vec::new();
        for (shards, findings) in read {
            all.extend(shards.into_iter().map(Arc::new));
            self.findings.extend(findings);
        }
        self.findings.sort_by(|a, b| a.path.cmp(&b.path));
        (Snapshot::new(all), self.findings)
    }
}
