//! Following a request from its head to the last byte of its answer: it is counted, and logged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use http_body_util::BodyExt as _;

use super::access_log::{self, Asked, Told};
use super::answered::Answered;
use super::caller::Caller;
use super::metrics::Metrics;
use super::outcome::Outcome;
use super::path::EndpointPath;
use super::request_id::REQUEST_ID;

/// Who is told of requests.
#[derive(Debug)]
pub(super) struct Observer {
    /// Where they are counted.
    pub(super) metrics: Arc<Metrics>,
    /// The path of the endpoint, which answers in JSON-RPC.
    pub(super) endpoint: EndpointPath,
    /// Whether each has a line in the log.
    pub(super) is_logged: bool,
}

/// A request, on its way to the end of its answer.
struct Exchange {
    observer: Arc<Observer>,
    asked: Asked,
    begun: Instant,
    answer: Option<Answer>,
    bytes: u64,
}

/// What is known of an answer once its head is there.
struct Answer {
    status: StatusCode,
    answered: Option<Answered>,
    outcome: Outcome,
    caller: Option<Caller>,
}

/// Follows a request to `next` and through its answer. Each has an id, its client's or one that it is given, which the answer
/// repeats.
pub(super) async fn follow<F: Future<Output = Response>>(
    observer: Arc<Observer>,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let mut exchange = Exchange::begin(observer, &request);
    let mut response = next(request).await;
    exchange.answer(&response);
    response.headers_mut().insert(REQUEST_ID, exchange.asked.id.clone());
    if let Some(bytes) = response.body().size_hint().exact() {
        exchange.send(bytes);
        return response;
    }
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            exchange.send(frame.data_ref().map_or(0, |data| data.len() as u64));
            frame
        }))
    })
}

impl Exchange {
    fn begin(observer: Arc<Observer>, request: &Request) -> Self {
        observer.metrics.begin();
        Self { observer, asked: Asked::of(request), begun: Instant::now(), answer: None, bytes: 0 }
    }

    /// Takes note of the head of the answer.
    fn answer(&mut self, response: &Response) {
        let (status, extensions) = (response.status(), response.extensions());
        let answered = extensions.get::<Answered>().copied();
        let outcome = Outcome::of(status, answered.and_then(|answered| answered.error));
        let caller = extensions.get::<Caller>().cloned();
        self.count(Some(status), answered, outcome, self.begun.elapsed());
        self.answer = Some(Answer { status, answered, outcome, caller });
    }

    /// Counts the one that it is. A stream has then only begun.
    fn count(
        &self,
        status: Option<StatusCode>,
        answered: Option<Answered>,
        outcome: Outcome,
        took: Duration,
    ) {
        let metrics = &self.observer.metrics;
        metrics.end(status);
        if self.asked.uri.path() == self.observer.endpoint.as_str() {
            metrics.answer(answered.unwrap_or_default().method, outcome, took);
        }
    }

    /// Takes note of bytes of the answer.
    fn send(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.observer.metrics.send(bytes);
    }
}

/// The end, be it that all has been said or that nobody listens any more.
impl Drop for Exchange {
    fn drop(&mut self) {
        let took = self.begun.elapsed();
        if self.answer.is_none() {
            self.count(None, None, Outcome::Aborted, took);
        }
        if !self.observer.is_logged {
            return;
        }
        let answer = self.answer.as_ref();
        let told = Told {
            status: answer.map(|answer| answer.status),
            outcome: answer.map_or(Outcome::Aborted, |answer| answer.outcome),
            answered: answer.and_then(|answer| answer.answered.as_ref()),
            caller: answer.and_then(|answer| answer.caller.as_ref()),
            bytes: self.bytes,
            took,
        };
        access_log::write(&self.asked, &told);
    }
}
