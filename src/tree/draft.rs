//! From what was found of each directory to the tree of them, in which everything that is as it was before stays the same
//! in memory.

use std::sync::Arc;

use super::Directory;
use super::files::Files;
use super::memory::{Node, Own};

/// A directory that was looked at and whose children are still being gathered.
pub(super) struct Draft {
    pub(super) own: Arc<Own>,
    pub(super) files: Gathered,
    /// Children that are as they are remembered, sorted by name.
    pub(super) taken: Vec<Arc<Node>>,
    /// The others, in any order.
    pub(super) children: Vec<Arc<Node>>,
    /// What the look before remembers of it.
    pub(super) memory: Option<Arc<Node>>,
}

/// The files of a directory.
pub(super) enum Gathered {
    /// Those of the memory.
    Remembered,
    Listed(Files),
    /// None, and no directory either: it is left out.
    LeftOut,
}

/// Drafts, each after the one of the directory around it.
#[derive(Default)]
pub(super) struct Drafts(Vec<(usize, Draft)>);

impl Drafts {
    /// Adds a draft of a directory in that of `parent`, and tells its own number. The first one's parent is not asked for.
    pub(super) fn add(&mut self, parent: usize, draft: Draft) -> usize {
        self.0.push((parent, draft));
        self.0.len() - 1
    }

    pub(super) fn attach(&mut self, parent: usize, child: Option<Arc<Node>>) {
        if let Some((_, draft)) = self.0.get_mut(parent) {
            draft.children.extend(child);
        }
    }

    /// Makes one tree of the drafts; the first is its top.
    pub(super) fn finish(mut self, small_link: u64) -> Option<Arc<Node>> {
        loop {
            let (parent, draft) = self.0.pop()?;
            let node = draft.finish(small_link);
            match self.0.get_mut(parent) {
                Some((_, around)) => around.children.push(node),
                None => return Some(node),
            }
        }
    }
}

impl Draft {
    /// Begins with what listing a directory gave. What is as it is remembered is dropped at once, so that a look at
    /// everything does not hold all of it twice.
    pub(super) fn new(own: Own, files: Gathered, memory: Option<Arc<Node>>) -> Self {
        let before = memory.as_ref().and_then(|memory| memory.directory.as_ref());
        let files = match (files, before) {
            (Gathered::Listed(files), Some(before)) if files == before.files && own.site == before.site => {
                Gathered::Remembered
            }
            (files, _) => files,
        };
        let same = memory.as_ref().map(|memory| &memory.own).filter(|before| ***before == own);
        let own = same.cloned().unwrap_or_else(|| Arc::new(own));
        Self { own, files, taken: Vec::new(), children: Vec::new(), memory }
    }

    fn finish(mut self, small_link: u64) -> Arc<Node> {
        self.children.sort_by(|a, b| a.own.name().cmp(b.own.name()));
        self.children = merged(std::mem::take(&mut self.taken), self.children);
        let directory = self.directory();
        let Self { own, children, memory, .. } = self;
        let Some(before) = memory else { return Arc::new(Node::new(own, directory, children, small_link)) };
        let is_same = Arc::ptr_eq(&own, &before.own)
            && are_same(&children, &before.children)
            && are_same(directory.as_slice(), before.directory.as_slice());
        if is_same { before } else { Arc::new(Node::new(own, directory, children, small_link)) }
    }

    fn directory(&mut self) -> Option<Arc<Directory>> {
        let before = self.memory.as_ref().and_then(|memory| memory.directory.as_ref());
        let dirs: Vec<_> = self.children.iter().filter_map(|child| child.directory.clone()).collect();
        let has_same_dirs = before.is_some_and(|before| are_same(&dirs, &before.dirs));
        let files = match (std::mem::replace(&mut self.files, Gathered::LeftOut), before) {
            (Gathered::LeftOut, _) => return None,
            (Gathered::Remembered, Some(before)) if has_same_dirs => return Some(Arc::clone(before)),
            (Gathered::Listed(files), _) => files,
            (Gathered::Remembered, before) => before.map(|before| before.files.clone())?,
        };
        Some(Arc::new(Directory { dirs: dirs.into(), files, site: self.own.site.clone() }))
    }
}

/// All of two lists that are sorted by name, of which the first is long and the second short: what is compared is no more
/// than finds the place of each of the second.
fn merged(long: Vec<Arc<Node>>, short: Vec<Arc<Node>>) -> Vec<Arc<Node>> {
    if long.is_empty() {
        return short;
    }
    let mut all = Vec::with_capacity(long.len() + short.len());
    let mut long = long.into_iter();
    for node in short {
        let before = long.as_slice().partition_point(|other| other.own.name() < node.own.name());
        all.extend(long.by_ref().take(before));
        all.push(node);
    }
    all.extend(long);
    all
}

/// Whether these are the very same things in memory.
fn are_same<T>(a: &[Arc<T>], b: &[Arc<T>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
}
