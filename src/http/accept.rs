//! The accept loop: which connections are open, how long they may be silent, and how they end.
//!
//! Only HTTP/1.1 is spoken, and its predecessor: one request after the other on a connection, so that every limit on a
//! connection is one on a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::caller::Peer;
use super::crowd::{Crowd, Guest};
use super::patience::Patient;

/// The most connections that are open at once. For one more, the one that has been waiting longest for its client is
/// closed.
const CONNECTIONS_MAX: usize = 512;
/// How long a client may take from a connection's beginning, or from the last answer, to the end of the next request's
/// head.
const HEAD_READ_MAX: Duration = Duration::from_secs(30);
/// The longest head of a request, and so the most that a connection holds beside a body and an answer.
const HEAD_MAX_BYTES: usize = 64 * 1024;
/// How long the requests in hand may take once the server is to stop.
const DRAIN_MAX: Duration = Duration::from_secs(5);
/// How long to wait when the system has no more connections to give.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// What has become of connections so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// How many are open.
    pub(crate) open: AtomicU64,
    /// How many were let in.
    pub(crate) accepted: AtomicU64,
    /// How many were closed while their client was waited for, so that another one could be let in.
    pub(crate) dismissed: AtomicU64,
}

/// A connection that is counted while it is open.
struct Open(Arc<Counts>);

impl Open {
    fn new(counts: Arc<Counts>) -> Self {
        counts.accepted.fetch_add(1, Relaxed);
        counts.open.fetch_add(1, Relaxed);
        Self(counts)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}

/// Serves connections until `shutdown` ends, and then those that have a request in hand until it is answered. What lasts
/// is told by `stopping` to end.
pub(super) async fn run(
    listener: TcpListener,
    router: Router,
    stopping: CancellationToken,
    shutdown: impl Future<Output = ()>,
    counts: Arc<Counts>,
) {
    let server = Server::new(router, counts);
    let graceful = GracefulShutdown::new();
    tokio::select! {
        () = accept(&listener, &server, &graceful) => {}
        () = shutdown => {}
    }
    drop(listener);
    stopping.cancel();
    if tokio::time::timeout(DRAIN_MAX, graceful.shutdown()).await.is_err() {
        tracing::warn!("stopped with requests unanswered");
    }
}

async fn accept(listener: &TcpListener, server: &Server, graceful: &GracefulShutdown) {
    let crowd = Arc::new(Crowd::default());
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        match next(listener).await {
            Ok((stream, peer)) => {
                let Ok(place) = place(&places, &crowd).await else { return };
                let guest = Guest::new(crowd.clone());
                tokio::spawn(server.clone().connection(stream, peer, guest, graceful.watcher(), place));
            }
            Err(error) => {
                tracing::debug!(%error, "a connection cannot be accepted");
                // The system may have no more to give because of those that are open.
                let _ = tokio::time::timeout(ACCEPT_RETRY, crowd.dismiss_one()).await;
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

/// The next connection. What is sent over it goes out at once, not only when what went before has been acknowledged.
async fn next(listener: &TcpListener) -> std::io::Result<(TcpStream, Peer)> {
    let (stream, address) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, Peer { address: Some(address) }))
}

/// A place for a connection; if need be, one that another has to leave.
async fn place(places: &Arc<Semaphore>, crowd: &Crowd) -> Result<OwnedSemaphorePermit, AcquireError> {
    tokio::select! {
        biased;
        place = places.clone().acquire_owned() => place,
        () = crowd.dismiss_one() => places.clone().acquire_owned().await,
    }
}

/// How a connection is served.
#[derive(Clone)]
struct Server {
    builder: Arc<Builder>,
    router: Router,
    counts: Arc<Counts>,
}

impl Server {
    fn new(router: Router, counts: Arc<Counts>) -> Self {
        let mut builder = Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD_READ_MAX).max_buf_size(HEAD_MAX_BYTES);
        Self { builder: Arc::new(builder), router, counts }
    }

    async fn connection(
        self,
        stream: TcpStream,
        peer: Peer,
        guest: Arc<Guest>,
        watcher: Watcher,
        _place: OwnedSemaphorePermit,
    ) {
        let open = Open::new(self.counts);
        let router = self.router.layer(Extension(guest.clone())).layer(Extension(peer));
        let connection = self
            .builder
            .serve_connection(TokioIo::new(Patient::new(stream)), TowerToHyperService::new(router));
        tokio::select! {
            served = watcher.watch(connection) => {
                if let Err(error) = served {
                    tracing::debug!(%error, "a connection broke off");
                }
            }
            () = guest.dismissed() => {
                open.0.dismissed.fetch_add(1, Relaxed);
                tracing::debug!("a silent connection made room for another");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::super::patience::LOOK;
    use super::*;

    async fn listen() -> (TcpListener, std::net::SocketAddr) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[tokio::test]
    async fn connections_send_at_once() {
        let (listener, address) = listen().await;
        let _client = TcpStream::connect(address).await.unwrap();
        assert!(next(&listener).await.unwrap().0.nodelay().unwrap());
    }

    /// A client that sends `begin` and nothing more is left, at the latest when its time is up. The clock runs ahead
    /// whenever nothing else happens.
    async fn check(begin: &[u8]) {
        let (listener, address) = listen().await;
        let never = std::future::pending();
        tokio::spawn(run(listener, Router::new(), CancellationToken::new(), never, Arc::default()));
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(begin).await.unwrap();
        let mut answer = Vec::new();
        let read = tokio::time::timeout(2 * HEAD_READ_MAX, client.read_to_end(&mut answer));
        assert!(read.await.is_ok(), "{begin:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_says_too_little_is_left() {
        check(b"").await;
        check(b"P").await;
        check(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
        check(b"POST /mcp HTTP/1.1\r\nHost: ").await;
        check(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_left() {
        const LARGE: usize = 64 << 20;
        let (listener, address) = listen().await;
        let router = Router::new().fallback(async || vec![b'x'; LARGE]);
        let never = std::future::pending();
        tokio::spawn(run(listener, router, CancellationToken::new(), never, Arc::default()));
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        client.readable().await.unwrap();
        tokio::time::sleep(2 * LOOK).await;
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer).await;
        assert!(!answer.is_empty() && answer.len() < LARGE, "{} bytes", answer.len());
    }
}
