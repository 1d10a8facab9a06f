//! Every kind of change on the disk is seen by a server that runs, without a request that would make it look.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use common::follower::{Follower, replace, write_skill};
use common::http::Server;
use common::{Client, Era, skill_md, wait_until, write};
use serde_json::json;
use tempfile::TempDir;

const NOTES: &str = "skill://csv/notes.txt";
const SKILL: &str = "skill://csv/SKILL.md";

/// A directory `root` with one skill, in one that is nobody else's.
fn bed() -> (TempDir, PathBuf) {
    let bed = tempfile::tempdir().unwrap();
    let root = bed.path().join("root");
    write_skill(&root, "csv", "one\n");
    (bed, root)
}

/// Points a link to another place at once.
fn swap(link: &Path, to: &str) {
    let new = link.with_file_name("..new");
    symlink(to, &new).unwrap();
    fs::rename(new, link).unwrap();
}

#[test]
fn an_edit_in_place_is_seen() {
    let (_bed, root) = bed();
    let mut follower = Follower::start(&root, &[]);
    for text in ["two\n", "six\n", "", "longer than before\n"] {
        let before = follower.digests();
        write(&root, &[("csv/notes.txt", text.as_bytes())]);
        follower.wait_for_text(NOTES, text, &before);
    }
    let before = follower.digests();
    let skill = skill_md("csv", "license: MIT\n");
    write(&root, &[("csv/SKILL.md", &skill)]);
    follower.wait_for_text(SKILL, std::str::from_utf8(&skill).unwrap(), &before);
}

#[test]
fn a_file_renamed_over_another_is_seen() {
    let (_bed, root) = bed();
    let mut follower = Follower::start(&root, &[]);
    for text in ["two\n", "six\n"] {
        let before = follower.digests();
        replace(&root, "csv/notes.txt", text.as_bytes());
        follower.wait_for_text(NOTES, text, &before);
    }
    fs::rename(root.join("csv/notes.txt"), root.join("csv/other.txt")).unwrap();
    follower.wait_for_files(&[SKILL, "skill://csv/other.txt"]);
    fs::remove_file(root.join("csv/other.txt")).unwrap();
    follower.wait_for_files(&[SKILL]);
}

#[test]
fn a_volume_whose_data_link_is_swapped_is_seen() {
    // The volume is a skill below the root, and the root itself.
    for served in ["", "csv"] {
        let bed = tempfile::tempdir().unwrap();
        let volume = bed.path().join("csv");
        for text in ["one", "two", "six"] {
            write(
                &volume,
                &[
                    (&format!("..{text}/SKILL.md"), &skill_md("csv", "")),
                    (&format!("..{text}/notes.txt"), text.as_bytes()),
                ],
            );
        }
        symlink("..one", volume.join("..data")).unwrap();
        for name in ["SKILL.md", "notes.txt"] {
            symlink(format!("..data/{name}"), volume.join(name)).unwrap();
        }
        let mut follower = Follower::start(&bed.path().join(served), &[]);
        assert_eq!(follower.read(NOTES).as_deref(), Some("one"));
        for text in ["two", "six"] {
            let before = follower.digests();
            swap(&volume.join("..data"), &format!("..{text}"));
            follower.wait_for_text(NOTES, text, &before);
        }
        // What the link led to is removed in the end, and where it leads to now is followed.
        let before = follower.digests();
        fs::remove_dir_all(volume.join("..one")).unwrap();
        fs::write(volume.join("..six/notes.txt"), "last").unwrap();
        follower.wait_for_text(NOTES, "last", &before);
    }
}

#[test]
fn a_root_that_is_a_link_is_seen_to_be_swapped() {
    let bed = tempfile::tempdir().unwrap();
    for text in ["one", "two", "six"] {
        write_skill(&bed.path().join("revisions").join(text), "csv", text);
    }
    let link = bed.path().join("current");
    symlink("revisions/one", &link).unwrap();
    let mut follower = Follower::start(&link, &[]);
    assert_eq!(follower.read(NOTES).as_deref(), Some("one"));
    for text in ["two", "six"] {
        let before = follower.digests();
        swap(&link, &format!("revisions/{text}"));
        follower.wait_for_text(NOTES, text, &before);
    }
    // What the link leads to now is followed too.
    let before = follower.digests();
    write_skill(&bed.path().join("revisions/six"), "csv", "last");
    follower.wait_for_text(NOTES, "last", &before);
}

