//! Which directories are watched, and which of their entries are of interest.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::tree::{Hint, Steps};

use super::event::{How, Said};
use super::system::Mark;

/// The directories that are of interest.
#[derive(Debug)]
pub(super) struct Known {
    /// What is of interest of a directory that holds gates and is not served.
    beside: Interest,
    dirs: BTreeMap<Arc<Path>, Dir>,
    /// Those of them that are not watched, or not any more.
    unwatched: HashSet<Arc<Path>>,
    gates: HashSet<PathBuf>,
}

#[derive(Debug, Default)]
struct Dir {
    /// How many reasons there are to be interested in all its entries.
    reasons: u32,
    /// Whether it holds gates.
    has_gates: bool,
    /// What the last watch under its path was to tell.
    ordered: Option<Interest>,
    /// The watch that was set last under its path, though that may be on what is somewhere else by now.
    mark: Option<Mark>,
}

/// What is to be done about watches, in this order.
#[derive(Debug, Default)]
pub(super) struct Orders {
    pub(super) unwatch: Vec<Order>,
    pub(super) watch: Vec<Order>,
}

/// What is to be done about one directory.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) dir: Arc<Path>,
    /// The watch that was set last under its path.
    pub(super) before: Option<Mark>,
    /// What of it is of interest.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(super) interest: Interest,
}

/// What of a directory is of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// Whatever happens to its entries.
    All,
    /// Which entries it has. Whoever writes to a file beside a root, be it a log, is of no interest. Not every system can be
    /// asked for less than all.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Names,
}

impl Known {
    /// Knows no directories. Of those beside roots, `beside` is what the system is asked for.
    pub(super) fn new(beside: Interest) -> Self {
        Self { beside, dirs: BTreeMap::new(), unwatched: HashSet::new(), gates: HashSet::new() }
    }

    /// Takes the steps of a tree, and says what to do so that all that is of interest is watched. What is to be watched
    /// counts as such from here on.
    pub(super) fn step(&mut self, steps: Steps, gates: &HashSet<PathBuf>) -> Orders {
        for path in steps.added {
            let dir = self.dir(Arc::clone(&path));
            dir.reasons = dir.reasons.saturating_add(1);
            // Of one that is watched for its gates, more is of interest from here on.
            if dir.ordered == Some(Interest::Names) {
                self.unwatched.insert(path);
            }
        }
        let mut touched: HashSet<PathBuf> = HashSet::new();
        for path in steps.removed {
            if let Some(dir) = self.dirs.get_mut(&*path) {
                dir.reasons = dir.reasons.saturating_sub(1);
                touched.extend((dir.reasons == 0).then_some(path));
            }
        }
        if self.gates != *gates {
            let old = std::mem::replace(&mut self.gates, gates.clone());
            for (gates, has_gates) in [(&old, false), (gates, true)] {
                for path in gates.iter().filter_map(|gate| gate.parent()) {
                    self.dir(path.into()).has_gates = has_gates;
                    touched.insert(path.to_owned());
                }
            }
        }
        let mut orders = Orders::default();
        for path in touched {
            let Some(dir) = self.dirs.get_mut(&*path).filter(|dir| dir.reasons == 0) else { continue };
            let is_over = !dir.has_gates;
            // No watch can be made to tell less, so another is set in its place.
            let is_for_more = dir.ordered.is_some_and(|ordered| ordered != self.beside);
            if !is_over && !is_for_more {
                continue;
            }
            let order = Order { dir: path.into(), before: dir.mark.take(), interest: self.beside };
            if is_over {
                self.unwatched.remove(&order.dir);
                self.dirs.remove(&order.dir);
            } else {
                self.unwatched.insert(Arc::clone(&order.dir));
            }
            orders.unwatch.push(order);
        }
        for path in steps.replaced {
            self.not_watched(&path);
        }
        for path in std::mem::take(&mut self.unwatched) {
            let Some(dir) = self.dirs.get_mut(&path) else { continue };
            let interest = if dir.reasons > 0 { Interest::All } else { self.beside };
            dir.ordered = Some(interest);
            orders.watch.push(Order { dir: path, before: dir.mark, interest });
        }
        orders
    }

