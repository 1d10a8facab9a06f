//! Every kind of change is heard of, and nothing else is.

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use super::bed::{Bed, PATIENCE, read_all};

type Change<'a> = &'a dyn Fn(&Bed);

#[tokio::test]
async fn every_kind_of_change_is_heard_of() {
    let mut bed = Bed::new(&["root/a/SKILL.md", "root/a/ref/x.md", "root/b/y.md"]).await;
    let remove_all = |bed: &Bed, path| fs::remove_dir_all(bed.path(path)).unwrap();
    let changes: &[(&str, Change)] = &[
        ("write", &|bed| bed.write("root/a/SKILL.md", "longer than before")),
        ("create", &|bed| bed.write("root/a/ref/new.md", "")),
        ("rename", &|bed| bed.rename("root/a/ref/new.md", "root/b/new.md")),
        ("replace", &|bed| bed.rename("root/b/new.md", "root/b/y.md")),
        ("remove", &|bed| fs::remove_file(bed.path("root/b/y.md")).unwrap()),
        ("new directories", &|bed| bed.write("root/c/d/e/f.md", "")),
        ("a change in them", &|bed| bed.write("root/c/d/e/f.md", "more")),
        ("moved directories", &|bed| bed.rename("root/c", "root/b/c")),
        ("a change in moved ones", &|bed| bed.write("root/b/c/d/e/f.md", "even more")),
        ("swapped directories", &|bed| {
            bed.rename("root/a", "root/t");
            bed.rename("root/b", "root/a");
            bed.rename("root/t", "root/b");
        }),
        ("a change in swapped ones", &|bed| bed.write("root/a/c/d/e/f.md", "and so on")),
        ("removed directories", &|bed| remove_all(bed, "root/a/c")),
        ("directories made again", &|bed| {
            remove_all(bed, "root/b");
            bed.write("root/b/ref/x.md", "again");
        }),
        ("a change in those", &|bed| bed.write("root/b/ref/x.md", "and again")),
        ("rules", &|bed| bed.write("root/b/.skillignore", "*.md\n")),
        ("a link", &|bed| bed.link("root/a/link.md", "../b/ref/x.md")),
        ("the whole root gone", &|bed| remove_all(bed, "root")),
        ("and back", &|bed| bed.write("root/a/SKILL.md", "back")),
        ("a change in it", &|bed| bed.write("root/a/SKILL.md", "back again")),
    ];
    for (what, change) in changes {
        change(&bed);
        let caught_up = tokio::time::timeout(PATIENCE, bed.catch_up()).await;
        assert!(caught_up.is_ok(), "{what}");
    }
}

#[tokio::test]
async fn what_links_lead_through_is_watched() {
    let links = [("root/s/..data", "..1"), ("root/s/SKILL.md", "..data/SKILL.md"), ("root/t", "../store/t")];
    let files = ["root/s/..1/SKILL.md", "store/t/SKILL.md", "store/t/ref/x.md", "store/u/y.md"];
    let mut bed = Bed::linked(&files, &links).await;
    let changes: &[Change] = &[
        &|bed| bed.write("root/s/..1/SKILL.md", "edited in place"),
        &|bed| {
            bed.write("root/s/..2/SKILL.md", "the next");
            bed.link("root/s/..data_tmp", "..2");
            bed.rename("root/s/..data_tmp", "root/s/..data");
            fs::remove_dir_all(bed.path("root/s/..1")).unwrap();
        },
        &|bed| bed.write("root/s/..2/SKILL.md", "edited there, too"),
        &|bed| bed.write("store/t/ref/x.md", "edited behind a link"),
        &|bed| bed.rename("store/t", "store/gone"),
        &|bed| bed.rename("store/u", "store/t"),
        &|bed| bed.write("store/t/y.md", "edited in what came instead"),
    ];
    for change in changes {
        change(&bed);
        bed.catch_up().await;
    }
}

