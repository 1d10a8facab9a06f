//! The program as a server: what its endpoint takes and refuses, and how it ends.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]
#![cfg_attr(
    not(target_os = "linux"),
    allow(unused_imports, reason = "what only some systems show needs them")
)]

mod common;

use std::io::{BufRead as _, BufReader, Read, Write};

use common::http::{Request, Response, Server};
use common::http2::{self, Client as Client2};
use common::{Client, Era, PATIENCE, handshake, skill_md, skills, skillserve, wait_until, write};
use serde_json::{Value, json};

fn list(era: Era) -> Request {
    Request::message(era, &era.request(1, "skills/list", json!({})))
}

/// Sends a request over each version of HTTP and checks the status and, where one is expected, the JSON-RPC error.
#[track_caller]
fn check(server: &Server, request: &Request, status: u16, code: Option<i32>) -> Response {
    let check = |response: Response| {
        assert_eq!(response.status, status, "{response:?}");
        if let Some(code) = code {
            let body = response.json();
            assert_eq!((&body["jsonrpc"], &body["error"]["code"]), (&json!("2.0"), &json!(code)), "{body}");
        }
        response
    };
    // It ends bodies by itself.
    if !request.headers.iter().any(|(name, _)| name == "Transfer-Encoding") {
        check(http2::run(async { Client2::connect(&server.address).await.exchange(request).await.unwrap() }));
    }
    check(server.exchange(request))
}

#[test]
fn the_endpoint_is_one_path_and_one_method() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    check(&server, &list(Era::Modern), 200, None);
    for path in ["/x", "/mcp/", "/mcp/x", "/MCP", "/mcpx", "/%6dcp"] {
        check(&server, &list(Era::Modern).to("POST", path), 404, None);
    }
    for method in ["GET", "DELETE", "PUT", "OPTIONS"] {
        let response = check(&server, &list(Era::Legacy).to(method, "/mcp"), 405, Some(-32600));
        assert_eq!(response.header("allow"), Some("POST"));
        let told = response.json()["error"]["message"].to_string();
        assert_eq!(told.contains("subscriptions/listen"), method == "GET", "{told}");
    }
}

#[test]
fn a_key_that_is_said_twice_is_refused() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    for (method, params) in [("skills/list", json!({})), ("tools/list", json!({}))] {
        let message = Era::Modern.request(1, method, params);
        let mut request = Request::message(Era::Modern, &message);
        request.body = message.to_string().replacen('{', r#"{"id":2,"#, 1).into_bytes();
        let refused = server.exchange(&request);
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!(-32600)), "{method}");
    }
}

#[test]
fn there_are_no_sessions() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    let initialize = Era::Legacy.request(1, "initialize", handshake());
    let response = check(&server, &Request::message(Era::Legacy, &initialize), 200, None);
    assert_eq!(response.header("mcp-session-id"), None);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.json()["result"]["protocolVersion"], "2025-11-25");
    // One that a client brings along means nothing.
    check(&server, &list(Era::Legacy).with("Mcp-Session-Id", "x"), 200, None);
    // A client of the first revision says no version.
    check(&server, &list(Era::Legacy).without("MCP-Protocol-Version"), 200, None);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    check(&server, &Request::message(Era::Legacy, &initialized), 202, None);
}

#[test]
fn a_faulty_body_is_answered_with_a_json_rpc_error() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    let with_body = |body: &[u8]| Request { body: body.to_vec(), ..list(Era::Modern) };
    for body in [&b""[..], b"hello", b"{", b"\xff", &[b'['; 100_000]] {
        check(&server, &with_body(body), 400, Some(-32700));
    }
    let good = list(Era::Modern).body;
    for body in
        [&b"7"[..], b"{}", b"[]", &[b"[", &*good, b"]"].concat(), br#"{"jsonrpc":"2.0","id":1,"result":{}}"#]
    {
        check(&server, &with_body(body), 400, Some(-32600));
    }
    let response = check(&server, &with_body(&[b"\xef\xbb\xbf", &*good].concat()), 200, None);
    assert!(response.json()["result"]["skills"].is_array());
    for media_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
        check(&server, &list(Era::Modern).with("Content-Type", media_type), 415, Some(-32600));
    }
    check(&server, &list(Era::Modern).without("Content-Type"), 415, Some(-32600));
    check(&server, &list(Era::Modern).with("Content-Type", "Application/JSON; charset=utf-8"), 200, None);
}

