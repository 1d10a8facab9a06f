//! The way of one request, from its head to rmcp and back.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use http_body_util::Full;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use crate::mcp::{Handler, REQUEST_MAX_BYTES, wire};

use super::body;
use super::guard::{self, Guard};
use super::refusal::Refused;

/// What a client must accept, because what listens may be answered with a stream.
const ACCEPT: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The endpoint.
pub(super) struct Endpoint {
    guard: Guard,
    service: StreamableHttpService<Handler, NeverSessionManager>,
}

impl Endpoint {
    /// An endpoint at which `handler` answers those whom `guard` lets through.
    pub(super) fn new(handler: Handler, guard: Guard) -> Self {
        // The guard is the check of hosts and origins, and nothing larger than a request comes as far as this.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_retry(None)
            .with_max_request_body_bytes(REQUEST_MAX_BYTES)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config);
        Self { guard, service }
    }
}

/// Answers any request to the endpoint's path.
pub(super) async fn answer(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response {
    let origin = match endpoint.guard.check(request.uri(), request.headers()) {
        Ok(origin) => origin.cloned(),
        Err(refused) => return refused.into(),
    };
    let mut response = match *request.method() {
        Method::POST => endpoint.post(request).await.unwrap_or_else(Response::from),
        Method::OPTIONS if origin.is_some() => preflight(),
        _ => Refused::new(StatusCode::METHOD_NOT_ALLOWED, "requests are sent with POST").into(),
    };
    guard::allow_reading(response.headers_mut(), origin);
    response
}

/// Answers a request to any other path.
pub(super) async fn nothing_here() -> StatusCode {
    StatusCode::NOT_FOUND
}

impl Endpoint {
    async fn post(&self, request: Request) -> Result<Response, Refused> {
        let (mut head, body) = request.into_parts();
        if !is_json(&head.headers) {
            let why = "the Content-Type of a request is application/json";
            return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let body = body::read(body).await?;
        let body = body.slice_ref(wire::without_mark(&body));
        wire::parse(&body)?;
        if accepts_all(&head.headers) {
            head.headers.insert(header::ACCEPT, ACCEPT);
        }
        let response = self.service.handle(Request::from_parts(head, Full::new(body))).await;
        Ok(response.map(Body::new))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// Whether a client accepts anything, by saying so or by saying nothing. rmcp wants both types by name.
fn accepts_all(headers: &HeaderMap) -> bool {
    match headers.get(header::ACCEPT).map(HeaderValue::to_str) {
        None => true,
        Some(Ok(accept)) => {
            accept.split(',').filter_map(|range| range.split(';').next()).any(|range| range.trim() == "*/*")
        }
        Some(Err(_)) => false,
    }
}

fn preflight() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    guard::allow_sending(response.headers_mut());
    response
}
