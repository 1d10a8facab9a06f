//! The accept loop: which connections are open, and what becomes of them in the end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::caller::Peer;
use super::connection::{Answers, Server};
use super::crowd::{Crowd, Guest, Why};
use super::drain::Drain;
use super::listen::{BACKLOG, Listener, Stream};

/// How long to wait when the system has no more connections to give.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// What has become of connections so far.
#[derive(Debug, Default)]
pub(crate) struct ConnectionCounts {
    /// How many are open.
    pub(crate) open: AtomicU64,
    /// How many were let in.
    pub(crate) accepted: AtomicU64,
    /// How many were closed while their client was waited for, so that another one could be let in.
    pub(crate) dismissed: AtomicU64,
    /// How many were closed because their client took too many requests back.
    pub(crate) in_vain: AtomicU64,
    /// How many were closed because what came over them was no request.
    pub(crate) unreadable: AtomicU64,
    /// How many were closed at once because their address has as many as it may.
    pub(crate) refused: AtomicU64,
}

/// Serves connections until `drain` begins, and then those that have a request in hand, or have come before that, until it is
/// answered or `drain` is over.
pub(super) async fn run<S: Answers>(
    listener: Listener,
    service: S,
    connections_max: usize,
    drain: Drain,
    counts: Arc<ConnectionCounts>,
) {
    let server = Arc::new(Server::new(service, drain.clone()));
    let connections = TaskTracker::new();
    let crowd = Crowd::new(connections_max);
    let begun = drain.begun().clone();
    let entrance = Entrance { server, connections: &connections, counts, crowd, begun };
    // Those who have come and are not in: one at a time, until the end.
    let mut coming = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            // From then on, nobody has to leave for another one.
            () = drain.begun().cancelled() => break,
            Some(()) = coming.next() => {}
            accepted = listener.accept(), if coming.is_empty() => coming.push(entrance.take(accepted)),
        }
    }
    // The system would reset those who have come already, and what they ask, when it is no longer listened.
    let mut last = FuturesUnordered::new();
    backlog(
        || listener.accept().now_or_never(),
        |(stream, peer)| {
            last.push(entrance.take_last(stream, peer));
            // Most of them need not wait for a place.
            last.next().now_or_never();
        },
    )
    .await;
    drop(listener);
    tokio::select! {
        ((), ()) = async { tokio::join!(coming.collect(), last.collect()) } => {}
        () = drain.over() => {}
    }
    connections.close();
    tokio::select! {
        biased;
        () = drain.over() => {
            tracing::warn!("stopped with requests unanswered");
            connections.wait().await;
        }
        () = connections.wait() => {}
    }
}

/// Takes those who have come already, as `next` gives them without waiting for anybody.
async fn backlog<T>(mut next: impl FnMut() -> Option<io::Result<T>>, mut take: impl FnMut(T)) {
    for _ in 0..BACKLOG {
        // In between, it becomes known who has come.
        tokio::task::yield_now().await;
        match next() {
            None => return,
            // One connection may be broken, and the next one not.
            Some(Err(error)) => tracing::debug!(%error, "a connection cannot be accepted"),
            Some(Ok(accepted)) => take(accepted),
        }
    }
}

/// Where connections come in.
struct Entrance<'a, S> {
    server: Arc<Server<S>>,
    connections: &'a TaskTracker,
    counts: Arc<ConnectionCounts>,
    crowd: Arc<Crowd>,
    /// Cancelled when the end begins.
    begun: CancellationToken,
}