#[tokio::test]
async fn the_swapped_link_of_a_root_is_seen() {
    let links = [("current", "v1"), ("root", "./current")];
    let mut bed = Bed::linked(&["v1/a/x.md", "v2/b/y.md"], &links).await;
    bed.link("next", "v2");
    bed.rename("next", "current");
    bed.catch_up().await;
    assert_eq!((&*bed.tree.roots[0].real_name, bed.tree.roots[0].top.dirs[0].name()), ("v2", "b"));
    bed.write("v2/b/y.md", "edited after the swap");
    bed.catch_up().await;
    // What was served before is of no interest any more.
    bed.write("v1/a/x.md", "edited");
    bed.write("v2/b/y.md", "edited again");
    bed.expect_only("v2/b").await;
}

#[tokio::test]
async fn our_own_looking_and_reading_is_not_heard() {
    let files: Vec<String> = (0..300).map(|at| format!("root/{}/{at}.md", at % 30)).collect();
    let bed = Bed::new(&files.iter().map(String::as_str).collect::<Vec<_>>()).await;
    for _ in 0..3 {
        assert_eq!(read_all(&bed.tree, &bed.tree.roots[0].top), 300);
        fs::read_dir(bed.path("root/1")).unwrap().for_each(drop);
    }
    bed.write("root/7/marker.md", "");
    bed.expect_only("root/7").await;
}

#[tokio::test]
async fn what_happens_beside_the_root_is_not_heard() {
    let bed = Bed::new(&["root/a/x.md"]).await;
    bed.write("beside.md", "");
    bed.write("store-of-others/x.md", "");
    bed.write("root/a/x.md", "marker");
    bed.expect_only("root/a").await;
}

#[tokio::test]
async fn a_thousand_files_at_once_are_few_looks() {
    let mut bed = Bed::new(&["root/a/x.md"]).await;
    for at in 0..1_000 {
        bed.write(&format!("root/a/{at}.md"), "");
    }
    let mut looks = 0;
    while bed.tree.roots[0].top.dirs[0].files().len() < 1_001 {
        bed.look_when_told().await;
        looks += 1;
    }
    assert!(looks <= 5, "{looks} looks");
}

#[tokio::test]
async fn a_file_is_not_looked_at_in_the_middle_of_being_written() {
    let bed = Bed::new(&["root/a/x.md"]).await;
    let mut file = fs::File::create(bed.path("root/a/x.md")).unwrap();
    file.write_all(b"one half").unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(200), bed.watch.next()).await.is_err());
    file.write_all(b" and the other").unwrap();
    drop(file);
    let closed = async {
        while bed.watch.pending.has_open_files() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, closed).await.unwrap();
    bed.expect_only("root/a").await;
}

#[tokio::test]
async fn a_file_that_is_never_closed_is_looked_at_all_the_same() {
    let bed = Bed::new(&["root/a/x.md"]).await;
    let mut file = fs::File::create(bed.path("root/a/x.md")).unwrap();
    file.write_all(b"one half").unwrap();
    bed.expect_only("root/a").await;
}

#[tokio::test]
async fn nothing_is_missed_while_everything_moves() {
    let mut bed = Bed::new(&["root/a/b/c/x.md", "root/d/y.md", "root/e/f/z.md"]).await;
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut dice = 0x2545_F491_4F6C_DD1D_u64;
    let mut roll = |sides: u64| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice % sides
    };
    for turn in 0..400 {
        let mut path = || {
            (0..=roll(3)).fold("root".to_owned(), |path, _| {
                format!("{path}/{}", names[usize::try_from(roll(6)).unwrap()])
            })
        };
        let (from, to) = (bed.path(&path()), bed.path(&path()));
        // Many of these make no sense, and fail.
        let _ = match turn % 5 {
            0 | 1 => fs::rename(from, to),
            2 => fs::remove_dir_all(from),
            3 => fs::create_dir_all(from),
            _ => fs::write(from.join("x.md"), turn.to_string()),
        };
        if turn % 50 == 49 {
            bed.catch_up().await;
        } else if turn % 7 == 0 {
            tokio::task::yield_now().await;
        }
    }
}
