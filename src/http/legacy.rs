//! What clients from before 2026-07-28 send to do with sessions: the header that names one, GET for its stream, DELETE for
//! its end.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;

use crate::mcp::gate::Gate;
use crate::mcp::session::Session;
use crate::mcp::wire::{self, Incoming};

use super::headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID};
use super::refusal::Refused;
use super::sessions::Sessions;
use super::share::Sharer;
use super::stream;

/// The first revision without sessions. Later ones are greater as texts too.
const SESSIONLESS: &str = "2026-07-28";

/// What a message is answered with.
pub(super) enum MessageSession {
    /// No session: there are none, the client has none, or there are too many already.
    None,
    /// The session that the client names.
    Named(Arc<Session>),
    /// One that a handshake opens, if it succeeds.
    Opened(Arc<str>, Arc<Session>),
}

impl MessageSession {
    /// The caller's session for a message. A client that names none is answered without.
    ///
    /// # Errors
    /// The refusal of a session that is not or no longer there, or is somebody else's, after which the client is to shake
    /// hands again.
    pub(super) fn of(
        message: &Incoming,
        headers: &HeaderMap,
        caller: &Sharer,
        sessions: &Sessions,
    ) -> Result<Self, Refused> {
        if wire::initializes(message) {
            return Ok(sessions.open(caller).map_or(Self::None, |(id, session)| Self::Opened(id, session)));
        }
        match id(headers, sessions) {
            Some(id) => sessions.get(id, caller).map(Self::Named).ok_or_else(no_session),
            None => Ok(Self::None),
        }
    }

    /// What is attached to the request.
    pub(super) fn get(&self) -> Option<Arc<Session>> {
        match self {
            Self::None => None,
            Self::Named(session) | Self::Opened(_, session) => Some(session.clone()),
        }
    }

    /// Names the session to a client that has shaken hands; ends it if hands were not shaken.
    pub(super) fn announce(self, response: &mut Response, caller: &Sharer, sessions: &Sessions) {
        let Self::Opened(id, session) = self else { return };
        match HeaderValue::from_str(&id) {
            Ok(value) if session.has_begun() => {
                response.headers_mut().insert(MCP_SESSION_ID, value);
            }
            _ => {
                sessions.end(&id, caller);
            }
        }
    }
}

/// Opens the stream of the caller's session that the client names.
pub(super) fn open_stream(
    headers: &HeaderMap,
    caller: &Sharer,
    sessions: &Arc<Sessions>,
    gate: &Gate,
) -> Result<Response, Refused> {
    let id = id(headers, sessions).ok_or_else(Refused::stream)?;
    let pass = gate.admit(None)?;
    let stream = sessions.stream(id, caller).ok_or_else(no_session)?;
    Ok(stream::answer(stream, pass))
}

/// Ends the caller's session that the client names.
pub(super) fn end(headers: &HeaderMap, caller: &Sharer, sessions: &Sessions) -> Result<Response, Refused> {
    let id = id(headers, sessions).ok_or_else(Refused::method)?;
    if !sessions.end(id, caller) {
        return Err(no_session());
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

/// The session that a client names, where there can be sessions.
fn id<'a>(headers: &'a HeaderMap, sessions: &Sessions) -> Option<&'a str> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let is_sessionless = text(MCP_PROTOCOL_VERSION).is_some_and(|version| version >= SESSIONLESS);
    text(MCP_SESSION_ID).filter(|_| sessions.are_on() && !is_sessionless)
}

fn no_session() -> Refused {
    Refused::new(StatusCode::NOT_FOUND, "there is no such session, or no longer; initialize again")
}
