//! Streams of events that are read when a test wants to.

use axum::body::BodyDataStream;
use axum::extract::Request;
use futures::StreamExt as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::testing::Skills;

use super::asker::Asker;
use super::stream::KEEP_ALIVE;
use super::*;

pub(crate) mod direct;
mod pages;
mod refused;

const NOTES: &str = "skill://a/notes.txt";

async fn endpoint(skills: &Skills) -> Front {
    routed(skills, Turns::default(), |endpoint| endpoint)
}

fn handler(skills: &Skills) -> mcp::Handler {
    let options = mcp::Options { name: "test".into(), ttl: None, cache_scope: mcp::CacheScope::Private };
    mcp::Handler::new(skills.catalog.clone(), options)
}

fn routed(skills: &Skills, turns: Turns, with: impl FnOnce(Endpoint) -> Endpoint) -> Front {
    let handler = handler(skills);
    let stopping = CancellationToken::new();
    let sessions = Sessions::new(skills.catalog.clone(), 1, stopping.clone());
    let place = listen::Place::network(([127, 0, 0, 1], 80).into(), false);
    let admission = Admission::new(&place, &Options::default()).unwrap();
    let health = Health::new(skills.catalog.clone(), stopping.clone());
    let path = EndpointPath::default();
    let observer = Observer { metrics: Arc::default(), is_logged: false };
    let endpoint = Arc::new(with(Endpoint::new(handler, sessions, turns, stopping)));
    Front::new(Arc::new(observer), health, admission, Some((path, endpoint)), Router::new(), false)
}

async fn ask(
    endpoint: &Front,
    method: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> axum::response::Response {
    let mut request = Request::builder().method(method).uri("/mcp").header("Host", "localhost");
    for (name, value) in [("Content-Type", "application/json"), ("Accept", "*/*")].iter().chain(headers) {
        request = request.header(*name, *value);
    }
    let mut request = request.body(axum::body::Body::from(body.to_string())).unwrap();
    endpoint.answer(&mut request, Asker::default()).await.map(axum::body::Body::new)
}

async fn listen(endpoint: &Front) -> BodyDataStream {
    let params = json!({
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
        "notifications": {"resourcesListChanged": true, "resourceSubscriptions": [NOTES]},
    });
    let method = "subscriptions/listen";
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    ask(endpoint, "POST", &headers, &message).await.into_body().into_data_stream()
}

/// The stream of a session that has subscribed to the notes.
async fn session(endpoint: &Front) -> BodyDataStream {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "clientInfo": {"name": "test", "version": "1"},
        "capabilities": {},
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let response = ask(endpoint, "POST", &[], &message).await;
    let id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let headers = [("Mcp-Session-Id", &*id), ("MCP-Protocol-Version", "2025-11-25")];
    let message =
        json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": NOTES}});
    ask(endpoint, "POST", &headers, &message).await;
    ask(endpoint, "GET", &headers, &Value::Null).await.into_body().into_data_stream()
}

/// Reads until the stream is quiet, and counts how often the notes were said to be other ones.
async fn updates(stream: &mut BodyDataStream) -> usize {
    let mut text = String::new();
    let quiet = std::time::Duration::from_millis(300);
    while let Ok(Some(bytes)) = tokio::time::timeout(quiet, stream.next()).await {
        text += std::str::from_utf8(&bytes.unwrap()).unwrap();
    }
    text.matches("notifications/resources/updated").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_told_later_and_of_less() {
    let skills = Skills::new().await;
    let endpoint = endpoint(&skills).await;
    let (mut listen, mut session) = (listen(&endpoint).await, session(&endpoint).await);
    for number in 0..50 {
        skills.write("a/notes.txt", &format!("changed {number}")).await;
    }
    // rmcp holds the first few messages of a subscription; of a session nothing is held.
    let told = (updates(&mut listen).await, updates(&mut session).await);
    assert!((2..=10).contains(&told.0) && told.1 == 1, "{told:?}");
    // Both have heard of the last state, and so only of what comes now.
    skills.write("a/notes.txt", "last").await;
    assert_eq!((updates(&mut listen).await, updates(&mut session).await), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_is_kept_alive() {
    let skills = Skills::new().await;
    let endpoint = endpoint(&skills).await;
    let (mut listen, mut session) = (listen(&endpoint).await, session(&endpoint).await);
    listen.next().await.unwrap().unwrap();
    for stream in [&mut listen, &mut session] {
        for _ in 0..40 {
            let bytes = tokio::time::timeout(KEEP_ALIVE * 2, stream.next()).await.unwrap().unwrap().unwrap();
            assert!(bytes.starts_with(b":"), "{bytes:?}");
        }
    }
}
