//! What a second look takes over from the first, and what it keeps.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::finding::Code;
use crate::tree::{self, Hint, Roots, Tree};

use super::*;

/// A directory that is looked at again and again.
struct Again {
    dir: TempDir,
    roots: Roots,
    options: Options,
    last: (Tree, Built),
}

impl Again {
    fn new(files: &[(&str, &str)], keep: Duration) -> Self {
        let dir = directory(files);
        let roots = Roots::open(&[mount("", dir.path())], &tree::Options::default()).unwrap();
        let options = Options { keep_last_good: keep, cache: Cache::new(1 << 20), ..Options::default() };
        let tree = roots.walk().0;
        let built = build(&tree, vec![], &options, None);
        Self { dir, roots, options, last: (tree, built) }
    }

    fn write(&self, path: &str, content: &str) {
        fs::write(self.dir.path().join(path), content).unwrap();
    }

    /// Looks again; the skills that are served and the findings' codes.
    fn look(&mut self) -> (Vec<String>, Vec<Code>) {
        let tree = self.roots.look(Some(&self.last.0), &Hint::Everything).0;
        let built = build(&tree, vec![], &self.options, Some(&self.last.1));
        self.last = (tree, built);
        let served = self.last.1.snapshot.skills().map(|skill| skill.path.to_string()).collect();
        (served, self.last.1.findings.iter().map(|finding| finding.code).collect())
    }

    fn again_at(&self) -> Option<Instant> {
        self.last.1.again_at(Instant::now())
    }

    fn digest(&self, path: &str) -> Option<String> {
        Some(self.last.1.snapshot.node(path)?.file.as_ref()?.digest().to_string())
    }
}

const KEEP: Duration = Duration::from_secs(3600);

#[test]
fn a_skill_that_did_not_change_is_shared_and_one_that_did_is_read() {
    let mut again = Again::new(&[("a/SKILL.md", &skill("a")), ("b/SKILL.md", &skill("b"))], Duration::ZERO);
    let before = again.digest("b/SKILL.md");
    again.write("b/SKILL.md", &format!("{}more\n", skill("b")));
    again.write("b/new.md", "new");
    assert_eq!(again.look(), (vec!["a".to_owned(), "b".to_owned()], vec![]));
    assert_ne!(again.digest("b/SKILL.md"), before);
    assert!(again.digest("b/new.md").is_some());
    fs::remove_file(again.dir.path().join("b/new.md")).unwrap();
    again.look();
    assert_eq!(again.digest("b/new.md"), None);
}

#[test]
fn a_change_within_the_clocks_tick_is_seen() {
    // Same size, same times as far as they can be set: only a second read tells.
    let mut again = Again::new(&[("a/SKILL.md", &skill("a")), ("a/x", "1")], Duration::ZERO);
    for content in ["2", "3", "4"] {
        let path = again.dir.path().join("a/x");
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        again.write("a/x", content);
        fs::File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
        again.look();
        assert_eq!(again.digest("a/x"), Some(crate::skill::Digest::of(content.as_bytes()).to_string()));
    }
}

#[test]
fn a_broken_edit_keeps_the_last_good_version() {
    let mut again =
        Again::new(&[("a/SKILL.md", &skill("a")), ("a/x", "1"), ("b/SKILL.md", &skill("b"))], KEEP);
    let good = again.digest("a/SKILL.md");
    again.write("a/SKILL.md", "---\nname: a\n");
    let both = vec!["a".to_owned(), "b".to_owned()];
    for _ in 0..2 {
        assert_eq!(again.look(), (both.clone(), vec![Code::UnclosedFrontmatter, Code::Kept]));
        assert_eq!(again.digest("a/SKILL.md"), good);
    }
    assert!(again.again_at().is_some());
    again.write("a/SKILL.md", &format!("{}better\n", skill("a")));
    assert_eq!(again.look(), (both, vec![]));
    assert_ne!(again.digest("a/SKILL.md"), good);
    assert_eq!(again.again_at(), None);
}

#[test]
fn what_cannot_be_produced_any_more_is_not_kept() {
    let mut again = Again::new(&[("a/SKILL.md", &skill("a")), ("a/x", "1"), ("a/y", "1")], KEEP);
    again.write("a/SKILL.md", "broken");
    assert_eq!(again.look().0, ["a"]);
    again.write("a/x", "2");
    assert_eq!(again.look(), (vec![], vec![Code::NoFrontmatter]));
    // Nor does it come back when the file does.
    again.write("a/x", "1");
    assert_eq!(again.look(), (vec![], vec![Code::NoFrontmatter]));
}

#[test]
fn a_deleted_skill_is_gone_at_the_next_look() {
    let mut again = Again::new(&[("a/SKILL.md", &skill("a")), ("b/SKILL.md", &skill("b"))], KEEP);
    fs::remove_dir_all(again.dir.path().join("a")).unwrap();
    assert_eq!(again.look(), (vec!["b".to_owned()], vec![]));
    fs::remove_file(again.dir.path().join("b/SKILL.md")).unwrap();
    assert_eq!(again.look(), (vec![], vec![Code::NoSkills]));
}

