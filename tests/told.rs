//! Whoever listens is told of changes on the disk: over stdio, over HTTP, and by `list --watch`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::follower::{Follower, Lines, replace, write_skill};
use common::http::{Request, Server};
use common::{Client, Era, skill_md, skillserve, wait_until};
use serde_json::{Value, json};
use tempfile::TempDir;

const NOTES: &str = "skill://csv/notes.txt";
const LIST: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";

fn bed() -> TempDir {
    let bed = tempfile::tempdir().unwrap();
    write_skill(&bed.path().join("root"), "csv", "one\n");
    bed
}

fn listening() -> Value {
    let wanted = json!({"notifications": {"resourcesListChanged": true, "resourceSubscriptions": [NOTES]}});
    Era::Modern.request(1_000, "subscriptions/listen", wanted)
}

/// Checks that the next messages tell of an edit of the notes.
#[track_caller]
fn check_edit(mut next: impl FnMut() -> Value) {
    let first = next();
    assert_eq!(first["method"], LIST, "{first}");
    let second = next();
    assert_eq!((&second["method"], &second["params"]["uri"]), (&json!(UPDATED), &json!(NOTES)), "{second}");
}

#[test]
fn a_listener_over_pipes_is_told() {
    let bed = bed();
    let root = bed.path().join("root");
    let Follower { mut host, .. } = Follower::start(&root, &[]);
    host.send(&listening());
    assert_eq!(host.receive()["method"], "notifications/subscriptions/acknowledged");
    for text in ["two\n", "six\n"] {
        replace(&root, "csv/notes.txt", text.as_bytes());
        check_edit(|| host.receive());
    }
    // What is not subscribed to changes the listing only, and so does what is new.
    replace(&root, "csv/SKILL.md", &skill_md("csv", "license: MIT\n"));
    assert_eq!(host.receive()["method"], LIST);
    write_skill(bed.path(), "other", "x");
    fs::rename(bed.path().join("other"), root.join("other")).unwrap();
    assert_eq!(host.receive()["method"], LIST);
    // What goes is told of as well.
    fs::rename(root.join("csv"), bed.path().join("csv")).unwrap();
    check_edit(|| host.receive());
}

#[test]
fn a_listener_over_http_is_told() {
    let bed = bed();
    let root = bed.path().join("root");
    let server = Server::start(&root, &[]);
    server.client(Era::Modern).result("skills/list", json!({}));
    let mut events = server.open(&Request::message(Era::Modern, &listening()));
    assert_eq!(events.next().unwrap()["method"], "notifications/subscriptions/acknowledged");
    for text in ["two\n", "six\n"] {
        replace(&root, "csv/notes.txt", text.as_bytes());
        check_edit(|| events.next().unwrap());
    }
}

/// `list --watch`, and what it prints.
struct Watching {
    child: Child,
    printed: Lines,
    told: Lines,
}

impl Watching {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let printed = Lines::of(child.stdout.take().unwrap());
        let told = Lines::of(child.stderr.take().unwrap());
        Self { child, printed, told }
    }

    /// Waits for the next lines, which must be these.
    #[track_caller]
    fn check(&self, seen: &mut Vec<String>, lines: &[&str]) {
        seen.extend(lines.iter().map(|line| (*line).to_owned()));
        wait_until(&format!("{seen:?}, not {:?}", self.printed.all()), || {
            self.printed.all().len() >= seen.len()
        });
        assert_eq!(self.printed.all(), *seen);
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn check_watching(bed: &Path, command: Command) {
    let root = bed.join("root");
    let mut watching = Watching::start(command);
    let seen = &mut Vec::new();
    watching.check(seen, &["added    skill://csv/SKILL.md"]);
    replace(&root, "csv/notes.txt", b"two\n");
    watching.check(seen, &["changed  skill://csv/SKILL.md"]);
    write_skill(bed, "other", "x");
    fs::rename(bed.join("other"), root.join("other")).unwrap();
    watching.check(seen, &["added    skill://other/SKILL.md"]);
    replace(&root, "other/SKILL.md", b"broken\n");
    let refused = format!("refused  {}", root.join("other/SKILL.md").display());
    watching.check(seen, &["removed  skill://other/SKILL.md", &refused]);
    watching.told.wait_for("error[no-frontmatter]");
    fs::remove_dir_all(root.join("other")).unwrap();
    replace(&root, "csv/SKILL.md", &skill_md("csv", "license: MIT\n"));
    watching.check(seen, &["changed  skill://csv/SKILL.md"]);
    // At once, or an edit would be told of first.
    fs::rename(root.join("csv"), bed.join("csv")).unwrap();
    watching.check(seen, &["removed  skill://csv/SKILL.md"]);
    common::signal(&watching.child, "TERM");
    wait_until("the program ends", || watching.child.try_wait().unwrap().is_some());
    assert!(watching.child.wait().unwrap().success());
}

#[test]
fn a_list_that_watches_says_what_changes() {
    let bed = bed();
    let mut command = skillserve();
    command.args(["list", "--watch"]).arg(bed.path().join("root"));
    check_watching(bed.path(), command);
}

#[test]
fn a_list_that_polls_says_the_same() {
    let bed = bed();
    let mut command = skillserve();
    command.args(["list", "--poll", "1"]).arg(bed.path().join("root")).env("SKILLSERVE_WATCH", "true");
    check_watching(bed.path(), command);
}
