//! Clients that speak plain HTTP where TLS is spoken: they are told so in their own words, as other servers do, because a
//! connection that just ends tells them nothing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf, copy, sink};
use tokio::time::timeout;

use super::super::listen::Io;

/// What they are told.
const ANSWER: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 54\r\n\
    Connection: close\r\n\r\nthis port speaks https: write https:// in the address\n";
/// How long what they still send is read and forgotten. A connection that is closed before that takes the answer with it.
const LINGER: Duration = Duration::from_secs(1);

/// Waits for the first byte of a client. One that begins a request of HTTP, whose first word is in capitals as no message
/// of TLS begins, is answered and left.
///
/// # Errors
/// When it is, or has nothing to say.
pub(super) async fn begin(mut io: Box<dyn Io>) -> io::Result<Begun> {
    let first = io.read_u8().await?;
    if !first.is_ascii_uppercase() {
        return Ok(Begun { first: Some(first), io });
    }
    // It may be gone already.
    let _ = io.write_all(ANSWER).await;
    let _ = io.shutdown().await;
    let _ = timeout(LINGER, copy(&mut io, &mut sink())).await;
    Err(io::Error::other("the client speaks plain HTTP, and has been told to speak https"))
}

/// A stream of which the first byte has been looked at.
pub(super) struct Begun {
    first: Option<u8>,
    io: Box<dyn Io>,
}

impl AsyncRead for Begun {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.first.take_if(|_| buf.remaining() > 0) {
            Some(first) => {
                buf.put_slice(&[first]);
                Poll::Ready(Ok(()))
            }
            None => Pin::new(&mut self.io).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Begun {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[test]
    fn the_answer_has_the_length_that_it_states() {
        let text = std::str::from_utf8(ANSWER).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{text}");
    }

    #[tokio::test]
    async fn what_is_no_request_is_handed_on_whole() {
        let (server, mut client) = tokio::io::duplex(64);
        client.write_all(b"\x16\x03\x01").await.unwrap();
        drop(client);
        let mut read = Vec::new();
        begin(Box::new(server)).await.unwrap().read_to_end(&mut read).await.unwrap();
        assert_eq!(read, b"\x16\x03\x01");
    }

    /// A client that goes on sending, or that does not go, is left in time.
    async fn check(more: &'static [u8]) {
        let (server, mut client) = tokio::io::duplex(1024);
        client.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        let client = tokio::spawn(async move {
            while !more.is_empty() && client.write_all(more).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let mut answer = Vec::new();
            let _ = client.read_to_end(&mut answer).await;
            (client, answer)
        });
        let start = Instant::now();
        assert!(begin(Box::new(server)).await.is_err());
        assert_eq!(start.elapsed(), LINGER);
        assert_eq!(client.await.unwrap().1, ANSWER);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_speaks_http_is_told_and_left() {
        check(b"").await;
        check(b"Header: value\r\n").await;
    }
}
