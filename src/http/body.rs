//! Reading a request's body within bounds of size and time.

use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use bytes::BytesMut;
use futures::FutureExt as _;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;

use crate::mcp::REQUEST_MAX_BYTES;

use super::asker::Asker;
use super::leftover::LEFT_MAX_BYTES;
use super::refusal::Refused;
use super::share::{Slot, Slots};

/// How long a client may take to send a request's body.
pub(super) const READ_MAX: Duration = Duration::from_secs(20);
/// The largest body that is read without more ado. Nearly all requests are smaller.
const SMALL_MAX_BYTES: usize = 16 * 1024;
/// The most larger ones that are held at once, for which there are then 64 MiB. One caller sends at most half of them.
const LARGE_MAX: u32 = 256;

/// Where bodies are read.
#[derive(Debug)]
pub(super) struct Bodies {
    large: Slots,
}

/// A body that has been read. It has its slot until it is gone.
#[derive(Debug)]
pub(super) struct Read {
    /// The whole of it.
    pub(super) bytes: Bytes,
    _slot: Option<Slot>,
}

impl Default for Bodies {
    fn default() -> Self {
        Self { large: Slots::new(LARGE_MAX) }
    }
}

impl Bodies {
    /// Reads the whole body of a request of `asker`. What is not read of one that is refused is left.
    pub(super) async fn read(&self, body: &mut Body, asker: &Asker) -> Result<Read, Refused> {
        let mut read = pin!(self.collect(body, asker));
        // Most bodies are there already, and no timer is set for them.
        if let Some(read) = read.as_mut().now_or_never() {
            return read;
        }
        match tokio::time::timeout(READ_MAX, read).await {
            Ok(read) => read,
            Err(_) => Err(Refused::new(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive")),
        }
    }

    async fn collect(&self, body: &mut Body, asker: &Asker) -> Result<Read, Refused> {
        let broke_off = |_| Refused::new(StatusCode::BAD_REQUEST, "the request broke off");
        let too_large = || Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than 256 KiB");
        // One that is a little too large is read, because proxies lose the answer to a body that they cannot send to its end.
        if body.size_hint().lower() > (REQUEST_MAX_BYTES + LEFT_MAX_BYTES) as u64 {
            return Err(too_large());
        }
        asker.reads();
        let mut bytes = BytesMut::new();
        let mut slot = None;
        while let Some(frame) = body.frame().await {
            let Ok(part) = frame.map_err(broke_off)?.into_data() else { continue };
            let length = bytes.len() + part.len();
            if length > REQUEST_MAX_BYTES {
                return Err(too_large());
            }
            if length > SMALL_MAX_BYTES && slot.is_none() {
                let found = self.large.take(&asker.sharer());
                let busy = || Refused::busy("too many large requests come in; try again in a moment");
                slot = Some(found.ok_or_else(busy)?);
            }
            if bytes.is_empty() && body.is_end_stream() {
                // It has come as a whole.
                return Ok(Read { bytes: part, _slot: slot });
            }
            if slot.is_some() {
                // It does not grow further, to no more than its slot is for.
                bytes.reserve(REQUEST_MAX_BYTES - bytes.len());
            }
            bytes.extend_from_slice(&part);
        }
        Ok(Read { bytes: bytes.freeze(), _slot: slot })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use axum::body::HttpBody;
    use hyper::body::{Frame, SizeHint};

    use super::*;

    async fn read(bodies: &Bodies, bytes: usize) -> Result<Read, StatusCode> {
        let read = bodies.read(&mut Body::from(vec![b'x'; bytes]), &Asker::default()).await;
        read.map_err(|refused| axum::response::Response::from(refused).status())
    }

    #[tokio::test]
    async fn only_so_many_large_bodies_are_held() {
        let bodies = Bodies::default();
        let mut held = Vec::new();
        while let Ok(body) = read(&bodies, REQUEST_MAX_BYTES).await {
            held.push(body);
        }
        assert_eq!(held.len(), LARGE_MAX as usize / 2);
        assert_eq!(read(&bodies, SMALL_MAX_BYTES + 1).await.unwrap_err(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(read(&bodies, SMALL_MAX_BYTES).await.unwrap().bytes.len(), SMALL_MAX_BYTES);
        held.pop();
        assert_eq!(read(&bodies, REQUEST_MAX_BYTES + 1).await.unwrap_err(), StatusCode::PAYLOAD_TOO_LARGE);
        assert!(read(&bodies, REQUEST_MAX_BYTES).await.is_ok());
    }

    /// A body of which nothing comes but how long it will be.
    struct Announced(u64);

    impl HttpBody for Announced {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.0)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_says_it_is_far_too_large_is_not_waited_for() {
        let check = async |bytes, expected| {
            let mut body = Body::new(Announced(bytes));
            let read = Bodies::default().read(&mut body, &Asker::default()).await;
            let status = read.map_err(|refused| axum::response::Response::from(refused).status());
            assert_eq!(status.unwrap_err(), expected);
        };
        let most = (REQUEST_MAX_BYTES + LEFT_MAX_BYTES) as u64;
        check(most + 1, StatusCode::PAYLOAD_TOO_LARGE).await;
        check(most, StatusCode::REQUEST_TIMEOUT).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_comes_in_time_or_not_at_all() {
        let mut never = Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
        let read = Bodies::default().read(&mut never, &Asker::default()).await;
        let status = read.map_err(|refused| axum::response::Response::from(refused).status()).unwrap_err();
        assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
    }
}
