//! Clients over HTTP that are told of changes, as streams of events.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::http::{Events, Request, Server};
use common::{Client, Era, handshake, skills, wait_until, write};
use serde_json::{Value, json};

const ID: &str = "io.modelcontextprotocol/subscriptionId";
const MAKEFILE: &str = "skill://csv/Makefile";
/// The most subscriptions over all connections.
const LISTENS_MAX: usize = 256;

fn listen(server: &Server, id: u64, notifications: &Value) -> Events {
    server.open(&listening(id, notifications))
}

fn listening(id: u64, notifications: &Value) -> Request {
    let params = json!({"notifications": notifications});
    Request::message(Era::Modern, &Era::Modern.request(id, "subscriptions/listen", params))
}

/// Changes a file, and waits until the server has looked at it.
#[track_caller]
fn change(server: &Server, root: &Path, text: &str) {
    write(root, &[("csv/Makefile", text.as_bytes())]);
    let mut client = server.client(Era::Modern);
    let mut read =
        || client.result("resources/read", json!({"uri": MAKEFILE}))["contents"][0]["text"].clone();
    wait_until("the change is served", || read() == text);
}

#[track_caller]
fn check(events: &mut Events, subscription: Option<u64>, expected: &[(&str, Option<&str>)]) {
    for (method, uri) in expected {
        let message = events.next().expect("a message");
        assert_eq!(message["method"], format!("notifications/{method}"), "{message}");
        assert_eq!(message["params"]["uri"].as_str(), *uri, "{message}");
        assert_eq!(message["params"]["_meta"][ID].as_u64(), subscription, "{message}");
    }
}

fn signal(server: &Server, name: &str) {
    common::signal(&server.child, name);
}

#[test]
fn a_subscription_is_a_stream_until_the_server_stops() {
    let root = skills();
    let mut server = Server::start(root.path(), &[]);
    server.client(Era::Modern).result("skills/list", json!({}));
    let wanted = json!({
        "toolsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": [MAKEFILE, MAKEFILE, "x"],
    });
    let mut events = listen(&server, 1, &wanted);
    assert_eq!(events.response.header("x-accel-buffering"), Some("no"));
    let acknowledged = events.next().unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        acknowledged["params"],
        json!({"_meta": {ID: 1}, "notifications": {"resourcesListChanged": true, "resourceSubscriptions": [MAKEFILE]}})
    );
    let mut other = listen(&server, 2, &json!({"resourceSubscriptions": ["skill://csv/SKILL.md"]}));
    other.next().unwrap();
    for text in ["1\n", "2\n"] {
        change(&server, root.path(), text);
        check(
            &mut events,
            Some(1),
            &[("resources/list_changed", None), ("resources/updated", Some(MAKEFILE))],
        );
    }
    assert!(other.is_quiet_for(Duration::from_millis(200)));

    let begin = Instant::now();
    signal(&server, "TERM");
    for (id, events) in [(1, &mut events), (2, &mut other)] {
        let result = events.next().unwrap();
        assert_eq!((&result["id"], &result["result"]["resultType"]), (&json!(id), &json!("complete")));
        assert_eq!(result["result"]["_meta"][ID], id);
        assert!(events.next().is_none());
    }
    wait_until("the program ends", || server.child.try_wait().unwrap().is_some());
    assert!(server.child.wait().unwrap().success());
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn subscriptions_are_bounded_and_leave_nothing_behind() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    let wanted = json!({"resourcesListChanged": true, "resourceSubscriptions": [MAKEFILE]});
    let files = || std::fs::read_dir(format!("/proc/{}/fd", server.child.id())).map_or(0, Iterator::count);
    let before = files();
    for _ in 0..3 {
        let mut open: Vec<_> = (0..200).map(|id| listen(&server, id, &wanted)).collect();
        for events in &mut open {
            assert!(events.next().is_some());
        }
        change(&server, root.path(), "other\n");
        drop(open);
        change(&server, root.path(), "again\n");
        wait_until("the connections are closed", || files() <= before + 2);
    }
    let mut open: Vec<_> = (0..LISTENS_MAX as u64).map(|id| listen(&server, id, &wanted)).collect();
    let refused = server.exchange(&listening(7, &wanted)).json();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32000)), "{refused}");
    // Whoever only asks is not held up.
    server.client(Era::Modern).result("skills/list", json!({}));
    open.pop();
    wait_until("there is a place again", || {
        let response = server.exchange_head(&listening(8, &wanted));
        response.header("content-type") == Some("text/event-stream")
    });
}

