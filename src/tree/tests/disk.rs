//! What the disk does to a walk: special files, missing rights, and changes at the worst moment.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use super::bed::{Bed, CANARY};
use super::child::{self, Few};
use crate::tree::{Directory, Links, Mount, Options, ReadError, RootError, Roots, Tree};

fn make_fifo(bed: &Bed, path: &str) {
    assert!(Command::new("mkfifo").arg(bed.path(path)).status().unwrap().success());
}

#[test]
fn pipes_and_sockets_are_told_and_never_opened() {
    let bed = Bed::new(&["root/a/SKILL.md", "root/b/", "root/c/"]);
    make_fifo(&bed, "root/a/pipe.md");
    make_fifo(&bed, "root/b/SKILL.md");
    make_fifo(&bed, "root/c/.skillignore");
    bed.link("root/a/link.md", "pipe.md");
    let _socket = UnixListener::bind(bed.path("root/a/s.sock")).unwrap();
    bed.check(
        "a/SKILL.md
         b/
         warning[special-file] root/a/link.md
         warning[special-file] root/a/pipe.md
         warning[special-file] root/a/s.sock
         error[special-file] root/b/SKILL.md
         error[ignore-file] root/c/.skillignore",
    );
}

#[test]
fn devices_are_told_and_never_opened() {
    let mount = Mount { prefix: String::new(), dir: "/dev".into() };
    let options = Options { links: Links::Refuse, ..Options::default() };
    let (tree, findings) = Roots::open(&[mount], &options).unwrap().walk();
    let told =
        |path: &str| findings.iter().any(|f| f.code.as_str() == "special-file" && f.path.ends_with(path));
    assert!(told("dev/zero") && told("dev/null"), "{findings:?}");
    assert!(tree.roots[0].top.files().all(|file| file.name() != "zero"));
}

#[test]
fn what_a_file_has_become_since_the_walk_is_not_read() {
    for what in ["a pipe", "a directory", "a link inside", "a link outside", "nothing"] {
        let bed = Bed::new(&["root/d/a.md", "root/b.md"]);
        bed.write("outside/a.md", CANARY);
        let (tree, _) = bed.open().walk();
        fs::remove_file(bed.path("root/d/a.md")).unwrap();
        match what {
            "a pipe" => make_fifo(&bed, "root/d/a.md"),
            "a directory" => bed.write("root/d/a.md/", ""),
            "a link inside" => bed.link("root/d/a.md", "../b.md"),
            "a link outside" => bed.link("root/d/a.md", "../../outside/a.md"),
            _ => (),
        }
        let read = tree.disk.read(&tree.roots[0].top.dirs[0].files().next().unwrap().source(), 100);
        assert!(matches!(read, Err(ReadError::Gone)), "{what}: {read:?}");
    }
}

#[test]
fn a_directory_that_became_a_link_is_not_read_through() {
    for target in ["../outside", "other"] {
        let bed = Bed::new(&["root/d/a.md"]);
        bed.write("outside/a.md", CANARY);
        bed.write("root/other/a.md", "another file");
        let (tree, _) = bed.open().walk();
        fs::rename(bed.path("root/d"), bed.path("root/moved")).unwrap();
        bed.link("root/d", target);
        let read = tree.disk.read(&tree.roots[0].top.dirs[0].files().next().unwrap().source(), 100);
        assert!(matches!(read, Err(ReadError::Gone)), "{target}: {read:?}");
    }
}

#[test]
fn a_file_is_read_up_to_the_bound_and_no_further() {
    let bed = Bed::new(&["root/1234"]);
    let (tree, _) = bed.open().walk();
    let file = tree.roots[0].top.files().next().unwrap();
    assert_eq!((file.size(), file.modified().time().is_some()), (9, true));
    assert_eq!(tree.disk.read(&file.source(), 9).unwrap(), b"root/1234");
    assert!(matches!(tree.disk.read(&file.source(), 8), Err(ReadError::TooLarge { max_bytes: 8 })));
    assert_eq!(tree.disk.read(&file.source(), u64::MAX).unwrap(), b"root/1234");
}

