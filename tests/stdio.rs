//! The program as a host starts it: over pipes, until the pipes or a signal end it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use common::stdio::Host;
use common::{Client, Era, PATIENCE, skill_md, skills, skillserve, wait_until, write};
use serde_json::{Value, json};

/// How long a host waits for a process to end before it kills it.
const HOST_WAITS: Duration = Duration::from_secs(2);

/// Ends what the host started, and checks that it goes in time and content.
#[track_caller]
fn check_end(host: &mut Host) {
    let (status, took) = host.wait();
    assert!(status.success(), "{status}");
    assert!(took < HOST_WAITS, "{took:?}");
}

fn signal(host: &Host, name: &str) {
    common::signal(&host.child, name);
}

/// Sends a line that is no request of the protocol, and checks the error that answers it.
#[track_caller]
fn check_refusal(host: &mut Host, line: impl AsRef<[u8]>, code: i32, id: Value) {
    host.send_raw(&[line.as_ref(), b"\n"].concat());
    let answer = host.receive();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
}

#[test]
fn a_faulty_line_is_answered_and_ends_nothing() {
    let root = skills();
    let mut host = Host::start(root.path(), Era::Modern);
    let request = Era::Modern.request(1, "tools/list", json!({})).to_string();
    // Before the first request, and after it.
    for _ in 0..2 {
        check_refusal(&mut host, "hello", -32700, Value::Null);
        check_refusal(&mut host, r#"{"jsonrpc":"#, -32700, Value::Null);
        check_refusal(&mut host, b"\xff\xfe", -32700, Value::Null);
        check_refusal(&mut host, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, Value::Null);
        check_refusal(&mut host, "7", -32600, Value::Null);
        check_refusal(&mut host, "{}", -32600, Value::Null);
        check_refusal(&mut host, format!("[{request}]"), -32600, Value::Null);
        check_refusal(&mut host, r#"{"jsonrpc":"1.0","id":"x","method":"tools/list"}"#, -32600, json!("x"));
        check_refusal(&mut host, request.replacen('{', r#"{"id":2,"#, 1), -32600, Value::Null);
        check_refusal(&mut host, "x".repeat(1 << 20), -32600, Value::Null);
        check_refusal(&mut host, "[".repeat(200_000), -32700, Value::Null);
        // Blank lines are passed over, and so is a byte order mark.
        host.send_raw(b"\n\r\n  \n\xef\xbb\xbf");
        assert!(host.result("tools/list", json!({}))["tools"].is_array());
    }
    host.close();
    check_end(&mut host);
    assert!(host.is_silent());
}

#[test]
fn what_needs_no_answer_before_the_first_request_ends_nothing() {
    let root = skills();
    let mut host = Host::start(root.path(), Era::Modern);
    let beyond: Value = serde_json::from_str("99999999999999999999999").unwrap();
    let notifications = [
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": null}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": beyond}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}),
    ];
    notifications.iter().for_each(|message| host.send(message));
    host.result("server/discover", json!({}));
    notifications.iter().for_each(|message| host.send(message));
    assert_eq!(host.result("skills/list", json!({}))["skills"].as_array().map(Vec::len), Some(3));
}

#[test]
fn an_id_is_not_taken_twice_at_once() {
    let root = skills();
    let mut host = Host::start(root.path(), Era::Modern);
    let request = Era::Modern.request(7, "skills/list", json!({}));
    host.send_raw(format!("{request}\n{request}\n").as_bytes());
    let answers = [host.receive(), host.receive()];
    // The first may have been answered before the second was read.
    assert!(answers.iter().any(|answer| answer["id"] == 7 && answer["result"].is_object()));
    assert!(answers.iter().all(|answer| answer["id"] == 7 || answer["error"]["code"] == -32600));
}

#[test]
fn the_end_of_the_input_is_the_end() {
    let root = skills();
    let mut host = Host::start(root.path(), Era::Modern);
    host.close();
    check_end(&mut host);
    assert!(host.is_silent());

    for era in [Era::Modern, Era::Legacy] {
        let mut host = Host::connect(root.path(), era);
        host.result("skills/list", json!({}));
        host.close();
        check_end(&mut host);
    }
}

#[test]
fn a_subscription_ends_with_its_result_when_the_input_or_the_program_does() {
    let root = skills();
    for ends in ["input", "TERM"] {
        let mut host = Host::start(root.path(), Era::Modern);
        host.result("skills/list", json!({}));
        let params = json!({"notifications": {"resourcesListChanged": true}});
        host.send(&Era::Modern.request(8, "subscriptions/listen", params));
        assert_eq!(host.receive()["method"], "notifications/subscriptions/acknowledged");
        write(root.path(), &[("csv/Makefile", ends.as_bytes())]);
        host.send(&Era::Modern.request(9, "resources/read", json!({"uri": "skill://csv/Makefile"})));
        let told = [host.receive(), host.receive()];
        assert!(told.iter().any(|message| message["method"] == "notifications/resources/list_changed"));
        if ends == "input" {
            host.close();
        } else {
            signal(&host, ends);
        }
        let result = host.receive();
        assert_eq!((&result["id"], &result["result"]["resultType"]), (&json!(8), &json!("complete")));
        assert!(host.is_silent());
        check_end(&mut host);
    }
}

#[test]
fn requests_before_the_end_of_the_input_are_answered() {
    let root = skills();
    let mut host = Host::start(root.path(), Era::Modern);
    // More than are worked on at once, and the last without a line end.
    let requests: Vec<_> =
        (1..=100).map(|id| Era::Modern.request(id, "skills/list", json!({})).to_string()).collect();
    host.send_raw(requests.join("\n").as_bytes());
    host.close();
    let mut ids: Vec<_> = (0..100).map(|_| host.receive()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=100).collect::<Vec<_>>());
    assert!(host.is_silent());
    check_end(&mut host);
}

