//! Clients that are told of changes.

use std::time::Instant;

use crate::testing::{Skills, skill_md};
use crate::tree::Hint;

use super::*;

const ID: &str = "io.modelcontextprotocol/subscriptionId";
const A: &str = "skill://a/notes.txt";
const B: &str = "skill://b/notes.txt";

/// What a client has to go on: which change, and of what.
fn brief(message: &Value) -> (&str, &str) {
    let text = |value: &'static str, other| message[value].as_str().unwrap_or(other);
    (text("method", "").trim_start_matches("notifications/"), message["params"]["uri"].as_str().unwrap_or(""))
}

impl Client {
    async fn listen(&mut self, id: u64, notifications: Value) {
        self.request(id, "subscriptions/listen", json!({"notifications": notifications})).await;
    }

    /// Receives these notifications of a subscription, in this order, and then an answer to another request: there are
    /// no more.
    async fn check(&mut self, subscription: Option<u64>, expected: &[(&str, &str)]) {
        for expected in expected {
            let message = self.receive().await;
            assert_eq!(brief(&message), *expected, "{message}");
            assert_eq!(message["params"]["_meta"][ID].as_u64(), subscription, "{message}");
        }
        self.send(1000, "tools/list").await;
        let message = self.receive().await;
        assert_eq!(message["id"], 1000, "{message}");
    }
}

