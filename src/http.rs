//! The protocol over streamable HTTP: each request is answered from the catalog alone, so that any replica can answer it.
//!
//! Changes are told over streams: of `subscriptions/listen` since 2026-07-28, of sessions before, where there are any.

mod accept;
mod access_log;
mod admin;
mod allowed;
mod answered;
mod body;
mod caller;
mod crowd;
mod endpoint;
mod exchange;
mod guard;
mod health;
mod legacy;
mod metrics;
mod outcome;
mod patience;
mod refusal;
mod request_id;
mod sessions;
mod status;
mod stream;
mod trace_context;
mod turns;

use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Context as _;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::any;
use futures::future::{Either, ready};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::mcp;

use accept::Counts;
use admin::Admin;
use endpoint::Endpoint;
use exchange::Observer;
use guard::Guard;
use health::Health;
use metrics::{Exposition, Metrics, Sources};
use sessions::Sessions;
use status::Status;

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
    /// Whether each request has a line in the log.
    pub access_log: bool,
}

/// Where is listened.
#[derive(Debug)]
pub struct Listeners {
    /// For clients.
    pub main: TcpListener,
    /// For the one who runs this server. Without it, what is for that one stands beside the endpoint.
    pub admin: Option<TcpListener>,
}

/// Serves everybody who connects to `listeners`, until `shutdown` ends. Requests in hand are then answered first, and
/// subscriptions ended, within a bound. What tells how it stands is told until that is done.
///
/// # Errors
/// When a listener has no address.
pub async fn serve(
    listeners: Listeners,
    handler: mcp::Handler,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let guard = |listener: &TcpListener| {
        let address = listener.local_addr().context("the listener has no address")?;
        anyhow::Ok(Arc::new(Guard::new(address, &options)))
    };
    let (started, catalog) = (SystemTime::now(), handler.catalog().clone());
    let (stopping, stopped) = (CancellationToken::new(), CancellationToken::new());
    let sessions = Sessions::new(catalog.clone(), options.sessions, stopping.clone());
    let endpoint = Arc::new(Endpoint::new(handler, sessions.clone(), stopping.clone()));
    let health = Health::new(catalog.clone(), stopping.clone());
    let metrics = Arc::new(Metrics::default());
    let connections = Arc::new(Counts::default());
    let observer =
        Arc::new(Observer { metrics: metrics.clone(), endpoint: ENDPOINT, is_logged: options.access_log });
    let exposition = Exposition::new(Sources {
        metrics,
        connections: connections.clone(),
        catalog: catalog.clone(),
        sessions: sessions.clone(),
        gate: endpoint.gate().clone(),
        started,
    });
    let admin = admin::routes(Admin::new(exposition, Status::new(catalog, health.clone(), started)));

    let mut main = endpoint_routes(endpoint);
    let admin = match &listeners.admin {
        Some(listener) => Some(router(admin, guard(listener)?, health.clone(), observer.clone())),
        None => {
            main = main.merge(admin);
            None
        }
    };
    let main = router(main, guard(&listeners.main)?, health, observer);
    let main = accept::run(listeners.main, main, stopping, shutdown, connections.clone());
    let admin = match listeners.admin.zip(admin) {
        Some((listener, router)) => Either::Left(accept::run(
            listener,
            router,
            stopped.clone(),
            stopped.clone().cancelled_owned(),
            connections,
        )),
        None => Either::Right(ready(())),
    };
    let main = async {
        main.await;
        stopped.cancel();
    };
    tokio::select! {
        _ = async { tokio::join!(main, admin) } => Ok(()),
        never = sessions.sweep() => match never {},
    }
}

fn endpoint_routes(endpoint: Arc<Endpoint>) -> Router {
    Router::new().route(ENDPOINT, any(endpoint::answer)).with_state(endpoint)
}

/// What is where on a listener, and what stands in front of it. The last layer is the first to see a request.
fn router(routes: Router, guard: Arc<Guard>, health: Health, observer: Arc<Observer>) -> Router {
    let guarded = routes.fallback(endpoint::nothing_here).layer(from_fn_with_state(guard, guard::layer));
    health::routes(health).merge(guarded).layer(from_fn_with_state(observer, exchange::layer))
}

#[cfg(test)]
mod tests;
