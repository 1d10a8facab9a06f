//! What nobody has read of a request when its answer is there, as of one that is refused for its head alone.
//!
//! It is read and dropped before the answer goes out. Over HTTP/2 the stream would be reset behind an answer that comes
//! sooner, and some clients, curl 7.88 among them, then lose the answer. Over HTTP/1.1 the connection would be closed, and
//! the system drops an answer when more comes in behind that. Its connection may have to make room meanwhile, like that of
//! any other request whose body is on its way.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use futures::FutureExt as _;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::mcp::REQUEST_MAX_BYTES;

use super::body::READ_MAX;
use super::connection::HEAD_READ_MAX;

/// The most that is read for nothing: as much as a whole request may have. Who sends more must look for the answer meanwhile.
pub(super) const LEFT_MAX_BYTES: usize = REQUEST_MAX_BYTES;
/// How long it is read. As much as that comes in a few seconds over most lines, and a body that has been read for as long as
/// any may take before it was refused ends so before its client counts as silent, and is left without the answer.
pub(super) const LEFT_READ_MAX: Duration = Duration::from_secs(5);
const _: () = assert!(READ_MAX.as_secs() + LEFT_READ_MAX.as_secs() < HEAD_READ_MAX.as_secs());
/// How long it is still read once the server is to end: what is on its way comes in that time, and the end waits for no
/// client that has stopped.
pub(super) const LAST_LEFT_READ_MAX: Duration = Duration::from_secs(1);

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

/// Whether the client of a request of HTTP/1.1 waits for a word before it sends the body, as the answer is one, or that the
/// body begins to be read. Over HTTP/2 it is not heeded.
pub(super) fn expects(headers: &HeaderMap) -> bool {
    headers.contains_key(header::EXPECT)
}

/// Reads a body to its end, within bounds of size and time. `ending` is cancelled when the server is to end.
pub(super) async fn read(body: &mut Body, ending: &CancellationToken) -> Left {
    let late = async {
        tokio::select! {
            () = sleep(LEFT_READ_MAX) => {}
            () = ending.cancelled().then(|()| sleep(LAST_LEFT_READ_MAX)) => {}
        }
    };
    tokio::select! {
        biased;
        left = read_all(body) => left,
        () = late => Left::More,
    }
}

async fn read_all(body: &mut Body) -> Left {
    let mut left = LEFT_MAX_BYTES;
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
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Bytes;
    use futures::{StreamExt as _, stream};
    use tokio::time::Instant;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn parts(parts: usize, bytes: usize, pause: Duration) -> Body {
        let parts = stream::iter(0..parts).then(move |_| async move {
            sleep(pause).await;
            Ok::<_, Infallible>(Bytes::from(vec![b'x'; bytes]))
        });
        Body::from_stream(parts)
    }

    async fn read(mut body: Body) -> Left {
        super::read(&mut body, &CancellationToken::new()).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_is_read_within_bounds() {
        assert_eq!(read(parts(16, LEFT_MAX_BYTES / 16, Duration::ZERO)).await, Left::Nothing);
        assert_eq!(read(parts(usize::MAX, LEFT_MAX_BYTES / 16, Duration::ZERO)).await, Left::More);
        assert_eq!(read(parts(4, 1, SECOND)).await, Left::Nothing);
        let begin = Instant::now();
        assert_eq!(read(parts(usize::MAX, 1, SECOND)).await, Left::More);
        assert_eq!(begin.elapsed(), LEFT_READ_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_the_server_is_soon_the_end_of_reading() {
        let ending = CancellationToken::new();
        let (begin, mut slow) = (Instant::now(), parts(usize::MAX, 1, SECOND / 4));
        let (left, ()) =
            tokio::join!(super::read(&mut slow, &ending), sleep(SECOND).map(|()| ending.cancel()));
        assert_eq!((left, begin.elapsed()), (Left::More, SECOND + LAST_LEFT_READ_MAX));
        // What is on its way is still read.
        let mut coming = parts(2, 1, LAST_LEFT_READ_MAX / 4);
        assert_eq!(super::read(&mut coming, &ending).await, Left::Nothing);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_has_broken_off_is_seen() {
        let parts = stream::iter([Ok(Bytes::from_static(b"x")), Err(std::io::Error::other("gone"))]);
        assert_eq!(read(Body::from_stream(parts)).await, Left::Broken);
    }
}
