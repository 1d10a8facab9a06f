//! Refusals over HTTP: a status, and a JSON-RPC error that says the same, or for a person its words alone.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::mcp::wire::{self, Incoming, Refusal};

use super::answered::ErrorCode;

/// When a request that has been put off may come again.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("5");

/// A request that goes no further.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    refusal: Box<Refusal>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether a person reads it, in a browser.
    is_for_reading: bool,
}

impl Refused {
    fn with_status(status: StatusCode, refusal: impl Into<Box<Refusal>>) -> Self {
        Self { status, refusal: refusal.into(), headers: Vec::new(), is_for_reading: false }
    }

    /// Refuses a request for a reason that its body does not hold.
    pub(super) fn new(status: StatusCode, why: &'static str) -> Self {
        Self::with_status(status, Refusal::invalid(None, why))
    }

    /// Refuses a method that is not answered here.
    pub(super) fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "requests are sent with POST")
    }

    /// Refuses to open a stream that there is not.
    pub(super) fn stream() -> Self {
        let why = "since 2026-07-28 there is no stream to GET: send messages with POST, and subscriptions/listen to be told of changes";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, why)
    }

    /// Refuses a message whose client does not accept what it may be answered with.
    pub(super) fn not_acceptable(message: &Incoming) -> Self {
        let why = "an answer is of either type: send `Accept: application/json, text/event-stream`";
        let refusal = Refusal::invalid(wire::request_id(message).cloned(), why);
        Self::with_status(StatusCode::NOT_ACCEPTABLE, refusal)
    }

    /// Puts a request off for now.
    pub(super) fn busy(why: &'static str) -> Self {
        Self::with_status(StatusCode::SERVICE_UNAVAILABLE, Refusal::busy(why))
            .with(header::RETRY_AFTER, RETRY_AFTER_SECONDS)
    }

    /// Puts a request off that comes sooner than after `wait`.
    pub(super) fn too_often(why: &'static str, wait: Duration) -> Self {
        // Rounded up, so that it does not come too soon again.
        let seconds = wait.as_secs() + 1;
        Self::with_status(StatusCode::TOO_MANY_REQUESTS, Refusal::busy(why))
            .with(header::RETRY_AFTER, seconds.into())
    }

    /// The same in plain words, for a person.
    pub(super) fn for_reading(self) -> Self {
        Self { is_for_reading: true, ..self }
    }

    /// The same with a header more.
    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl From<Box<Refusal>> for Refused {
    fn from(refusal: Box<Refusal>) -> Self {
        // As far as HTTP goes, a request that is only refused what it asks for is well.
        let status = if refusal.is_of_request() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        Self::with_status(status, refusal)
    }
}

impl From<Refused> for Response {
    fn from(refused: Refused) -> Self {
        let (media_type, body) = match refused.is_for_reading {
            true => ("text/plain; charset=utf-8", format!("{}\n", refused.refusal.error.message)),
            false => ("application/json", refused.refusal.to_json().to_string()),
        };
        let mut response = Response::new(Body::from(body));
        response.extensions_mut().insert(ErrorCode(refused.refusal.error.code.0));
        *response.status_mut() = refused.status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        for (name, value) in refused.headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}
