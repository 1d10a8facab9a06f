//! What is counted of requests. Counting is a few additions to numbers that have their place from the start: no request
//! waits for another one, or for who reads the numbers.

mod exposition;
mod histogram;
mod process;

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;

use crate::mcp::method::Method;

use super::outcome::Outcome;

pub(super) use exposition::{Exposition, Format, Sources};

use histogram::Histogram;

/// The classes of HTTP statuses.
const STATUSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The numbers of a server.
#[derive(Debug)]
pub(super) struct Metrics {
    /// Requests to the endpoint, by method and kind of outcome.
    requests: [[AtomicU64; Outcome::KINDS]; Method::COUNT],
    /// How long they took, by method.
    took: [Histogram; Method::COUNT],
    /// Requests to any path, by the class of their status.
    statuses: [AtomicU64; STATUSES.len()],
    /// Requests that have begun and those that have been answered. Their difference is in flight.
    begun: AtomicU64,
    answered: AtomicU64,
    bytes: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: array::from_fn(|_| array::from_fn(|_| AtomicU64::default())),
            took: array::from_fn(|_| Histogram::default()),
            statuses: array::from_fn(|_| AtomicU64::default()),
            begun: AtomicU64::default(),
            answered: AtomicU64::default(),
            bytes: AtomicU64::default(),
        }
    }
}

impl Metrics {
    /// Counts a request that has come in.
    pub(super) fn begin(&self) {
        add(&self.begun, 1);
    }

    /// Counts the end of one that has begun: its answer is there, or nobody waits for it any more.
    pub(super) fn end(&self, status: Option<StatusCode>) {
        add(&self.answered, 1);
        let class = status.and_then(|status| usize::from(status.as_u16() / 100).checked_sub(1));
        if let Some(count) = class.and_then(|class| self.statuses.get(class)) {
            add(count, 1);
        }
    }

    /// Counts a request to the endpoint.
    pub(super) fn answer(&self, method: Method, outcome: Outcome, took: Duration) {
        add(&self.requests[method.index()][outcome.kind()], 1);
        self.took[method.index()].observe(took);
    }

    /// Counts bytes of answers.
    pub(super) fn send(&self, bytes: u64) {
        add(&self.bytes, bytes);
    }
}

fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Ordering::Relaxed);
}

fn read(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}