#[test]
fn a_category_comes_and_goes_with_its_skills() {
    let (bed, root) = bed();
    let mut follower = Follower::start(&root, &[]);
    let of_csv = [SKILL, NOTES];
    let all = [
        "skill://acme/a/SKILL.md",
        "skill://acme/a/notes.txt",
        "skill://acme/deep/b/SKILL.md",
        "skill://acme/deep/b/notes.txt",
        SKILL,
        NOTES,
    ];
    for _ in 0..3 {
        write_skill(&root, "acme/a", "a");
        write_skill(&root, "acme/deep/b", "b");
        follower.wait_for_files(&all);
        fs::remove_dir_all(root.join("acme")).unwrap();
        follower.wait_for_files(&of_csv);
    }
    // As a whole, too.
    write_skill(bed.path(), "acme/a", "a");
    write_skill(bed.path(), "acme/deep/b", "b");
    fs::rename(bed.path().join("acme"), root.join("acme")).unwrap();
    follower.wait_for_files(&all);
    let before = follower.digests();
    write(&root, &[("acme/deep/b/notes.txt", b"edited")]);
    follower.wait_for_text("skill://acme/deep/b/notes.txt", "edited", &before);
    fs::rename(root.join("acme"), bed.path().join("acme")).unwrap();
    follower.wait_for_files(&of_csv);
}

#[test]
fn a_thousand_files_at_once_cost_few_looks() {
    let (_bed, root) = bed();
    let mut follower = Follower::start(&root, &[]);
    let before = follower.looks();
    for number in 0..500 {
        write_skill(&root, &format!("many/skill-{number}"), "x");
    }
    wait_until("all are served", || follower.digests().len() == 1_002);
    let looks = follower.looks() - before;
    assert!((1..100).contains(&looks), "{looks}");
    fs::remove_dir_all(root.join("many")).unwrap();
    follower.wait_for_files(&[SKILL, NOTES]);
}

#[test]
fn a_root_may_go_and_come_back() {
    let (bed, root) = bed();
    let mut follower = Follower::start(&root, &["--keep-last-good", "0"]);
    for text in ["two", "six"] {
        fs::remove_dir_all(&root).unwrap();
        follower.wait_for_files(&[]);
        let before = follower.digests();
        write_skill(&root, "csv", text);
        follower.wait_for_text(NOTES, text, &before);
    }
    fs::rename(&root, bed.path().join("away")).unwrap();
    follower.wait_for_files(&[]);
    fs::rename(bed.path().join("away"), &root).unwrap();
    follower.wait_for_files(&[SKILL, NOTES]);
    // It is followed again.
    let before = follower.digests();
    write(&root, &[("csv/notes.txt", b"last")]);
    follower.wait_for_text(NOTES, "last", &before);
}

#[test]
fn an_ignore_file_has_its_effect_from_when_it_is_there() {
    let (_bed, root) = bed();
    let mut follower = Follower::start(&root, &[]);
    write(&root, &[(".skillignore", b"notes.txt\n")]);
    follower.wait_for_files(&[SKILL]);
    write(&root, &[(".skillignore", b"csv\n")]);
    follower.wait_for_files(&[]);
    fs::remove_file(root.join(".skillignore")).unwrap();
    follower.wait_for_files(&[SKILL, NOTES]);
    write(&root, &[("csv/.skillignore", b"*.txt\n")]);
    follower.wait_for_files(&[SKILL]);
}

#[test]
fn changes_are_seen_over_http_too() {
    let (_bed, root) = bed();
    let server = Server::start(&root, &[]);
    let mut client = server.client(Era::Modern);
    let mut digest = || client.result("skills/get", json!({"uri": SKILL}))["skill"]["resources"][1].clone();
    let before = digest();
    assert_eq!(before["uri"], NOTES);
    write(&root, &[("csv/notes.txt", b"two\n")]);
    wait_until("the change is seen", || digest()["digest"] != before["digest"]);
    let read = client.result("resources/read", json!({"uri": NOTES}));
    assert_eq!(read["contents"][0]["text"], "two\n");
}
