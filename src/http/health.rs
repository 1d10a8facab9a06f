//! Whether this server is alive, and whether it is ready to be asked. Who looks after many of them asks again and again, by
//! the address of a pod and without a token, so neither the guard nor anything else stands in front.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;

use super::routes::{Route, paths, router};

/// Where to ask whether the process answers.
pub(super) const ALIVE: &str = "/healthz";
/// Where to ask whether it can serve.
pub(super) const READY: &str = "/readyz";

/// An answer that is kept says nothing.
const NO_STORE: [(HeaderName, HeaderValue); 1] =
    [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];

/// Who knows how it is.
#[derive(Clone, Debug)]
pub(super) struct Health {
    catalog: Catalog,
    stopping: CancellationToken,
}

/// What keeps a server from being asked, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// Nothing does.
    Ready,
    /// There is no catalog yet.
    Building,
    /// A directory cannot be read any more.
    RootLost,
    /// It has been told to stop.
    Stopping,
}

impl Readiness {
    /// The word for it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Building => "building",
            Self::RootLost => "root-lost",
            Self::Stopping => "stopping",
        }
    }

    /// A line that says it.
    fn sentence(self) -> &'static str {
        match self {
            Self::Ready => "ok\n",
            Self::Building => "the catalog is being built\n",
            Self::RootLost => "a served directory cannot be read\n",
            Self::Stopping => "the server is shutting down\n",
        }
    }
}

impl Health {
    /// Of the server that serves `catalog` until `stopping`.
    pub(super) fn new(catalog: Catalog, stopping: CancellationToken) -> Self {
        Self { catalog, stopping }
    }

    /// Whether it can be asked.
    pub(super) fn readiness(&self) -> Readiness {
        if self.stopping.is_cancelled() {
            return Readiness::Stopping;
        }
        match self.catalog.standing() {
            None => Readiness::Building,
            Some(standing) if standing.roots.iter().any(|root| root.is_lost) => Readiness::RootLost,
            Some(_) => Readiness::Ready,
        }
    }
}

/// Whether this is asked at `path`.
pub(super) fn is_probe(path: &str) -> bool {
    paths(&ROUTES).any(|own| own == path)
}

/// Where each thing is asked, and what answers.
pub(super) const ROUTES: [Route<Health>; 2] = [(ALIVE, || get(alive)), (READY, || get(ready))];

/// Where this is asked.
pub(super) fn routes(health: Health) -> Router {
    router(&ROUTES).with_state(health)
}

async fn alive() -> Response {
    (NO_STORE, "ok\n").into_response()
}

async fn ready(State(health): State<Health>) -> Response {
    let readiness = health.readiness();
    let is_ready = readiness == Readiness::Ready;
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, NO_STORE, readiness.sentence()).into_response()
}

#[cfg(test)]
mod tests {
    use crate::testing::Skills;

    use super::*;

    #[tokio::test]
    async fn a_server_is_ready_between_its_catalog_and_its_end() {
        let look = |_: &_| -> Result<crate::catalog::Standing, _> { Err("none".to_owned()) };
        let catalog = Catalog::start(crate::catalog::Cache::default(), look);
        let stopping = CancellationToken::new();
        assert_eq!(Health::new(catalog, stopping.clone()).readiness(), Readiness::Building);
        let health = Health::new(Skills::new().await.catalog, stopping.clone());
        assert_eq!(health.readiness(), Readiness::Ready);
        stopping.cancel();
        assert_eq!(health.readiness(), Readiness::Stopping);
    }
}
