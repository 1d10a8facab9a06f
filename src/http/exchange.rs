//! Following a request from its head to the last byte of its answer: it is counted, and logged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::HttpBody as _;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;

use super::access_log::{self, Told};
use super::answered::{Asked, ErrorCode};
use super::asker::Asker;
use super::followed::Followed;
use super::metrics::Metrics;
use super::outcome::Outcome;
use super::request_id::{self, REQUEST_ID};

/// Who is told of requests.
#[derive(Debug)]
pub(super) struct Observer {
    /// Where they are counted.
    pub(super) metrics: Arc<Metrics>,
    /// Whether each has a line in the log.
    pub(super) is_logged: bool,
}

/// A request, on its way to the end of its answer.
#[derive(Debug)]
pub(super) struct Exchange {
    observer: Arc<Observer>,
    /// What its answer repeats: the id that its client has given it or, where it is logged, that it is found by in the log.
    id: Option<HeaderValue>,
    /// What a line in the log says of it, if there is to be one.
    logged: Option<Box<access_log::Head>>,
    is_of_endpoint: bool,
    is_head: bool,
    begun: Instant,
    noted: Noted,
    answer: Option<Answer>,
}

/// What those on the way of a request find out about it.
#[derive(Debug)]
pub(super) struct Noted {
    /// Who asks.
    pub(super) asker: Asker,
    /// What for, as soon as it is known, whatever becomes of it.
    pub(super) asked: Option<Asked>,
}

/// An answer of which the head is there.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    outcome: Outcome,
    /// The time from the request's head to that of the answer.
    took: Duration,
    /// Bytes of it that have gone out.
    bytes: u64,
    /// How many bytes are still to go out; absent for a stream, which has no end of its own.
    left: Option<u64>,
}

impl Exchange {
    /// Begins with the head of a request, to the endpoint or not.
    pub(super) fn begin(
        observer: &Arc<Observer>,
        request: &Request,
        asker: Asker,
        is_of_endpoint: bool,
    ) -> Self {
        observer.metrics.begin();
        let headers = request.headers();
        let (id, logged) = if observer.is_logged {
            let id = request_id::of(headers);
            let asked = access_log::Head::of(request, asker.peer(), id.clone());
            (Some(id), Some(Box::new(asked)))
        } else {
            (request_id::brought(headers), None)
        };
        Self {
            observer: observer.clone(),
            id,
            logged,
            is_of_endpoint,
            is_head: *request.method() == Method::HEAD,
            begun: Instant::now(),
            noted: Noted { asker, asked: None },
            answer: None,
        }
    }

    /// Where is noted what is found out on the way.
    pub(super) fn noted(&mut self) -> &mut Noted {
        &mut self.noted
    }

    /// Follows the answer to its last byte. An answer whose length is known is counted then, and a stream now.
    pub(super) fn follow(mut self, mut response: Response) -> axum::http::Response<Followed> {
        if let Some(id) = self.id.take() {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        let status = response.status();
        let error = response.extensions().get().map(|&ErrorCode(code)| code);
        if error.is_some() {
            self.noted.asked.get_or_insert_default();
        }
        let left = if self.has_no_body(status) { Some(0) } else { response.body().size_hint().exact() };
        let (outcome, took) = (Outcome::of(status, error), self.begun.elapsed());
        self.observer.metrics.end(Some(status));
        if left.is_none() {
            self.count(outcome, took);
        }
        self.answer = Some(Answer { status, outcome, took, bytes: 0, left });
        response.map(|body| Followed::new(body, self))
    }

    /// Whether nothing but the head goes out, whatever there would be.
    fn has_no_body(&self, status: StatusCode) -> bool {
        self.is_head || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
    }

    /// Takes note of bytes that go out.
    pub(super) fn send(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        self.observer.metrics.send(bytes);
        if let Some(answer) = &mut self.answer {
            answer.bytes += bytes;
            answer.left = answer.left.map(|left| left.saturating_sub(bytes));
        }
    }

    /// Counts it among those that ended so.
    fn count(&self, outcome: Outcome, took: Duration) {
        if self.is_of_endpoint {
            let asked = self.noted.asked.unwrap_or_default();
            self.observer.metrics.answer(asked.method, outcome, took);
        }
    }
}

/// The end, be it that all has been said or that nobody listens any more.
impl Drop for Exchange {
    fn drop(&mut self) {
        let (outcome, bytes) = match &self.answer {
            None => {
                self.observer.metrics.end(None);
                self.count(Outcome::Aborted, self.begun.elapsed());
                (Outcome::Aborted, 0)
            }
            Some(answer) => {
                let is_whole = answer.left.is_none_or(|left| left == 0);
                let outcome = if is_whole { answer.outcome } else { Outcome::Aborted };
                if answer.left.is_some() {
                    self.count(outcome, answer.took);
                }
                (outcome, answer.bytes)
            }
        };
        let Some(logged) = &self.logged else { return };
        let told = Told {
            status: self.answer.as_ref().map(|answer| answer.status),
            outcome,
            message: self.noted.asked.as_ref(),
            caller: self.noted.asker.caller.as_ref(),
            bytes,
            took: self.begun.elapsed(),
        };
        access_log::write(logged, &told);
    }
}
