//! What stands behind a listener, and the way of a request through it: it is observed from here on, let in or not, and then
//! answered by the endpoint or a route.
//!
//! The way is plain calls, because layers of axum cost each request more than its answer. Its routes are for what is asked
//! seldom.

use std::mem;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use futures::FutureExt as _;
use tower_service::Service as _;

use super::admission::Admission;
use super::asker::Asker;
use super::connection::Answers;
use super::crowd::Visit;
use super::endpoint::Endpoint;
use super::exchange::{Exchange, Noted, Observer};
use super::followed::Followed;
use super::guard;
use super::health::{self, Health};
use super::nowhere;
use super::path::EndpointPath;

/// What stands behind a listener.
pub(super) struct Front {
    observer: Arc<Observer>,
    /// For those who look after this server, whom nothing else stops.
    probes: Router,
    admission: Admission,
    endpoint: Option<(EndpointPath, Arc<Endpoint>)>,
    routes: Router,
}

impl Front {
    /// Routes behind what stands before all of them, the page among them or not, and the endpoint at its path, if it is
    /// behind this listener.
    pub(super) fn new(
        observer: Arc<Observer>,
        health: Health,
        admission: Admission,
        endpoint: Option<(EndpointPath, Arc<Endpoint>)>,
        routes: Router,
        has_page: bool,
    ) -> Self {
        let routes = nowhere::beside(routes, endpoint.as_ref().map(|(path, _)| path), has_page);
        Self { observer, probes: health::routes(health), admission, endpoint, routes }
    }

    /// The endpoint, if that is what a request is sent to.
    fn endpoint(&self, request: &Request) -> Option<&Endpoint> {
        let (path, endpoint) = self.endpoint.as_ref()?;
        (request.uri().path() == path.as_str()).then_some(endpoint)
    }

    /// Answers a request of somebody.
    pub(super) async fn answer(&self, request: &mut Request, asker: Asker) -> axum::http::Response<Followed> {
        let endpoint = self.endpoint(request);
        let mut exchange = Exchange::begin(&self.observer, request, asker, endpoint.is_some());
        let response = self.pass(request, endpoint, exchange.noted()).await;
        exchange.follow(response)
    }

    async fn pass(&self, request: &mut Request, endpoint: Option<&Endpoint>, noted: &mut Noted) -> Response {
        if health::is_probe(request.uri().path()) {
            return call(&self.probes, request).await;
        }
        let (origin, admitted) = self.admission.admit(request, endpoint.is_some(), &mut noted.asker);
        let mut response = match (admitted, endpoint) {
            (Err(refused), _) => refused.into(),
            (Ok(()), Some(endpoint)) => endpoint.answer(request, noted).await,
            (Ok(()), None) => {
                request.extensions_mut().insert(noted.asker.clone());
                call(&self.routes, request).await
            }
        };
        guard::allow_reading(response.headers_mut(), origin);
        response
    }
}

impl Answers for Front {
    type Body = Followed;

    async fn answer(&self, request: &mut Request, visit: &Arc<Visit>) -> axum::http::Response<Followed> {
        self.answer(request, Asker::new(visit.clone())).await
    }
}

/// Has a request answered by one of `routes`, none of which reads a body: it is left. Boxed, so that the way to the endpoint
/// is not larger for it.
fn call(routes: &Router, request: &mut Request) -> Pin<Box<dyn Future<Output = Response> + Send>> {
    let body = mem::take(request.body_mut());
    let answered = routes.clone().call(mem::take(request));
    *request.body_mut() = body;
    Box::pin(answered.map(|Ok(response)| response))
}
