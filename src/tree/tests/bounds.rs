//! Depth, length, number: what is served up to a bound, and what becomes of the rest.

use std::fs;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::bed::Bed;
use crate::tree::Directory;
use crate::tree::limits::{
    DEPTH_MAX_LEVELS, LINK_MAX_ENTRIES, LINK_MAX_OPENS, PATH_MAX_BYTES, ROOT_MAX_LINKED_ENTRIES,
};

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
fn bottom(dir: &Directory) -> (usize, Option<&crate::tree::File>) {
    match dir.dirs.first() {
        Some(next) => {
            let (length, file) = bottom(next);
            (length + next.name.len() + 1, file)
        }
        None => (dir.files.first().map_or(0, |file| file.name.len()), dir.files.first()),
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
    assert_eq!(tree.disk.read(&file.unwrap().source, 100).unwrap(), b"deep");
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
    let bed = Bed::new(&["root/s/SKILL.md", "root/last/x.md"]);
    for at in 0..40 {
        let next = if at == 39 { "../last".to_owned() } else { format!("../d{:02}", at + 1) };
        bed.link(&format!("root/d{at:02}/a"), &next);
        bed.link(&format!("root/d{at:02}/b"), &next);
    }
    let walked = bed.walk();
    let lines = |what: &str| walked.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!((lines("s/SKILL.md"), lines("d39/a/x.md"), lines("d00/a/")), (1, 1, 0));
    assert_eq!(lines("warning[link-budget] root/d00/a"), 1);
    // The short ends of the farm are within the bound: nine steps double the one file to 512.
    assert_eq!((lines("d30/a/"), lines("d20/a/")), (512, 0));
    assert!((lines("d") as u64) < ROOT_MAX_LINKED_ENTRIES);
}

#[test]
fn a_link_to_many_entries_is_followed_whole_or_not_at_all() {
    let bed = Bed::new(&["root/a.md"]).follow("store");
    fs::create_dir_all(bed.path("store/few")).unwrap();
    bed.link("root/few", "@store/few");
    bed.link("root/many", "@store/many");
    let many = bed.path("store/many");
    fs::create_dir_all(&many).unwrap();
    for at in 0..=LINK_MAX_ENTRIES {
        fs::File::create(many.join(at.to_string())).unwrap();
    }
    bed.check(
        "a.md
         few/
         warning[link-budget] root/many",
    );
    fs::remove_file(many.join("0")).unwrap();
    let (tree, findings) = bed.open().walk();
    assert_eq!((tree.roots[0].top.dirs[1].files.len() as u64, findings), (LINK_MAX_ENTRIES, vec![]));
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
