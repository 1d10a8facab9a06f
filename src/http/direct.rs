//! Plain requests over HTTP, which are answered in front of rmcp: what their head must say, and how the answer goes out.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

use crate::mcp::direct::{Answer, Method, Request, VERSION};

use super::answered::ErrorCode;
use super::headers::{MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, sole};
use super::turns::Turn;

/// Whether the head of a request says the same as its message, once and in so many words. Other ways to say it are for
/// rmcp to read, as are all ways to say something else.
pub(super) fn is_plain(headers: &HeaderMap, request: &Request) -> bool {
    let is_read = request.method == Method::ReadResource;
    let (mut version, mut method, mut name) = (None, None, None);
    // All of them are gone through once, which is less work than to look for three.
    for (header, value) in headers {
        let said = match header {
            header if *header == MCP_PROTOCOL_VERSION => &mut version,
            header if *header == MCP_METHOD => &mut method,
            header if *header == MCP_NAME && is_read => &mut name,
            _ => continue,
        };
        let (Ok(value), None) = (value.to_str(), &said) else { return false };
        *said = Some(value);
    }
    version == Some(VERSION)
        && method == Some(request.method.as_str())
        && (!is_read || name == request.uri.as_deref())
}

/// Whether an answer of either kind is accepted by name, without conditions.
pub(super) fn accepts_both(headers: &HeaderMap) -> bool {
    sole(headers, header::ACCEPT).is_some_and(|accept| {
        // As hosts write it.
        if accept == "application/json, text/event-stream" {
            return true;
        }
        let has = |wanted: &str| accept.split(',').any(|range| range.trim().eq_ignore_ascii_case(wanted));
        !accept.contains([';', '"']) && has("application/json") && has("text/event-stream")
    })
}

/// The response with an answer, which keeps its turn.
pub(super) fn respond(answer: Answer, turn: Turn) -> Response {
    let refused = answer.error().map(ErrorCode);
    let mut response = turn.hold(axum::http::Response::new(Pieces(answer)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(refused) = refused {
        response.extensions_mut().insert(refused);
    }
    #[cfg(test)]
    response.extensions_mut().insert(Directly);
    response
}

/// Tells a test how a request was answered.
#[cfg(test)]
#[derive(Clone)]
pub(super) struct Directly;

/// An answer on its way.
struct Pieces(Answer);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.next().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.len() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len())
    }
}
