//! What those who run the program see of it over HTTP: whether it is well, its numbers, how it stands, and a line for each
//! request.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

#[path = "observe/access_log.rs"]
mod access_log;
#[path = "observe/admin.rs"]
mod admin;
mod common;
#[path = "observe/health.rs"]
mod health;
#[path = "observe/metrics.rs"]
mod metrics;
#[path = "observe/status.rs"]
mod status;

use std::fs;

use common::http::{Request, Response, Server};
use common::{Era, skill_md, wait_until, write};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A skill that is served, one with a warning, and one that is not served.
fn bed() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            ("skills/good/SKILL.md", &skill_md("good", "")),
            ("skills/good/notes.txt", b"1\n"),
            ("skills/keys/SKILL.md", &skill_md("keys", "")),
            ("skills/keys/server.key", b"secret\n"),
            ("skills/broken/SKILL.md", b"---\nname: broken\ndescription: Use this: now\n---\n"),
        ],
    );
    root
}

fn start(bed: &TempDir, options: &[&str]) -> Server {
    Server::start(&bed.path().join("skills"), options)
}

/// A message of the protocol's newest revision.
fn ask(method: &str, params: Value) -> Request {
    Request::modern(method, params)
}

/// The body of what answers a GET.
#[track_caller]
fn text(server: &Server, path: &'static str) -> String {
    let response = server.exchange(&Request::get(path));
    assert_eq!(response.status, 200, "{response:?}");
    String::from_utf8(response.body).unwrap()
}
