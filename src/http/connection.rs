//! One connection: which versions of HTTP are spoken on it, within which limits, and how it ends.

use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::Version;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::time::{sleep, timeout};

use super::again::Again;
use super::crowd::{Guest, Visit, Why};
use super::drain::Drain;
use super::heard::Heard;
use super::leftover::{self, Left};
use super::listen::{Io, Stream};
use super::pace::{Paced, Paces};
use super::refusal::Refused;
use super::share::Slots;
use super::turns::Keeping;

/// How long a client may take from a connection's beginning, or from the last answer, to the end of the next request's
/// head.
pub(super) const HEAD_READ_MAX: Duration = Duration::from_secs(30);
/// How long a client that has been silent for that time has to take its leave.
const LEAVE_MAX: Duration = Duration::from_secs(5);
/// How long the first request of a connection is waited for at the end of a server. It has been sent already, or follows a
/// handshake.
pub(super) const FIRST_READ_MAX: Duration = Duration::from_millis(500);
/// How long a client of which no request is in hand has to send the rest of a head once the server is to end.
const LAST_HEAD_MAX: Duration = Duration::from_secs(2);
/// The most that a connection of HTTP/1.1 reads ahead, so that no head of a request is longer, and the most of an answer that
/// it holds before it waits for its client. hyper has one number for both.
pub(super) const BUFFER_MAX_BYTES: usize = 64 * 1024;
/// The most requests in hand over all connections of HTTP/2. One of HTTP/1.1 has one at a time, and their number is bounded.
/// Each request holds its head, a small body and a small answer at most: 200 MiB in the worst case, which takes more clients
/// than one, because none of them has more than half.
const REQUESTS_MAX: u32 = 2048;
/// The largest answer that needs no slot among those: about what it costs to say that there are too many, which needs none
/// either. Every refusal of somebody unknown is smaller. So those who are refused take no slot from others behind their
/// address, whether or not they end their bodies and read their answers.
const SLOTLESS_MAX_BYTES: u64 = 1024;

/// The most requests that a client may have open at once on a connection of HTTP/2. The least that is recommended, because
/// a proxy sends those of many clients over one connection.
const STREAMS_MAX: u32 = 100;
/// The longest head of a request over HTTP/2, as a client sends it. There may be many at once.
const HEAD_LIST_MAX_BYTES: u32 = 16 * 1024;
/// How much a client may send ahead over HTTP/2 of what has been read, of one body and of all. The least that there can be
/// for all: a body is read as soon as it comes, so that more only holds more.
const WINDOW_BYTES: u32 = 64 * 1024 - 1;
/// The largest frame that a client may send. The least that there can be.
const FRAME_MAX_BYTES: u32 = 16 * 1024;
/// The most bytes of one answer that wait in frames for HTTP/2 to write them.
const SEND_MAX_BYTES: usize = 64 * 1024;
/// The most streams that a client may have reset before anything was done for them, and the most that this end has reset
/// because of a client's errors. A client that goes beyond is left.
const RESETS_MAX: usize = 20;
/// How often a connection of HTTP/2 is asked whether anybody is there, and how long an answer may take.
const PING: Duration = Duration::from_secs(20);

/// What answers requests.
pub(super) trait Answers: Send + Sync + 'static {
    /// The body of an answer.
    type Body: HttpBody<Data = Bytes, Error = axum::Error> + Send + Unpin + 'static;

    /// Answers one, of which it takes what it needs: a request is too large to be moved from hand to hand. A body that it
    /// does not take, or not to its end, is left there.
    fn answer(
        &self,
        request: &mut Request,
        visit: &Arc<Visit>,
    ) -> impl Future<Output = axum::http::Response<Self::Body>> + Send;
}

/// How connections are served.
pub(super) struct Server<S> {
    builder: Builder<TokioExecutor>,
    service: S,
    requests: Slots,
    drain: Drain,
}

