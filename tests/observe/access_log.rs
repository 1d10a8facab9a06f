//! A line for each request.

use std::io::{Read as _, Write as _};

use super::*;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

#[test]
fn a_line_says_who_asked_for_what_and_how_that_ended() {
    let bed = bed();
    let server = start(&bed, &[]);
    let request =
        ask("skills/list", json!({})).with("X-Request-Id", "abc-1").with("Traceparent", TRACEPARENT);
    let response = server.exchange(&request);
    assert_eq!(response.header("x-request-id"), Some("abc-1"));
    let line = server.line(&["request=abc-1"]);
    let (time, rest) = line.split_once(' ').unwrap();
    assert!(time.len() == "2026-11-30T15:47:38.115Z".len() && time.ends_with('Z'), "{line}");
    let (head, rest) = rest.split_once(" ms=").unwrap();
    let bytes = response.body.len();
    assert_eq!(head, format!("POST /mcp status=200 method=skills/list outcome=ok bytes={bytes}"));
    let (ms, rest) = rest.split_once(' ').unwrap();
    assert!(ms.parse::<f64>().unwrap() > 0.0, "{line}");
    assert_eq!(
        rest,
        format!("address=127.0.0.1 version=2026-07-28 request=abc-1 trace={TRACE} parent=00f067aa0ba902b7")
    );
}

#[test]
fn a_line_can_be_json() {
    let bed = bed();
    let server = start(&bed, &["--log-format", "json"]);
    let request = ask("resources/read", json!({"uri": "skill://none/SKILL.md"}));
    let response = server.exchange(&request.with("X-Request-Id", "abc-2"));
    let line: Value = serde_json::from_str(&server.line(&["abc-2"])).unwrap();
    let expected = json!({
        "level": "INFO",
        "http_method": "POST",
        "path": "/mcp",
        "status": 200,
        "method": "resources/read",
        "outcome": "-32602",
        "bytes": response.body.len(),
        "address": "127.0.0.1",
        "version": "2026-07-28",
        "request": "abc-2",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&line[name], value, "{name} in {line}");
    }
    assert!(line["ms"].is_number() && line["timestamp"].is_string(), "{line}");
    assert!(line.get("trace").is_none() && line.get("caller").is_none(), "{line}");
}

#[test]
fn a_trace_can_stand_in_the_message_too() {
    let bed = bed();
    let server = start(&bed, &[]);
    let mut message = Era::Modern.request(1, "skills/list", json!({}));
    message["params"]["_meta"]["traceparent"] = json!(TRACEPARENT);
    let request = Request::message(Era::Modern, &message);
    server.exchange(&request.clone().with("X-Request-Id", "meta"));
    assert!(server.line(&["request=meta"]).contains(&format!("trace={TRACE}")));
    // What the connection says comes first, if it makes sense.
    let nearer = TRACEPARENT.replace(TRACE, &"a".repeat(32));
    server.exchange(&request.clone().with("X-Request-Id", "both").with("Traceparent", &nearer));
    assert!(server.line(&["request=both"]).contains(&format!("trace={}", "a".repeat(32))));
    server.exchange(&request.with("X-Request-Id", "odd").with("Traceparent", "00-x"));
    assert!(server.line(&["request=odd"]).contains(&format!("trace={TRACE}")));
}

