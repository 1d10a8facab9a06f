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

use crate::catalog::{Catalog, Snapshot};
use crate::mcp::{CacheScope, Handler, Options, REQUEST_MAX_BYTES};

use super::{DRAIN_MAX, run};

struct Client {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    session: tokio::task::JoinHandle<anyhow::Result<()>>,
}

impl Client {
    fn of(handler: impl ServerHandler) -> Self {
        let (ours, theirs) = tokio::io::duplex(4 * REQUEST_MAX_BYTES);
        let ((output, input), (theirs_in, theirs_out)) = (split(ours), split(theirs));
        let session = tokio::spawn(run(handler, theirs_in, theirs_out, std::future::pending()));
        Self { input, output: BufReader::new(output), session }
    }

    async fn send(&mut self, id: u64, method: &str) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        self.send_message(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": meta}}))
            .await;
    }

    async fn send_message(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        tokio::time::timeout(Duration::from_secs(20), read).await.expect("an answer in time").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Ends the input, and waits for the session to end.
    async fn end(mut self) {
        self.input.shutdown().await.unwrap();
        let session = tokio::time::timeout(DRAIN_MAX * 2, self.session);
        session.await.expect("the session ends in time").unwrap().unwrap();
    }
}

/// A handler over a catalog that is not built before something is sent.
fn pending() -> (Handler, mpsc::Sender<()>) {
    let (sender, built) = mpsc::channel::<()>();
    let built = std::sync::Mutex::new(built);
    let catalog = Catalog::start(move |_| {
        let _ = built.lock().unwrap().recv();
        Ok(Arc::new(Snapshot::default()))
    });
    let options = Options { name: "test".into(), ttl_ms: 0, cache_scope: CacheScope::Private };
    (Handler::new(catalog, options), sender)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_no_catalog_does_not_wait_for_it() {
    let (handler, build) = pending();
    let mut client = Client::of(handler);
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
async fn a_request_that_never_ends_does_not_hold_the_session() {
    let (handler, _build) = pending();
    let mut client = Client::of(handler);
    client.send(1, "skills/list").await;
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_request_makes_room_for_others() {
    let (handler, build) = pending();
    let mut client = Client::of(handler);
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
    let mut client = Client::of(Panicking);
    for id in 1..=50 {
        client.send(id, "tools/list").await;
        let answer = client.receive().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32603)));
    }
    client.end().await;
}