#[test]
fn a_filter_of_the_largest_size_is_cut_down() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    server.client(Era::Modern).result("skills/list", json!({}));
    let many = |count: usize, uri: fn(usize) -> String| (0..count).map(uri).collect::<Vec<_>>();
    for uris in [
        many(15_000, |number| format!("skill://{number}")),
        many(60_000, |_| "s".to_owned()),
        many(18_000, |number| format!("skill://{}", number % 2)),
    ] {
        let mut events = listen(&server, 1, &json!({"resourceSubscriptions": uris}));
        let acknowledged = events.next().unwrap();
        let left =
            acknowledged["params"]["notifications"]["resourceSubscriptions"].as_array().map_or(0, Vec::len);
        assert!(left <= 1000, "{left}");
    }
}

/// A client from before 2026-07-28, and its session if it was given one.
struct Session<'a> {
    server: &'a Server,
    id: Option<String>,
    declared: Value,
}

impl<'a> Session<'a> {
    fn start(server: &'a Server) -> Self {
        let initialize = Era::Legacy.request(1, "initialize", handshake());
        let response = server.exchange(&Request::message(Era::Legacy, &initialize));
        let id = response.header("mcp-session-id").map(str::to_owned);
        Self { server, id, declared: response.json()["result"]["capabilities"]["resources"].clone() }
    }

    fn request(&self, request: Request) -> Request {
        match &self.id {
            Some(id) => request.with("Mcp-Session-Id", id),
            None => request,
        }
    }

    fn ask(&self, method: &str, uri: &str) -> Value {
        let message = Era::Legacy.request(2, method, json!({"uri": uri}));
        self.server.exchange(&self.request(Request::message(Era::Legacy, &message))).json()
    }

    fn bare(&self, method: &'static str) -> Request {
        self.request(Request::message(Era::Legacy, &json!({"method": ""})).to(method, "/mcp"))
    }

    fn stream(&self) -> Events {
        self.server.open(&self.bare("GET"))
    }
}

#[test]
fn an_older_client_is_told_in_a_session() {
    let root = skills();
    let server = Server::start(root.path(), &["--sessions", "2"]);
    server.client(Era::Modern).result("skills/list", json!({}));
    let session = Session::start(&server);
    assert_eq!(session.declared, json!({"subscribe": true, "listChanged": true}));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let accepted = server.exchange(&session.request(Request::message(Era::Legacy, &initialized)));
    assert_eq!(accepted.status, 202);
    assert_eq!(session.ask("resources/subscribe", MAKEFILE)["result"], json!({}));
    // Other requests are answered as ever.
    assert!(session.ask("skills/list", "")["result"]["skills"].is_array());

    let told = [("resources/list_changed", None), ("resources/updated", Some(MAKEFILE))];
    let mut events = session.stream();
    change(&server, root.path(), "1\n");
    check(&mut events, None, &told);
    // What happens while there is no stream is told over the next one, once.
    drop(events);
    change(&server, root.path(), "2\n");
    change(&server, root.path(), "3\n");
    let mut events = session.stream();
    check(&mut events, None, &told);
    // A second stream takes the place of the first.
    let mut second = session.stream();
    assert!(events.next().is_none());
    assert_eq!(session.ask("resources/unsubscribe", MAKEFILE)["result"], json!({}));
    change(&server, root.path(), "4\n");
    check(&mut second, None, &told[..1]);

    assert_eq!(server.exchange(&session.bare("DELETE")).status, 204);
    assert!(second.next().is_none());
    for request in [session.bare("DELETE"), session.bare("GET")] {
        assert_eq!(server.exchange(&request).status, 404);
    }
    let message = Era::Legacy.request(2, "skills/list", json!({}));
    let refused = server.exchange(&session.request(Request::message(Era::Legacy, &message)));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (404, &json!(-32600)));
}

#[test]
fn a_client_beyond_the_most_sessions_is_answered_without_one() {
    let root = skills();
    let mut server = Server::start(root.path(), &["--sessions", "1"]);
    let first = Session::start(&server);
    let second = Session::start(&server);
    assert!(first.id.is_some() && second.id.is_none());
    assert_eq!(second.declared, json!({}));
    assert!(second.ask("skills/list", "")["result"]["skills"].is_array());
    assert_eq!(second.ask("resources/subscribe", MAKEFILE)["error"]["code"], -32601);
    let refused = server.exchange(&second.bare("GET"));
    assert_eq!((refused.status, refused.header("allow")), (405, Some("DELETE, GET, POST")));
    // A handshake that fails takes no place.
    assert_eq!(server.exchange(&first.bare("DELETE")).status, 204);
    let faulty = Era::Legacy.request(1, "initialize", json!({}));
    server.exchange(&Request::message(Era::Legacy, &faulty));
    let third = Session::start(&server);
    assert!(third.id.is_some());
    // Newer clients know of no sessions.
    let list = Request::modern("skills/list", json!({}));
    assert_eq!(server.exchange(&list.with("Mcp-Session-Id", "x")).status, 200);

    let mut events = third.stream();
    signal(&server, "TERM");
    assert!(events.next().is_none());
    wait_until("the program ends", || server.child.try_wait().unwrap().is_some());
    assert!(server.child.wait().unwrap().success());
}
