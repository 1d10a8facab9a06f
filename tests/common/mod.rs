//! What the tests of the running program share: a directory of skills, requests in both eras, and clients that only know
//! JSON.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

pub mod follower;
pub mod http;
pub mod http2;
pub mod stdio;

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before a test gives up on it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The bytes of a picture, as far as its kind can be told.
pub const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff";

/// The program under test.
pub fn skillserve() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillserve"));
    command.env_clear();
    command
}

/// Writes files, and the directories that they need. Each appears whole, so that no look sees half of one.
pub fn write(root: &Path, files: &[(&str, &[u8])]) {
    for (path, bytes) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let new = path.with_file_name(".new");
        fs::write(&new, bytes).unwrap();
        fs::rename(new, path).unwrap();
    }
}

/// A `SKILL.md` with these lines after its name and description.
pub fn skill_md(name: &str, more: &str) -> Vec<u8> {
    format!("---\nname: {name}\ndescription: What {name} does.\n{more}---\n\n# {name}\n").into_bytes()
}

/// A few skills: one with files of several kinds, and one inside another.
pub fn skills() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            ("csv/SKILL.md", &skill_md("csv", "metadata:\n  version: \"1.0\"\n")),
            ("csv/Makefile", b"all:\n"),
            ("csv/data/logo.png", PNG),
            ("csv/data/latin-1.txt", b"caf\xe9\n"),
            ("csv/scripts/run.ts", b"export {};\n"),
            ("csv/setup guide.md", "\u{feff}Café\r\n".as_bytes()),
            ("acme/billing/SKILL.md", &skill_md("billing", "")),
            ("acme/billing/refunds/SKILL.md", &skill_md("refunds", "")),
            ("acme/billing/refunds/terms.txt", b""),
        ],
    );
    root
}

/// How a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Requests that say everything themselves.
    Modern,
    /// Requests after a handshake.
    Legacy,
}

impl Era {
    /// A request in this era's form.
    pub fn request(self, id: u64, method: &str, mut params: Value) -> Value {
        if self == Self::Modern && params.is_object() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }
}

/// The parameters of a handshake.
pub fn handshake() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "clientInfo": {"name": "test", "version": "1"},
        "capabilities": {},
    })
}

/// Somebody who asks and is answered.
pub trait Client {
    /// The era that it speaks in.
    fn era(&self) -> Era;
    /// The whole answer to a request.
    fn ask(&mut self, method: &str, params: Value) -> Value;

    /// The result of a request that succeeds.
    fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The error of a request that fails.
    fn error(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer["result"].is_null(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// All pages of a listing.
    fn pages(&mut self, method: &str, params: &Value) -> Vec<Value> {
        let mut pages = vec![self.result(method, params.clone())];
        while let Some(cursor) = pages.last().unwrap().get("nextCursor") {
            let mut params = params.clone();
            params["cursor"] = cursor.clone();
            pages.push(self.result(method, params));
        }
        pages
    }
}

/// Sends a program a signal, by its name without `SIG`.
#[track_caller]
pub fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// Waits until `is_so`, with a bound.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "waited too long: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