#[cfg(unix)]
#[test]
fn a_skill_that_becomes_a_link_out_is_gone_at_once() {
    let outside = directory(&[("SKILL.md", &skill("a"))]);
    let mut again = Again::new(&[("a/SKILL.md", &skill("a")), ("b/SKILL.md", &skill("b"))], KEEP);
    fs::remove_file(again.dir.path().join("a/SKILL.md")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("SKILL.md"), again.dir.path().join("a/SKILL.md")).unwrap();
    assert_eq!(again.look(), (vec!["b".to_owned()], vec![]));
}

#[test]
fn a_root_that_vanishes_keeps_what_is_held() {
    let mut again =
        Again::new(&[("a/SKILL.md", &skill("a")), ("b/SKILL.md", &skill("b")), ("b/x", "1")], KEEP);
    fs::remove_dir_all(again.dir.path()).unwrap();
    assert_eq!(again.look(), (vec!["a".to_owned()], vec![Code::Kept]));
    fs::create_dir_all(again.dir.path().join("b")).unwrap();
    again.write("b/SKILL.md", &skill("b"));
    assert_eq!(again.look(), (vec!["b".to_owned()], vec![]));
}

#[test]
fn what_is_kept_is_withdrawn_in_time() {
    let mut again = Again::new(&[("a/SKILL.md", &skill("a"))], Duration::from_millis(30));
    again.write("a/SKILL.md", "broken");
    assert_eq!(again.look().0, ["a"]);
    let at = again.again_at().unwrap();
    while Instant::now() < at {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(again.look(), (vec![], vec![Code::NoFrontmatter]));
}

#[test]
fn an_idle_look_gives_the_very_snapshot_of_the_look_before() {
    let mut again =
        Again::new(&[("a/SKILL.md", &skill("a")), ("a/in/SKILL.md", &skill("in"))], Duration::ZERO);
    let bound = Instant::now() + Duration::from_secs(30);
    loop {
        let before = again.last.1.snapshot.clone();
        again.look();
        if Arc::ptr_eq(&before, &again.last.1.snapshot) {
            return;
        }
        // Files as young as this are read again, because they may have changed unseen.
        assert!(Instant::now() < bound, "it never settled");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn changes_are_told_skill_by_skill() {
    let files = ["a", "b", "c", "c/in", "d"].map(|path| {
        let name = path.rsplit('/').next().unwrap();
        (format!("{path}/SKILL.md"), skill(name))
    });
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut again = Again::new(&files, Duration::ZERO);
    let before = again.last.1.snapshot.clone();
    fs::remove_dir_all(again.dir.path().join("a")).unwrap();
    again.write("c/in/new.md", "new");
    fs::create_dir(again.dir.path().join("e")).unwrap();
    again.write("e/SKILL.md", &skill("e"));
    again.write("d/SKILL.md", &skill("d"));
    again.look();
    let now = &again.last.1.snapshot;
    let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let changes = Changes { added: paths(&["e"]), changed: paths(&["c", "c/in"]), removed: paths(&["a"]) };
    assert_eq!(now.changes_since(&before), changes);
    assert_eq!(now.changes_since(now), Changes::default());
}

#[test]
fn what_is_kept_has_its_place_until_it_is_withdrawn() {
    let dir = directory(&[("1/a/SKILL.md", &skill("a")), ("2/a/SKILL.md", &format!("{}other", skill("a")))]);
    let mounts = [mount("", &dir.path().join("1")), mount("", &dir.path().join("2"))];
    let roots = Roots::open(&mounts, &tree::Options::default()).unwrap();
    let options = Options { keep_last_good: KEEP, cache: Cache::new(1 << 20), ..Options::default() };
    let tree = roots.walk().0;
    let before = build(&tree, vec![], &options, None);
    fs::write(dir.path().join("1/a/SKILL.md"), "broken").unwrap();
    let after = build(&roots.look(Some(&tree), &Hint::Everything).0, vec![], &options, Some(&before));
    let digest = |built: &Built| built.snapshot.node("a/SKILL.md").unwrap().file.as_ref().unwrap().digest();
    assert_eq!(digest(&after), digest(&before));
}

#[test]
fn a_file_that_goes_before_it_is_read_is_noticed_though_it_is_not_told() {
    let dir = directory(&[("a/SKILL.md", &skill("a")), ("a/x", "1")]);
    let roots = Roots::open(&[mount("", dir.path())], &tree::Options::default()).unwrap();
    let tree = roots.walk().0;
    fs::remove_file(dir.path().join("a/x")).unwrap();
    let mut options = Options::default();
    options.rules.set("changing=off").unwrap();
    let built = build(&tree, vec![], &options, None);
    assert!(built.has_changing());
    assert_eq!(built.findings[..], []);
}
