//! Looks that build on the look before: what they list, and what stays the same in memory.

use std::collections::HashSet;
use std::fs;
use std::sync::Arc;

use super::bed::Bed;
use crate::tree::limits::Budgets;
use crate::tree::{Directory, Footprint, Hint, ReadError, Roots, Steps, Tree};

/// A hint at these directories of the bed.
fn hint(bed: &Bed, dirs: &[&str]) -> Hint {
    Hint::Directories(dirs.iter().map(|dir| bed.path(dir)).collect())
}

fn again(roots: &Roots, before: &Tree, hint: &Hint) -> Tree {
    roots.look(Some(before), hint).0
}

/// The directory at a path below the first root.
fn at<'a>(tree: &'a Tree, path: &str) -> &'a Arc<Directory> {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.fold(&tree.roots[0].top, |dir, name| dir.dirs.iter().find(|dir| dir.name() == name).unwrap())
}

fn are_same(a: &Tree, b: &Tree, path: &str) -> bool {
    Arc::ptr_eq(at(a, path), at(b, path))
}

fn read(tree: &Tree, path: &str) -> Result<String, ReadError> {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let file = at(tree, dir).files().find(|file| file.name() == name).unwrap();
    tree.disk.read(&file.source(), 100).map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn an_idle_look_gives_the_same_tree() {
    let bed = Bed::new(&["root/a/b/x.md", "root/c/y.md", "store/z.md"]).follow("store");
    bed.link("root/d", "@store");
    bed.write("root/c/.skillignore", "*.tmp");
    let roots = bed.open();
    let (first, _) = roots.walk();
    let idle = again(&roots, &first, &Hint::Everything);
    assert!(are_same(&first, &idle, "") && idle.listed == 5);
    let idle = again(&roots, &first, &hint(&bed, &["elsewhere", "root/nowhere"]));
    assert!(are_same(&first, &idle, "") && idle.listed == 0);
}

#[test]
fn an_edit_lists_one_directory_and_spares_its_siblings() {
    let bed = Bed::new(&["root/a/b/x.md", "root/a/c/y.md", "root/d/z.md", "root/e.md"]);
    let roots = bed.open();
    let (first, _) = roots.walk();
    bed.write("root/a/b/x.md", "longer than before");
    let second = again(&roots, &first, &hint(&bed, &["root/a/b"]));
    assert_eq!(second.listed, 1);
    assert_eq!(
        ["", "a", "a/b", "a/c", "d"].map(|path| are_same(&first, &second, path)),
        [false, false, false, true, true]
    );
    assert_eq!(read(&second, "a/b/x.md").unwrap(), "longer than before");
    // The same file in the same state is the same directory, though it was listed again.
    let third = again(&roots, &second, &hint(&bed, &["root/a/b", "root/a"]));
    assert!(third.listed == 2 && are_same(&second, &third, ""));
}

#[test]
fn a_passing_temporary_file_leaves_the_same_tree() {
    let bed = Bed::new(&["root/a/x.md"]);
    let roots = bed.open();
    let (first, _) = roots.walk();
    bed.write("root/a/4913", "");
    fs::remove_file(bed.path("root/a/4913")).unwrap();
    let second = again(&roots, &first, &hint(&bed, &["root/a"]));
    assert!(second.listed == 1 && are_same(&first, &second, ""));
}

#[test]
fn new_directories_are_listed_down_to_their_ends() {
    let bed = Bed::new(&["root/a/x.md", "root/b/y.md"]);
    let roots = bed.open();
    let (first, _) = roots.walk();
    bed.write("root/a/new/deep/z.md", "z");
    let second = again(&roots, &first, &hint(&bed, &["root/a"]));
    assert!(second.listed == 3 && are_same(&first, &second, "b"));
    assert_eq!(read(&second, "a/new/deep/z.md").unwrap(), "z");
}

#[test]
fn swapped_directories_are_told_apart() {
    let bed = Bed::new(&["root/a/s/x.md", "root/b/s/x.md", "root/c/y.md"]);
    let roots = bed.open();
    let (first, _) = roots.walk();
    for (from, to) in [("a", "t"), ("b", "a"), ("t", "b")] {
        fs::rename(bed.path("root").join(from), bed.path("root").join(to)).unwrap();
    }
    let second = again(&roots, &first, &hint(&bed, &["root"]));
    assert_eq!(read(&second, "a/s/x.md").unwrap(), "root/b/s/x.md");
    assert!(are_same(&first, &second, "c") && !are_same(&first, &second, "a/s"));
}

#[test]
fn a_config_map_update_lists_its_directory_only() {
    let bed = Bed::new(&["root/other/SKILL.md"]);
    bed.write("root/s/..1/SKILL.md", "old");
    bed.link("root/s/..data", "..1");
    bed.link("root/s/SKILL.md", "..data/SKILL.md");
    let roots = bed.open();
    let (first, _) = roots.walk();
    bed.write("root/s/..2/SKILL.md", "new");
    bed.link("root/s/..data_tmp", "..2");
    fs::rename(bed.path("root/s/..data_tmp"), bed.path("root/s/..data")).unwrap();
    fs::remove_dir_all(bed.path("root/s/..1")).unwrap();
    let second = again(&roots, &first, &hint(&bed, &["root/s"]));
    assert!(second.listed == 1 && are_same(&first, &second, "other"));
    assert_eq!(read(&second, "s/SKILL.md").unwrap(), "new");
    assert!(matches!(read(&first, "s/SKILL.md"), Err(ReadError::Gone)));
    // A file that is written to where only links lead.
    bed.write("root/s/..2/SKILL.md", "newer");
    let third = again(&roots, &second, &hint(&bed, &["root/s/..2"]));
    assert_eq!((third.listed, &*read(&third, "s/SKILL.md").unwrap()), (1, "newer"));
}

#[test]
fn what_links_lead_to_is_followed_from_all_of_them() {
    let bed = Bed::new(&["store/s/x.md", "store/s/sub/y.md", "root/plain/z.md"]).follow("store");
    bed.link("root/one", "@store/s");
    bed.link("root/d/two.md", "@store/s/x.md");
    bed.link("root/d/dangling.md", "@store/later/x.md");
    let roots = bed.open();
    let (first, findings) = roots.walk();
    assert_eq!(findings.len(), 1);
    bed.write("store/s/x.md", "changed");
    let second = again(&roots, &first, &hint(&bed, &["store/s"]));
    assert_eq!(["one/x.md", "d/two.md"].map(|path| read(&second, path).unwrap()), ["changed", "changed"]);
    assert!(second.listed == 2 && are_same(&first, &second, "one/sub"));
    bed.write("store/later/x.md", "late");
    let (third, findings) = roots.look(Some(&second), &hint(&bed, &["store"]));
    assert_eq!((read(&third, "d/dangling.md").unwrap(), findings.len()), ("late".to_owned(), 0));
    fs::rename(bed.path("store/s"), bed.path("store/t")).unwrap();
    let (fourth, findings) = roots.look(Some(&third), &hint(&bed, &["store"]));
    assert_eq!((fourth.roots[0].top.dirs.len(), findings.len()), (2, 2));
    assert!(are_same(&third, &fourth, "plain"));
}

#[test]
fn changed_rules_hold_all_the_way_down() {
    let bed = Bed::new(&["root/a/b/c/x.tmp", "root/a/b/y.md", "root/d/z.tmp"]);
    bed.write("root/a/.skillignore", "*.bak");
    let roots = bed.open();
    let (first, _) = roots.walk();
    bed.write("root/a/.skillignore", "*.tmp");
    let second = again(&roots, &first, &hint(&bed, &["root/a"]));
    assert_eq!((second.listed, at(&second, "a/b/c").files().len()), (3, 0));
    assert_eq!((second.roots[0].left_out.ignored, are_same(&first, &second, "d")), (1, true));
    bed.write("root/a/.skillignore", "*.tmp");
    let third = again(&roots, &second, &hint(&bed, &["root/a"]));
    assert!(third.listed == 1 && are_same(&second, &third, ""));
}

#[test]
fn links_compete_for_what_is_left_of_the_budget() {
    let budgets = Budgets { small_link: 1, link: 3, linked: 4, vain: 100, ..Budgets::default() };
    let bed = Bed::new(&["store/x/1", "store/x/2", "store/y/1"]).follow("store").budgets(budgets);
    bed.link("root/b", "@store/x");
    bed.link("root/c", "@store/x");
    let roots = bed.open();
    let (first, findings) = roots.walk();
    assert!(findings.is_empty());
    // One more does not fit, and which one that is depends on all.
    bed.link("root/a", "@store/y");
    let (second, findings) = roots.look(Some(&first), &hint(&bed, &["root"]));
    assert!(findings.len() == 1 && findings[0].path.ends_with("root/c"), "{findings:?}");
    fs::remove_file(bed.path("store/x/2")).unwrap();
    let (third, findings) = roots.look(Some(&second), &hint(&bed, &["store/x"]));
    assert!(findings.is_empty() && third.roots[0].top.dirs.len() == 3);
}

#[test]
fn findings_stay_until_their_cause_is_gone() {
    let bed = Bed::new(&["root/a/x.md", "root/b/y.md"]);
    bed.link("root/a/gone.md", "nowhere.md");
    bed.link("root/b/gone.md", "nowhere.md");
    let roots = bed.open();
    let (first, findings) = roots.walk();
    assert_eq!(findings.len(), 2);
    fs::remove_file(bed.path("root/b/gone.md")).unwrap();
    let (second, findings) = roots.look(Some(&first), &hint(&bed, &["root/b"]));
    assert_eq!((findings.len(), second.listed), (1, 1));
    assert!(findings[0].path.ends_with("root/a/gone.md"));
}

#[test]
fn a_swapped_root_link_is_another_root() {
    let bed = Bed::new(&["v1/a/x.md", "v2/a/x.md", "other/y.md"]).roots(&["current", "other"]);
    bed.link("current", "v1");
    let roots = bed.open();
    let (first, _) = roots.walk();
    bed.link("next", "v2");
    fs::rename(bed.path("next"), bed.path("current")).unwrap();
    let second = again(&roots, &first, &hint(&bed, &["."]));
    assert_eq!(read(&first, "a/x.md").unwrap(), "v1/a/x.md");
    assert_eq!(read(&second, "a/x.md").unwrap(), "v2/a/x.md");
    assert!(Arc::ptr_eq(&first.roots[1].top, &second.roots[1].top));
    // What was found before is never looked for in another directory.
    let old = &at(&first, "a").files().next().unwrap().source();
    assert!(matches!(second.disk.read(old, 100), Err(ReadError::Gone)));
    let kept = &first.roots[1].top.files().next().unwrap().source();
    assert_eq!(second.disk.read(kept, 100).unwrap(), b"other/y.md");
}

#[test]
fn a_root_may_go_and_come_back() {
    let bed = Bed::new(&["root/a/x.md"]);
    let roots = bed.open();
    let (first, _) = roots.walk();
    fs::remove_dir_all(bed.path("root")).unwrap();
    let (second, findings) = roots.look(Some(&first), &hint(&bed, &["."]));
    assert_eq!((second.roots[0].top.dirs.len(), findings.len()), (0, 1));
    let (third, findings) = roots.look(Some(&second), &hint(&bed, &[]));
    assert!(are_same(&second, &third, "") && findings.len() == 1);
    bed.write("root/b/y.md", "new");
    let (fourth, findings) = roots.look(Some(&third), &hint(&bed, &["."]));
    assert_eq!((read(&fourth, "b/y.md").unwrap(), findings.len()), ("new".to_owned(), 0));
}

/// The steps between two trees as sets of paths of the bed, in order.
fn steps(bed: &Bed, before: &Footprint, tree: &Tree) -> [Vec<String>; 2] {
    let Steps { added, removed, .. } = tree.footprint().steps_since(before);
    let (a, b): (HashSet<_>, HashSet<_>) =
        (added.iter().map(|dir| dir.to_path_buf()).collect(), removed.into_iter().collect());
    [a.difference(&b), b.difference(&a)].map(|paths| {
        let paths =
            paths.filter_map(|path| Some(path.strip_prefix(bed.path("")).ok()?.display().to_string()));
        let mut paths: Vec<_> = paths.collect();
        paths.sort();
        paths
    })
}

#[test]
fn the_footprint_is_what_decides_the_tree() {
    let bed =
        Bed::new(&["v1/a/.h/x.md", "v1/b/y.md", "store/s/sub/z.md"]).roots(&["current"]).follow("store");
    bed.link("current", "v1");
    bed.link("v1/a/x.md", ".h/x.md");
    bed.link("v1/s", "@store/s");
    let roots = bed.open();
    let (first, _) = roots.walk();
    assert_eq!(
        steps(&bed, &Footprint::default(), &first),
        [vec!["store", "store/s", "store/s/sub", "v1", "v1/a", "v1/a/.h", "v1/b"], vec![]]
    );
    assert!(first.footprint().gates().contains(&bed.path("current")));
    bed.write("v1/b/new/y.md", "");
    fs::remove_file(bed.path("v1/a/x.md")).unwrap();
    let second = again(&roots, &first, &hint(&bed, &["v1/a", "v1/b"]));
    assert_eq!(steps(&bed, &first.footprint(), &second), [["v1/b/new"], ["v1/a/.h"]]);
    fs::rename(bed.path("v1/b"), bed.path("v1/old")).unwrap();
    bed.write("v1/b/y.md", "");
    let third = again(&roots, &second, &hint(&bed, &["v1"]));
    assert_eq!(third.footprint().steps_since(&second.footprint()).replaced, [bed.path("v1/b")]);
    fs::remove_dir_all(bed.path("v1")).unwrap();
    let third = again(&roots, &third, &hint(&bed, &["v1"]));
    assert_eq!(steps(&bed, &Footprint::default(), &third), [[""; 0], [""; 0]]);
    assert!(third.footprint().gates().contains(&bed.path("v1")));
}

#[test]
fn the_hint_adds_up() {
    let dirs = |names: &[&str]| Hint::Directories(names.iter().map(Into::into).collect::<HashSet<_>>());
    let mut hint = dirs(&["a"]);
    hint.add(dirs(&["b"]));
    assert_eq!(hint, dirs(&["a", "b"]));
    hint.add(Hint::Everything);
    hint.add(dirs(&["c"]));
    assert_eq!(hint, Hint::Everything);
}
