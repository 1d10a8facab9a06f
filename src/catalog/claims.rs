//! Which served paths are taken, so that no two skills share a URI and none lies inside a skill of another root (E4, E6).

use std::collections::BTreeMap;

use super::order::{in_tree_order, is_within};

/// Why a path cannot be claimed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// A skill of the root with this number is served there already.
    Taken(usize),
    /// It would lie inside the skill at this path.
    Inside(String),
    /// It would enclose the skill at this path.
    Encloses(String),
}

/// The claimed paths.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// The served path of each skill, and the root that it comes from.
    skills: BTreeMap<Key, usize>,
}

/// A path that sorts in tree order, so that what lies inside a path follows it at once.
#[derive(Debug, PartialEq, Eq)]
struct Key(String);

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        in_tree_order(&self.0, &other.0)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Claims {
    /// Takes `path` for a skill of the root numbered `root`; the first to ask keeps it. Skills of one root nest as their
    /// directories do.
    pub(super) fn claim(&mut self, path: &str, root: usize) -> Result<(), Conflict> {
        let key = Key(path.to_owned());
        if let Some(other) = self.skills.get(&key) {
            return Err(Conflict::Taken(*other));
        }
        for (slash, _) in path.rmatch_indices('/') {
            let around = Key(path[..slash].to_owned());
            if self.skills.get(&around).is_some_and(|other| *other != root) {
                return Err(Conflict::Inside(around.0));
            }
        }
        let mut inside = self.skills.range(&key..).take_while(|(other, _)| is_within(&other.0, path));
        if let Some((other, _)) = inside.find(|(_, other)| **other != root) {
            return Err(Conflict::Encloses(other.0.clone()));
        }
        self.skills.insert(key, root);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_keeps_its_place_and_roots_do_not_nest() {
        let (first, second) = (0, 1);
        let mut claims = Claims::default();
        let mut check = |path: &str, root, expected| assert_eq!(claims.claim(path, root), expected, "{path}");
        check("a/b", first, Ok(()));
        check("a/b", second, Err(Conflict::Taken(first)));
        check("a/b", first, Err(Conflict::Taken(first)));
        check("a/b/c", first, Ok(()));
        check("a/b/d/e", second, Err(Conflict::Inside("a/b".to_owned())));
        check("a", second, Err(Conflict::Encloses("a/b".to_owned())));
        check("a-b", second, Ok(()));
        check("a/bc", second, Ok(()));
        check("a", first, Err(Conflict::Encloses("a/bc".to_owned())));
        check("a/b/c/d", first, Ok(()));
        check("z", second, Ok(()));
    }
}