#[test]
fn a_signal_is_the_end() {
    let root = skills();
    let discover = Era::Modern.request(0, "server/discover", json!({}))["params"].clone();
    for (name, era, method) in [
        ("TERM", Era::Modern, "server/discover"),
        ("INT", Era::Modern, "server/discover"),
        ("TERM", Era::Modern, "skills/list"),
        ("INT", Era::Modern, "skills/list"),
        ("TERM", Era::Legacy, "skills/list"),
    ] {
        let mut host = Host::connect(root.path(), era);
        // A discover request alone does not open a session, others do.
        host.result(method, discover.clone());
        signal(&host, name);
        check_end(&mut host);
    }
}

#[test]
fn a_signal_is_the_end_with_sockets_for_pipes() {
    let root = skills();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = skillserve();
    command.arg("stdio").arg(root.path()).stderr(Stdio::null());
    command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs.try_clone().unwrap())));
    command.stdout(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut input = ours.try_clone().unwrap();
    writeln!(input, "{}", Era::Modern.request(1, "server/discover", json!({}))).unwrap();
    let mut line = String::new();
    ours.set_read_timeout(Some(PATIENCE)).unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(ours), &mut line).unwrap();
    assert!(line.contains("supportedVersions"), "{line}");
    common::signal(&child, "TERM");
    let begin = std::time::Instant::now();
    wait_until("the program ends", || child.try_wait().unwrap().is_some());
    assert!(child.wait().unwrap().success());
    assert!(begin.elapsed() < HOST_WAITS);
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_that_does_not_read_costs_little_and_is_left_in_time() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[("big/SKILL.md", &skill_md("big", "")), ("big/text.txt", "x".repeat(1 << 20).as_bytes())],
    );
    let mut host = Host::start(root.path(), Era::Modern);
    let mut input = host.input.take().unwrap();
    let writer = std::thread::spawn(move || {
        for id in 1..=1000 {
            let request = Era::Modern.request(id, "resources/read", json!({"uri": "skill://big/text.txt"}));
            if writeln!(input, "{request}").is_err() {
                return;
            }
        }
    });
    // It stops to read when it has much to write; from then on nothing moves.
    let mut memory = 0;
    wait_until("its memory settles", || {
        let before = std::mem::replace(&mut memory, rss_kib(host.child.id()));
        std::thread::sleep(Duration::from_millis(300));
        memory > 0 && memory == before
    });
    assert!(memory < 64 * 1024, "{memory} KiB");
    signal(&host, "TERM");
    check_end(&mut host);
    writer.join().unwrap();
}

/// A host that has asked for 50 answers of 1 MiB, has ended the input and has not begun to read.
fn much_asked_for(root: &Path) -> Host {
    write(root, &[("big/SKILL.md", &skill_md("big", "")), ("big/text.txt", "x".repeat(1 << 20).as_bytes())]);
    let mut host = Host::start(root, Era::Modern);
    for id in 1..=50 {
        host.send(&Era::Modern.request(id, "resources/read", json!({"uri": "skill://big/text.txt"})));
    }
    host.close();
    host
}

#[test]
fn answers_past_the_end_of_the_input_that_nobody_takes_are_given_up() {
    let root = tempfile::tempdir().unwrap();
    let mut host = much_asked_for(root.path());
    let (status, _) = host.wait();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn whoever_begins_to_read_late_has_every_answer_past_the_end_of_the_input() {
    let root = tempfile::tempdir().unwrap();
    let mut host = much_asked_for(root.path());
    // Longer than a session that is stopped goes on, and than rmcp does once there is no more to read.
    std::thread::sleep(3 * HOST_WAITS);
    let mut ids: Vec<_> = (0..50).map(|_| host.receive()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=50).collect::<Vec<_>>());
    assert!(host.is_silent());
    check_end(&mut host);
}

/// The resident memory of a process.
#[cfg(target_os = "linux")]
fn rss_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_host_that_does_not_read_stderr_is_served_and_ends_it() {
    // More to tell than a pipe holds.
    let root = tempfile::tempdir().unwrap();
    let long = "x".repeat(60);
    for n in 0..2000 {
        write(root.path(), &[(&format!("{long}-{n}/SKILL.md"), b"no frontmatter")]);
    }
    write(root.path(), &[("good/SKILL.md", &skill_md("good", ""))]);
    let mut host = Host::with_unread_stderr(root.path(), Era::Modern);
    assert_eq!(host.result("skills/list", json!({}))["skills"].as_array().unwrap().len(), 1);
    host.close();
    check_end(&mut host);
}
