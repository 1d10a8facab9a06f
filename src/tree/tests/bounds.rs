//! Depth, length, number: what is served up to a bound, and what becomes of the rest.

use std::fs;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::bed::Bed;
use crate::tree::Directory;
use crate::tree::limits::{Budgets, DEPTH_MAX_LEVELS, LINK_MAX_OPENS, PATH_MAX_BYTES};

/// Makes directories one in the other, further down than a path for the system can lead, and a file in the last.
fn nest(bed: &Bed, names: &[String], file: &str) {
    let mut dir = Dir::open_ambient_dir(bed.path("root"), ambient_authority()).unwrap();
    for name in names {
        dir.create_dir(name).unwrap();
        dir = dir.open_dir(name).unwrap();
    }
    dir.write(file, "deep").unwrap();
}

/// The served path and the file at the end of a tree that has one branch only.
fn bottom(dir: &Directory) -> (usize, Option<crate::tree::File<'_>>) {
    match dir.dirs.first() {
        Some(next) => {
            let (length, file) = bottom(next);
            (length + next.name().len() + 1, file)
        }
        None => (dir.files().next().map_or(0, |file| file.name().len()), dir.files().next()),
    }
}

#[test]
fn a_hundred_levels_and_a_path_of_1836_bytes_are_served() {
    let levels = (0..100).map(|at| format!("l{at}")).collect();
    for (names, length) in [(levels, 396), (vec!["d".repeat(60); 30], 1_836)] {
        let bed = Bed::new(&[]);
        nest(&bed, &names, "end.md");
        bed.check(&format!("{}/end.md = deep", names.join("/")));
        assert_eq!(names.join("/").len() + "/end.md".len(), length);
    }
}

#[test]
fn a_path_longer_than_the_system_takes_is_read_up_to_the_bound() {
    // 16 × 241 for the directories, and the file's name: the whole is longer than PATH_MAX with the root before it.
    let names = vec!["n".repeat(240); 16];
    let file = "f".repeat(PATH_MAX_BYTES - 16 * 241);
    let bed = Bed::new(&[]);
    nest(&bed, &names, &file);
    let (tree, findings) = bed.open().walk();
    assert_eq!(findings, []);
    let (length, file) = bottom(&tree.roots[0].top);
    assert_eq!(length, PATH_MAX_BYTES);
    assert_eq!(tree.disk.read(&file.unwrap().source(), 100).unwrap(), b"deep");
}

#[test]
fn a_path_beyond_the_bound_costs_itself_only() {
    let names = vec!["n".repeat(240); 16];
    let bed = Bed::new(&["root/a.md"]);
    nest(&bed, &names, &"f".repeat(PATH_MAX_BYTES - 16 * 241 + 1));
    let walked = bed.walk();
    assert!(walked.starts_with("a.md\n") && walked.contains("\nwarning[too-deep] root/nnn"), "{walked}");
}

#[test]
fn directories_are_walked_down_to_the_bound() {
    let names = |levels| (0..levels).map(|_| "d".to_owned()).collect::<Vec<_>>();
    let bed = Bed::new(&[]);
    nest(&bed, &names(DEPTH_MAX_LEVELS), "end.md");
    let (tree, findings) = bed.open().walk();
    assert!(bottom(&tree.roots[0].top).1.is_some() && findings.is_empty());

    let bed = Bed::new(&[]);
    nest(&bed, &names(DEPTH_MAX_LEVELS + 1), "end.md");
    let (tree, findings) = bed.open().walk();
    assert!(bottom(&tree.roots[0].top).1.is_none());
    assert_eq!(findings[0].code.as_str(), "too-deep");
}

#[test]
fn a_link_farm_that_doubles_at_every_step_is_left_out_whole() {
    let budgets = Budgets { small_link: 64, link: 1_024, linked: 8_192, vain: 16_384, ..Budgets::default() };
    let bed = Bed::new(&["root/s/SKILL.md", "root/last/x.md"]).budgets(budgets);
    for at in 0..40 {
        let next = if at == 39 { "../last".to_owned() } else { format!("../d{:02}", at + 1) };
        bed.link(&format!("root/d{at:02}/a"), &next);
        bed.link(&format!("root/d{at:02}/b"), &next);
    }
    let walked = bed.walk();
    let lines = |what: &str| walked.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!((lines("s/SKILL.md"), lines("d39/a/x.md"), lines("d00/a/")), (1, 1, 0));
    assert_eq!(lines("warning[link-budget] root/d00/a"), 1);
    // The short ends of the farm are small links: four steps double the one file to 16.
    assert_eq!((lines("d35/a/"), lines("d20/a/")), (16, 0));
}

