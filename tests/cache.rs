//! Files in memory: what stays of them, and that none goes out against another digest than its listing states.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use common::follower::{Follower, replace, write_skill};
use common::{PATIENCE, skillserve};
use tempfile::TempDir;

const NOTES: &str = "skill://csv/notes.txt";

/// A directory beside which there is room for other files.
fn bed() -> (TempDir, std::path::PathBuf) {
    let bed = tempfile::tempdir().unwrap();
    let root = bed.path().join("skills");
    write_skill(&root, "csv", "first\n");
    (bed, root)
}

fn with_cache(root: &std::path::Path, bytes: &str, options: &[&str]) -> Follower {
    let mut command = skillserve();
    command.args(["stdio", "-v"]).args(options).arg(root).env("SKILLSERVE_CACHE_BYTES", bytes);
    Follower::of(command)
}

#[test]
fn who_does_not_watch_goes_on_with_what_was_read_until_told_to_look() {
    for (bytes, after) in [("1000000", "first\n"), ("0", "other\n")] {
        let (_bed, root) = bed();
        let mut follower = with_cache(&root, bytes, &["--no-watch"]);
        assert_eq!(follower.read(NOTES).as_deref(), Some("first\n"));
        let stated = follower.digests();
        replace(&root, "csv/notes.txt", b"other\n");
        // Old bytes with the old digest, or new bytes with the new one.
        assert_eq!(follower.read(NOTES).as_deref(), Some(after));
        assert_eq!(follower.digests() == stated, after == "first\n");
        follower.signal("HUP");
        let begin = std::time::Instant::now();
        while follower.read(NOTES).as_deref() != Some("other\n") {
            assert!(begin.elapsed() < PATIENCE);
        }
        assert_ne!(follower.digests(), stated);
    }
}

#[test]
fn a_change_that_is_seen_is_never_answered_with_what_was_before() {
    let (_bed, root) = bed();
    let mut follower = with_cache(&root, "1000000", &[]);
    for text in ["second\n", "first\n", "third\n", "second\n"] {
        let before = follower.digests();
        assert!(follower.read(NOTES).is_some());
        replace(&root, "csv/notes.txt", text.as_bytes());
        follower.wait_for_text(NOTES, text, &before);
    }
}
