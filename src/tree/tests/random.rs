//! Random changes: whatever happens, a look that builds on the one before finds what a walk finds.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::bed::Bed;
use crate::finding::Finding;
use crate::tree::limits::Budgets;
use crate::tree::{Directory, Hint, Roots, Tree};

const NAMES: &[&str] = &["a", "b", "c", "SKILL.md", "x.md", "..data", ".h", "pyvenv.cfg", ".skillignore"];
const TARGETS: &[&str] = &[
    "a",
    "b",
    "..",
    "../a",
    "../b/c",
    "..data/x.md",
    ".h/x.md",
    "x.md",
    "../x.md",
    "a/SKILL.md",
    "../../a",
    "@root/a",
    "@root/b/c",
    "@store",
    "@store/a",
    "@store/b/x.md",
    "@other/a/b",
    "@outside/x.md",
    "nowhere",
];
const RULES: &[&str] = &["", "*.md\n", "a\n", "/b/\n", "!x.md\n", "{\n", "c/\n!c/x.md\n"];

/// A small generator of random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

/// Changes a bed, and notes the directories in which something changed, as a watch would.
struct Changes<'a> {
    bed: &'a Bed,
    dice: Dice,
    touched: HashSet<PathBuf>,
}

impl Changes<'_> {
    fn one(&mut self) -> String {
        let mut dirs = Vec::new();
        for top in ["root", "store", "other"] {
            real_dirs(&self.bed.path(top), &mut dirs);
        }
        let dir = self.dice.pick(&dirs).clone();
        let path = dir.join(self.dice.pick(NAMES));
        self.touched.insert(dir.clone());
        let what = self.dice.roll(12);
        match what {
            0..=2 => {
                let text = if path.ends_with(".skillignore") { *self.dice.pick(RULES) } else { "text" };
                let grown = text.to_owned() + &"\n".repeat(self.dice.roll(5));
                let is_writable = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
                if is_writable || self.clear(&path) {
                    fs::write(&path, grown).unwrap();
                }
            }
            3..=4 => {
                self.clear(&path);
                self.make_dirs(&path, 2);
            }
            5..=7 => {
                let target = *self.dice.pick(TARGETS);
                self.clear(&path);
                let target =
                    target.strip_prefix('@').map_or_else(|| target.into(), |path| self.bed.path(path));
                std::os::unix::fs::symlink(target, &path).unwrap();
            }
            8..=9 => {
                self.clear(&path);
            }
            _ => {
                let to = self.dice.pick(&dirs).join(self.dice.pick(NAMES));
                if fs::symlink_metadata(&path).is_ok() && !to.starts_with(&path) && !path.starts_with(&to) {
                    self.clear(&to);
                    self.note_dirs(&path);
                    if fs::rename(&path, &to).is_ok() {
                        self.touched.insert(to.parent().unwrap().to_owned());
                        self.note_dirs(&to);
                    }
                }
            }
        }
        format!("{what} {}", path.display())
    }

    fn note_dirs(&mut self, path: &Path) {
        let mut dirs = Vec::new();
        real_dirs(path, &mut dirs);
        self.touched.extend(dirs);
    }

    /// Removes whatever is at `path`.
    fn clear(&mut self, path: &Path) -> bool {
        self.note_dirs(path);
        let is_dir = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
        let _ = if is_dir { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        true
    }

    fn make_dirs(&mut self, path: &Path, levels: usize) {
        fs::create_dir(path).unwrap();
        self.touched.insert(path.to_owned());
        for _ in 0..self.dice.roll(4) {
            let inner = path.join(self.dice.pick(&NAMES[..7]));
            if fs::symlink_metadata(&inner).is_err() {
                match self.dice.roll(2) {
                    0 if levels > 0 => self.make_dirs(&inner, levels - 1),
                    _ => fs::write(inner, "new").unwrap(),
                }
            }
        }
    }
}

/// The directories at and below `path`, links not followed.
fn real_dirs(path: &Path, dirs: &mut Vec<PathBuf>) {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        dirs.push(path.to_owned());
        for entry in fs::read_dir(path).unwrap() {
            real_dirs(&entry.unwrap().path(), dirs);
        }
    }
}

fn render(tree: &Tree, findings: &[Finding]) -> String {
    let mut text = String::new();
    for root in &tree.roots {
        writeln!(text, "== {} {:?}", root.real_name, root.left_out).unwrap();
        render_directory(tree, &root.top, "", &mut text);
    }
    for finding in findings {
        writeln!(text, "{finding:?}").unwrap();
    }
    text
}

fn render_directory(tree: &Tree, dir: &Directory, path: &str, text: &mut String) {
    writeln!(text, "{path}/").unwrap();
    for file in dir.files() {
        let source = file.source();
        let (place, name) = (tree.disk.zones.real(&source.dir.place), &source.name);
        writeln!(text, "{} {:?} {place:?} {name:?}", file.name(), file.identity()).unwrap();
    }
    for dir in &dir.dirs {
        render_directory(tree, dir, &format!("{path}/{}", dir.name()), text);
    }
}

fn check(seed: u64, steps: usize, budgets: Budgets) {
    let bed =
        Bed::new(&["root/a/SKILL.md", "root/b/c/x.md", "store/a/x.md", "store/b/x.md", "other/a/b/x.md"])
            .roots(&["root", "other"])
            .follow("store")
            .budgets(budgets);
    bed.write("outside/x.md", "outside");
    let roots: Roots = bed.open();
    let (mut hinted, _) = roots.walk();
    let (mut idle, _) = roots.walk();
    let dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut changes = Changes { bed: &bed, dice, touched: HashSet::new() };
    let mut log = Vec::new();
    for _ in 0..steps {
        for _ in 0..=changes.dice.roll(3) {
            log.push(changes.one());
        }
        let hint = Hint::Directories(std::mem::take(&mut changes.touched));
        let (walked, walked_findings) = roots.walk();
        let expected = render(&walked, &walked_findings);
        for (before, hint) in [(&mut hinted, &hint), (&mut idle, &Hint::Everything)] {
            let (tree, findings) = roots.look(Some(before), hint);
            let actual = render(&tree, &findings);
            assert!(
                actual == expected,
                "seed {seed}: {log:#?}\n{hint:?}\n== got\n{actual}\n== walked\n{expected}"
            );
            let (again, _) = roots.look(Some(&tree), &Hint::Everything);
            let tops = |tree: &Tree| {
                tree.roots.iter().map(|root| std::sync::Arc::as_ptr(&root.top)).collect::<Vec<_>>()
            };
            assert_eq!(tops(&tree), tops(&again), "seed {seed}: {log:#?}");
            *before = tree;
        }
    }
}

#[test]
fn a_look_at_what_changed_finds_what_a_walk_finds() {
    for seed in 1..=30 {
        check(seed, 30, Budgets::default());
    }
}

#[test]
fn a_look_at_what_changed_follows_the_links_that_a_walk_follows() {
    let budgets = Budgets { root: 40, small_link: 2, link: 6, linked: 12, vain: 20 };
    for seed in 100..=120 {
        check(seed, 30, budgets);
    }
}