impl<S: Answers> Entrance<'_, S> {
    /// Lets in who has come, as soon as there is a place.
    async fn take(&self, accepted: io::Result<(Stream, Peer)>) {
        match accepted {
            Ok((stream, peer)) => {
                let guest = tokio::select! {
                    biased;
                    () = self.begun.cancelled() => return self.take_last(stream, peer).await,
                    guest = self.crowd.admit(peer) => guest,
                };
                self.let_in(stream, guest);
            }
            Err(error) => {
                tracing::debug!(%error, "a connection cannot be accepted");
                // The system may have no more to give because of those that are open.
                let room = async {
                    let _ = tokio::time::timeout(ACCEPT_RETRY, self.crowd.dismiss_one()).await;
                    tokio::time::sleep(ACCEPT_RETRY).await;
                };
                self.begun.run_until_cancelled(room).await;
            }
        }
    }

    /// Lets in who has come last, without making room for them: all who are in will leave.
    async fn take_last(&self, stream: Stream, peer: Peer) {
        let guest = self.crowd.admit_last(peer).await;
        self.let_in(stream, guest);
    }

    fn let_in(&self, stream: Stream, guest: Option<Arc<Guest>>) {
        let Some(guest) = guest else {
            add(&self.counts.refused);
            return;
        };
        add(&self.counts.accepted);
        self.connections.spawn(serve(self.server.clone(), stream, guest, self.counts.clone()));
    }
}

async fn serve<S: Answers>(
    server: Arc<Server<S>>,
    stream: Stream,
    guest: Arc<Guest>,
    counts: Arc<ConnectionCounts>,
) {
    add(&counts.open);
    let open = Open { guest, counts };
    if server.serve(stream, open.guest.clone()).await.is_err() {
        add(&open.counts.unreadable);
    }
}

fn add(count: &AtomicU64) {
    count.fetch_add(1, Relaxed);
}

