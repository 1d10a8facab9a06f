//! What nobody has read of a request when its answer is there, as of one that is refused for its head alone.
//!
//! It is read and dropped before the answer goes out. Over HTTP/2 the stream would be reset behind an answer that comes
//! sooner, and some clients, curl 7.88 among them, then lose the answer. Over HTTP/1.1 the connection would be closed, and
//! the system drops an answer when more comes in behind that. The request is in hand meanwhile, and its connection may
//! have to make room like that of any other whose body is on its way.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::time::timeout;

use crate::mcp::REQUEST_MAX_BYTES;

use super::body::READ_MAX;

/// The most that is read for nothing: as much as a whole request may have. Who sends more must look for the answer meanwhile.
const LEFT_MAX_BYTES: usize = REQUEST_MAX_BYTES;

/// Whether a body is to be read to its end before an answer with this status goes out to a request with these headers.
pub(super) fn is_awaited(body: &Body, headers: &HeaderMap, status: StatusCode) -> bool {
    !body.is_end_stream()
        && body.size_hint().lower() <= LEFT_MAX_BYTES as u64
        // It has been waited for already.
        && status != StatusCode::REQUEST_TIMEOUT
        // Its client waits for a word before it sends the body, and the answer is one.
        && !headers.contains_key(header::EXPECT)
}

/// Reads a body to its end, within bounds of size and time. Says whether the end has come.
pub(super) async fn read(body: &mut Body) -> bool {
    let read = async {
        let mut left = LEFT_MAX_BYTES;
        loop {
            let bytes = match body.frame().await {
                None => return true,
                Some(Err(_)) => return false,
                Some(Ok(frame)) => frame.data_ref().map_or(0, |part| part.len()),
            };
            let Some(less) = left.checked_sub(bytes) else { return false };
            left = less;
        }
    };
    timeout(READ_MAX, read).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use axum::body::Bytes;
    use futures::{StreamExt as _, stream};
    use tokio::time::{Instant, sleep};

    use super::*;

    fn parts(parts: usize, bytes: usize, pause: Duration) -> Body {
        let parts = stream::iter(0..parts).then(move |_| async move {
            sleep(pause).await;
            Ok::<_, Infallible>(Bytes::from(vec![b'x'; bytes]))
        });
        Body::from_stream(parts)
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_is_read_within_bounds() {
        let second = Duration::from_secs(1);
        assert!(read(&mut parts(16, LEFT_MAX_BYTES / 16, Duration::ZERO)).await);
        assert!(!read(&mut parts(usize::MAX, LEFT_MAX_BYTES / 16, Duration::ZERO)).await);
        assert!(read(&mut parts(10, 1, second)).await);
        let begin = Instant::now();
        assert!(!read(&mut parts(usize::MAX, 1, second)).await);
        assert_eq!(begin.elapsed(), READ_MAX);
    }

    #[test]
    fn only_what_comes_soon_is_awaited() {
        let check = |bytes: usize, header: Option<_>, status, expected| {
            let headers = header.map(|name| (name, header::HeaderValue::from_static("x")));
            let body = Body::from(vec![b'x'; bytes]);
            assert_eq!(
                is_awaited(&body, &headers.into_iter().collect(), status),
                expected,
                "{bytes} {status}"
            );
        };
        check(LEFT_MAX_BYTES, None, StatusCode::UNAUTHORIZED, true);
        check(1, Some(header::HOST), StatusCode::PAYLOAD_TOO_LARGE, true);
        check(0, None, StatusCode::UNAUTHORIZED, false);
        check(LEFT_MAX_BYTES + 1, None, StatusCode::UNAUTHORIZED, false);
        check(1, Some(header::EXPECT), StatusCode::UNAUTHORIZED, false);
        check(1, None, StatusCode::REQUEST_TIMEOUT, false);
    }
}
