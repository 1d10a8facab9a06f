//! The headers of MCP, and how one is read that must not be there twice.

use axum::http::{HeaderMap, HeaderName};

/// Names the revision of the protocol.
pub(super) const MCP_PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Repeats the method of a message.
pub(super) const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// Repeats what a message names.
pub(super) const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Names a session, for clients from before 2026-07-28.
pub(super) const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// The value of a header that is there once.
pub(super) fn sole(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether a header is there more than once and says more than one thing.
pub(super) fn is_contradictory(headers: &HeaderMap, name: HeaderName) -> bool {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    values.any(|value| Some(value) != first)
}