#[test]
fn a_link_farm_takes_bounded_time_with_the_true_bounds() {
    let bed = Bed::new(&["root/s/SKILL.md", "root/last/x.md"]);
    for at in 0..200 {
        let next = if at == 199 { "../last".to_owned() } else { format!("../d{:03}", at + 1) };
        for name in 0..100 {
            bed.link(&format!("root/d{at:03}/{name}"), &next);
        }
    }
    let (tree, findings) = bed.open().walk();
    let skill = tree.roots[0].top.dirs.iter().find(|dir| dir.name() == "s");
    assert!(skill.is_some_and(|dir| dir.file("SKILL.md").is_some()));
    assert!(findings.iter().all(|finding| finding.code.as_str() == "link-budget"));
}

#[test]
fn a_link_to_many_entries_is_followed_whole_or_not_at_all() {
    let budgets = Budgets { small_link: 2, link: 4, ..Budgets::default() };
    let files = ["store/many/1", "store/many/2", "store/many/3", "store/many/sub/4"];
    let bed = Bed::new(&files).follow("store").budgets(budgets);
    bed.write("root/a.md", "root/a.md");
    bed.link("root/many", "@store/many");
    bed.link("root/few", "@store/many/sub");
    bed.check(
        "a.md
         few/4 = store/many/sub/4
         warning[link-budget] root/many",
    );
    fs::remove_file(bed.path("store/many/3")).unwrap();
    bed.check(
        "a.md
         few/4 = store/many/sub/4
         many/1 = store/many/1
         many/2 = store/many/2
         many/sub/4 = store/many/sub/4",
    );
}

#[test]
fn small_links_are_followed_before_large_ones_use_up_what_is_left() {
    let budgets = Budgets { small_link: 1, link: 3, linked: 4, vain: 100, ..Budgets::default() };
    let bed = Bed::new(&["store/large/1", "store/large/2", "store/large/3", "store/small/1"])
        .follow("store")
        .budgets(budgets);
    for (name, target) in [("a", "large"), ("b", "large"), ("c", "small")] {
        bed.link(&format!("root/{name}"), &format!("@store/{target}"));
    }
    let walked = bed.walk();
    assert!(walked.contains("c/1 = store/small/1\n") && walked.contains("a/3 = store/large/3\n"), "{walked}");
    assert!(walked.ends_with("warning[link-budget] root/b\n"), "{walked}");
}

#[test]
fn many_links_that_are_not_small_leave_its_share_to_each_that_is() {
    let budgets = Budgets { small_link: 2, link: 2, vain: 330, ..Budgets::default() };
    let bed = Bed::new(&["store/large/1", "store/large/2", "store/large/3", "store/small/1"])
        .follow("store")
        .budgets(budgets);
    for at in 0..160 {
        bed.link(&format!("root/a{at:03}"), "@store/large");
    }
    bed.link("root/z", "@store/small");
    let walked = bed.walk();
    assert!(walked.starts_with("z/1 = store/small/1\n"), "{walked}");
    assert_eq!(walked.matches("warning[link-budget] root/a").count(), 160);
}

#[test]
fn a_root_with_too_many_entries_is_not_served_by_half() {
    let budgets = Budgets { root: 4, ..Budgets::default() };
    let bed =
        Bed::new(&["root/a/1", "root/a/2", "root/b", "other/x"]).roots(&["root", "other"]).budgets(budgets);
    let served = "a/1\na/2\n";
    assert!(bed.walk().contains(served));
    bed.write("root/c", "");
    bed.check(
        "--
         x = other/x
         error[too-many-entries] root",
    );
}

#[test]
fn a_link_that_goes_up_and_down_for_ever_is_given_up() {
    let bed = Bed::new(&["root/a.md", "root/d/e/"]);
    let steps = usize::try_from(LINK_MAX_OPENS).unwrap() / 4;
    let zigzag = "d/../".repeat(400);
    assert!(zigzag.len() < 4_096);
    bed.link("root/x0", &format!("{zigzag}a.md"));
    for at in 1..=steps / 400 * 4 + 4 {
        bed.link(&format!("root/x{at}"), &format!("{zigzag}x{}", at - 1));
    }
    let walked = bed.walk();
    assert!(walked.contains("\nx0 = root/a.md\n") && walked.contains("warning[too-deep] root/x"), "{walked}");
}

#[test]
fn few_descriptors_are_held_whatever_the_depth_and_the_number() {
    let name = "tree::tests::bounds::few_descriptors_are_held_whatever_the_depth_and_the_number";
    super::child::run(name, super::child::Few::Descriptors, || {
        let paths: Vec<_> = (0..50).map(|at| format!("root/s{at}/{}x.md", "d/".repeat(100))).collect();
        let bed = Bed::new(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        for at in 0..50 {
            bed.link(&format!("root/l{at}"), &format!("s{at}/d/d"));
        }
        let walked = bed.walk();
        assert_eq!(walked.lines().count(), 100, "{walked}");
        assert!(walked.lines().all(|line| line.contains("/x.md")), "{walked}");
    });
}
