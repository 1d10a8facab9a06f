//! How many files are read and held for their clients at once.
//!
//! A request for a file waits for its turn and keeps it until the last byte of its answer has been written, or the
//! connection is gone. All others need none: their answers are small, and a host that only asks what this server is must
//! not wait for those who wait for files.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Extensions, HeaderMap, header};
use axum::response::Response;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::answered;
use super::crowd::{Guest, InHand};
use super::refusal::Refused;

/// The most files that are read, or whose bytes wait to be written.
///
/// A file of 16 MiB, the largest that is served unless an option says more, makes an answer of 4/3 × 16 MiB in base64,
/// which is held in a buffer of at most twice that: 43 MiB. While it is made, the file and its base64 are there too: 80 MiB.
/// So all answers together hold at most 683 MiB, and 1,280 MiB if all are made in the same moment. Only a text of control
/// characters needs more, six bytes for each. Requests that wait hold at most 256 KiB for each connection: 128 MiB.
const IN_HAND_MAX: usize = 16;
/// How long a request waits for its turn before it is put off.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Gives out turns.
#[derive(Debug)]
pub(super) struct Turns {
    permits: Arc<Semaphore>,
}

impl Default for Turns {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(IN_HAND_MAX)) }
    }
}

/// A request's turn.
#[derive(Debug)]
pub(super) struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
    /// Keeps its connection from being dismissed.
    in_hand: Option<InHand>,
}

impl Turns {
    /// Waits for the turn of a request with these `extensions`, within a bound, if it is one for a file.
    pub(super) async fn next(&self, extensions: &Extensions, for_file: bool) -> Result<Turn, Refused> {
        let in_hand = asked(extensions);
        if !for_file {
            return Ok(Turn { _permit: None, in_hand });
        }
        match tokio::time::timeout(WAIT_MAX, self.permits.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Turn { _permit: Some(permit), in_hand }),
            _ => Err(Refused::busy("the server is busy; try again in a moment")),
        }
    }
}

impl Turn {
    /// The answer, which keeps the turn for as long as any of its bytes are held.
    pub(super) async fn hold<B>(self, answer: axum::http::Response<B>) -> Response
    where
        B: HttpBody<Data = Bytes, Error = Infallible> + Send + 'static,
    {
        let (mut head, body) = answer.into_parts();
        if is_event_stream(&head.headers) {
            return stay(self.in_hand, Response::from_parts(head, Body::new(body)));
        }
        let Ok(body) = body.collect().await;
        let bytes = body.to_bytes();
        answered::read(&mut head, &bytes);
        let held = Held { bytes, _turn: self };
        Response::from_parts(head, Body::from(Bytes::from_owner(held)))
    }
}

/// A stream whose connection stays for as long as it lasts.
pub(super) fn stay(in_hand: Option<InHand>, stream: Response) -> Response {
    stream.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _stays = &in_hand;
            frame
        }))
    })
}

/// That the client of a request with these `extensions` has asked.
pub(super) fn asked(extensions: &Extensions) -> Option<InHand> {
    extensions.get::<Arc<Guest>>().map(Guest::asked)
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

/// Bytes that give a turn back when they are dropped. A body would be too early: it is gone once its bytes wait to be
/// written.
struct Held {
    bytes: Bytes,
    _turn: Turn,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use http_body_util::Full;

    use super::*;

    async fn next(turns: &Turns) -> Result<Turn, StatusCode> {
        turns.next(&Extensions::new(), true).await.map_err(|refused| Response::from(refused).status())
    }

    fn answer(media_type: &str) -> axum::http::Response<Full<Bytes>> {
        let answer = axum::http::Response::builder().header(header::CONTENT_TYPE, media_type);
        answer.body(Full::from("bytes")).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_lasts_as_long_as_the_bytes_of_its_answer() {
        let turns = Turns::default();
        let mut held = Vec::new();
        for _ in 0..IN_HAND_MAX {
            let answer = next(&turns).await.unwrap().hold(answer("application/json")).await;
            held.push(answer.into_body().collect().await.unwrap().to_bytes());
        }
        assert_eq!(next(&turns).await.unwrap_err(), StatusCode::SERVICE_UNAVAILABLE);
        held.pop();
        assert!(next(&turns).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_no_request_for_a_file_needs_no_turn() {
        let turns = Turns::default();
        let mut held = Vec::new();
        for _ in 0..IN_HAND_MAX {
            held.push(next(&turns).await.unwrap());
        }
        assert!(turns.next(&Extensions::new(), false).await.is_ok());
    }
}
