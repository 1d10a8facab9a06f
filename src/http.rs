//! The protocol over streamable HTTP: each request is answered from the catalog alone, so that any replica can answer it.
//!
//! Changes are told over streams: of `subscriptions/listen` since 2026-07-28, of sessions before, where there are any.

mod accept;
mod allowed;
mod body;
mod caller;
mod crowd;
mod endpoint;
mod guard;
mod legacy;
mod page;
mod patience;
mod refusal;
mod sessions;
mod stream;
mod turns;

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::any;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::mcp;

use endpoint::Endpoint;
use guard::Guard;
use sessions::Sessions;
use turns::Turns;

pub use allowed::{Host, Origin};

/// The path of the one endpoint.
pub const ENDPOINT: &str = "/mcp";

/// Who may ask, beside programs and pages of this machine, and who is remembered.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Further names under which this server is reached.
    pub allow_hosts: Vec<Host>,
    /// Further origins whose pages may ask.
    pub allow_origins: Vec<Origin>,
    /// The most sessions at once of clients from before 2026-07-28, which can be told of changes only in one. 0 for none.
    pub sessions: usize,
    /// Whether people find a page at `/`.
    pub page: bool,
}

/// Serves everybody who connects to `listener`, until `shutdown` ends. Requests in hand are then answered first, and
/// subscriptions ended, within a bound.
///
/// # Errors
/// When the listener has no address.
pub async fn serve(
    listener: TcpListener,
    handler: mcp::Handler,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let address = listener.local_addr().context("the listener has no address")?;
    let stopping = CancellationToken::new();
    let sessions = Sessions::new(handler.catalog().clone(), options.sessions, stopping.clone());
    let guard = Arc::new(Guard::new(address, &options));
    let turns = Arc::new(Turns::default());
    let page = match options.page {
        true => page::routes(handler.catalog().clone(), handler.name(), turns.clone(), stopping.clone()),
        false => Router::new(),
    };
    let endpoint = Arc::new(Endpoint::new(handler, sessions.clone(), turns, stopping.clone()));
    let router = router(guard, endpoint, page);
    tokio::select! {
        () = accept::run(listener, router, stopping, shutdown) => Ok(()),
        never = sessions.sweep() => match never {},
    }
}

/// What is where, and what stands in front of it. The last layer is the first to see a request.
fn router(guard: Arc<Guard>, endpoint: Arc<Endpoint>, page: Router) -> Router {
    Router::new()
        .route(ENDPOINT, any(endpoint::answer))
        .fallback(endpoint::nothing_here)
        .with_state(endpoint)
        .merge(page)
        .layer(from_fn_with_state(guard, guard::layer))
}

#[cfg(test)]
mod tests;