impl<S: Answers> Server<S> {
    /// Serves what `service` answers, until `drain`.
    pub(super) fn new(service: S, drain: Drain) -> Self {
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            // A silent client is left anyhow, and a timer of each request is dear.
            .header_read_timeout(None)
            .max_buf_size(BUFFER_MAX_BYTES);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS_MAX)
            .max_header_list_size(HEAD_LIST_MAX_BYTES)
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .max_frame_size(FRAME_MAX_BYTES)
            .max_send_buf_size(SEND_MAX_BYTES)
            .max_pending_accept_reset_streams(RESETS_MAX)
            .max_local_error_reset_streams(RESETS_MAX)
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING);
        Self { builder, service, requests: Slots::new(REQUESTS_MAX), drain }
    }

    /// Serves one connection to its end.
    ///
    /// # Errors
    /// When what came was no request, which hyper has answered.
    pub(super) async fn serve(self: Arc<Self>, stream: Stream, guest: Arc<Guest>) -> Result<(), Unreadable> {
        let heard = stream.heard();
        let Some(stream) = self.open(stream, &guest).await else { return Ok(()) };
        let paces = Arc::<Paces>::default();
        let client = Arc::new(Client {
            server: self.clone(),
            guest: guest.clone(),
            paces: paces.clone(),
            heard: heard.clone(),
        });
        let service = service_fn(|request| client.clone().answer(request).map(Ok::<_, Infallible>));
        let mut connection = pin!(self.builder.serve_connection(TokioIo::new(stream), service));
        let again = Again::new();
        let closing = async {
            tokio::select! {
                () = guest.silent(HEAD_READ_MAX) => None,
                () = self.begins_no_more(&guest, &heard) => None,
            }
        };
        let closed = async {
            tokio::select! {
                () = guest.dismissed() => Some(match guest.why_dismissed() {
                    Some(Why::InVain) => "because too many requests were taken back",
                    _ => "to make room for another",
                }),
                () = paces.neglected() => Some("because an answer was not read"),
                () = guest.silent(HEAD_READ_MAX + LEAVE_MAX) => Some("because it was silent"),
                () = self.drain.over() => Some("because the time to answer is over"),
                () = self.ends_unasked(&guest) => Some("because it had asked for nothing when the server was to end"),
            }
        };
        // So they are looked at when they are woken, not whenever there is more of a request.
        let mut waits = FuturesUnordered::from_iter([closing.left_future(), closed.right_future()]);
        let why = loop {
            tokio::select! {
                biased;
                served = poll_fn(|cx| again.poll(connection.as_mut(), cx)) => {
                    return served.or_else(|error| broke_off(&*error, &guest));
                }
                Some(why) = waits.next() => match why {
                    Some(why) => break why,
                    // What is in hand is answered first.
                    None => connection.as_mut().graceful_shutdown(),
                }
            }
        };
        tracing::debug!("a connection was closed {why}");
        Ok(())
    }

    /// Ends when no more requests are to be begun. One that has been sent before may still have to be read, as the first of
    /// a connection, or if its head has begun to come.
    async fn begins_no_more(&self, guest: &Guest, heard: &Heard) {
        self.drain.begun().cancelled().await;
        if heard.has_begun() {
            let _ = timeout(LAST_HEAD_MAX, guest.asks()).await;
        } else {
            let _ = timeout(FIRST_READ_MAX, guest.begun()).await;
        }
    }

    /// Ends when the server is to end and no request of a client has begun soon after that.
    async fn ends_unasked(&self, guest: &Guest) {
        self.drain.begun().cancelled().await;
        sleep(LAST_HEAD_MAX).await;
        if guest.is_asking() {
            std::future::pending().await
        }
    }

    /// The stream, behind TLS if that is spoken here.
    async fn open(&self, stream: Stream, guest: &Guest) -> Option<Box<dyn Io>> {
        tokio::select! {
            stream = stream.open() => stream
                .inspect_err(|error| tracing::debug!(%error, "a connection cannot be encrypted"))
                .ok(),
            () = guest.dismissed() => None,
            () = self.ends_unasked(guest) => None,
        }
    }
}

/// That a connection ended with what is no request of HTTP/1.1, or with a head that is too long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unreadable;

/// Tells with which error a connection ended. hyper answers what it cannot read by itself.
fn broke_off(error: &(dyn Error + Send + Sync + 'static), guest: &Guest) -> Result<(), Unreadable> {
    let address = guest.peer().address.map(|address| address.to_string());
    let address = address.as_deref();
    if error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse) {
        tracing::debug!(error, address, "what came is no request that can be read");
        return Err(Unreadable);
    }
    tracing::debug!(error, address, "a connection broke off");
    Ok(())
}

/// Somebody who is served over a connection.
struct Client<S> {
    server: Arc<Server<S>>,
    guest: Arc<Guest>,
    paces: Arc<Paces>,
    heard: Arc<Heard>,
}

/// The body of an answer, whose request is in hand until it has been written. That of HTTP/2 is looked at by itself.
type Answer<B> = Either<Keeping<Either<B, Body>, Visit>, Body>;

impl<S: Answers> Client<S> {
    /// Answers one request.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> impl Future<Output = axum::http::Response<Answer<S::Body>>> {
        let is_shared = request.version() == Version::HTTP_2;
        let slot = is_shared.then(|| self.server.requests.take(self.guest.sharer()));
        let is_busy = matches!(slot, Some(None));
        let visit = self.guest.begins(slot.flatten());
        // One with a body has come in whole only when that has been read.
        if request.body().is_end_stream() && !is_busy {
            visit.asked();
        }
        let expects = !is_shared && leftover::expects(request.headers());
        let mut request = request.map(Body::new);
        async move {
            let response = if is_busy {
                let why = "there are too many requests in hand; try again in a moment";
                axum::response::Response::from(Refused::busy(why)).map(Either::Right)
            } else {
                self.server.service.answer(&mut request, &visit).await.map(Either::Left)
            };
            let most = response.body().size_hint().upper();
            if is_shared && most.is_some_and(|bytes| bytes <= SLOTLESS_MAX_BYTES) {
                visit.gives_slot_back();
            }
            let is_held_back = expects && !visit.is_read();
            // Where there are too many requests, none is waited for.
            let is_read = !is_busy && !is_held_back && leftover::is_there(request.body(), response.status());
            let left = match is_read {
                true => {
                    // The head is not held any longer.
                    request = Request::new(std::mem::take(request.body_mut()));
                    // Boxed, because this is seldom.
                    Box::pin(leftover::read(request.body_mut(), self.server.drain.begun())).await
                }
                false => Left::More,
            };
            if left == Left::Nothing {
                visit.asked();
            }
            if left != Left::Broken {
                visit.answered();
            }
            // What follows the part of a body that has been read is no head.
            if !is_shared && request.body().is_end_stream() {
                self.heard.answered();
            }
            let response = response.map(|body| Keeping::new(body, visit));
            match is_shared {
                true => response.map(|body| Either::Right(Body::new(Paced::new(body, &self.paces)))),
                false => response.map(Either::Left),
            }
        }
    }
}
