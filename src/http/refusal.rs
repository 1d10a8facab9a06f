//! Refusals over HTTP: a status, and a JSON-RPC error that says the same.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::mcp::wire::Refusal;

use super::answered::Answered;

/// When a request that has been put off may come again.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("5");

/// A request that goes no further.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    refusal: Box<Refusal>,
}

impl Refused {
    /// Refuses a request for a reason that its body does not hold.
    pub(super) fn new(status: StatusCode, why: &'static str) -> Self {
        Self { status, refusal: Box::new(Refusal::invalid(None, why)) }
    }

    /// Refuses a method that is not answered here.
    pub(super) fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "requests are sent with POST")
    }

    /// Puts a request off for now.
    pub(super) fn busy(why: &'static str) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, refusal: Box::new(Refusal::busy(why)) }
    }
}

impl From<Box<Refusal>> for Refused {
    fn from(refusal: Box<Refusal>) -> Self {
        // As far as HTTP goes, a request that is only refused what it asks for is well.
        let status = if refusal.is_of_request() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        Self { status, refusal }
    }
}

impl From<Refused> for Response {
    fn from(refused: Refused) -> Self {
        let mut response = Response::new(Body::from(refused.refusal.to_json().to_string()));
        response.extensions_mut().insert(Answered::refused(refused.refusal.error.code.0));
        *response.status_mut() = refused.status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if refused.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        response
    }
}
