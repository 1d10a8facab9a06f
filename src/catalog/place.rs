//! Where each candidate is served, if it is.

use std::sync::Arc;

use crate::finding::Finding;
use crate::tree::Directory;

use super::OnNameMismatch;
use super::claims::{Claims, Conflict};
use super::complain::{conflicting, mismatch};
use super::find::{Found, join};
use super::judge::Judged;
use super::unit::{Candidate, Unit};

/// Where the candidates of a unit are served.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Places {
    /// The served path of each candidate that is served.
    pub paths: Box<[Option<Box<str>>]>,
    /// Why others are not.
    pub findings: Box<[Finding]>,
}

/// Places a unit.
pub(super) fn place(unit: &Unit, found: &Found<'_>, policy: OnNameMismatch, claims: &mut Claims) -> Places {
    let mut placing = Placing { unit, found, policy, claims };
    let (mut paths, mut findings) = (Vec::with_capacity(unit.candidates.len()), Vec::new());
    // For each candidate so far, the nearest one at or around it that is served: its path in the unit, its served path.
    let mut around: Vec<Option<(&str, String)>> = Vec::with_capacity(unit.candidates.len());
    for candidate in &unit.candidates {
        let enclosing = candidate.within.and_then(|within| around.get(within as usize).cloned().flatten());
        let placed = match (&candidate.verdict.judged, &candidate.over) {
            (None, _) => None,
            (Some(_), Some(over)) => {
                findings.push((**over).clone());
                None
            }
            (Some(judged), None) => {
                let placed = placing.place(candidate, judged, enclosing.as_ref());
                placed.map_err(|finding| findings.push(*finding)).ok()
            }
        };
        paths.push(placed.as_deref().map(Box::from));
        around.push(placed.map(|path| (&*candidate.path, path)).or(enclosing));
    }
    Places { paths: paths.into(), findings: findings.into() }
}

struct Placing<'a> {
    unit: &'a Unit,
    found: &'a Found<'a>,
    policy: OnNameMismatch,
    claims: &'a mut Claims,
}

impl Placing<'_> {
    /// The served path of a candidate: below the served skill around it, else below the root's prefix.
    fn place(
        &mut self,
        candidate: &Candidate,
        judged: &Judged,
        enclosing: Option<&(&str, String)>,
    ) -> Result<String, Box<Finding>> {
        let name = judged.name.as_str();
        let is_named = name == self.unit.dir_name(candidate);
        let may_move = self.policy == OnNameMismatch::UseName && enclosing.is_none();
        if !is_named && !may_move {
            return Err(mismatch(self.unit, candidate, judged, self.policy));
        }
        let path = match enclosing {
            Some((in_unit, served)) => join(served, candidate.path[in_unit.len()..].trim_start_matches('/')),
            None => {
                let path = join(&self.found.path, &candidate.path);
                let category = path.rsplit_once('/').map_or("", |(category, _)| category);
                join(&join(self.found.prefix, category), name)
            }
        };
        let claimed = if !is_named && self.has_sibling(candidate, name) {
            Err(Conflict::Taken(self.found.root))
        } else {
            self.claims.claim(&path, self.found.root)
        };
        claimed
            .map(|()| path.clone())
            .map_err(|conflict| conflicting(self.unit, candidate, &path, &conflict, self.found.root))
    }

    /// Whether a directory beside the candidate has the name already. It keeps it, also if it is only a category.
    fn has_sibling(&self, candidate: &Candidate, name: &str) -> bool {
        let has_name = |parent: &Directory| parent.dirs.iter().any(|dir| dir.name() == name);
        match candidate.path.rsplit_once('/') {
            None if candidate.path.is_empty() => self.found.parent.is_some_and(has_name),
            None => has_name(self.found.dir),
            Some((parent, _)) => descend(self.found.dir, parent).is_some_and(|parent| has_name(parent)),
        }
    }
}

/// The directory at a path below another.
pub(super) fn descend<'a>(dir: &'a Arc<Directory>, path: &str) -> Option<&'a Arc<Directory>> {
    path.split('/').filter(|name| !name.is_empty()).try_fold(dir, |dir, name| {
        let at = dir.dirs.binary_search_by(|child| child.name().cmp(name)).ok()?;
        dir.dirs.get(at)
    })
}
