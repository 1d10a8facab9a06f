//! Refusals over HTTP: a status, and a JSON-RPC error that says the same.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::mcp::wire::Refusal;

use super::answered::ErrorCode;

/// When a request that has been put off may come again.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("5");

/// A request that goes no further.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    refusal: Box<Refusal>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Refused {
    /// Refuses a request for a reason that its body does not hold.
    pub(super) fn new(status: StatusCode, why: &'static str) -> Self {
        Self { status, refusal: Box::new(Refusal::invalid(None, why)), headers: Vec::new() }
    }

    /// Refuses a method that is not answered here.
    pub(super) fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "requests are sent with POST")
    }

    /// Puts a request off for now.
    pub(super) fn busy(why: &'static str) -> Self {
        let refusal = Box::new(Refusal::busy(why));
        Self { status: StatusCode::SERVICE_UNAVAILABLE, refusal, headers: Vec::new() }
            .with(header::RETRY_AFTER, RETRY_AFTER_SECONDS)
    }

    /// Puts a request off that comes sooner than after `wait`.
    pub(super) fn too_often(why: &'static str, wait: Duration) -> Self {
        // Rounded up, so that it does not come too soon again.
        let seconds = wait.as_secs() + 1;
        let refusal = Box::new(Refusal::busy(why));
        Self { status: StatusCode::TOO_MANY_REQUESTS, refusal, headers: Vec::new() }
            .with(header::RETRY_AFTER, seconds.into())
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
        Self { status, refusal, headers: Vec::new() }
    }
}

impl From<Refused> for Response {
    fn from(refused: Refused) -> Self {
        let mut response = Response::new(Body::from(refused.refusal.to_json().to_string()));
        response.extensions_mut().insert(ErrorCode(refused.refusal.error.code.0));
        *response.status_mut() = refused.status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in refused.headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}