async fn start() -> (Skills, Client) {
    let skills = Skills::new().await;
    let client = Client::of(handler(&skills.catalog), skills.catalog.clone());
    (skills, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_is_acknowledged_with_what_is_honoured() {
    let (_skills, mut client) = start().await;
    let everything = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": [A, "https://example.com", A, "skill://not/there/yet", "skill://a/../b"],
    });
    client.listen(1, everything).await;
    let message = client.receive().await;
    let expected = json!({
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {
            "_meta": {ID: 1},
            "notifications": {
                "resourcesListChanged": true,
                "resourceSubscriptions": [A, "skill://not/there/yet"],
            },
        },
    });
    assert_eq!(message, expected);
    client.listen(2, json!({"toolsListChanged": true})).await;
    assert_eq!(client.receive().await["params"]["notifications"], json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_is_told_to_those_who_asked() {
    let (skills, mut client) = start().await;
    client
        .listen(1, json!({"resourcesListChanged": true, "resourceSubscriptions": [A, "skill://a/new.txt"]}))
        .await;
    client.receive().await;
    // A look that finds nothing new is nothing to tell of.
    skills.catalog.refresh(Hint::Everything).await;
    client.check(Some(1), &[]).await;
    skills.write("a/notes.txt", "2").await;
    client.check(Some(1), &[("resources/list_changed", ""), ("resources/updated", A)]).await;
    skills.write("b/notes.txt", "2").await;
    client.check(Some(1), &[("resources/list_changed", "")]).await;
    skills.write("a/new.txt", "new").await;
    let appeared = [("resources/list_changed", ""), ("resources/updated", "skill://a/new.txt")];
    client.check(Some(1), &appeared).await;
    skills.remove("a/new.txt").await;
    client.check(Some(1), &appeared).await;
    skills.write("a/SKILL.md", &skill_md("a", "another")).await;
    client.check(Some(1), &[("resources/list_changed", "")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_subscription_hears_only_what_it_asked_for() {
    let (skills, mut client) = start().await;
    client.listen(1, json!({"resourceSubscriptions": [B, "SKILL://%62/notes.txt"]})).await;
    client.receive().await;
    skills.write("a/notes.txt", "2").await;
    client.check(Some(1), &[]).await;
    skills.write("b/notes.txt", "2").await;
    // Each spelling is told of as it was asked for.
    client.check(Some(1), &[("resources/updated", B), ("resources/updated", "SKILL://%62/notes.txt")]).await;
    // A directory is another one when what it holds is.
    client.listen(2, json!({"resourceSubscriptions": ["skill://a"]})).await;
    client.receive().await;
    skills.write("a/more.txt", "").await;
    client.check(Some(2), &[("resources/updated", "skill://a")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_subscription_is_over() {
    let (skills, mut client) = start().await;
    client.listen(1, json!({"resourcesListChanged": true})).await;
    client.receive().await;
    client
        .send_message(
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        )
        .await;
    client.check(None, &[]).await;
    skills.write("a/notes.txt", "2").await;
    client.check(None, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriptions_are_bounded_and_hold_up_no_request() {
    let (skills, mut client) = start().await;
    for id in 1..=16 {
        client.listen(id, json!({"resourcesListChanged": true})).await;
        assert_eq!(client.receive().await["params"]["_meta"][ID], id);
    }
    client.listen(17, json!({})).await;
    let refusal = client.receive().await;
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(17), &json!(-32000)), "{refusal}");
    client.check(None, &[]).await;
    skills.write("a/notes.txt", "2").await;
    for _ in 1..=16 {
        assert_eq!(client.receive().await["method"], "notifications/resources/list_changed");
    }
    client
        .send_message(
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}),
        )
        .await;
    let begin = Instant::now();
    // The place is free as soon as the cancelled subscription has noticed.
    loop {
        client.listen(18, json!({})).await;
        if client.receive().await["error"].is_null() {
            break;
        }
        assert!(begin.elapsed() < DRAIN_MAX);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_told_later_and_of_less() {
    let skills = Skills::new().await;
    let mut client = Client::with_buffer(handler(&skills.catalog), skills.catalog.clone(), 64);
    let mut reader = Client::of(handler(&skills.catalog), skills.catalog.clone());
    for client in [&mut client, &mut reader] {
        client.listen(1, json!({"resourcesListChanged": true, "resourceSubscriptions": [A]})).await;
        client.receive().await;
    }
    for number in 0..50 {
        skills.write("a/notes.txt", &format!("changed {number}")).await;
        // Nobody else is held up.
        reader.check(Some(1), &[("resources/list_changed", ""), ("resources/updated", A)]).await;
    }
    let mut updated = 0;
    while let Ok(message) = tokio::time::timeout(Duration::from_millis(300), client.receive()).await {
        updated += usize::from(brief(&message) == ("resources/updated", A));
    }
    // One round was under way when the client stopped to read, and the last state is told after it.
    assert!((2..=3).contains(&updated), "{updated}");
    skills.write("a/notes.txt", "1").await;
    client.check(Some(1), &[("resources/list_changed", ""), ("resources/updated", A)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_before_the_acknowledgement_is_out_is_not_missed() {
    let skills = Skills::new().await;
    // The acknowledgement waits for room.
    let mut client = Client::with_buffer(handler(&skills.catalog), skills.catalog.clone(), 64);
    client.listen(1, json!({"resourcesListChanged": true, "resourceSubscriptions": [A]})).await;
    client.send(2, "tools/list").await;
    skills.write("a/notes.txt", "2").await;
    let mut methods = Vec::new();
    for _ in 0..4 {
        let message = client.receive().await;
        methods.push(message["method"].as_str().unwrap_or("the answer").to_owned());
    }
    methods.retain(|method| method != "the answer");
    let expected = ["subscriptions/acknowledged", "resources/list_changed", "resources/updated"];
    assert_eq!(methods, expected.map(|method| format!("notifications/{method}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_input_ends_subscriptions_with_their_results() {
    for stops in [false, true] {
        let (_skills, mut client) = start().await;
        client.send(5, "tools/list").await;
        client.receive().await;
        for id in 1..=3 {
            client.listen(id, json!({"resourcesListChanged": true})).await;
            client.receive().await;
        }
        let begin = Instant::now();
        if stops {
            client.stop.cancel();
        } else {
            client.input.shutdown().await.unwrap();
        }
        let mut ids = Vec::new();
        loop {
            let line = client.line().await;
            if line.is_empty() {
                break;
            }
            let message: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(message["result"]["resultType"], "complete", "{message}");
            assert_eq!(message["result"]["_meta"][ID], message["id"], "{message}");
            ids.push(message["id"].as_u64().unwrap());
        }
        ids.sort_unstable();
        assert_eq!(ids, [1, 2, 3]);
        client.over().await;
        assert!(begin.elapsed() < DRAIN_MAX / 2, "{:?}", begin.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_before_there_is_a_catalog_waits_for_it() {
    let (handler, catalog, build) = pending();
    let mut client = Client::of(handler, catalog.clone());
    client.listen(1, json!({"resourcesListChanged": true, "resourceSubscriptions": [A]})).await;
    assert_eq!(client.receive().await["params"]["_meta"][ID], 1);
    build.send(()).unwrap();
    catalog.snapshot().await.unwrap();
    client.check(Some(1), &[]).await;
    client.end().await;
}

/// Shakes hands as peers did before 2026-07-28.
async fn start_legacy() -> (Skills, Client) {
    let (skills, mut client) = start().await;
    let params = json!({
        "protocolVersion": "2025-11-25",
        "clientInfo": {"name": "test", "version": "1"},
        "capabilities": {},
    });
    client.send_message(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
    let declared = client.receive().await["result"]["capabilities"]["resources"].clone();
    assert_eq!(declared, json!({"subscribe": true, "listChanged": true}));
    client.send_message(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    (skills, client)
}

impl Client {
    /// Asks as peers did before 2026-07-28.
    async fn ask(&mut self, method: &str, uri: &str) -> Value {
        self.send_message(json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {"uri": uri}})).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], 7, "{answer}");
        answer
    }

    async fn check_legacy(&mut self, expected: &[(&str, &str)]) {
        for expected in expected {
            let message = self.receive().await;
            assert_eq!(brief(&message), *expected, "{message}");
            assert!(message["params"]["_meta"].is_null(), "{message}");
        }
        self.ask("ping", "").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_peer_subscribes_to_one_resource_at_a_time() {
    let (skills, mut client) = start_legacy().await;
    skills.write("a/notes.txt", "2").await;
    client.check_legacy(&[("resources/list_changed", "")]).await;
    for uri in [A, A, "skill://not/there/yet"] {
        assert_eq!(client.ask("resources/subscribe", uri).await["result"], json!({}));
    }
    skills.write("a/notes.txt", "3").await;
    client.check_legacy(&[("resources/list_changed", ""), ("resources/updated", A)]).await;
    skills.write("b/notes.txt", "3").await;
    client.check_legacy(&[("resources/list_changed", "")]).await;
    for uri in [A, A, B] {
        assert_eq!(client.ask("resources/unsubscribe", uri).await["result"], json!({}));
    }
    skills.write("a/notes.txt", "4").await;
    client.check_legacy(&[("resources/list_changed", "")]).await;
    for (uri, code) in [("https://example.com", -32602), ("skill://a/../b", -32602)] {
        assert_eq!(client.ask("resources/subscribe", uri).await["error"]["code"], code);
    }
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_older_peer_subscribes_to_is_bounded() {
    let (_skills, mut client) = start_legacy().await;
    for number in 0..1000 {
        let answer = client.ask("resources/subscribe", &format!("skill://a/{number}")).await;
        assert_eq!(answer["result"], json!({}));
    }
    assert_eq!(client.ask("resources/subscribe", A).await["error"]["code"], -32000);
    client.ask("resources/unsubscribe", "skill://a/0").await;
    assert_eq!(client.ask("resources/subscribe", A).await["result"], json!({}));
}
