//! The protocol over streamable HTTP: each request is answered from the catalog alone, so that any replica can answer it.
//!
//! Changes are told over streams: of `subscriptions/listen` since 2026-07-28, of sessions before, where there are any.

mod accept;
mod access_log;
mod admin;
mod admission;
mod again;
mod allowed;
mod answered;
mod asker;
mod auth;
mod body;
mod caller;
mod connection;
mod crowd;
mod direct;
mod drain;
mod endpoint;
mod etag;
mod exchange;
mod files;
mod followed;
mod forwarded;
mod front;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod guard;
mod headers;
mod health;
mod heard;
mod leftover;
mod legacy;
mod listen;
mod metrics;
mod nowhere;
mod outcome;
mod pace;
mod page;
mod parts;
mod path;
mod patience;
mod proxies;
mod rate;
mod refusal;
mod remarks;
mod request_id;
mod routes;
mod sessions;
mod share;
mod status;
mod stream;
#[cfg_attr(not(feature = "tls"), path = "http/no_tls.rs")]
mod tls;
mod trace_context;
mod turns;
#[cfg(unix)]
mod unix;

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use futures::future::{Either, ready};
use futures::{FutureExt as _, Stream};
use tokio_util::sync::CancellationToken;

use crate::{log, mcp};

use accept::ConnectionCounts;
use admin::Admin;
use drain::Drain;
use endpoint::Endpoint;
use exchange::Observer;
use front::Front;
use health::Health;
use metrics::{Exposition, Metrics, Sources};
use sessions::Sessions;
use status::Status;
use turns::Turns;

pub use admission::Admission;
pub use allowed::{Host, Origin};
pub use files::check_files;
pub use listen::{Address, Listener};
pub use path::EndpointPath;
pub use proxies::Proxy;
pub use remarks::{Remark, remarks};
pub use tls::Tls;
#[cfg(unix)]
pub use unix::Passed;

/// How often one caller may ask in a minute, and at once, unless an option says more or less. A host that reads all files
/// of a few dozen skills when it starts asks some thousand times at once, and so do some twenty people behind one address
/// whose hosts read 500 files each. A flood is at least ten times as much.
pub const RATE_LIMIT: u32 = 12_000;

/// How long those who ask how it stands may still take once all others have been answered.
const ADMIN_DRAIN: Duration = Duration::from_secs(1);

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
    /// Whether each request has a line in the log.
    pub access_log: bool,
    /// Whether people find a page at `/`.
    pub page: bool,
    /// How long the requests in hand may take once the server is to end.
    pub drain: Duration,
}

/// A listener, and who is let in there.
#[derive(Debug)]
pub struct GuardedListener {
    /// Takes connections in.
    pub listener: Listener,
    /// Lets requests through.
    pub admission: Admission,
}

/// Where clients come in, and where the one who runs this server does. Without the latter, what is for that one stands
/// beside the endpoint.
#[derive(Debug)]
pub struct Listeners {
    /// For clients.
    pub main: GuardedListener,
    /// For the one who runs this server.
    pub admin: Option<GuardedListener>,
}

/// What answers, at whichever listener it is asked.
struct Answering {
    /// The endpoint.
    endpoint: Arc<Endpoint>,
    /// The page, the metrics and the status.
    beside: Router,
    health: Health,
    observer: Arc<Observer>,
    sessions: Arc<Sessions>,
    connections: Arc<ConnectionCounts>,
}

impl Answering {
    /// What `handler` and its catalog have to say, as `options` want it, until `drain`.
    fn new(handler: mcp::Handler, options: &Options, drain: &Drain) -> Self {
        let (started, catalog) = (SystemTime::now(), handler.catalog().clone());
        let sessions = Sessions::new(catalog.clone(), options.sessions, drain.begun().clone());
        let turns = Turns::default();
        let page = options
            .page
            .then(|| page::routes(catalog.clone(), handler.name(), turns.clone(), drain.begun().clone()));
        let endpoint = Arc::new(Endpoint::new(handler, sessions.clone(), turns, drain.begun().clone()));
        let health = Health::new(catalog.clone(), drain.begun().clone());
        let metrics = Arc::new(Metrics::default());
        let connections = Arc::new(ConnectionCounts::default());
        let observer = Arc::new(Observer {
            metrics: metrics.clone(),
            is_logged: options.access_log && tracing::enabled!(target: log::ACCESS, tracing::Level::INFO),
        });
        let exposition = Exposition::new(Sources {
            metrics,
            connections: connections.clone(),
            catalog: catalog.clone(),
            sessions: sessions.clone(),
            gate: endpoint.gate().clone(),
            started,
        });
        let status = Status::new(catalog, health.clone(), started);
        let beside = admin::routes(Admin::new(exposition, status)).merge(page.unwrap_or_default());
        Self { endpoint, beside, health, observer, sessions, connections }
    }
}

/// Serves everybody who comes in and is admitted, until the first of `signals`. Requests in hand are then answered first, and
/// subscriptions ended, within a bound or until the second one. How it stands is told until that is done.
pub async fn serve(
    listeners: Listeners,
    handler: mcp::Handler,
    options: Options,
    signals: impl Stream<Item = ()>,
) {
    let (drain, end) = (Drain::new(options.drain), Drain::new(ADMIN_DRAIN));
    let Answering { endpoint, beside, health, observer, sessions, connections } =
        Answering::new(handler, &options, &drain);
    let Listeners { main, admin } = listeners;
    let max = files::connections_max(admin.is_some());
    // Both listeners show the same certificate.
    let tls = main.listener.tls();
    let (routes, has_page, admin) = match admin {
        None => (beside, options.page, Either::Left(ready(()))),
        Some(own) => {
            let (observer, health) = (observer.clone(), health.clone());
            let beside = Front::new(observer, health, own.admission, None, beside, options.page);
            let served = accept::run(own.listener, beside, max.admin, end.clone(), connections.clone());
            (Router::new(), false, Either::Right(served))
        }
    };
    let endpoint = Some((options.path, endpoint));
    let front = Front::new(observer, health, main.admission.clone(), endpoint, routes, has_page);
    let main_served = CancellationToken::new();
    let serve = async {
        accept::run(main.listener, front, max.main, drain.clone(), connections).await;
        main_served.cancel();
    };
    tokio::select! {
        _ = async { tokio::join!(serve, admin) } => {}
        never = end.follow(main_served.cancelled().into_stream()) => match never {},
        never = drain.follow(signals) => match never {},
        never = sessions.sweep() => match never {},
        never = main.admission.keep() => match never {},
        never = follow(tls) => match never {},
    }
}

/// Keeps up with a certificate, for ever.
async fn follow(tls: Option<Arc<Tls>>) -> Infallible {
    match tls {
        Some(tls) => tls.follow().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
pub(crate) mod tests;