#[test]
fn a_line_tells_nothing_that_is_not_meant_for_it() {
    let bed = bed();
    for format in ["text", "json"] {
        let server = start(&bed, &["-vv", "--log-format", format]);
        let secret = "hunter2";
        let body = Era::Modern.request(1, "prompts/get", json!({"name": secret}));
        let request = Request::message(Era::Modern, &body).with("Authorization", "Bearer hunter2");
        server.exchange(&request.with("Cookie", secret).to("POST", "/mcp?token=hunter2"));
        let odd = Request::get("/a\"b%0a\u{202e}?hunter2").with("X-Request-Id", "a b\u{202e}");
        let odd = server.exchange(&odd.with("MCP-Protocol-Version", "1 outcome=ok"));
        let id = odd.header("x-request-id").unwrap();
        assert!(id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'), "{id}");
        let line = server.line(&[id]);
        assert!(!line.contains("outcome=ok") && line.contains("404"), "{line}");
        let told = server.told();
        assert!(!told.contains(secret) && !told.contains('\u{202e}'), "{told}");
    }
}

#[test]
fn who_asks_for_a_tunnel_is_told_with_its_end() {
    let bed = bed();
    let server = start(&bed, &[]);
    server.exchange(&Request::get("inside.example:22").to("CONNECT", "inside.example:22"));
    server.line(&["CONNECT inside.example:22 status=403"]);
}

#[test]
fn probes_are_told_only_to_who_wants_everything() {
    let bed = bed();
    let told = |options: &[&str]| {
        let server = start(&bed, options);
        for path in ["/healthz", "/readyz", "/metrics"] {
            server.exchange(&Request::get(path));
        }
        server.exchange(&Request::get("/status.json").with("X-Request-Id", "last"));
        server.line(&["request=last"]);
        ["/healthz", "/readyz", "/metrics"].map(|path| server.told().contains(&format!("GET {path} ")))
    };
    assert_eq!(told(&[]), [false; 3]);
    assert_eq!(told(&["-v"]), [true; 3]);
}

#[test]
fn there_need_be_no_lines() {
    let bed = bed();
    let told = |options: &[&str], variable: Option<&str>| {
        let mut command = common::skillserve();
        command.envs(variable.map(|value| ("SKILLSERVE_NO_ACCESS_LOG", value)));
        let server = Server::start_by(command, &bed.path().join("skills"), options);
        let response = server.exchange(&ask("skills/list", json!({})));
        let brought = server.exchange(&ask("skills/list", json!({})).with("X-Request-Id", "abc-3"));
        assert_eq!(brought.header("x-request-id"), Some("abc-3"));
        // What comes later has been written after it.
        write(bed.path(), &[("skills/bad/SKILL.md", b"none")]);
        server.line(&["error[no-frontmatter]"]);
        fs::remove_dir_all(bed.path().join("skills/bad")).unwrap();
        let is_told = server.told().contains("POST /mcp");
        // An id that nobody finds in a log is none.
        assert_eq!(response.header("x-request-id").is_some(), is_told);
        is_told
    };
    assert!(told(&[], None));
    assert!(told(&[], Some("false")));
    assert!(!told(&["--no-access-log"], None));
    assert!(!told(&[], Some("yes")));
    assert!(!told(&["--quiet"], None));
}

#[test]
fn a_stream_is_told_when_it_has_ended() {
    let bed = bed();
    let server = start(&bed, &[]);
    let listen = ask("subscriptions/listen", json!({"notifications": {"resourcesListChanged": true}}));
    let mut stream = server.open(&listen.with("X-Request-Id", "stream"));
    assert!(stream.next().is_some());
    server.exchange(&Request::get("/nothing").with("X-Request-Id", "later"));
    server.line(&["request=later"]);
    assert!(!server.told().contains("request=stream"));
    drop(stream);
    write(bed.path(), &[("skills/third/SKILL.md", &skill_md("third", ""))]);
    let line = server.line(&["request=stream"]);
    assert!(line.contains("method=subscriptions/listen outcome=ok bytes="), "{line}");
    assert!(!line.contains(" bytes=0 "), "{line}");
}

#[test]
fn a_client_that_goes_before_it_is_answered_is_told_of() {
    let bed = tempfile::tempdir().unwrap();
    // As long as there is no catalog, nothing that needs one is answered.
    let server = start(&bed, &["--wait-for-root", "60"]);
    let in_flight = |number: usize| {
        wait_until(&format!("{number} requests are in flight"), || {
            text(&server, "/metrics").contains(&format!("skillserve_requests_in_flight {number}\n"))
        });
    };
    let mut stream = server.connect();
    let request = ask("skills/list", json!({})).with("X-Request-Id", "gone");
    stream.write_all(&request.to_bytes(&server.address)).unwrap();
    in_flight(2);
    drop(stream);
    let line = server.line(&["request=gone"]);
    assert!(line.contains("POST /mcp method=skills/list outcome=aborted bytes=0 "), "{line}");
    in_flight(1);
    let count = "skillserve_requests_total{method=\"skills/list\",outcome=\"aborted\"} 1\n";
    assert!(text(&server, "/metrics").contains(count));
}

/// How many bytes a line says went out.
fn bytes(line: &str) -> usize {
    let (_, rest) = line.split_once(" bytes=").unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_client_that_leaves_in_the_middle_of_a_file_is_told_of() {
    const LARGE: usize = 8 << 20;
    let bed = bed();
    write(bed.path(), &[("skills/good/large.txt", "x".repeat(LARGE).as_bytes())]);
    let server = start(&bed, &[]);
    let check = |request: Request, id: &str, told: &str| {
        let mut stream = server.connect();
        stream.write_all(&request.with("X-Request-Id", id).to_bytes(&server.address)).unwrap();
        stream.read_exact(&mut [0]).unwrap();
        drop(stream);
        let line = server.line(&[&format!("request={id}")]);
        assert!(line.contains(told), "{line}");
        // What the system has buffered is not known to be lost.
        assert!((1..LARGE).contains(&bytes(&line)), "{line}");
    };
    let read = ask("resources/read", json!({"uri": "skill://good/large.txt"}));
    check(read, "read", "POST /mcp status=200 method=resources/read outcome=aborted bytes=");
    let download = Request::get("/download?path=good/large.txt");
    check(download, "download", "GET /download status=200 outcome=aborted bytes=");
    let count = "skillserve_requests_total{method=\"resources/read\",outcome=\"aborted\"} 1\n";
    assert!(text(&server, "/metrics").contains(count));
}

#[test]
fn exactly_the_bytes_are_told_that_go_out() {
    let bed = bed();
    write(bed.path(), &[("skills/good/large.txt", "x".repeat(200_000).as_bytes())]);
    let server = start(&bed, &[]);
    let check = |request: Request, id: &str, expected: Option<usize>| {
        let request = request.with("X-Request-Id", id);
        let response =
            if expected.is_none() { server.exchange_head(&request) } else { server.exchange(&request) };
        let line = server.line(&[&format!("request={id}")]);
        assert!(
            line.contains(&format!(" status={} ", response.status)) && !line.contains("aborted"),
            "{line}"
        );
        assert_eq!(bytes(&line), response.body.len(), "{line}");
        assert!(expected.is_none_or(|expected| response.body.len() >= expected), "{line}");
        response
    };
    let download = || Request::get("/download?path=good/large.txt");
    let response = check(download(), "whole", Some(200_000));
    let tag = response.header("etag").unwrap();
    check(download().with("If-None-Match", tag), "known", Some(0));
    let head = check(download().to("HEAD", "/download?path=good/large.txt"), "head", None);
    assert_eq!(head.header("content-length"), Some("200000"));
    check(Request::get("/mcp").to("HEAD", "/mcp"), "refused", None);
    check(ask("resources/read", json!({"uri": "skill://good/large.txt"})), "read", Some(200_000));
    check(ask("resources/read", json!({"uri": "skill://good/none.txt"})), "error", Some(1));
    check(Request::get("/nothing"), "nothing", Some(0));
}
