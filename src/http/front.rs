//! What stands behind a door, and the way of a request through it: it is observed from here on, let in or not, and then answered
//! by the endpoint or a route.
//!
//! The way is plain calls, because layers of axum cost each request more than its answer. Its routes are for what is asked seldom.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::Response;
use tower_service::Service;

use super::admission::Admission;
use super::endpoint::{self, Endpoint};
use super::exchange::{self, Observer};
use super::health::{self, Health};
use super::nowhere;
use super::path::EndpointPath;

/// What stands behind a door. Cheap to clone.
#[derive(Clone)]
pub(super) struct Front(Arc<Parts>);

struct Parts {
    observer: Arc<Observer>,
    /// For those who look after this server, whom nothing else stops.
    probes: Router,
    admission: Admission,
    endpoint: Option<(EndpointPath, Arc<Endpoint>)>,
    routes: Router,
}

impl Front {
    /// Routes behind what stands before all of them, the page among them or not, and the endpoint at its path, if it is
    /// behind this door.
    pub(super) fn new(
        observer: Arc<Observer>,
        health: Health,
        admission: Admission,
        endpoint: Option<(EndpointPath, Arc<Endpoint>)>,
        routes: Router,
        has_page: bool,
    ) -> Self {
        let probes = health::routes(health);
        let routes = match endpoint.clone() {
            Some((path, endpoint)) => routes.merge(endpoint::route(path.as_str(), endpoint)),
            None => routes,
        };
        let routes = nowhere::beside(routes, endpoint.as_ref().map(|(path, _)| path), has_page);
        Self(Arc::new(Parts { observer, probes, admission, endpoint, routes }))
    }
}

impl Service<Request> for Front {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self(parts) = self.clone();
        Box::pin(async move {
            let observer = parts.observer.clone();
            Ok(exchange::follow(observer, request, |request| parts.pass(request)).await)
        })
    }
}

impl Parts {
    async fn pass(&self, request: Request) -> Response {
        if health::is_probe(request.uri().path()) {
            return call(&self.probes, request).await;
        }
        self.admission.admit(request, |request| self.answer(request)).await
    }

    async fn answer(&self, request: Request) -> Response {
        match &self.endpoint {
            Some((path, endpoint)) if is_message(&request, path) => {
                endpoint::answer(State(endpoint.clone()), request).await
            }
            _ => call(&self.routes, request).await,
        }
    }
}

/// Whether a request brings a message to the endpoint.
fn is_message(request: &Request, path: &EndpointPath) -> bool {
    *request.method() == Method::POST && request.uri().path() == path.as_str()
}

async fn call(routes: &Router, request: Request) -> Response {
    let Ok(response) = routes.clone().call(request).await;
    response
}
