//! A body in parts of a bounded size.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// A body whose large pieces are handed out in parts. Nothing is copied for it.
pub(super) struct Parts<B> {
    body: B,
    /// What is left of the last piece of the body.
    rest: Bytes,
    max_bytes: usize,
}

impl<B> Parts<B> {
    /// Hands out at most so many bytes at once.
    pub(super) fn new(body: B, max_bytes: usize) -> Self {
        Self { body, rest: Bytes::new(), max_bytes }
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for Parts<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.rest = bytes,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                end => return Poll::Ready(end),
            }
        }
        let part = self.rest.len().min(self.max_bytes);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, body) = (self.rest.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn nothing_is_lost_of_a_body() {
        let text: String = ('a'..='z').cycle().take(100_000).collect();
        let mut parts = Parts::new(Body::from(text.clone()), 30_000);
        let mut read = Vec::new();
        for (left, bytes) in [(100_000, 30_000), (70_000, 30_000), (40_000, 30_000), (10_000, 10_000)] {
            assert!(!parts.is_end_stream());
            assert_eq!(parts.size_hint().exact(), Some(left));
            let part = parts.frame().await.unwrap().unwrap().into_data().unwrap();
            assert_eq!(part.len(), bytes);
            read.extend_from_slice(&part);
        }
        assert!(parts.is_end_stream() && parts.frame().await.is_none());
        assert_eq!(read, text.as_bytes());
        assert!(Parts::new(Body::empty(), 1).is_end_stream());
    }
}
