//! What changed between two snapshots, skill by skill.

use std::cmp::Ordering;

use super::order::in_tree_order;
use super::shard::Skill;
use super::snapshot::Snapshot;

/// The served paths of the skills that differ, each in listing order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Served now and not before.
    pub added: Vec<String>,
    /// Served before and now, with another frontmatter or other files.
    pub changed: Vec<String>,
    /// Served before and not now.
    pub removed: Vec<String>,
}

impl Snapshot {
    /// How this snapshot differs from one before it.
    pub fn changes_since(&self, before: &Self) -> Changes {
        let mut changes = Changes::default();
        let (mut old, mut new) = (before.skills().peekable(), self.skills().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(old), Some(new)) => in_tree_order(&old.path, &new.path),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return changes,
            };
            let (was, is) = (old.next_if(|_| order.is_le()), new.next_if(|_| order.is_ge()));
            match (was, is) {
                (Some(was), None) => changes.removed.push(was.path.to_string()),
                (None, Some(is)) => changes.added.push(is.path.to_string()),
                (Some(was), Some(is)) if !self.has_same(is, before, was) => {
                    changes.changed.push(is.path.to_string())
                }
                _ => {}
            }
        }
    }

    fn has_same(&self, skill: &Skill, before: &Self, was: &Skill) -> bool {
        if self.shares(before, &skill.path) {
            return true;
        }
        let files = self.files(skill).map(|(path, file)| (path, file.digest()));
        let old_files = before.files(was).map(|(path, file)| (path, file.digest()));
        skill.frontmatter == was.frontmatter && files.eq(old_files)
    }
}
