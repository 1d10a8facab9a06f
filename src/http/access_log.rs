//! The access log: one line for each request, once it has been answered, and for a stream once that has ended.
//!
//! A line says who asked for what and how that ended. It never holds a body, a query or a token, and what a client can
//! choose is escaped and cut. Lines are written by a thread of their own: where they come faster than stderr takes them,
//! some are lost rather than requests held up.

use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use tracing::Level;

use crate::log::ACCESS;
use crate::report::escape;

use super::answered;
use super::caller::{Caller, Peer};
use super::headers::MCP_PROTOCOL_VERSION;
use super::outcome::Outcome;
use super::trace_context::TraceContext;
use super::{admin, health};

/// The most characters of a path that are told.
const PATH_MAX_CHARS: usize = 200;
/// The longest name of a revision of the protocol that is told. They are dates.
const VERSION_MAX_BYTES: usize = 20;

/// What the head of a request says. No text is copied for it.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: Method,
    pub(super) uri: Uri,
    /// By what it is found again.
    pub(super) id: HeaderValue,
    version: Option<HeaderValue>,
    trace: Option<TraceContext>,
    peer: Option<Peer>,
}

/// How it was answered.
#[derive(Debug)]
pub(super) struct Told<'a> {
    /// Absent if it was not answered.
    pub(super) status: Option<StatusCode>,
    pub(super) outcome: Outcome,
    pub(super) message: Option<&'a answered::Asked>,
    pub(super) caller: Option<&'a Caller>,
    pub(super) bytes: u64,
    pub(super) took: Duration,
}

impl Head {
    /// What the head of `request` says, which is found again by `id`.
    pub(super) fn of(request: &Request, peer: Option<&Peer>, id: HeaderValue) -> Self {
        let headers = request.headers();
        Self {
            method: request.method().clone(),
            uri: request.uri().clone(),
            id,
            version: headers.get(MCP_PROTOCOL_VERSION).cloned(),
            trace: TraceContext::of(headers),
            peer: peer.copied(),
        }
    }

    /// The path. Who asks for a tunnel names only a host.
    fn target(&self) -> &str {
        match (self.uri.path(), self.uri.authority()) {
            ("", Some(authority)) => authority.as_str(),
            (path, _) => path,
        }
    }

    /// Whether it comes from a program that only watches over this one, again and again.
    fn is_probe(&self) -> bool {
        [health::ALIVE, health::READY, admin::METRICS].contains(&self.uri.path())
    }

    /// The revision of the protocol, if it can be one.
    fn version(&self) -> Option<&str> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let version = self.version.as_ref()?.to_str().ok()?;
        (version.len() <= VERSION_MAX_BYTES && version.bytes().all(is_plain)).then_some(version)
    }
}

/// Writes the line of a request; that of a probe only for who wants to hear more.
pub(super) fn write(asked: &Head, told: &Told<'_>) {
    macro_rules! line {
        ($level:expr) => {
            if tracing::enabled!(target: ACCESS, $level) {
                let anonymous = Caller::at(asked.peer.as_ref());
                let Caller { name, address, .. } = told.caller.unwrap_or(&anonymous);
                let address = address.map(|address| address.to_string());
                let trace = asked.trace.or(told.message.and_then(|message| message.trace));
                let ids = trace.map(|trace| (trace.trace_id().to_string(), trace.parent_id().to_string()));
                tracing::event!(
                    target: ACCESS,
                    $level,
                    http_method = &*cut(asked.method.as_str()),
                    path = &*cut(asked.target()),
                    status = told.status.map(|status| status.as_u16()),
                    method = told.message.map(|message| message.method.as_str()),
                    outcome = &*told.outcome.to_string(),
                    bytes = told.bytes,
                    ms = millis(told.took),
                    caller = name.as_deref().map(escape::text).as_deref(),
                    address = address.as_deref(),
                    version = asked.version(),
                    request = asked.id.to_str().ok(),
                    trace = ids.as_ref().map(|(trace, _)| &**trace),
                    parent = ids.as_ref().map(|(_, parent)| &**parent),
                );
            }
        };
    }
    if asked.is_probe() {
        line!(Level::DEBUG);
    } else {
        line!(Level::INFO);
    }
}

/// What a client chose, as it can be shown.
fn cut(text: &str) -> String {
    match text.char_indices().nth(PATH_MAX_CHARS) {
        Some((end, _)) => escape::text(&text[..end]) + "…",
        None => escape::text(text),
    }
}

/// In milliseconds, to the microsecond.
fn millis(took: Duration) -> f64 {
    (took.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn what_a_client_chose_is_escaped_and_cut() {
        assert_eq!(cut("/mcp"), "/mcp");
        assert_eq!(cut("/\u{1b}[31m\u{202e}"), "/\\u{1b}[31m\\u{202e}");
        assert_eq!(cut(&"é".repeat(PATH_MAX_CHARS + 1)), "é".repeat(PATH_MAX_CHARS) + "…");
    }

    #[test]
    fn a_revision_is_told_if_it_can_be_one() {
        let check = |value: &'static str, expected| {
            let request = Request::builder().header(MCP_PROTOCOL_VERSION, value).body(Body::empty()).unwrap();
            assert_eq!(Head::of(&request, None, HeaderValue::from_static("x")).version(), expected);
        };
        check("2026-07-28", Some("2026-07-28"));
        check("DRAFT-2026-v1", Some("DRAFT-2026-v1"));
        check("a b", None);
        check("2026-07-28-and-a-long-story", None);
    }

    #[test]
    fn a_time_is_told_to_the_microsecond() {
        assert_eq!(millis(Duration::from_nanos(1_234_567)), 1.235);
    }
}
