//! A connection that gives up on a client that takes what is sent to it too slowly.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::heard::Heard;

/// How long one look at a client's speed takes.
pub(super) const LOOK: Duration = Duration::from_secs(30);
/// The least that a client must be seen to take in each such time while more waits for it: 32 KiB a second. The connection
/// of a slower one, and the answer that it does not read, are given up. So an answer is held for [`LOOK`], and as long again
/// for each such part of it. The system shows what has been taken in parts of a megabyte and more, so that only a client
/// which takes twice as much can be sure to be served.
pub(super) const LEAST_BYTES: usize = 32 * 1024 * 30;

/// A stream whose writes fail once the other side has taken less than [`LEAST_BYTES`] in a [`LOOK`]. That the stream is
/// flushed means that nothing waits to be written, as between the events of a stream of them.
#[derive(Debug)]
pub(super) struct Patient<S> {
    stream: S,
    heard: Arc<Heard>,
    /// Runs from the first write that has to wait until nothing waits any more.
    look: Option<Look>,
}

#[derive(Debug)]
struct Look {
    end: Pin<Box<Sleep>>,
    taken: usize,
}

impl Look {
    fn begin() -> Self {
        Self { end: Box::pin(sleep(LOOK)), taken: 0 }
    }
}

impl<S> Patient<S> {
    /// Bounds the writes to `stream`. What comes is told to `heard`.
    pub(super) fn new(stream: S, heard: Arc<Heard>) -> Self {
        Self { stream, heard, look: None }
    }

    fn bounded(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = written {
            if let (Some(look), Ok(taken)) = (&mut self.look, &written) {
                look.taken += taken;
            }
            return Poll::Ready(written);
        }
        loop {
            let look = self.look.get_or_insert_with(Look::begin);
            ready!(look.end.as_mut().poll(cx));
            if look.taken < LEAST_BYTES {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            *look = Look::begin();
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.heard.came();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.bounded(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.bounded(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.look = None;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    /// Whether an answer of four times [`LEAST_BYTES`] reaches a client that takes `bytes` of it every second.
    async fn is_served(bytes: usize) -> bool {
        let (server, mut client) = duplex(1024);
        let mut server = Patient::new(server, Arc::default());
        let client = tokio::spawn(async move {
            let mut part = vec![0; bytes];
            while client.read_exact(&mut part).await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        });
        let written = server.write_all(&vec![b'x'; 4 * LEAST_BYTES]).await;
        client.abort();
        written.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_client_that_reads_fast_enough_is_served() {
        let least_a_second = LEAST_BYTES / LOOK.as_secs() as usize;
        assert!(is_served(2 * least_a_second).await);
        assert!(!is_served(least_a_second / 2).await);
        assert!(!is_served(1).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_between_two_events_is_no_delay() {
        let (server, mut client) = duplex(1024);
        let mut server = Patient::new(server, Arc::default());
        let mut event = [0; 2000];
        for _ in 0..3 {
            let exchanged = tokio::try_join!(
                async {
                    server.write_all(b"x".repeat(2000).as_slice()).await?;
                    server.flush().await
                },
                client.read_exact(&mut event)
            );
            assert!(exchanged.is_ok());
            sleep(2 * LOOK).await;
        }
    }
}
