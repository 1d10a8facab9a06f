//! The protocol over streamable HTTP, without sessions: each request is answered from the catalog alone, so that any
//! replica can answer it.

mod accept;
mod body;
mod endpoint;
mod guard;
mod patience;
mod refusal;

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::routing::any;
use tokio::net::TcpListener;

use crate::mcp;

use endpoint::Endpoint;
use guard::Guard;

/// The path of the one endpoint.
pub const ENDPOINT: &str = "/mcp";

/// Who may ask, beside programs and pages of this machine.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Further names under which this server is reached, each as a `Host` header has it: `host`, for any port, or
    /// `host:port`.
    pub allow_hosts: Vec<String>,
    /// Further origins whose pages may ask, each as an `Origin` header has it: `scheme://host`, or `scheme://host:port`
    /// where the port is not the scheme's own.
    pub allow_origins: Vec<String>,
}

/// Serves everybody who connects to `listener`, until `shutdown` ends. Requests in hand are then answered first, within a
/// bound.
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
    let endpoint = Arc::new(Endpoint::new(handler, Guard::new(address, &options)));
    let router = Router::new()
        .route(ENDPOINT, any(endpoint::answer))
        .fallback(endpoint::nothing_here)
        .with_state(endpoint);
    accept::run(listener, router, shutdown).await;
    Ok(())
}
