//! What nobody has read of a request when its answer is there, as of one that is refused for its head alone.
//!
//! It is read and dropped before the answer goes out. Over HTTP/2 the stream would be reset behind an answer that comes
//! sooner, and some clients, curl 7.88 among them, then lose the answer. Over HTTP/1.1 the connection would be closed, and
//! the system drops an answer when more comes in behind that. The request is in hand meanwhile, and its connection may
//! have to make room like that of any other whose body is on its way.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use futures::FutureExt as _;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::time::timeout;

use crate::mcp::REQUEST_MAX_BYTES;

use super::body::READ_MAX;

/// The most that is read for nothing: as much as a whole request may have. Who sends more must look for the answer meanwhile.
const LEFT_MAX_BYTES: usize = REQUEST_MAX_BYTES;

/// What has become of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Its end has come.
    Nothing,
    /// More may come, which is not waited for.
    More,
    /// It has broken off: its client has taken the request back, or is gone.
    Broken,
}

/// Whether there may be more of a body before an answer with this status.
pub(super) fn is_there(body: &Body, status: StatusCode) -> bool {
    // That of a request which took too long has been waited for already.
    !body.is_end_stream() && status != StatusCode::REQUEST_TIMEOUT
}

/// Whether the client of a request of HTTP/1.1 waits for a word before it sends the body, as the answer is one. Over HTTP/2
/// it is not heeded.
pub(super) fn is_held_back(headers: &HeaderMap) -> bool {
    headers.contains_key(header::EXPECT)
}

/// Reads a body to its end, within bounds of size and time.
pub(super) async fn read(body: &mut Body) -> Left {
    let mut left = LEFT_MAX_BYTES;
    let read = async {
        loop {
            let is_large = body.size_hint().lower() > left as u64;
            // Of one that is too large it is only seen whether it has broken off.
            let frame = if is_large { body.frame().now_or_never() } else { Some(body.frame().await) };
            let bytes = match frame {
                Some(None) => return Left::Nothing,
                Some(Some(Err(_))) => return Left::Broken,
                Some(Some(Ok(frame))) => frame.data_ref().map_or(0, |part| part.len()),
                None => return Left::More,
            };
            let Some(less) = left.checked_sub(bytes) else { return Left::More };
            left = less;
        }
    };
    timeout(READ_MAX, read).await.unwrap_or(Left::More)
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
        assert_eq!(read(&mut parts(16, LEFT_MAX_BYTES / 16, Duration::ZERO)).await, Left::Nothing);
        assert_eq!(read(&mut parts(usize::MAX, LEFT_MAX_BYTES / 16, Duration::ZERO)).await, Left::More);
        assert_eq!(read(&mut parts(10, 1, second)).await, Left::Nothing);
        let begin = Instant::now();
        assert_eq!(read(&mut parts(usize::MAX, 1, second)).await, Left::More);
        assert_eq!(begin.elapsed(), READ_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_has_broken_off_is_seen() {
        let parts = stream::iter([Ok(Bytes::from_static(b"x")), Err(std::io::Error::other("gone"))]);
        assert_eq!(read(&mut Body::from_stream(parts)).await, Left::Broken);
    }
}
