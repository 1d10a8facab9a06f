//! The way of one request, from its head to rmcp and back.

use std::mem;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use http_body_util::Full;
use hyper::body::Body as _;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::mcp::direct::{self as plain, Direct, Reply};
use crate::mcp::gate::Gate;
use crate::mcp::wire::{self, Incoming, Refusal};
use crate::mcp::{Handler, REQUEST_MAX_BYTES};
use crate::skill::Content;
use crate::uri;

use super::answered::{self, Asked};
use super::asker::Asker;
use super::body::Bodies;
use super::direct::{accepts_both, is_plain, respond};
use super::exchange::Noted;
use super::guard::{self, FromPage};
use super::headers::{MCP_PROTOCOL_VERSION, is_contradictory};
use super::legacy::{self, MessageSession};
use super::refusal::Refused;
use super::sessions::Sessions;
use super::share::Slots;
use super::stream::KEEP_ALIVE;
use super::turns::{self, Turns};

/// The most streams that tell of changes at once, over all connections. There is room for other requests beside them. One
/// caller has at most half of them.
const LISTENS_MAX: u32 = 512;
/// What the answer with a file is held in while it is made, as times the file: the text, and its JSON in a buffer of at most
/// twice that. Only a text of control characters needs more, six bytes for each.
const TEXT_COSTS: u64 = 3;
/// The same where the file goes out in base64: the file, 4/3 of it, and a buffer of twice that.
const BINARY_COSTS: u64 = 5;

/// What a client must accept, because what listens may be answered with a stream.
const ACCEPT: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The endpoint.
pub(super) struct Endpoint {
    catalog: Catalog,
    bodies: Bodies,
    turns: Turns,
    listens: Slots,
    /// Absent where a test compares with what is answered otherwise.
    direct: Option<Direct>,
    service: StreamableHttpService<Handler, NeverSessionManager>,
    gate: Gate,
    sessions: Arc<Sessions>,
}

impl Endpoint {
    /// An endpoint at which `handler` answers those who ask, and tells them of changes until `stopping`.
    pub(super) fn new(
        handler: Handler,
        sessions: Arc<Sessions>,
        turns: Turns,
        stopping: CancellationToken,
    ) -> Self {
        let catalog = handler.catalog().clone();
        let gate = Gate::new(catalog.clone(), LISTENS_MAX as usize, stopping);
        // The guard, which checks hosts and origins, stands in front, and nothing larger than a request comes as far as
        // this. rmcp's sessions are off: they answer everything with a stream, and hold a queue and tasks each.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_retry(None)
            .with_sse_keep_alive(Some(KEEP_ALIVE))
            .with_max_request_body_bytes(REQUEST_MAX_BYTES)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let direct = Some(Direct::new(handler.clone(), ""));
        let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config);
        let listens = Slots::new(LISTENS_MAX);
        let bodies = Bodies::default();
        Self { catalog, bodies, turns, listens, direct, service, gate, sessions }
    }

    /// The same where rmcp answers everything.
    #[cfg(test)]
    pub(super) fn without_direct(self) -> Self {
        Self { direct: None, ..self }
    }
}

