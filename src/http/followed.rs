//! An answer on its way to the connection, which is counted as it is taken.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::connection::BUFFER_MAX_BYTES;
use super::exchange::Exchange;
use super::parts::Parts;

/// The most bytes of an answer that are handed out at once: as many as a connection of HTTP/1.1 holds before it waits for
/// its client, so that one which leaves in the middle of a large file is seen to have left there.
const PART_MAX_BYTES: usize = BUFFER_MAX_BYTES;

/// The body of an answer. Its bytes count as soon as the connection takes them. The last of them may still wait there, or in
/// the buffers of the system, when a client goes away: those count and never arrive, and an answer of which nothing more than
/// them was left is told as a whole one.
pub(super) struct Followed {
    body: Parts<Body>,
    exchange: Exchange,
}

impl Followed {
    /// The body of an answer to a request that is followed.
    pub(super) fn new(body: Body, exchange: Exchange) -> Self {
        Self { body: Parts::new(body, PART_MAX_BYTES), exchange }
    }
}

impl HttpBody for Followed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            self.exchange.send(frame.data_ref().map_or(0, Bytes::len));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
