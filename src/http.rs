//! The protocol over streamable HTTP: each request is answered from the catalog alone, so that any replica can answer it.
//!
//! Changes are told over streams: of `subscriptions/listen` since 2026-07-28, of sessions before, where there are any.

mod accept;
mod admission;
mod allowed;
mod auth;
mod body;
mod caller;
mod crowd;
mod endpoint;
mod forwarded;
mod guard;
mod legacy;
mod patience;
mod proxies;
mod rate;
mod refusal;
mod sessions;
mod stream;
mod turns;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::routing::any;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::mcp;

use endpoint::Endpoint;
use sessions::Sessions;

pub use admission::Admission;
pub use allowed::{Host, Origin};
pub use proxies::Proxy;

/// The path of the one endpoint.
pub const ENDPOINT: &str = "/mcp";

/// How often one caller may ask in a minute, and at once, unless an option says more or less. A host that reads all files of
/// a few dozen skills when it starts asks some thousand times at once, and so do some twenty people behind one address whose hosts
/// read 500 files each. A flood is at least ten times as much.
pub const RATE_LIMIT: u32 = 12_000;

/// Who may ask, beside programs and pages of this machine, and who is remembered.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Further names under which this server is reached.
    pub allow_hosts: Vec<Host>,
    /// Further origins whose pages may ask.
    pub allow_origins: Vec<Origin>,
    /// The file that says who holds which token. Without one, nobody has to say who they are.
    pub token_file: Option<PathBuf>,
    /// Whether it is meant that everybody may ask, from other machines too.
    pub anonymous: bool,
    /// The proxies whose word is taken for where a request comes from.
    pub trusted_proxies: Vec<Proxy>,
    /// How often one caller may ask in a minute, and at once. Absent for as often as it likes.
    pub rate_limit: Option<NonZeroU32>,
    /// The most sessions at once of clients from before 2026-07-28, which can be told of changes only in one. 0 for none.
    pub sessions: usize,
}

/// Serves everybody who connects to `listener` and is admitted, until `shutdown` ends. Requests in hand are then answered first, and
/// subscriptions ended, within a bound.
pub async fn serve(
    listener: TcpListener,
    handler: mcp::Handler,
    admission: Admission,
    sessions: usize,
    shutdown: impl Future<Output = ()>,
) {
    let stopping = CancellationToken::new();
    let sessions = Sessions::new(handler.catalog().clone(), sessions, stopping.clone());
    let endpoint = Arc::new(Endpoint::new(handler, sessions.clone(), stopping.clone()));
    let router = router(&admission, endpoint);
    tokio::select! {
        () = accept::run(listener, router, stopping, shutdown) => {}
        never = sessions.sweep() => match never {},
        never = admission.keep() => match never {},
    }
}

/// What is where, and what stands in front of it. Routes that are for everybody, such as those of probes, are merged with
/// what has the checks before it.
fn router(admission: &Admission, endpoint: Arc<Endpoint>) -> Router {
    let routes = Router::new()
        .route(ENDPOINT, any(endpoint::answer))
        .fallback(endpoint::nothing_here)
        .with_state(endpoint);
    admission.stand_before(routes)
}

#[cfg(test)]
mod tests;
