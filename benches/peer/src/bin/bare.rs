//! The least that any server over HTTP does: a route that gives out the same bytes whatever it is asked. They have the form
//! of an answer, so that they are checked like one.
//!
//! usage: bare BYTES

use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let bytes: usize = std::env::args().nth(1).context("a number of bytes")?.parse()?;
    let (begin, end) = (r#"{"jsonrpc":"2.0","id":1,"result":{"text":""#, r#""}}"#);
    let filling = bytes.saturating_sub(begin.len() + end.len());
    let answer = Bytes::from(format!("{begin}{}{end}", "x".repeat(filling)));
    let route = post(move || async move { ([(CONTENT_TYPE, "application/json")], answer) });

    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().route("/mcp", route)).await?;
    Ok(())
}
