//! Watched directories, and a tree that follows them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::tree::{Directory, Hint, Links, Mount, Options, Roots, Tree};
use crate::watch::{Watch, When};

/// How long a hint may take on the slowest machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct Bed {
    dir: tempfile::TempDir,
    roots: Roots,
    pub(super) watch: Watch,
    pub(super) tree: Tree,
}

impl Bed {
    /// Directories with these files, of which `root` is watched, and links into `store` are followed.
    pub(super) async fn new(files: &[&str]) -> Self {
        Self::linked(files, &[]).await
    }

    pub(super) async fn linked(files: &[&str], links: &[(&str, &str)]) -> Self {
        let bed = Self::unwatched(files, links, When::Changed);
        bed.watch.follow(&bed.tree);
        let mut bed = bed;
        // What is new is looked at once more.
        bed.look_when_told().await;
        bed
    }

    pub(super) fn unwatched(files: &[&str], links: &[(&str, &str)], when: When) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir(top.join("store")).unwrap();
        for file in files {
            write(&top.join(file), file);
        }
        for (link, target) in links {
            std::os::unix::fs::symlink(target, top.join(link)).unwrap();
        }
        let options =
            Options { follow_links_to: vec![top.join("store")], links: Links::Inside, ..Options::default() };
        let mount = Mount { prefix: String::new(), dir: top.join("root") };
        let roots = Roots::open(&[mount], &options).unwrap();
        let watch = Watch::start(when);
        let (tree, _) = roots.walk();
        Self { dir, roots, watch, tree }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        write(&self.path(path), text);
    }

    pub(super) fn link(&self, path: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    pub(super) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub(super) async fn next(&self) -> Hint {
        tokio::time::timeout(PATIENCE, self.watch.next()).await.unwrap()
    }

    pub(super) async fn look_when_told(&mut self) -> Hint {
        let hint = self.next().await;
        self.tree = self.roots.look(Some(&self.tree), &hint).0;
        self.watch.follow(&self.tree);
        hint
    }

    /// Looks only where and when told, until what is known is what a walk finds.
    pub(super) async fn catch_up(&mut self) {
        while text(&self.tree) != text(&self.roots.walk().0) {
            self.look_when_told().await;
        }
    }

    /// Waits until a change of the directory `dir` is told of, and makes sure that nothing else is.
    pub(super) async fn expect_only(&self, dir: &str) {
        let expected = Hint::Directories(HashSet::from([self.path(dir)]));
        assert_eq!(self.next().await, expected);
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// All that is in a tree.
fn text(tree: &Tree) -> String {
    fn add(dir: &Directory, text: &mut String) {
        *text += &format!("{}/", dir.name());
        dir.files().for_each(|file| *text += &format!("{} {:?}\n", file.name(), file.identity()));
        dir.dirs.iter().for_each(|dir| add(dir, text));
        *text += "..\n";
    }
    let mut text = String::new();
    tree.roots.iter().for_each(|root| add(&root.top, &mut text));
    text
}

/// Reads every file of a tree.
pub(super) fn read_all(tree: &Tree, dir: &Directory) -> usize {
    let files = dir.files().filter(|file| tree.disk.read(&file.source(), 1_000).is_ok()).count();
    files + dir.dirs.iter().map(|dir| read_all(tree, dir)).sum::<usize>()
}
