//! The way of one request, from its head to rmcp and back.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use http_body_util::Full;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::mcp::gate::Gate;
use crate::mcp::wire;
use crate::mcp::{Handler, REQUEST_MAX_BYTES};

use super::body;
use super::guard::{self, Page};
use super::legacy::{self, Holding};
use super::refusal::Refused;
use super::sessions::Sessions;
use super::stream::KEEP_ALIVE;
use super::turns::{self, Turns};

/// The most streams that tell of changes at once, over all connections. There is room for other requests beside them.
const LISTENS_MAX: usize = 256;

/// What a client must accept, because what listens may be answered with a stream.
const ACCEPT: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The endpoint.
pub(super) struct Endpoint {
    turns: Arc<Turns>,
    service: StreamableHttpService<Handler, NeverSessionManager>,
    gate: Gate,
    sessions: Arc<Sessions>,
}

impl Endpoint {
    /// An endpoint at which `handler` answers those who ask, and tells them of changes until `stopping`.
    pub(super) fn new(
        handler: Handler,
        sessions: Arc<Sessions>,
        turns: Arc<Turns>,
        stopping: CancellationToken,
    ) -> Self {
        let gate = Gate::new(handler.catalog().clone(), LISTENS_MAX, stopping);
        // The guard, which checks hosts and origins, stands in front, and nothing larger than a request comes as far as this. rmcp's
        // sessions are off: they answer everything with a stream, and hold a queue and tasks each.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_retry(None)
            .with_sse_keep_alive(Some(KEEP_ALIVE))
            .with_max_request_body_bytes(REQUEST_MAX_BYTES)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config);
        Self { turns, service, gate, sessions }
    }
}

/// Answers any request to the endpoint's path.
pub(super) async fn answer(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response {
    let Endpoint { sessions, gate, .. } = &*endpoint;
    let answered = match *request.method() {
        Method::POST => endpoint.post(request).await,
        Method::GET => legacy::open_stream(request.headers(), sessions, gate)
            .map(|stream| turns::stay(turns::asked(request.extensions()), stream)),
        Method::DELETE => legacy::end(request.headers(), sessions),
        Method::OPTIONS if request.extensions().get::<Page>().is_some() => Ok(endpoint.preflight()),
        _ => Err(Refused::method()),
    };
    let mut response = answered.unwrap_or_else(Response::from);
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(header::ALLOW, endpoint.methods());
    }
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
        let mut body = body.slice_ref(wire::without_mark(&body));
        let message = wire::parse(&body)?;
        let turn = self.turns.next(&head.extensions, wire::asks_for_file(&message)).await?;
        if let Some(id) = wire::subscribes(&message) {
            head.extensions.insert(self.gate.admit(Some(id))?);
            // What was read is less than what was sent: the filter has been cut down.
            body = wire::to_bytes(&message)?.into();
        }
        let holding = Holding::of(&message, &head.headers, &self.sessions)?;
        if let Some(session) = holding.session() {
            head.extensions.insert(session);
        }
        if accepts_all(&head.headers) {
            head.headers.insert(header::ACCEPT, ACCEPT);
        }
        let response = self.service.handle(Request::from_parts(head, Full::new(body))).await;
        let mut response = turn.hold(response).await;
        holding.announce(&mut response, &self.sessions);
        Ok(response)
    }

    fn preflight(&self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        guard::allow_sending(response.headers_mut(), self.methods());
        response
    }

    /// The methods of requests that are answered.
    fn methods(&self) -> HeaderValue {
        HeaderValue::from_static(if self.sessions.are_on() { "DELETE, GET, POST" } else { "POST" })
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
