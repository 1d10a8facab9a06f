//! The directories of a root that say they are skills and lie in no other that does, and what is misnamed. What is as it
//! was at the look before is not searched again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::finding::{Code, Finding, Severity};
use crate::skill::SKILL_MD;
use crate::tree::{Directory, File, Root};

use super::branch::{Branch, Category};
use super::build::Location;
use super::placed::Placed;

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
    /// The prefix of its root.
    pub prefix: &'a str,
    /// The name that the skill must have (N2): the directory's own, for a root that of the real directory.
    pub dir_name: &'a str,
    /// The directory that it stands in; none for a root.
    pub parent: Option<&'a Directory>,
    /// The directory as findings show it.
    pub shown: PathBuf,
    /// What stood there at the look before.
    pub known: Option<&'a Arc<Placed>>,
}

/// What a search found.
#[derive(Default)]
pub(super) struct Search<'a> {
    /// The skills' directories, but for those that are taken over from the look before.
    pub found: Vec<Found<'a>>,
    /// The units of the look before in whose directory is none any more.
    pub gone: Vec<(Location, &'a Arc<Placed>)>,
    /// One for each root.
    plans: Vec<Plan<'a>>,
}

/// What will stand in a directory.
enum Plan<'a> {
    /// What stood there before.
    Same(Branch),
    /// What was found as the one of this number.
    Unit(usize),
    Category {
        dir: &'a Arc<Directory>,
        plans: Vec<Plan<'a>>,
        misnamed: Vec<Finding>,
    },
}

impl<'a> Search<'a> {
    /// Searches the next root; `before` is what stood there. Costs no more than the directories that lie in no skill, and if
    /// `may_share`, no more than those of them in which something changed.
    pub(super) fn add(&mut self, root: &'a Root, before: Option<&'a Branch>, may_share: bool) {
        let number = self.plans.len();
        let mut visit = Visit { search: self, number, root, may_share };
        let plan = visit.visit(&root.top, "", None, before);
        self.plans.push(plan);
    }

    /// What stands in the roots, now that what was found is placed.
    pub(super) fn finish(self, placed: &[Arc<Placed>]) -> Vec<Branch> {
        self.plans.into_iter().filter_map(|plan| plan.finish(placed)).collect()
    }
}

impl Plan<'_> {
    fn finish(self, placed: &[Arc<Placed>]) -> Option<Branch> {
        match self {
            Self::Same(branch) => Some(branch),
            Self::Unit(number) => placed.get(number).cloned().map(Branch::Unit),
            Self::Category { dir, plans, misnamed } => {
                let branches = plans.into_iter().filter_map(|plan| plan.finish(placed)).collect();
                Some(Branch::Category(Arc::new(Category::new(dir.clone(), branches, misnamed))))
            }
        }
    }

    fn has_units(&self) -> bool {
        match self {
            Self::Same(branch) => branch.sums().units > 0,
            Self::Unit(_) => true,
            Self::Category { plans, .. } => plans.iter().any(Self::has_units),
        }
    }
}

struct Visit<'s, 'a> {
    search: &'s mut Search<'a>,
    number: usize,
    root: &'a Root,
    may_share: bool,
}

