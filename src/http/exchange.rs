//! Following a request from its head to the last byte of its answer: it is counted, and logged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;

use super::access_log::{self, Asked, Told};
use super::answered::Answered;
use super::caller::Caller;
use super::metrics::Metrics;
use super::outcome::Outcome;
use super::path::EndpointPath;
use super::request_id::{self, REQUEST_ID};

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
    /// What a line in the log says of it, if there is to be one.
    asked: Option<Asked>,
    is_of_endpoint: bool,
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

/// Follows a request to `next` and through its answer. The answer repeats the id that its client has given it or, where it is
/// logged, that it is found by in the log.
pub(super) async fn follow<F: Future<Output = Response>>(
    observer: Arc<Observer>,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let id = if observer.is_logged {
        Some(request_id::of(request.headers()))
    } else {
        request_id::brought(request.headers())
    };
    let mut exchange = Exchange::begin(observer, &request, id.as_ref());
    let mut response = next(request).await;
    exchange.answer(&response);
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
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
    fn begin(observer: Arc<Observer>, request: &Request, id: Option<&HeaderValue>) -> Self {
        observer.metrics.begin();
        let asked = id.filter(|_| observer.is_logged).map(|id| Asked::of(request, id.clone()));
        let is_of_endpoint = request.uri().path() == observer.endpoint.as_str();
        Self { observer, asked, is_of_endpoint, begun: Instant::now(), answer: None, bytes: 0 }
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
        if self.is_of_endpoint {
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
        if self.answer.is_none() {
            self.count(None, None, Outcome::Aborted, self.begun.elapsed());
        }
        let Some(asked) = &self.asked else { return };
        let answer = self.answer.as_ref();
        let told = Told {
            status: answer.map(|answer| answer.status),
            outcome: answer.map_or(Outcome::Aborted, |answer| answer.outcome),
            answered: answer.and_then(|answer| answer.answered.as_ref()),
            caller: answer.and_then(|answer| answer.caller.as_ref()),
            bytes: self.bytes,
            took: self.begun.elapsed(),
        };
        access_log::write(asked, &told);
    }
}