    /// The directory at `path`, which is of interest from here on.
    fn dir(&mut self, path: Arc<Path>) -> &mut Dir {
        match self.dirs.entry(path) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                self.unwatched.insert(Arc::clone(new.key()));
                new.insert(Dir::default())
            }
        }
    }

    /// How many directories are of interest.
    pub(super) fn len(&self) -> usize {
        self.dirs.len()
    }

    /// Notes which watch was set on a directory.
    pub(super) fn watched(&mut self, path: &Path, mark: Mark) {
        if let Some(dir) = self.dirs.get_mut(path) {
            dir.mark = Some(mark);
        }
    }

    /// Notes that a directory could not be watched, or is another than the one that is.
    pub(super) fn not_watched(&mut self, path: &Path) {
        let known = self.dirs.get_key_value(path);
        self.unwatched.extend(known.map(|(path, _)| Arc::clone(path)));
    }

    /// Whether a directory is watched.
    pub(super) fn is_watched(&self, path: &Path) -> bool {
        self.dirs.contains_key(path) && !self.unwatched.contains(path)
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
        self.unwatched.extend(below.map(|(dir, _)| Arc::clone(dir)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    fn steps(added: &[&str], removed: &[&str], replaced: &[&str]) -> Steps {
        Steps {
            added: paths(added).into_iter().map(Arc::from).collect(),
            removed: paths(removed),
            replaced: paths(replaced),
        }
    }

    /// Takes steps, and compares the orders.
    fn step(known: &mut Known, steps: Steps, gates: &[&str], unwatch: &[&str], watch: &[&str]) {
        let orders = known.step(steps, &paths(gates).into_iter().collect());
        for (ordered, expected) in [(orders.unwatch, unwatch), (orders.watch, watch)] {
            let mut ordered: Vec<_> = ordered.into_iter().map(|order| order.dir.to_path_buf()).collect();
            ordered.sort();
            assert_eq!(ordered, paths(expected));
        }
    }

    fn hear(known: &mut Known, entry: &str, are_gone: bool, expected: &[&str]) {
        let how = if are_gone { How::Gone } else { How::Other };
        let heard = known.hear(&Said::Changed { entries: paths(&[entry]), how });
        assert_eq!(heard, Hint::Directories(paths(expected).into_iter().collect()), "{entry}");
    }

    #[test]
    fn a_directory_is_watched_as_long_as_there_is_a_reason() {
        let known = &mut Known::new(Interest::Names);
        step(known, steps(&["/r", "/r/a", "/r/a"], &[], &[]), &[], &[], &["/r", "/r/a"]);
        step(known, steps(&["/r/b"], &["/r/a"], &[]), &[], &[], &["/r/b"]);
        step(known, steps(&["/r/b"], &["/r/a", "/r/b"], &[]), &[], &["/r/a"], &[]);
        step(known, steps(&[], &[], &["/r/b", "/r/a"]), &[], &[], &["/r/b"]);
        known.not_watched(Path::new("/r/b"));
        known.not_watched(Path::new("/r/a"));
        step(known, steps(&[], &[], &[]), &[], &[], &["/r/b"]);
    }

    #[test]
    fn of_a_directory_with_gates_only_these_are_of_interest() {
        let known = &mut Known::new(Interest::Names);
        step(known, steps(&["/v1"], &[], &[]), &["/current", "/v1"], &[], &["/", "/v1"]);
        hear(known, "/current", false, &["/"]);
        hear(known, "/tmp", false, &[]);
        hear(known, "/v1", false, &["/", "/v1"]);
        hear(known, "/v1/x", false, &["/v1"]);
        hear(known, "/v1/x/y", false, &[]);
        step(known, steps(&[], &["/v1"], &[]), &[], &["/", "/v1"], &[]);
    }

    /// Takes steps beside the gate of a root, and compares what is unwatched and what is watched for what.
    fn check(known: &mut Known, steps: Steps, unwatch: &[&str], watch: &[(&str, Interest)]) {
        let orders = known.step(steps, &paths(&["/v/root"]).into_iter().collect());
        let shown = |orders: &[Order]| {
            let mut shown: Vec<_> =
                orders.iter().map(|order| (order.dir.display().to_string(), order.interest)).collect();
            shown.sort_by(|a, b| a.0.cmp(&b.0));
            shown
        };
        let unwatched: Vec<_> = shown(&orders.unwatch).into_iter().map(|(dir, _)| dir).collect();
        assert_eq!(unwatched, unwatch);
        let watch: Vec<_> = watch.iter().map(|(dir, interest)| ((*dir).to_owned(), *interest)).collect();
        assert_eq!(shown(&orders.watch), watch);
    }

    #[test]
    fn a_directory_with_gates_is_watched_for_all_that_happens_in_it_as_long_as_it_is_served() {
        let known = &mut Known::new(Interest::Names);
        let both = [("/v", Interest::Names), ("/v/root", Interest::All)];
        check(known, steps(&["/v/root"], &[], &[]), &[], &both);
        for _ in 0..2 {
            check(known, steps(&["/v"], &[], &[]), &[], &[("/v", Interest::All)]);
            check(known, steps(&["/v"], &["/v"], &[]), &[], &[]);
            check(known, steps(&[], &["/v"], &[]), &["/v"], &[("/v", Interest::Names)]);
            check(known, steps(&[], &[], &[]), &[], &[]);
        }
    }

    #[test]
    fn where_all_is_told_in_any_case_no_watch_is_set_for_more_or_less() {
        let known = &mut Known::new(Interest::All);
        let both = [("/v", Interest::All), ("/v/root", Interest::All)];
        check(known, steps(&["/v/root"], &[], &[]), &[], &both);
        check(known, steps(&["/v"], &[], &[]), &[], &[]);
        check(known, steps(&[], &["/v"], &[]), &[], &[]);
    }

    #[test]
    fn what_went_is_watched_again_when_it_is_back() {
        let known = &mut Known::new(Interest::Names);
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
