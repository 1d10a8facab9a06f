//! A skill that an edit broke is served as it was, for a while and only if each byte can still be produced.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::fs;

use common::follower::{Follower, write_skill};
use common::{Client, skill_md, skillserve, wait_until, write};
use serde_json::json;
use tempfile::TempDir;

const NOTES: &str = "skill://csv/notes.txt";
const SKILL: &str = "skill://csv/SKILL.md";
const KEPT: &str = "warning[kept] ";

fn bed() -> TempDir {
    let bed = tempfile::tempdir().unwrap();
    write_skill(bed.path(), "csv", "notes\n");
    bed
}

#[test]
fn a_broken_skill_is_served_as_it_was_until_it_is_good_again() {
    let bed = bed();
    let mut follower = Follower::start(bed.path(), &[]);
    let good = follower.host.result("skills/get", json!({"uri": SKILL}))["skill"].clone();
    for faulty in [&b"---\nname: csv\n"[..], b"", b"---\nname: other\ndescription: x\n---\n"] {
        let told = follower.told.count(KEPT);
        write(bed.path(), &[("csv/SKILL.md", faulty)]);
        wait_until("it is told", || follower.told.count(KEPT) > told);
        assert_eq!(follower.host.result("skills/get", json!({"uri": SKILL}))["skill"], good);
        assert_eq!(follower.read(SKILL).unwrap().as_bytes(), skill_md("csv", ""));
        assert_eq!(follower.read(NOTES).as_deref(), Some("notes\n"));
        // The cure is served, not what was kept.
        let before = follower.digests();
        let cured = skill_md("csv", &format!("license: {told}\n"));
        write(bed.path(), &[("csv/SKILL.md", &cured)]);
        follower.wait_for_text(SKILL, std::str::from_utf8(&cured).unwrap(), &before);
        let before = follower.digests();
        write(bed.path(), &[("csv/SKILL.md", &skill_md("csv", ""))]);
        follower.wait_for_text(SKILL, std::str::from_utf8(&skill_md("csv", "")).unwrap(), &before);
    }
}

#[test]
fn a_skill_that_stays_broken_is_withdrawn_in_time() {
    let bed = bed();
    let mut command = skillserve();
    command.args(["stdio", "-v"]).arg(bed.path()).env("SKILLSERVE_KEEP_LAST_GOOD", "1");
    let mut follower = Follower::of(command);
    write(bed.path(), &[("csv/SKILL.md", b"broken")]);
    follower.told.wait_for(KEPT);
    assert!(
        follower.told.all().iter().any(|line| line.contains("for at most 1 s")),
        "{:?}",
        follower.told.all()
    );
    follower.wait_for_files(&[]);
    assert_eq!(follower.read(SKILL), None);
    // It comes back by itself when it is cured.
    write_skill(bed.path(), "csv", "notes\n");
    follower.wait_for_files(&[SKILL, NOTES]);
}

#[test]
fn a_broken_skill_is_withdrawn_at_once_if_so_wished() {
    let bed = bed();
    let mut follower = Follower::start(bed.path(), &["--keep-last-good", "0"]);
    write(bed.path(), &[("csv/SKILL.md", b"broken")]);
    follower.wait_for_files(&[]);
    assert_eq!(follower.told.count(KEPT), 0);
}

#[test]
fn what_is_deleted_is_not_kept() {
    let bed = bed();
    write_skill(bed.path(), "other", "x");
    let mut follower = Follower::start(bed.path(), &["--keep-last-good", "3600"]);
    fs::remove_dir_all(bed.path().join("other")).unwrap();
    follower.wait_for_files(&[SKILL, NOTES]);
    fs::remove_file(bed.path().join("csv/SKILL.md")).unwrap();
    follower.wait_for_files(&[]);
    assert_eq!(follower.read(NOTES), None);
    assert_eq!(follower.told.count(KEPT), 0);
}

#[test]
fn a_skill_is_kept_only_while_each_byte_can_be_produced() {
    let bed = bed();
    let mut follower = Follower::start(bed.path(), &["--keep-last-good", "3600"]);
    write(bed.path(), &[("csv/SKILL.md", b"broken")]);
    follower.told.wait_for(KEPT);
    // It is not held in memory, and another one stands in its place now.
    write(bed.path(), &[("csv/notes.txt", b"other\n")]);
    follower.wait_for_files(&[]);
    assert_eq!(follower.read(NOTES), None);
}

#[test]
fn how_many_skills_a_lost_directory_costs_is_told_once() {
    let bed = bed();
    write_skill(&bed.path().join("in"), "other", "x");
    write_skill(&bed.path().join("in"), "third", "y");
    let (root, away) = (bed.path().join("in"), bed.path().join("away"));
    let mut follower = Follower::start(&root, &["--cache-bytes", "0"]);
    let files = follower.digests();
    fs::rename(&root, &away).unwrap();
    follower.wait_for_files(&[]);
    let told = "skills that are withdrawn because their directory cannot be opened any more, and not all of their files are \
                in memory or --keep-last-good is over: 2; ";
    wait_until("it is told", || follower.told.count(told) == 1);
    fs::rename(&away, &root).unwrap();
    wait_until("they are back", || follower.digests() == files);
    assert_eq!(follower.told.count("skills that are withdrawn"), 1);
}