impl<'a> Visit<'_, 'a> {
    fn visit(
        &mut self,
        dir: &'a Arc<Directory>,
        path: &str,
        parent: Option<&'a Directory>,
        before: Option<&'a Branch>,
    ) -> Plan<'a> {
        if let Some(same) = before.filter(|before| self.may_share && before.is_as_before(dir)) {
            return Plan::Same(same.clone());
        }
        if skill_md(dir).is_some() {
            let known = match before {
                Some(Branch::Unit(placed)) => Some(placed),
                before => self.lose(before, path),
            };
            self.search.found.push(Found {
                root: self.number,
                dir,
                path: path.to_owned(),
                prefix: &self.root.prefix,
                dir_name: if parent.is_some() { dir.name() } else { &self.root.real_name },
                parent,
                shown: self.root.shown.join(path),
                known,
            });
            return Plan::Unit(self.search.found.len() - 1);
        }
        let before = match before {
            Some(Branch::Category(category)) => Some(&**category),
            before => {
                self.lose(before, path);
                None
            }
        };
        let plans = self.children(dir, path, before);
        let shown = |name: &str| wrong_case(&self.root.shown.join(path), name);
        let misnamed = dir.files().find(|file| file.name().eq_ignore_ascii_case(SKILL_MD));
        // Above skills it is a list of them.
        let holds_none = parent.is_some() && !plans.iter().any(Plan::has_units);
        let plural = dir.file(PLURAL_MD).filter(|_| holds_none);
        let misnamed = misnamed.into_iter().chain(plural).map(|file| shown(file.name())).collect();
        Plan::Category { dir, plans, misnamed }
    }

    /// Visits what is in a category, beside what was in it before: both in the order of their names.
    fn children(
        &mut self,
        dir: &'a Arc<Directory>,
        path: &str,
        before: Option<&'a Category>,
    ) -> Vec<Plan<'a>> {
        let old = before.map_or(&[][..], |before| &before.dir.dirs);
        let mut old = old.iter().zip(before.into_iter().flat_map(|before| &before.branches)).peekable();
        let is_settled = before.is_some_and(|before| before.sums.is_settled);
        let is_as_before = |old: &Arc<Directory>, branch: &Branch, child: &Arc<Directory>| {
            Arc::ptr_eq(old, child) && (is_settled || branch.is_settled())
        };
        let mut plans = Vec::with_capacity(dir.dirs.len());
        for child in &dir.dirs {
            if let Some((_, same)) =
                old.next_if(|(old, same)| self.may_share && is_as_before(old, same, child))
            {
                plans.push(Plan::Same(same.clone()));
                continue;
            }
            while let Some((gone, branch)) = old.next_if(|(old, _)| old.name() < child.name()) {
                self.lose(Some(branch), &join(path, gone.name()));
            }
            let known = old.next_if(|(old, _)| old.name() == child.name()).map(|(_, branch)| branch);
            plans.push(self.visit(child, &join(path, child.name()), Some(dir), known));
        }
        for (gone, branch) in old {
            self.lose(Some(branch), &join(path, gone.name()));
        }
        plans
    }

    /// Notes that nothing of what stood in a directory stands there any more.
    fn lose(&mut self, before: Option<&'a Branch>, path: &str) -> Option<&'a Arc<Placed>> {
        match before? {
            Branch::Unit(placed) => self.search.gone.push(((self.number, path.to_owned()), placed)),
            Branch::Category(category) => {
                for (dir, branch) in category.dir.dirs.iter().zip(&category.branches) {
                    self.lose(Some(branch), &join(path, dir.name()));
                }
            }
        }
        None
    }
}

/// The `SKILL.md` of a directory that has one.
pub(super) fn skill_md(dir: &Directory) -> Option<File<'_>> {
    dir.file(SKILL_MD)
}

/// Joins two served or relative paths, either of which may be empty.
pub(super) fn join(path: &str, rest: &str) -> String {
    match (path, rest) {
        ("", only) | (only, "") => only.to_owned(),
        (path, rest) => [path, "/", rest].concat(),
    }
}

fn wrong_case(dir: &Path, name: &str) -> Finding {
    let message = format!("only a file named {SKILL_MD} makes a directory a skill; this one is named {name}");
    let help = format!("rename it to {SKILL_MD}");
    Finding::new(Code::WrongCase, Severity::Error, dir.join(name), message, help)
}

/// The finding for a root in which nothing is, nor seems to be meant for, a skill.
pub(super) fn no_skills(root: &Root) -> Finding {
    let flat = root.top.files().find(|file| file.name().ends_with(".md") && file.name() != "README.md");
    let help = match flat.and_then(|file| file.name().strip_suffix(".md")) {
        Some(stem) => format!("a skill is a directory: turn {stem}.md into {stem}/{SKILL_MD}"),
        None => format!("put a directory with a {SKILL_MD} into it, or name another directory"),
    };
    let message = format!("no directory in it has a {SKILL_MD}, so it serves no skill");
    Finding::new(Code::NoSkills, Severity::Warning, &root.shown, message, help)
}
