//! The protocol over streamable HTTP: each request is answered from the catalog alone, so that any replica can answer it.
//!
//! Changes are told over streams: of `subscriptions/listen` since 2026-07-28, of sessions before, where there are any.

mod accept;
mod allowed;
mod body;
mod caller;
mod connection;
mod crowd;
mod drain;
mod endpoint;
mod guard;
mod legacy;
mod listen;
mod pace;
mod path;
mod patience;
mod refusal;
mod sessions;
mod share;
mod stream;
#[cfg_attr(not(feature = "tls"), path = "http/no_tls.rs")]
mod tls;
mod turns;
#[cfg(unix)]
mod unix;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::any;
use futures::Stream;

use crate::mcp;

use drain::Drain;
use endpoint::Endpoint;
use guard::Guard;
use sessions::Sessions;

pub use allowed::{Host, Origin};
pub use listen::{Address, Listener};
pub use path::EndpointPath;
pub use tls::Tls;
#[cfg(unix)]
pub use unix::Passed;

/// The files of a certificate, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The chain, the server's own certificate first.
    pub cert: PathBuf,
    /// The private key of that.
    pub key: PathBuf,
}

/// What is served where, who may ask beside programs and pages of this machine, who is remembered, and how it ends.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the endpoint is.
    pub path: EndpointPath,
    /// Further names under which this server is reached.
    pub allow_hosts: Vec<Host>,
    /// Further origins whose pages may ask.
    pub allow_origins: Vec<Origin>,
    /// The most sessions at once of clients from before 2026-07-28, which can be told of changes only in one. 0 for none.
    pub sessions: usize,
    /// How long the requests in hand may take once the server is to end.
    pub drain: Duration,
}

/// Serves everybody who connects to `listener`, until the first of `signals`. Requests in hand are then answered first, and
/// subscriptions ended, within a bound or until the second one.
pub async fn serve(
    listener: Listener,
    handler: mcp::Handler,
    options: Options,
    signals: impl Stream<Item = ()>,
) {
    let drain = Drain::new(options.drain);
    let sessions = Sessions::new(handler.catalog().clone(), options.sessions, drain.begun().clone());
    let guard = Arc::new(Guard::new(listener.place(), &options));
    let endpoint = Arc::new(Endpoint::new(handler, sessions.clone(), drain.begun().clone()));
    let router = router(&options.path, guard, endpoint);
    tokio::select! {
        () = accept::run(listener, router, drain.clone(), Arc::default()) => {}
        never = sessions.sweep() => match never {},
        never = drain.follow(signals) => match never {},
    }
}

/// What is where, and what stands in front of it. The last layer is the first to see a request.
fn router(path: &EndpointPath, guard: Arc<Guard>, endpoint: Arc<Endpoint>) -> Router {
    Router::new()
        .route(path.as_str(), any(endpoint::answer))
        .fallback(endpoint::nothing_here)
        .with_state(endpoint)
        .layer(from_fn_with_state(guard, guard::layer))
}

#[cfg(test)]
mod tests;
