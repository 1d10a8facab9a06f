//! Requests that are refused while their bodies are still on their way, over real connections.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use super::super::accept;
use super::super::body::READ_MAX;
use super::super::connection::Answers;
use super::super::crowd::Visit;
use super::super::drain::Drain;
use super::super::leftover::{LAST_LEFT_READ_MAX, LEFT_READ_MAX};
use super::super::listen::{Address, Listener};

/// Refuses every request after so long, whatever has come of its body.
struct Refusing(Duration);

impl Answers for Refusing {
    type Body = Body;

    async fn answer(&self, _: &mut Request, _: &Arc<Visit>) -> Response {
        sleep(self.0).await;
        StatusCode::PAYLOAD_TOO_LARGE.into_response()
    }
}

/// How long it takes until a client that stops in the middle of a body has its answer, if a server that refuses it after
/// `decides` is told to end after `ends`.
async fn check(decides: Duration, ends: impl Future<Output = ()>) -> Duration {
    let listener = Listener::bind("--listen", &Address::Network("127.0.0.1:0".into()), None).await.unwrap();
    let mut client = TcpStream::connect(listener.place().address.unwrap()).await.unwrap();
    let drain = Drain::new(Duration::from_secs(3600));
    let served = accept::run(listener, Refusing(decides), 1, drain.clone(), Arc::default());
    let asks = async {
        let begin = Instant::now();
        let request = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf";
        client.write_all(request).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer:?}");
        begin.elapsed()
    };
    tokio::select! {
        took = asks => took,
        () = served.then(|()| pending()) => unreachable!(),
        never = drain.follow(ends.into_stream()) => match never {},
    }
}

#[tokio::test(start_paused = true)]
async fn the_answer_comes_before_its_client_counts_as_silent() {
    assert!(check(READ_MAX, pending()).await >= READ_MAX + LEFT_READ_MAX);
}

#[tokio::test(start_paused = true)]
async fn the_answer_comes_soon_once_the_server_is_to_end() {
    let second = Duration::from_secs(1);
    let took = check(Duration::ZERO, sleep(second)).await;
    assert!((second + LAST_LEFT_READ_MAX..LEFT_READ_MAX).contains(&took), "{took:?}");
}