#[test]
fn what_may_not_be_read_costs_itself_only() {
    let name = "tree::tests::disk::what_may_not_be_read_costs_itself_only";
    child::run(name, Few::Rights, || {
        let bed = Bed::new(&["root/open/a.md", "root/closed/a.md", "root/hollow/a.md", "root/secret.txt.md"]);
        let set =
            |path: &str, mode| fs::set_permissions(bed.path(path), fs::Permissions::from_mode(mode)).unwrap();
        bed.link("root/into.md", "hollow/a.md");
        set("root/closed", 0o000);
        set("root/hollow", 0o444);
        set("root/secret.txt.md", 0o000);
        bed.check(
            "secret.txt.md: Permission denied (os error 13)
             open/a.md
             warning[unreadable] root/closed
             warning[unreadable] root/hollow
             warning[unreadable] root/into.md",
        );
        let closed = Mount { prefix: String::new(), dir: bed.path("root/closed") };
        let error = Roots::open(&[closed], &Options::default()).unwrap_err();
        assert!(matches!(error, RootError::Unreadable { .. }), "{error}");
        set("root/closed", 0o755);
        set("root/hollow", 0o755);
    });
}

#[test]
fn a_root_that_cannot_be_served_says_what_to_do() {
    let bed = Bed::new(&["file"]);
    let open = |path: &str| {
        let mounts = [Mount { prefix: String::new(), dir: bed.path(path) }];
        Roots::open(&mounts, &Options::default())
            .unwrap_err()
            .to_string()
            .replace(&*bed.path("").to_string_lossy(), "")
    };
    assert_eq!(open("nowhere"), "there is no directory \"nowhere\": check the path, or create it");
    assert_eq!(open("file"), "\"file\" is not a directory: name the directory that holds it");
}

#[test]
fn a_root_that_is_gone_is_empty_and_the_others_are_served() {
    let bed = Bed::new(&["root/a.md", "other/b.md"]).roots(&["root", "other"]);
    let roots = bed.open();
    fs::remove_dir_all(bed.path("root")).unwrap();
    let (tree, findings) = roots.walk();
    assert!(tree.roots[0].top.files.is_empty() && tree.roots[0].real_name.is_empty());
    assert_eq!(
        tree.disk.read(&tree.roots[1].top.files().next().unwrap().source(), 100).unwrap(),
        b"other/b.md"
    );
    assert_eq!(
        (findings.len(), findings[0].code.as_str(), &findings[0].path),
        (1, "unreadable", &bed.path("root"))
    );
}

/// Reads everything that a walk found.
fn read_all(tree: &Tree, dir: &Directory, seen: &mut HashSet<Vec<u8>>) {
    seen.extend(dir.files().filter_map(|file| tree.disk.read(&file.source(), 1_000).ok()));
    dir.dirs.iter().for_each(|dir| read_all(tree, dir, seen));
}

#[test]
fn no_race_leads_out_of_the_root() {
    let bed = Bed::new(&["root/s/dir/sub/x.md", "root/s/file.md", "root/s/SKILL.md"]);
    bed.write("outside/sub/x.md", CANARY);
    bed.write("outside/file.md", CANARY);
    bed.link("root/through.md", "s/dir/sub/x.md");
    bed.link("root/alias", "s/dir");
    bed.link("spare/dir", "@outside");
    bed.link("spare/file.md", "@outside/file.md");
    let stop = AtomicBool::new(false);
    let mut seen = HashSet::new();
    let mut codes = HashSet::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Each turn of the wheel puts a link where a directory or a file was, and back.
            while !stop.load(Ordering::Relaxed) {
                for name in ["dir", "file.md"] {
                    let (place, real) =
                        (bed.path("root/s").join(name), bed.path("spare").join(format!("real-{name}")));
                    let link = bed.path("spare").join(name);
                    fs::rename(&place, &real).unwrap();
                    fs::rename(&link, &place).unwrap();
                    std::thread::yield_now();
                    fs::rename(&place, &link).unwrap();
                    fs::rename(&real, &place).unwrap();
                }
            }
        });
        let roots = bed.open();
        for turn in 0..100_000 {
            let (tree, findings) = roots.walk();
            read_all(&tree, &tree.roots[0].top, &mut seen);
            codes.extend(findings.into_iter().map(|finding| finding.code.as_str()));
            // The race is on once the walk met both what was there before and the links.
            let met = |text: &str| seen.iter().any(|bytes| bytes == text.as_bytes());
            let both = met("root/s/dir/sub/x.md") && met("root/s/file.md") && codes.contains("link-leaves");
            if turn >= 1_000 && both {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(!seen.iter().any(|bytes| bytes == CANARY.as_bytes()));
    assert!(seen.iter().any(|bytes| bytes == b"root/s/file.md"));
    assert!(codes.contains("link-leaves"), "{codes:?}");
}