#[test]
fn a_large_body_is_refused_however_it_comes() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    let mut message = Era::Modern.request(1, "skills/list", json!({}));
    message["params"]["padding"] = json!("x".repeat(200 * 1024));
    check(&server, &Request::message(Era::Modern, &message), 200, None);
    message["params"]["padding"] = json!("x".repeat(256 * 1024));
    let large = Request::message(Era::Modern, &message);
    check(&server, &large, 413, Some(-32600));

    let mut chunked = list(Era::Modern).with("Transfer-Encoding", "chunked");
    chunked.body = [format!("{:x}\r\n", large.body.len()).as_bytes(), &large.body, b"\r\n0\r\n\r\n"].concat();
    check(&server, &chunked, 413, Some(-32600));
}

#[test]
fn headers_must_agree_with_the_body() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    for request in [
        list(Era::Modern).with("Mcp-Method", "tools/list"),
        list(Era::Modern).without("Mcp-Method"),
        list(Era::Modern).with("MCP-Protocol-Version", "2025-11-25"),
    ] {
        check(&server, &request, 400, Some(-32020));
    }
    for era in [Era::Modern, Era::Legacy] {
        let mut twice = list(era);
        let again = twice.headers.iter().find(|(name, _)| name == "MCP-Protocol-Version").unwrap().clone();
        twice.headers.push(again);
        check(&server, &twice, 200, None);
        twice.headers.push(("MCP-Protocol-Version".into(), "2025-03-26".into()));
        let error = check(&server, &twice, 400, Some(-32020)).json();
        assert_eq!(error["id"], 1);
    }
    let mut future = Era::Modern.request(1, "skills/list", json!({}));
    future["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let future = Request::message(Era::Modern, &future).with("MCP-Protocol-Version", "2099-01-01");
    let error = check(&server, &future, 400, Some(-32022)).json();
    assert!(error["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2026-07-28")));
    let read = Era::Modern.request(1, "resources/read", json!({"uri": "skill://csv/SKILL.md"}));
    check(&server, &Request::message(Era::Modern, &read).with("Mcp-Name", "skill://x"), 400, Some(-32020));
}

#[test]
fn a_client_that_accepts_anything_is_answered() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    check(&server, &list(Era::Modern).without("Accept"), 200, None);
    check(&server, &list(Era::Modern).with("Accept", "*/*"), 200, None);
    check(&server, &list(Era::Modern).with("Accept", "text/html, */*;q=0.1"), 200, None);
    check(&server, &list(Era::Modern).with("Accept", "text/event-stream;q=1, Application/JSON"), 200, None);
    for accept in ["application/json", "text/event-stream", "text/html, application/*", ""] {
        let refused = check(&server, &list(Era::Modern).with("Accept", accept), 406, Some(-32600)).json();
        assert_eq!(refused["id"], 1);
        let told = refused["error"]["message"].as_str().unwrap();
        assert!(told.contains("`Accept: application/json, text/event-stream`"), "{told}");
    }
}

#[test]
fn malformed_parameters_are_no_unknown_method() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    for era in [Era::Modern, Era::Legacy] {
        let get = Request::message(era, &era.request(1, "skills/get", json!({})));
        check(&server, &get, 200, Some(-32602));
    }
    let unknown = Request::modern("foo", json!({}));
    check(&server, &unknown, 404, Some(-32601));
}

#[test]
fn pages_of_other_origins_and_hosts_are_refused() {
    let root = skills();
    let options = ["--allow-origin", "https://app.example.com", "--allow-host", "skills.example.com"];
    let server = Server::start(root.path(), &options);
    let port = server.address.split_once(':').unwrap().1;
    let from = |origin: &str| list(Era::Modern).with("Origin", origin);
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        let origin = format!("http://{host}:{port}");
        let response = check(&server, &from(&origin), 200, None);
        assert_eq!(response.header("access-control-allow-origin"), Some(&*origin));
    }
    check(&server, &from("https://app.example.com"), 200, None);
    for origin in [
        "https://evil.example.com",
        "http://app.example.com",
        "http://localhost:1",
        "http://localhost",
        "null",
    ] {
        let response = check(&server, &from(origin), 403, Some(-32600));
        assert_eq!(response.header("access-control-allow-origin"), None);
        let preflight = from(origin).with("Access-Control-Request-Method", "POST").to("OPTIONS", "/mcp");
        check(&server, &preflight, 403, None);
    }
    check(&server, &list(Era::Modern).with("Host", "skills.example.com"), 200, None);
    check(&server, &list(Era::Modern).with("Host", "evil.example.com"), 403, Some(-32600));
}

#[test]
fn a_page_that_may_ask_is_told_so() {
    let root = skills();
    let server = Server::start(root.path(), &["--allow-origin", "https://app.example.com"]);
    let preflight = Request::post("")
        .with("Origin", "https://app.example.com")
        .with("Access-Control-Request-Method", "POST")
        .with("Access-Control-Request-Headers", "content-type,mcp-method,mcp-name,mcp-protocol-version")
        .to("OPTIONS", "/mcp");
    let response = check(&server, &preflight, 204, None);
    assert_eq!(response.header("access-control-allow-origin"), Some("https://app.example.com"));
    assert_eq!(response.header("access-control-allow-methods"), Some("POST"));
    let headers = response.header("access-control-allow-headers").unwrap();
    for header in ["content-type", "mcp-method", "mcp-name", "mcp-protocol-version", "authorization"] {
        assert!(headers.split(", ").any(|allowed| allowed == header), "{header}");
    }
}

