//! Streams of server-sent events, and a session's. That is made as it is read: what a slow client has not taken yet is no
//! queue here, only a difference that is still to be told.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;

use crate::mcp::gate::Pass;
use crate::mcp::session::News;
use crate::mcp::wire::Outgoing;

use super::sessions::Stream;

/// How often something is sent over a quiet stream, so that nobody on the way takes it for dead, and so that the end of a
/// client which has gone without a word is noticed.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A comment, which clients pass over.
pub(super) const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// What a stream's answer says of itself. The last one keeps proxies from collecting it.
const HEADERS: [(HeaderName, &str); 3] = [
    (header::CONTENT_TYPE, "text/event-stream"),
    (header::CACHE_CONTROL, "no-cache"),
    (HeaderName::from_static("x-accel-buffering"), "no"),
];

/// What stands behind a stream.
struct Source {
    stream: Stream,
    /// What was told last. It counts as told once more is asked for.
    telling: Option<News>,
    _pass: Pass,
}

/// Answers with a stream, which keeps its place.
pub(super) fn answer(stream: Stream, pass: Pass) -> Response {
    let source = Source { stream, telling: None, _pass: pass };
    of(futures::stream::unfold(source, next))
}

/// Answers with a stream of events as it is written.
pub(super) fn of(
    events: impl futures::Stream<Item = Result<Bytes, Infallible>> + Send + 'static,
) -> Response {
    let mut response = Response::new(Body::from_stream(events));
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn next(mut source: Source) -> Option<(Result<Bytes, Infallible>, Source)> {
    let session = &source.stream.session;
    if let Some(told) = source.telling.take() {
        session.told(told);
    }
    let bytes = tokio::select! {
        biased;
        () = source.stream.end.cancelled() => return None,
        mut news = session.news() => {
            let events = std::mem::take(&mut news.notifications).into_iter().map(Outgoing::notification);
            let bytes = events.filter_map(|message| event(&message)).collect::<String>().into();
            source.telling = Some(news);
            bytes
        }
        () = tokio::time::sleep(KEEP_ALIVE) => COMMENT,
    };
    Some((Ok(bytes), source))
}

fn event(message: &Outgoing) -> Option<String> {
    let json = serde_json::to_string(message).ok()?;
    Some(format!("event: message\ndata: {json}\n\n"))
}
