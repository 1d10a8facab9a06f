//! Which directories are watched, and which of their entries are of interest.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use crate::tree::{Hint, Steps};

use super::event::{How, Said};

/// The directories that are of interest.
#[derive(Debug, Default)]
pub(super) struct Known {
    dirs: BTreeMap<PathBuf, Dir>,
    /// Those of them that are not watched, or not any more.
    unwatched: HashSet<PathBuf>,
    gates: HashSet<PathBuf>,
}

#[derive(Debug, Default)]
struct Dir {
    /// How many reasons there are to be interested in all its entries.
    reasons: u32,
    /// Whether it holds gates.
    has_gates: bool,
}

/// What is to be done about watches, in this order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Orders {
    pub(super) unwatch: Vec<PathBuf>,
    pub(super) watch: Vec<PathBuf>,
}

impl Known {
    /// Takes the steps of a tree, and says what to do so that all that is of interest is watched. What is to be watched
    /// counts as such from here on.
    pub(super) fn step(&mut self, steps: Steps, gates: &HashSet<PathBuf>) -> Orders {
        // At the start all directories are added at once, so nothing is put together of them but what stays.
        for path in steps.added {
            let dir = self.dir(path);
            dir.reasons = dir.reasons.saturating_add(1);
        }
        let mut touched: HashSet<PathBuf> = HashSet::new();
        for path in steps.removed {
            if let Some(dir) = self.dirs.get_mut(&path) {
                dir.reasons = dir.reasons.saturating_sub(1);
                touched.extend((dir.reasons == 0).then_some(path));
            }
        }
        if self.gates != *gates {
            let old = std::mem::replace(&mut self.gates, gates.clone());
            for (gates, has_gates) in [(&old, false), (gates, true)] {
                for path in gates.iter().filter_map(|gate| gate.parent()) {
                    self.dir(path.to_owned()).has_gates = has_gates;
                    touched.insert(path.to_owned());
                }
            }
        }
        let is_over =
            |path: &PathBuf| self.dirs.get(path).is_some_and(|dir| dir.reasons == 0 && !dir.has_gates);
        let unwatch: Vec<_> = touched.into_iter().filter(is_over).collect();
        for path in &unwatch {
            self.dirs.remove(path);
            self.unwatched.remove(path);
        }
        self.unwatched.extend(steps.replaced.into_iter().filter(|path| self.dirs.contains_key(path)));
        Orders { unwatch, watch: std::mem::take(&mut self.unwatched).into_iter().collect() }
    }

    /// The directory at `path`, which is of interest from here on.
    fn dir(&mut self, path: PathBuf) -> &mut Dir {
        match self.dirs.entry(path) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                self.unwatched.insert(new.key().clone());
                new.insert(Dir::default())
            }
        }
    }

    /// How many directories are of interest.
    pub(super) fn len(&self) -> usize {
        self.dirs.len()
    }

    /// Notes that a directory could not be watched.
    pub(super) fn not_watched(&mut self, path: PathBuf) {
        if self.dirs.contains_key(&path) {
            self.unwatched.insert(path);
        }
    }

    /// What is to be looked at after an event.
    pub(super) fn hear(&mut self, said: &Said) -> Hint {
        let mut dirs = HashSet::new();
        match said {
            Said::Nothing => {}
            Said::Lost => {
                // Among what was lost may be that watches are gone.
                self.unwatched.extend(self.dirs.keys().cloned());
                return Hint::Everything;
            }
            Said::Changed { entries, how } => {
                for entry in entries {
                    if *how == How::Gone {
                        self.lose(entry);
                    }
                    if let Some(parent) =
                        entry.parent().filter(|parent| self.gates.contains(entry) || self.is_listed(parent))
                    {
                        dirs.insert(parent.to_owned());
                    }
                    if self.is_listed(entry) {
                        dirs.insert(entry.clone());
                    }
                }
            }
        }
        Hint::Directories(dirs)
    }

    fn is_listed(&self, path: &Path) -> bool {
        self.dirs.get(path).is_some_and(|dir| dir.reasons > 0)
    }

    /// Notes that watches at and below `path` are gone, or are on what is somewhere else now.
    fn lose(&mut self, path: &Path) {
        let from = (Bound::Included(path), Bound::Unbounded);
        let below = self.dirs.range::<Path, _>(from).take_while(|(dir, _)| dir.starts_with(path));
        self.unwatched.extend(below.map(|(dir, _)| dir.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    fn steps(added: &[&str], removed: &[&str], replaced: &[&str]) -> Steps {
        Steps { added: paths(added), removed: paths(removed), replaced: paths(replaced) }
    }

    /// Takes steps, and compares the orders.
    fn step(known: &mut Known, steps: Steps, gates: &[&str], unwatch: &[&str], watch: &[&str]) {
        let mut orders = known.step(steps, &paths(gates).into_iter().collect());
        orders.unwatch.sort();
        orders.watch.sort();
        assert_eq!(orders, Orders { unwatch: paths(unwatch), watch: paths(watch) });
    }

    fn hear(known: &mut Known, entry: &str, are_gone: bool, expected: &[&str]) {
        let how = if are_gone { How::Gone } else { How::Other };
        let heard = known.hear(&Said::Changed { entries: paths(&[entry]), how });
        assert_eq!(heard, Hint::Directories(paths(expected).into_iter().collect()), "{entry}");
    }

    #[test]
    fn a_directory_is_watched_as_long_as_there_is_a_reason() {
        let known = &mut Known::default();
        step(known, steps(&["/r", "/r/a", "/r/a"], &[], &[]), &[], &[], &["/r", "/r/a"]);
        step(known, steps(&["/r/b"], &["/r/a"], &[]), &[], &[], &["/r/b"]);
        step(known, steps(&["/r/b"], &["/r/a", "/r/b"], &[]), &[], &["/r/a"], &[]);
        step(known, steps(&[], &[], &["/r/b", "/r/a"]), &[], &[], &["/r/b"]);
        known.not_watched("/r/b".into());
        known.not_watched("/r/a".into());
        step(known, steps(&[], &[], &[]), &[], &[], &["/r/b"]);
    }

    #[test]
    fn of_a_directory_with_gates_only_these_are_of_interest() {
        let known = &mut Known::default();
        step(known, steps(&["/v1"], &[], &[]), &["/current", "/v1"], &[], &["/", "/v1"]);
        hear(known, "/current", false, &["/"]);
        hear(known, "/tmp", false, &[]);
        hear(known, "/v1", false, &["/", "/v1"]);
        hear(known, "/v1/x", false, &["/v1"]);
        hear(known, "/v1/x/y", false, &[]);
        step(known, steps(&[], &["/v1"], &[]), &[], &["/", "/v1"], &[]);
    }

    #[test]
    fn what_went_is_watched_again_when_it_is_back() {
        let known = &mut Known::default();
        step(
            known,
            steps(&["/r", "/r/a", "/r/a/b", "/r/ab"], &[], &[]),
            &[],
            &[],
            &["/r", "/r/a", "/r/a/b", "/r/ab"],
        );
        hear(known, "/r/a", true, &["/r", "/r/a"]);
        step(known, steps(&[], &[], &[]), &[], &[], &["/r/a", "/r/a/b"]);
        assert_eq!(known.hear(&Said::Lost), Hint::Everything);
        step(known, steps(&[], &[], &[]), &[], &[], &["/r", "/r/a", "/r/a/b", "/r/ab"]);
    }
}