#[test]
fn a_kept_connection_answers_in_json() {
    let root = skills();
    write(root.path(), &[("csv/large.txt", "x".repeat(150_000).as_bytes())]);
    let server = Server::start(root.path(), &[]);
    let read = Era::Modern.request(1, "resources/read", json!({"uri": "skill://csv/large.txt"}));
    let request = Request::message(Era::Modern, &read).to_bytes(&server.address);
    let mut stream = server.connect();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for _ in 0..3 {
        stream.write_all(&request).unwrap();
        let response = Response::read(&mut reader);
        assert_eq!(response.status, 200);
        // A stream of events would be sent in pieces, each of which waits for the last to be acknowledged.
        assert_eq!(response.header("content-type"), Some("application/json"));
    }
}

/// What was refused for its head alone does not cost the connection.
#[test]
fn a_kept_connection_outlasts_a_refusal() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    let mut refused = list(Era::Modern).with("Content-Type", "text/plain");
    refused.body = vec![b'x'; 200_000];
    let refused = refused.to_bytes(&server.address);
    let mut stream = server.connect();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for _ in 0..3 {
        let (begin, end) = refused.split_at(refused.len() / 2);
        stream.write_all(begin).unwrap();
        // What has come has been read by now, or this one would not be answered.
        check(&server, &list(Era::Modern), 200, None);
        stream.write_all(end).unwrap();
        assert_eq!(Response::read(&mut reader).status, 415);
    }
    // Nor does what is a little too large, of which proxies send all before they look for an answer.
    let mut large = list(Era::Modern);
    large.body = vec![b' '; 300 << 10];
    let large = large.to_bytes(&server.address);
    let (begin, end) = large.split_at(large.len() / 2);
    stream.write_all(begin).unwrap();
    check(&server, &list(Era::Modern), 200, None);
    stream.write_all(end).unwrap();
    assert_eq!(Response::read(&mut reader).status, 413);
    // Who asks before the body is sent is answered before.
    let expects = list(Era::Modern).with("Content-Type", "text/plain").with("Expect", "100-continue");
    let mut expects = expects.to_bytes(&server.address);
    expects.truncate(expects.len() - list(Era::Modern).body.len());
    stream.write_all(&expects).unwrap();
    assert_eq!(Response::read(&mut reader).status, 415);
    let mut stream = server.connect();
    let head =
        "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(Response::read(&mut BufReader::new(stream)).status, 404);
}

/// Who was told to send the body is answered behind it.
#[test]
fn a_body_that_was_asked_for_is_read_before_it_is_refused() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    let mut stream = server.connect();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut told = String::new();
    for _ in 0..2 {
        reader.read_line(&mut told).unwrap();
    }
    assert_eq!(told, "HTTP/1.1 100 Continue\r\n\r\n");
    // Refused after 256 KiB, and so before the rest has been sent.
    let part = ["10000\r\n", &"x".repeat(0x10000), "\r\n"].concat();
    for _ in 0..7 {
        stream.write_all(part.as_bytes()).unwrap();
    }
    check(&server, &list(Era::Modern), 200, None);
    stream.write_all(b"0\r\n\r\n").unwrap();
    assert_eq!(Response::read(&mut reader).status, 413);
    stream.write_all(&list(Era::Modern).to_bytes(&server.address)).unwrap();
    assert_eq!(Response::read(&mut reader).status, 200);
}

/// How many connections a test may open beside what else it has open.
#[cfg(unix)]
fn connections_max() -> usize {
    let limit = std::process::Command::new("sh").args(["-c", "ulimit -n"]).output().unwrap().stdout;
    let limit = String::from_utf8(limit).unwrap();
    limit.trim().parse().map_or(usize::MAX, |limit: usize| limit - 100)
}

