//! The accept loop: which connections are open, how long they may be silent, and how they end.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::patience::Patient;

/// The most connections that are open at once. Those beyond it wait in the system's queue.
const CONNECTIONS_MAX: usize = 512;
/// The most requests at once on one connection of HTTP/2.
const STREAMS_MAX: u32 = 32;
/// How long a client may take from a connection's beginning, or from the last answer, to the end of the next request's
/// head.
const HEAD_READ_MAX: Duration = Duration::from_secs(30);
/// How often a silent connection of HTTP/2 is asked whether it still lives.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// How long the requests in hand may take once the server is to stop.
const DRAIN_MAX: Duration = Duration::from_secs(5);
/// How long to wait when the system has no more connections to give.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
/// How a connection of HTTP/2 begins.
const HTTP_2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long to wait for the rest of that.
const SNIFF_INTERVAL: Duration = Duration::from_millis(20);

/// Serves connections until `shutdown` ends, and then those that have a request in hand until it is answered. What lasts
/// is told by `stopping` to end.
pub(super) async fn run(
    listener: TcpListener,
    router: Router,
    stopping: CancellationToken,
    shutdown: impl Future<Output = ()>,
) {
    let server = Server::new(router);
    let graceful = GracefulShutdown::new();
    tokio::select! {
        () = accept(&listener, &server, &graceful, &stopping) => {}
        () = shutdown => {}
    }
    drop(listener);
    stopping.cancel();
    if tokio::time::timeout(DRAIN_MAX, graceful.shutdown()).await.is_err() {
        tracing::warn!("stopped with requests unanswered");
    }
}

async fn accept(
    listener: &TcpListener,
    server: &Server,
    graceful: &GracefulShutdown,
    stopping: &CancellationToken,
) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    while let Ok(permit) = connections.clone().acquire_owned().await {
        match next(listener).await {
            Ok(stream) => {
                tokio::spawn(server.clone().connection(stream, graceful.watcher(), stopping.clone(), permit));
            }
            Err(error) => {
                tracing::debug!(%error, "a connection cannot be accepted");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

/// The next connection. What is sent over it goes out at once, not only when what went before has been acknowledged.
async fn next(listener: &TcpListener) -> std::io::Result<TcpStream> {
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// How a connection is served.
#[derive(Clone)]
struct Server {
    builder: Arc<Builder<TokioExecutor>>,
    router: Router,
}

impl Server {
    fn new(router: Router) -> Self {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_READ_MAX);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS_MAX)
            .keep_alive_interval(PING_INTERVAL);
        Self { builder: Arc::new(builder), router }
    }

    async fn connection(
        self,
        stream: TcpStream,
        watcher: Watcher,
        stopping: CancellationToken,
        _permit: OwnedSemaphorePermit,
    ) {
        let spoken = tokio::select! {
            spoken = tokio::time::timeout(HEAD_READ_MAX, has_spoken(&stream)) => spoken.is_ok(),
            () = stopping.cancelled() => false,
        };
        if !spoken {
            return;
        }
        let service = TowerToHyperService::new(self.router);
        let connection = self.builder.serve_connection(TokioIo::new(Patient::new(stream)), service);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, "a connection broke off");
        }
    }
}

/// Waits for so much of a connection that hyper can tell its version. hyper waits for it without a bound of its own.
async fn has_spoken(stream: &TcpStream) {
    let mut begin = [0; HTTP_2.len()];
    while let Ok(read) = stream.peek(&mut begin).await {
        if read == 0 || read == HTTP_2.len() || !HTTP_2.starts_with(&begin[..read]) {
            return;
        }
        tokio::time::sleep(SNIFF_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::super::patience::STALL_MAX;
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
        assert!(next(&listener).await.unwrap().nodelay().unwrap());
    }

    /// A client that sends `begin` and nothing more is left, at the latest when its time is up. The clock runs ahead
    /// whenever nothing else happens.
    async fn check(begin: &[u8]) {
        let (listener, address) = listen().await;
        tokio::spawn(run(listener, Router::new(), CancellationToken::new(), std::future::pending()));
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
        check(&HTTP_2[..9]).await;
        check(b"POST /mcp HTTP/1.1\r\nHost: ").await;
        check(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_left() {
        const LARGE: usize = 64 << 20;
        let (listener, address) = listen().await;
        let router = Router::new().fallback(async || vec![b'x'; LARGE]);
        tokio::spawn(run(listener, router, CancellationToken::new(), std::future::pending()));
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        client.readable().await.unwrap();
        tokio::time::sleep(2 * STALL_MAX).await;
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer).await;
        assert!(!answer.is_empty() && answer.len() < LARGE, "{} bytes", answer.len());
    }
}
