//! Which directories of the system a tree depends on: where its changes would be seen.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Tree;
use super::chain::chain;
use super::memory::{Memory, Node};
use super::zone::{Place, Zones};

/// The directories that one tree depends on, by their absolute paths without links: those that are served, those that links
/// lead through, and those that decide where the roots are.
#[derive(Debug, Default)]
pub struct Footprint {
    memories: Vec<Arc<Memory>>,
    zones: Zones,
    gates: HashSet<PathBuf>,
}

/// What became of the directories that trees depend on.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The directories in which something became of interest. A directory is named as often as there is reason to. They
    /// are shared, for there are many at the start, and who takes them keeps them.
    pub added: Vec<Arc<Path>>,
    /// Those that lost a reason.
    pub removed: Vec<PathBuf>,
    /// Those in whose place another directory was found.
    pub replaced: Vec<PathBuf>,
}

impl Tree {
    /// The directories that it depends on, as they are now. Asks the disk about the paths of the roots only.
    pub fn footprint(&self) -> Footprint {
        let setup = &self.made_from.0;
        let gates = setup.dirs.iter().chain(&setup.follow).flat_map(|path| chain(path)).collect();
        Footprint { memories: self.memories.clone(), zones: self.disk.zones.clone(), gates }
    }
}

impl Footprint {
    /// The entries that decide where the roots are. All else in their directories is of no interest, unless those are
    /// served themselves.
    pub fn gates(&self) -> &HashSet<PathBuf> {
        &self.gates
    }

    /// What changed since `before`, at the cost of what changed. The directories of the gates are not among it.
    pub fn steps_since(&self, before: &Self) -> Steps {
        let mut steps = Steps {
            added: self.tops().map(Arc::from).collect(),
            removed: before.tops().collect(),
            replaced: Vec::new(),
        };
        for at in 0..self.memories.len().max(before.memories.len()) {
            let top = |footprint: &Self| footprint.memories.get(at).and_then(|memory| memory.top.clone());
            let (old, new) = (top(before), top(self));
            let mut ahead: Vec<Pair<'_>> = vec![(old.as_ref(), new.as_ref())];
            while let Some((old, new)) = ahead.pop() {
                if !are_same(old, new, |node| node) {
                    if !are_same(old, new, |node| &node.own) {
                        steps.removed.extend(old.into_iter().flat_map(|node| before.dirs_of(node)));
                        steps
                            .added
                            .extend(new.into_iter().flat_map(|node| self.dirs_of(node)).map(Arc::from));
                        let replaced = old.zip(new).filter(|(old, new)| is_another(old, new));
                        steps
                            .replaced
                            .extend(replaced.and_then(|(_, new)| self.zones.real(&new.own.site.place)));
                    }
                    pair(children(old), children(new), &mut ahead);
                }
            }
        }
        steps
    }

    /// The roots themselves, whatever is known of them.
    fn tops(&self) -> impl Iterator<Item = PathBuf> {
        let top = |memory: &Arc<Memory>| self.zones.real(&Place { zone: memory.zone?, path: PathBuf::new() });
        self.memories.iter().filter_map(top)
    }

    fn dirs_of<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = PathBuf> {
        let own = &node.own;
        let places = std::iter::once(&own.site.place).chain(own.via());
        places.filter_map(|place| self.zones.real(place))
    }
}

/// A directory in two trees, or in one of them.
type Pair<'a> = (Option<&'a Arc<Node>>, Option<&'a Arc<Node>>);

/// Whether there is another directory under the same path.
fn is_another(old: &Node, new: &Node) -> bool {
    let is_same = old.own.identity.zip(new.own.identity).is_some_and(|(old, new)| old.is_same_inode(&new));
    old.own.site == new.own.site && !is_same
}

fn children(node: Option<&Arc<Node>>) -> &[Arc<Node>] {
    node.map_or(&[], |node| &node.children)
}

fn are_same<'a, T: 'a>(
    old: Option<&'a Arc<Node>>,
    new: Option<&'a Arc<Node>>,
    part: impl Fn(&'a Arc<Node>) -> &'a Arc<T>,
) -> bool {
    old.zip(new).is_some_and(|(old, new)| Arc::ptr_eq(part(old), part(new)))
}

/// Pairs children by name and puts those that are not the same into `pairs`.
fn pair<'a>(mut old: &'a [Arc<Node>], mut new: &'a [Arc<Node>], pairs: &mut Vec<Pair<'a>>) {
    loop {
        let same = old.iter().zip(new).take_while(|(old, new)| Arc::ptr_eq(old, new)).count();
        (old, new) = (&old[same..], &new[same..]);
        let (has_old, has_new) = match (old.first(), new.first()) {
            (None, None) => return,
            (Some(a), Some(b)) => (a.own.name() <= b.own.name(), b.own.name() <= a.own.name()),
            (a, b) => (a.is_some(), b.is_some()),
        };
        let take = |from: &mut &'a [Arc<Node>], is_wanted: bool| {
            let (first, rest) = from.split_first().filter(|_| is_wanted)?;
            *from = rest;
            Some(first)
        };
        pairs.push((take(&mut old, has_old), take(&mut new, has_new)));
    }
}
