//! What stands in the directories of a root: skills, and directories that lie in none and may have skills below them. Where
//! nothing changed, all below a directory is taken over at once.

use std::path::Path;
use std::sync::Arc;

use crate::finding::Finding;
use crate::tree::Directory;

use super::placed::Placed;

/// What stands in one directory.
#[derive(Clone, Debug)]
pub(super) enum Branch {
    /// A skill, with all that is in it.
    Unit(Arc<Placed>),
    /// No skill, but perhaps skills below it.
    Category(Arc<Category>),
}

/// A directory that lies in no skill.
#[derive(Debug)]
pub(super) struct Category {
    /// The directory.
    pub dir: Arc<Directory>,
    /// What stands in each directory in it, in their order.
    pub branches: Box<[Branch]>,
    /// What looks as if a skill was meant.
    pub misnamed: Box<[Finding]>,
    pub sums: Sums,
}

/// What there is at and below a directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pub units: usize,
    pub findings: usize,
    /// Whether a directory tree with the same identities is sure to have the same bytes.
    pub is_settled: bool,
}

impl Category {
    pub(super) fn new(dir: Arc<Directory>, branches: Vec<Branch>, misnamed: Vec<Finding>) -> Self {
        let mut sums = Sums { units: 0, findings: misnamed.len(), is_settled: true };
        for more in branches.iter().map(Branch::sums) {
            sums.units += more.units;
            sums.findings += more.findings;
            sums.is_settled &= more.is_settled;
        }
        Self { dir, branches: branches.into(), misnamed: misnamed.into(), sums }
    }
}

impl Branch {
    pub(super) fn sums(&self) -> Sums {
        match self {
            Self::Unit(placed) => {
                Sums { units: 1, findings: placed.all_findings().count(), is_settled: placed.is_settled }
            }
            Self::Category(category) => category.sums,
        }
    }

    /// Whether it stands in this very directory, and no file in it can have changed unseen.
    pub(super) fn is_as_before(&self, dir: &Arc<Directory>) -> bool {
        let own = match self {
            Self::Unit(placed) => &placed.unit.dir,
            Self::Category(category) => &category.dir,
        };
        Arc::ptr_eq(own, dir) && self.is_settled()
    }

    /// Whether no file in it can have changed unseen.
    pub(super) fn is_settled(&self) -> bool {
        match self {
            Self::Unit(placed) => placed.is_settled,
            Self::Category(category) => category.sums.is_settled,
        }
    }

    /// The unit at a path below this directory.
    pub(super) fn unit(&self, path: &str) -> Option<&Arc<Placed>> {
        match self.outermost(path.split('/').filter(|name| !name.is_empty()).map(Some))? {
            (placed, 0) => Some(placed),
            _ => None,
        }
    }

    /// Whether a path below this directory is that of a unit or of something in one.
    pub(super) fn is_in_unit(&self, path: &Path) -> bool {
        self.outermost(path.iter().map(|name| name.to_str())).is_some()
    }

    /// The unit that a path leads to or into, and how many names are left of the path there.
    fn outermost<'n>(
        &self,
        mut names: impl Iterator<Item = Option<&'n str>>,
    ) -> Option<(&Arc<Placed>, usize)> {
        let mut branch = self;
        loop {
            match branch {
                Self::Unit(placed) => return Some((placed, names.count())),
                Self::Category(category) => {
                    let name = names.next()??;
                    let at = category.dir.dirs.binary_search_by(|dir| dir.name().cmp(name)).ok()?;
                    branch = category.branches.get(at)?;
                }
            }
        }
    }

    /// Goes to every category and every unit in a part for which `enter` holds, in the order of their paths.
    pub(super) fn visit<'a>(&'a self, enter: &impl Fn(&Sums) -> bool, see: &mut impl FnMut(&'a Self)) {
        see(self);
        if let Self::Category(category) = self {
            for branch in category.branches.iter().filter(|branch| enter(&branch.sums())) {
                branch.visit(enter, see);
            }
        }
    }
}