impl Endpoint {
    /// Answers any request to the endpoint's path. What it asks for is noted as soon as it is known, whatever becomes of it.
    pub(super) async fn answer(&self, request: &mut Request, noted: &mut Noted) -> Response {
        let answered = match *request.method() {
            Method::POST => self.post(request, noted).await,
            Method::GET => self.open_stream(request, &noted.asker),
            Method::DELETE => legacy::end(request.headers(), &noted.asker.sharer(), &self.sessions),
            Method::OPTIONS if request.extensions().get::<FromPage>().is_some() => Ok(self.preflight()),
            _ => Err(Refused::method()),
        };
        let mut response = answered.unwrap_or_else(Response::from);
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, self.methods());
        }
        response
    }

    /// Answers a message.
    async fn post(&self, request: &mut Request, noted: &mut Noted) -> Result<Response, Refused> {
        if !is_json(request.headers()) {
            let why = "the Content-Type of a request is application/json";
            return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let mut body = mem::take(request.body_mut());
        let body = match self.bodies.read(&mut body, &noted.asker).await {
            Ok(body) => body,
            Err(refused) => {
                *request.body_mut() = body;
                return Err(refused);
            }
        };
        noted.asker.asked();
        let bytes = body.bytes.slice_ref(wire::without_mark(&body.bytes));
        match self.directly(request.headers(), &bytes, noted).await? {
            Some(response) => Ok(response),
            // Boxed, because what rmcp needs for it takes kilobytes, which would be moved about for every other request too.
            None => Box::pin(self.by_rmcp(mem::take(request).into_parts().0, bytes, noted)).await,
        }
    }

    async fn by_rmcp(
        &self,
        mut head: Parts,
        mut bytes: Bytes,
        noted: &mut Noted,
    ) -> Result<Response, Refused> {
        let message = wire::parse(&bytes)?;
        noted.asked = Some(Asked::by(&message));
        if !accepts_all(&head.headers) && !names_both(&head.headers) {
            return Err(Refused::not_acceptable(&message));
        }
        if is_contradictory(&head.headers, MCP_PROTOCOL_VERSION) {
            // Whoever stands in between may have read another one than is read here.
            return Err(Refusal::mismatch(&message, "two MCP-Protocol-Version headers say two things").into());
        }
        let turn = self.turns.next(&noted.asker, self.cost(&message).await).await?;
        let caller = noted.asker.sharer();
        let mut listen = None;
        if let Some(id) = wire::subscribes(&message) {
            listen = self.listens.take(&caller);
            if listen.is_none() {
                return Err(Refusal::too_many(Some(id)).into());
            }
            head.extensions.insert(self.gate.admit(Some(id))?);
            // What was read is less than what was sent: the filter has been cut down.
            bytes = wire::to_bytes(&message)?.into();
        }
        let session = MessageSession::of(&message, &head.headers, &caller, &self.sessions)?;
        if let Some(session) = session.get() {
            head.extensions.insert(session);
        }
        // rmcp wants both types by name.
        head.headers.insert(header::ACCEPT, ACCEPT);
        let response = self.service.handle(Request::from_parts(head, Full::new(bytes))).await;
        let response = answered::noting(response).await;
        // How large a page is shows only when it is there.
        let turn = match response.body().size_hint().exact() {
            Some(bytes) if turn.is_for_little() => self.turns.next(&noted.asker, bytes).await?,
            _ => turn,
        };
        let mut response = turn.hold(response);
        session.announce(&mut response, &caller, &self.sessions);
        Ok(match listen {
            Some(listen) => turns::keep(response, listen),
            None => response,
        })
    }

    /// How many bytes the answer to a message holds at most, where that is known beforehand.
    async fn cost(&self, message: &Incoming) -> u64 {
        let Some(path) = wire::file_asked_for(message).and_then(|uri| uri::to_path(uri).ok()) else {
            return 0;
        };
        let Ok(snapshot) = self.catalog.snapshot().await else { return 0 };
        let file = snapshot.node(&path).and_then(|node| node.file);
        file.map_or(0, |file| match file.content() {
            Content::Text => file.size().saturating_mul(TEXT_COSTS),
            Content::Binary => file.size().saturating_mul(BINARY_COSTS),
        })
    }

    fn open_stream(&self, request: &Request, asker: &Asker) -> Result<Response, Refused> {
        let caller = asker.sharer();
        let listen = self.listens.take(&caller);
        let stream = legacy::open_stream(request.headers(), &caller, &self.sessions, &self.gate)?;
        let listen = listen.ok_or_else(|| Refusal::too_many(None))?;
        asker.asked();
        Ok(turns::keep(stream, listen))
    }

    /// Answers a plain request. `None` for every other.
    async fn directly(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        noted: &mut Noted,
    ) -> Result<Option<Response>, Refused> {
        let accepts = accepts_both(headers) || accepts_all(headers);
        let Some(direct) = self.direct.as_ref().filter(|_| accepts) else { return Ok(None) };
        let plain = plain::Request::read(body).filter(|plain| is_plain(headers, plain));
        let Some(plain) = plain else { return Ok(None) };
        let told = Asked::plainly(&plain);
        let Some(reply) = direct.begin(plain) else { return Ok(None) };
        noted.asked = Some(told);
        let turn = self.turns.next(&noted.asker, reply.holds_bytes()).await?;
        let answer = match reply {
            Reply::Ready(answer) => answer,
            // Boxed for the same reason.
            file => Box::pin(direct.finish(file)).await,
        };
        Ok(Some(respond(answer, turn)))
    }

    /// Where subscriptions come in.
    pub(super) fn gate(&self) -> &Gate {
        &self.gate
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
    const JSON: &str = "application/json";
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_essence =
        |value: &str| value.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case(JSON));
    // As hosts write it, or in another way.
    media_type.is_some_and(|value| value == JSON || is_essence(value))
}

/// Whether a client names both types that it may be answered with, however it does.
fn names_both(headers: &HeaderMap) -> bool {
    let names = |wanted: &str| {
        let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let mut ranges =
            values.flat_map(|value| value.split(',')).filter_map(|range| range.split(';').next());
        ranges.any(|range| range.trim().eq_ignore_ascii_case(wanted))
    };
    names("application/json") && names("text/event-stream")
}

/// Whether a client accepts anything, by saying so or by saying nothing.
fn accepts_all(headers: &HeaderMap) -> bool {
    match headers.get(header::ACCEPT).map(HeaderValue::to_str) {
        None => true,
        Some(Ok(accept)) => {
            accept.split(',').filter_map(|range| range.split(';').next()).any(|range| range.trim() == "*/*")
        }
        Some(Err(_)) => false,
    }
}
