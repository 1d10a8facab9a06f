//! Sessions over streams in memory, where catalog and handler do what a test needs.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{ListToolsResult, PaginatedRequestParams};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, split,
};
use tokio_util::sync::CancellationToken;

use crate::catalog::{Cache, Catalog, Snapshot};
use crate::mcp::direct::Direct;
use crate::mcp::{CacheScope, Handler, Options, REQUEST_MAX_BYTES};

use super::drain::DRAIN_MAX;
use super::{Ended, run};

mod beside;
mod live;

struct Client {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    stop: CancellationToken,
    session: tokio::task::JoinHandle<anyhow::Result<Ended>>,
}

impl Client {
    fn of(handler: impl ServerHandler, catalog: Catalog) -> Self {
        Self::with_buffer(handler, catalog, 4 * REQUEST_MAX_BYTES)
    }

    /// A client whose messages, and those to it, wait in so many bytes until they are read.
    fn with_buffer(handler: impl ServerHandler, catalog: Catalog, bytes: usize) -> Self {
        let (ours, theirs) = tokio::io::duplex(bytes);
        let ((output, input), (theirs_in, theirs_out)) = (split(ours), split(theirs));
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let direct = Direct::new(self::handler(&catalog), "\n");
        let session = tokio::spawn(run(handler, direct, catalog, theirs_in, theirs_out, stopped));
        Self { input, output: BufReader::new(output), stop, session }
    }

    async fn send(&mut self, id: u64, method: &str) {
        self.request(id, method, json!({})).await;
    }

    async fn request(&mut self, id: u64, method: &str, mut params: Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        self.send_message(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    async fn send_message(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line:?}"))
    }

    /// The next line; empty at the end.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        tokio::time::timeout(Duration::from_secs(20), read).await.expect("an answer in time").unwrap();
        line
    }

    /// Ends the input, and waits for the session to end.
    async fn end(mut self) {
        self.input.shutdown().await.unwrap();
        self.over().await;
    }

    /// Waits for the session to end.
    async fn over(self) {
        let session = tokio::time::timeout(DRAIN_MAX * 2, self.session);
        let ended = session.await.expect("the session ends in time").unwrap().unwrap();
        assert_eq!(ended, Ended::Well);
    }
}

/// A handler over a catalog that is not built before something is sent.
fn pending() -> (Handler, Catalog, mpsc::Sender<()>) {
    let (sender, built) = mpsc::channel::<()>();
    let built = std::sync::Mutex::new(built);
    let catalog = Catalog::start(Cache::default(), move |_| {
        let _ = built.lock().unwrap().recv();
        Ok(Arc::new(Snapshot::default()))
    });
    (handler(&catalog), catalog, sender)
}

fn handler(catalog: &Catalog) -> Handler {
    let options = Options { name: "test".into(), ttl: None, cache_scope: CacheScope::Private };
    Handler::new(catalog.clone(), options)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_no_catalog_does_not_wait_for_it() {
    let (handler, catalog, build) = pending();
    let mut client = Client::of(handler, catalog);
    client.send(1, "server/discover").await;
    assert!(client.receive().await["result"]["supportedVersions"].is_array());
    client.send(2, "skills/list").await;
    client.send(3, "tools/list").await;
    assert_eq!(client.receive().await["id"], 3, "the catalog is waited for by those who need it alone");
    build.send(()).unwrap();
    assert_eq!(client.receive().await["result"]["skills"], json!([]));
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_never_ends_does_not_hold_a_session_that_is_stopped() {
    for input_ends in [false, true] {
        let (handler, catalog, _build) = pending();
        let mut client = Client::of(handler, catalog);
        client.send(1, "skills/list").await;
        if input_ends {
            client.input.shutdown().await.unwrap();
        }
        client.stop.cancel();
        client.over().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_before_the_end_of_the_input_wait_for_the_first_catalog() {
    let (handler, catalog, build) = pending();
    let mut client = Client::of(handler, catalog);
    // More than are worked on at once.
    for id in 1..=20 {
        client.send(id, "skills/list").await;
    }
    client.input.shutdown().await.unwrap();
    // Longer than a session that is stopped waits, and than rmcp does for a request once there is no more to read.
    tokio::time::sleep(Duration::from_secs(6)).await;
    build.send(()).unwrap();
    let mut ids = Vec::new();
    for _ in 1..=20 {
        ids.push(client.receive().await["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=20).collect::<Vec<_>>());
    assert_eq!(client.line().await, "");
    client.over().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_request_makes_room_for_others() {
    let (handler, catalog, build) = pending();
    let mut client = Client::of(handler, catalog);
    // Many more than are worked on at once, all waiting for the catalog.
    for id in 1..=100 {
        client.send(id, "skills/list").await;
    }
    for id in 1..=100 {
        let params = json!({"requestId": id});
        client
            .send_message(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
    }
    client.send(101, "tools/list").await;
    assert_eq!(client.receive().await["id"], 101);
    // An id that is free again can be used again.
    client.send(1, "skills/list").await;
    build.send(()).unwrap();
    assert_eq!(client.receive().await["id"], 1);
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_is_used_again_has_the_answer_of_its_own_request() {
    let (handler, catalog, build) = pending();
    let mut client = Client::of(handler, catalog);
    for id in 1..=200 {
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        // This one waits for the catalog, and the client for nothing.
        client.send(id, "skills/list").await;
        client.send_message(cancel.clone()).await;
        client.send(id, "tools/list").await;
        let message = client.receive().await;
        assert_eq!((&message["id"], &message["result"]["tools"]), (&json!(id), &json!([])), "{message}");
        // The same of subscriptions, of which each is told of by its id.
        let filter = json!({"notifications": {"resourcesListChanged": true}});
        client.request(id, "subscriptions/listen", filter).await;
        assert_eq!(client.receive().await["method"], "notifications/subscriptions/acknowledged");
        client.send_message(cancel).await;
        client.send(id, "prompts/list").await;
        let message = client.receive().await;
        assert_eq!((&message["id"], &message["result"]["prompts"]), (&json!(id), &json!([])), "{message}");
    }
    build.send(()).unwrap();
    client.end().await;
}

/// Does everything as [`Handler`] does it, but for one request that makes it panic.
struct Panicking;

impl ServerHandler for Panicking {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        crate::mcp::finish("tools/list", &context.ct, async { panic!("on purpose") }).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_answered() {
    let mut client = Client::of(Panicking, Catalog::start(Cache::default(), |_| Ok(Arc::default())));
    for id in 1..=50 {
        client.send(id, "tools/list").await;
        let answer = client.receive().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32603)));
    }
    client.end().await;
}
