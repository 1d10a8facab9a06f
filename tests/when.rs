//! When a server looks again: by the clock, on a signal, and never for its own reading.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::follower::{FIRST_LOOKS, Follower, replace, write_skill};
use common::{Client, skillserve, wait_until, write};
use serde_json::json;
use tempfile::TempDir;

const NOTES: &str = "skill://csv/notes.txt";

/// Twice the longest time for which changes are gathered before a look, and some more.
const A_LOOK_WOULD_TAKE: Duration = Duration::from_millis(300);

fn bed() -> TempDir {
    let bed = tempfile::tempdir().unwrap();
    write_skill(&bed.path().join("root"), "csv", "one\n");
    bed
}

fn with_variable(root: &Path, name: &str, value: &str) -> Follower {
    let mut command = skillserve();
    command.args(["stdio", "-v"]).arg(root).env(name, value);
    Follower::of(command)
}

fn ttl_ms(follower: &mut Follower) -> u64 {
    follower.host.result("skills/list", json!({}))["ttlMs"].as_u64().unwrap()
}

/// Changes a file, and waits until that is served.
#[track_caller]
fn check_is_seen(follower: &mut Follower, root: &Path, text: &str) {
    let before = follower.digests();
    replace(root, "csv/notes.txt", text.as_bytes());
    follower.wait_for_text(NOTES, text, &before);
}

/// Asks for a while, without anything that would make the server look; nothing must come of it.
fn ask_for_a_while(follower: &mut Follower) {
    let begin = Instant::now();
    while begin.elapsed() < A_LOOK_WOULD_TAKE {
        follower.digests();
    }
}

#[test]
fn a_server_that_polls_says_how_long_an_answer_holds() {
    let bed = bed();
    let root = bed.path().join("root");
    let mut follower = with_variable(&root, "SKILLSERVE_POLL", "1");
    check_is_seen(&mut follower, &root, "two\n");
    // It is 0 when the next look is just due.
    wait_until("an answer holds for a while", || {
        let ttl = ttl_ms(&mut follower);
        assert!(ttl <= 1000, "{ttl}");
        ttl > 0
    });
    check_is_seen(&mut follower, &root, "six\n");

    let mut given = Follower::start(&root, &["--poll", "1", "--ttl", "7"]);
    assert_eq!(ttl_ms(&mut given), 7000);
}

#[test]
fn a_server_that_polls_does_not_look_in_between() {
    let bed = bed();
    let root = bed.path().join("root");
    let mut follower = Follower::start(&root, &["--poll", "3600"]);
    let before = follower.digests();
    write(&root, &[("csv/notes.txt", b"two\n")]);
    ask_for_a_while(&mut follower);
    assert_eq!(follower.digests(), before);
    follower.check_looks(1);
    assert!((3_000_000..=3_600_000).contains(&ttl_ms(&mut follower)));
    follower.signal("HUP");
    follower.wait_for_text(NOTES, "two\n", &before);
    follower.check_looks(2);
}

#[test]
fn a_server_that_watches_does_not_say_how_long_an_answer_holds() {
    let bed = bed();
    let root = bed.path().join("root");
    let mut follower = Follower::start(&root, &[]);
    assert_eq!(ttl_ms(&mut follower), 0);
    check_is_seen(&mut follower, &root, "two\n");
    assert_eq!(ttl_ms(&mut follower), 0);
    assert_eq!(ttl_ms(&mut Follower::start(&root, &["--ttl", "7"])), 7000);
}

#[test]
fn a_server_that_does_not_watch_looks_when_it_is_told_to() {
    let bed = bed();
    let root = bed.path().join("root");
    let mut follower = with_variable(&root, "SKILLSERVE_NO_WATCH", "true");
    for (looks, text) in [(1, "two\n"), (2, "six\n")] {
        let before = follower.digests();
        write(&root, &[("csv/notes.txt", text.as_bytes())]);
        ask_for_a_while(&mut follower);
        assert_eq!(follower.digests(), before);
        follower.check_looks(looks);
        follower.signal("HUP");
        follower.wait_for_text(NOTES, text, &before);
    }
    follower.check_looks(3);
    assert_eq!(ttl_ms(&mut follower), 0);
}

#[test]
fn a_hangup_makes_a_server_that_watches_look_too() {
    let bed = bed();
    let mut follower = Follower::start(&bed.path().join("root"), &[]);
    follower.check_looks(FIRST_LOOKS);
    follower.signal("HUP");
    follower.check_looks(FIRST_LOOKS + 1);
    assert!(!follower.digests().is_empty());
}

/// The directories are opened and read for answers and for looks, and none of that may count as a change.
#[test]
fn what_a_server_reads_does_not_wake_it() {
    let bed = bed();
    let root = bed.path().join("root");
    let mut follower = Follower::start(&root, &[]);
    follower.check_looks(FIRST_LOOKS);
    check_is_seen(&mut follower, &root, "two\n");
    let begin = Instant::now();
    let mut reads = 0;
    while reads < 200 || begin.elapsed() < A_LOOK_WOULD_TAKE {
        assert_eq!(follower.read(NOTES).as_deref(), Some("two\n"));
        reads += 1;
    }
    follower.check_looks(FIRST_LOOKS + 1);
    // The look for a change is told of after any that the reads had caused.
    check_is_seen(&mut follower, &root, "six\n");
    follower.check_looks(FIRST_LOOKS + 2);
}
