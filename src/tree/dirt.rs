//! Which served directories a hint makes worth another look.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::memory::{Memory, Node};
use super::zone::{Zone, Zones};

/// A part of a served tree: the directories that are to be listed again, and those around them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dirt {
    /// Whether this directory itself is to be listed.
    pub(super) here: bool,
    /// By name.
    pub(super) below: BTreeMap<Box<str>, Dirt>,
}

impl Dirt {
    /// What of the remembered tree of a root in `zone` the real directories `dirs` are or decide.
    pub(super) fn of(memory: &Memory, dirs: &HashSet<PathBuf>, zone: &Zone, zones: &Zones) -> Self {
        let mut dirt = Self::default();
        let Some(top) = &memory.top else { return dirt };
        for dir in dirs {
            dirt.extend(dir.strip_prefix(&zone.real).ok().and_then(|path| own_names(top, path)));
            for served in memory.dependents(dir, zones) {
                dirt.extend(Some(served.split('/').filter(|name| !name.is_empty()).collect()));
            }
        }
        dirt
    }

    pub(super) fn is_clean(&self) -> bool {
        *self == Self::default()
    }

    fn extend(&mut self, names: Option<Vec<&str>>) {
        let Some(names) = names else { return };
        let mut dirt = self;
        for name in names {
            dirt = dirt.below.entry(name.into()).or_default();
        }
        dirt.here = true;
    }
}

/// The names that lead to the directory at `path` below `top`, if it was listed there without going through a link.
fn own_names<'a>(top: &Node, path: &'a Path) -> Option<Vec<&'a str>> {
    let mut node = top;
    let mut names = Vec::new();
    for name in path {
        let name = name.to_str()?;
        node = node.child(name).filter(|child| !child.own.linked)?;
        names.push(name);
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_lead_down_to_what_is_to_be_listed() {
        let mut dirt = Dirt::default();
        assert!(dirt.is_clean());
        dirt.extend(Some(vec!["a", "b"]));
        dirt.extend(Some(vec!["a"]));
        assert!(!dirt.here && dirt.below["a"].here && dirt.below["a"].below["b"].here);
        dirt.extend(Some(vec![]));
        assert!(dirt.here);
    }
}