#[cfg(unix)]
#[test]
fn silent_connections_keep_nobody_out() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    let begin = list(Era::Modern).to_bytes(&server.address);
    let mut silent = Vec::new();
    // First a few more than there is room for, which do not come to a body. Then as many as would have to time out several
    // times over.
    for (count, said) in [(2_200, 20), (connections_max().min(5_000), begin.len() - 1)] {
        assert!(connections_max() >= count, "too few files may be open");
        while silent.len() < count {
            let mut stream = server.connect();
            stream.write_all(&begin[..said]).unwrap();
            silent.push(stream);
        }
        check(&server, &list(Era::Modern), 200, None);
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_may_open_few_files_keeps_nobody_out() {
    let root = skills();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_skillserve")]);
    let server = Server::start_by(command, root.path(), &[]);
    let silent: Vec<_> = (0..100).map(|_| server.connect()).collect();
    check(&server, &list(Era::Modern), 200, None);
    drop(silent);
}

/// The most memory that a process has had, in MiB.
#[cfg(target_os = "linux")]
fn peak_mib(process: &std::process::Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn answers_that_nobody_reads_cost_bounded_memory() {
    const BYTES: usize = 8 << 20;
    /// 16 answers at once, each of them while it is made with its file and a buffer of at most twice its size.
    const PEAK_MAX_MIB: u64 = 16 * 3 * 8;
    let root = tempfile::tempdir().unwrap();
    let text = "x".repeat(BYTES);
    write(root.path(), &[("big/SKILL.md", &skill_md("big", "")), ("big/text.txt", text.as_bytes())]);
    let server = Server::start(root.path(), &[]);
    let read = Era::Modern.request(1, "resources/read", json!({"uri": "skill://big/text.txt"}));
    let read = Request::message(Era::Modern, &read).to_bytes(&server.address);
    let unread: Vec<_> = (0..96)
        .map(|_| {
            let mut stream = server.connect();
            stream.set_read_timeout(Some(10 * PATIENCE)).unwrap();
            stream.write_all(&read).unwrap();
            stream
        })
        .collect();
    // Each has an answer made for it, or is put off because others hold theirs.
    let mut begin = [0; b"HTTP/1.1 503".len()];
    let put_off = unread.iter().filter(|stream| {
        let mut stream: &std::net::TcpStream = stream;
        stream.read_exact(&mut begin).unwrap();
        &begin == b"HTTP/1.1 503"
    });
    let put_off: Vec<_> = put_off.collect();
    let peak = peak_mib(&server.child);
    assert!(peak < PEAK_MAX_MIB, "{peak} MiB");
    let refused = Response::read(&mut BufReader::new(b"HTTP/1.1 503".chain(put_off[0])));
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("5")));
    assert_eq!(refused.json()["error"]["code"], -32603);
    // Whoever goes away makes room.
    drop(unread);
    check(&server, &list(Era::Modern), 200, None);
}

#[test]
fn an_option_that_names_no_host_is_refused_at_once() {
    let root = skills();
    for (option, value, sentence) in [
        ("--allow-host", "https://x", "a host is a name"),
        ("--allow-host", "::1", "a host is a name"),
        ("--allow-host", "*.example.com", "a host is a name"),
        ("--allow-origin", "app.example.com", "an origin is a scheme"),
        ("--allow-origin", "https://x/y", "an origin is a scheme"),
        ("--listen", "8008", "an address is HOST:PORT"),
        ("--listen", "localhost:x", "an address is HOST:PORT"),
    ] {
        let output = skillserve().args(["http", option, value]).arg(root.path()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(option) && told.contains(sentence), "{told}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_lets_requests_in_hand_be_answered() {
    let root = tempfile::tempdir().unwrap();
    let text = "x".repeat(12 << 20);
    write(root.path(), &[("big/SKILL.md", &skill_md("big", "")), ("big/text.txt", text.as_bytes())]);
    for name in ["TERM", "INT"] {
        let mut server = Server::start(root.path(), &[]);
        assert_eq!(
            server.client(Era::Modern).result("skills/list", json!({}))["skills"][0]["frontmatter"]["name"],
            "big"
        );
        // Neither a kept connection nor one that has said nothing holds it up.
        let mut kept = server.connect();
        kept.write_all(&list(Era::Modern).to_bytes(&server.address)).unwrap();
        assert_eq!(Response::read(&mut BufReader::new(kept.try_clone().unwrap())).status, 200);
        let _silent = server.connect();

        let read = Era::Modern.request(1, "resources/read", json!({"uri": "skill://big/text.txt"}));
        let mut stream = server.connect();
        stream.write_all(&Request::message(Era::Modern, &read).to_bytes(&server.address)).unwrap();
        let mut first = [0];
        stream.read_exact(&mut first).unwrap();
        common::signal(&server.child, name);
        wait_until("no more connections are taken", || {
            std::net::TcpStream::connect(&server.address).is_err()
        });
        let response = Response::read(&mut BufReader::new((&first[..]).chain(stream)));
        assert_eq!(response.status, 200);
        let answer: Value = response.json();
        assert!(answer["result"]["contents"][0]["text"] == text.as_str());
        wait_until("the program ends", || server.child.try_wait().unwrap().is_some());
        assert!(server.child.wait().unwrap().success());
    }
}