/// A connection that is counted while it is open.
struct Open {
    guest: Arc<Guest>,
    counts: Arc<ConnectionCounts>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.counts.open.fetch_sub(1, Relaxed);
        match self.guest.why_dismissed() {
            None => {}
            Some(Why::Room) => add(&self.counts.dismissed),
            Some(Why::InVain) => add(&self.counts.in_vain),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::SocketAddr;

    use axum::Router;
    use axum::body::Body;
    use axum::extract::Request;
    use axum::response::Response;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;
    use tower::ServiceExt as _;

    use super::super::connection::{FIRST_READ_MAX, HEAD_READ_MAX};
    use super::super::crowd::Visit;
    use super::super::listen::Address;
    use super::super::patience::LOOK;
    use super::*;

    /// How HTTP/2 begins: the preface and empty settings.
    const BEGIN_2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    const LARGE: usize = 64 << 20;
    const CONNECTIONS: usize = 16;

    impl Answers for Router {
        type Body = Body;

        async fn answer(&self, request: &mut Request, _: &Arc<Visit>) -> Response {
            self.clone().oneshot(std::mem::take(request)).await.unwrap()
        }
    }

    async fn start(router: Router) -> (SocketAddr, Arc<ConnectionCounts>) {
        let listener =
            Listener::bind("--listen", &Address::Network("127.0.0.1:0".into()), None).await.unwrap();
        let address = listener.place().address.unwrap();
        let counts = Arc::<ConnectionCounts>::default();
        tokio::spawn(run(listener, router, CONNECTIONS, Drain::new(Duration::ZERO), counts.clone()));
        (address, counts)
    }

    /// A client that sends `begin` and nothing more is left, at the latest when its time is up. The clock runs ahead
    /// whenever nothing else happens.
    async fn check(begin: &[u8]) {
        let (address, counts) = start(Router::new()).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(begin).await.unwrap();
        let mut answer = Vec::new();
        let read = tokio::time::timeout(2 * HEAD_READ_MAX, client.read_to_end(&mut answer));
        assert!(read.await.is_ok(), "{begin:?}");
        drop(client);
        while counts.open.load(Relaxed) > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(counts.accepted.load(Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_says_too_little_is_left() {
        check(b"").await;
        check(b"P").await;
        check(b"POST /mcp HTTP/1.1\r\nHost: ").await;
        check(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        check(BEGIN_2).await;
        // The first bytes of a head.
        check(&[BEGIN_2, b"\0\x01\0\x01\x04\0\0\0\x01\x82"].concat()).await;
        // A head of which more is said to come.
        check(&[BEGIN_2, b"\0\0\x01\x01\0\0\0\0\x01\x82"].concat()).await;
    }

    #[tokio::test]
    async fn who_has_come_before_the_end_is_answered() {
        // Which of two things that have happened is seen first is left to chance.
        for _ in 0..10 {
            let listener = Listener::bind("--listen", &Address::Network("127.0.0.1:0".into()), None).await;
            let listener = listener.unwrap();
            let address = listener.place().address.unwrap();
            let clients = [(); 4].map(|()| {
                let mut client = std::net::TcpStream::connect(address).unwrap();
                client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
                client
            });
            let drain = Drain::new(Duration::from_secs(60));
            drain.begun().cancel();
            let router = Router::new().fallback(async || "here");
            run(listener, router, CONNECTIONS, drain, Arc::default()).await;
            for mut client in clients {
                let mut answer = String::new();
                client.read_to_string(&mut answer).unwrap();
                assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("here"), "{answer}");
            }
            assert!(std::net::TcpStream::connect(address).is_err());
        }
    }

    #[tokio::test]
    async fn one_that_is_broken_does_not_hide_those_behind_it() {
        let broken = || Some(Err(io::Error::from(io::ErrorKind::ConnectionAborted)));
        let mut come = vec![Some(Ok(3)), None, Some(Ok(2)), broken(), Some(Ok(1)), broken()];
        let mut taken = Vec::new();
        backlog(|| come.pop().flatten(), |number| taken.push(number)).await;
        assert_eq!((taken, come.len()), (vec![1, 2], 1));
    }

    /// One connection is all that there is room for, and it is in hand. The end begins when one more waits for a place, and
    /// the next one behind it, or before they have been seen.
    #[cfg(unix)]
    #[tokio::test]
    async fn who_waits_for_a_place_at_the_end_is_answered() {
        use tokio::net::UnixStream;

        for turns in 0..8 {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("socket");
            let listener = Listener::bind("--listen", &Address::File(path.clone()), None).await.unwrap();
            let drain = Drain::new(Duration::from_secs(60));
            let (begun, answer) = (Arc::new(tokio::sync::Notify::new()), CancellationToken::new());
            let router = Router::new().fallback({
                let (begun, answer) = (begun.clone(), answer.clone());
                async move || {
                    begun.notify_one();
                    answer.cancelled().await;
                    "here"
                }
            });
            let served = tokio::spawn(run(listener, router, 1, drain.clone(), Arc::default()));
            let ask = async || {
                let mut client = UnixStream::connect(&path).await.unwrap();
                client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
                client
            };
            let first = ask().await;
            begun.notified().await;
            let clients = [first, ask().await, ask().await];
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            drain.begun().cancel();
            answer.cancel();
            for mut client in clients {
                let mut text = String::new();
                client.read_to_string(&mut text).await.unwrap();
                assert!(text.ends_with("here"), "{text}");
            }
            served.await.unwrap();
        }
    }

    /// A client of HTTP/2 with the one place that there is sends a body while the end has begun, and another waits for the
    /// place.
    #[cfg(unix)]
    #[tokio::test]
    async fn nobody_has_to_leave_for_another_once_the_end_has_begun() {
        use std::pin::pin;

        use futures::poll;
        use tokio::net::UnixStream;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let listener = Listener::bind("--listen", &Address::File(path.clone()), None).await.unwrap();
        let (drain, answer) = (Drain::new(Duration::from_secs(60)), CancellationToken::new());
        let (begun, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
        let router = Router::new().fallback({
            let answer = answer.clone();
            async move |request: Request| {
                begun.send(()).unwrap();
                if request.method() == "GET" {
                    answer.cancelled().await;
                }
                axum::body::to_bytes(request.into_body(), 100).await.unwrap()
            }
        });
        let connections = TaskTracker::new();
        let entrance = Entrance {
            server: Arc::new(Server::new(router, drain.clone())),
            connections: &connections,
            counts: Arc::default(),
            crowd: Crowd::new(1),
            begun: drain.begun().clone(),
        };
        let client = UnixStream::connect(&path).await.unwrap();
        entrance.take(listener.accept().await).await;
        let (mut requests, connection) = h2::client::handshake(client).await.unwrap();
        tokio::spawn(connection);
        let ask = |method: &str| {
            axum::http::Request::builder().method(method).uri("http://localhost/").body(()).unwrap()
        };
        let (get, _) = requests.send_request(ask("GET"), true).unwrap();
        let (post, mut body) = requests.send_request(ask("POST"), false).unwrap();
        has_begun.recv().await.unwrap();
        has_begun.recv().await.unwrap();

        let mut other = UnixStream::connect(&path).await.unwrap();
        other.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut coming = pin!(entrance.take(listener.accept().await));
        assert!(poll!(coming.as_mut()).is_pending());
        drain.begun().cancel();
        answer.cancel();
        let mut get = get.await.unwrap();
        assert_eq!(get.status(), 200);
        // Behind the end of its answer the first client is waited for, who would have to leave for the other one.
        assert!(get.body_mut().data().await.is_none_or(|part| part.unwrap().is_empty()));
        assert!(poll!(coming.as_mut()).is_pending());
        body.send_data("whole".into(), true).unwrap();
        assert_eq!(post.await.unwrap().status(), 200);
        drop((requests, body));
        coming.await;
        let mut text = String::new();
        other.read_to_string(&mut text).await.unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
        assert_eq!(entrance.counts.dismissed.load(Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_request_that_is_on_its_way_at_the_end_is_waited_for() {
        let listener =
            Listener::bind("--listen", &Address::Network("127.0.0.1:0".into()), None).await.unwrap();
        let address = listener.place().address.unwrap();
        let (mut client, silent) =
            (TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await);
        let drain = Drain::new(Duration::from_secs(60));
        drain.begun().cancel();
        let (begin, mut answer) = (tokio::time::Instant::now(), String::new());
        let asks = async {
            tokio::time::sleep(FIRST_READ_MAX / 2).await;
            client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
            client.read_to_string(&mut answer).await.unwrap();
        };
        let router = Router::new().fallback(async || "here");
        tokio::join!(asks, run(listener, router, CONNECTIONS, drain, Arc::default()));
        assert!(answer.ends_with("here"), "{answer}");
        // One that says nothing is not waited for any longer.
        assert!(silent.is_ok() && begin.elapsed() < 2 * FIRST_READ_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_left() {
        let (address, _) = start(Router::new().fallback(async || vec![b'x'; LARGE])).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        client.readable().await.unwrap();
        tokio::time::sleep(2 * LOOK).await;
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer).await;
        assert!(!answer.is_empty() && answer.len() < LARGE, "{} bytes", answer.len());
    }

    /// A client of HTTP/2 that reads what comes but wants to have only so much of an answer is left.
    async fn check_window(bytes: u32) {
        let (address, counts) = start(Router::new().fallback(async || vec![b'x'; LARGE])).await;
        let client = TcpStream::connect(address).await.unwrap();
        let (mut send, connection) = h2::client::Builder::new()
            .initial_window_size(bytes)
            .handshake::<_, bytes::Bytes>(client)
            .await
            .unwrap();
        let connection = tokio::spawn(connection);
        let request = axum::http::Request::get("http://localhost/").body(()).unwrap();
        let (response, _) = send.send_request(request, true).unwrap();
        let response = response.await.unwrap();
        assert_eq!(response.status(), 200);
        assert!(tokio::time::timeout(4 * LOOK, connection).await.is_ok());
        assert_eq!(counts.open.load(Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_wants_no_more_of_an_answer_is_left() {
        check_window(0).await;
        check_window(100_000).await;
    }
}
