//! What the Rust client of the protocol does not take, really run: `check` warns of it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::time::Duration;

use common::{skill_md, skillserve, write};
use rmcp::ServiceExt as _;
use rmcp::model::ReadResourceRequestParams;
use rmcp::transport::TokioChildProcess;

/// Whether the client reads a binary file of so many bytes over stdio, and whether `check` says that it does not.
async fn look(bytes: usize) -> (bool, bool) {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &[("a/SKILL.md", &skill_md("a", "")), ("a/x", &vec![0xff; bytes])]);
    let mut command = tokio::process::Command::from(skillserve());
    command.arg("stdio").arg(root.path());
    let client = ().serve(TokioChildProcess::new(command).unwrap()).await.unwrap();
    let read = client.read_resource(ReadResourceRequestParams::new("skill://a/x"));
    let is_read =
        tokio::time::timeout(Duration::from_secs(10), read).await.is_ok_and(|answer| answer.is_ok());
    let output = skillserve().args(["check", "--hosts", "rmcp"]).arg(root.path()).output().unwrap();
    (is_read, String::from_utf8_lossy(&output.stdout).contains("[message-too-large]"))
}

#[tokio::test]
async fn a_message_above_16_mib_is_too_large() {
    const MIB: usize = 1024 * 1024;
    assert_eq!(look(11 * MIB).await, (true, false));
    assert_eq!(look(13 * MIB).await, (false, true));
}
