//! What is counted, and how it is told.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// When counting begins and ends.
#[derive(Clone, Copy)]
pub struct Span {
    begin: Instant,
    end: Instant,
}

impl Span {
    /// A span of so many seconds, which begins when the other side has warmed up.
    pub fn new(seconds: f64) -> Self {
        let begin = Instant::now() + Duration::from_secs_f64(seconds / 10.0);
        Self { begin, end: begin + Duration::from_secs_f64(seconds) }
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

/// The answers that came within a span.
pub struct Tally {
    span: Span,
    latencies: Vec<Duration>,
    all: usize,
    bytes: usize,
}

impl Tally {
    pub fn new(span: Span) -> Self {
        Self { span, latencies: Vec::new(), all: 0, bytes: 0 }
    }

    /// Counts an answer of so many bytes to what was asked at `asked`.
    pub fn add(&mut self, asked: Instant, bytes: usize) {
        let now = Instant::now();
        self.all += 1;
        if now >= self.span.begin && now < self.span.end {
            self.latencies.push(now - asked);
            self.bytes += bytes;
        }
    }

    pub fn merge(mut self, other: Self) -> Self {
        self.latencies.extend(other.latencies);
        self.all += other.all;
        self.bytes += other.bytes;
        self
    }

    /// What is told. `answers` are all that came, before the span too.
    pub fn report(mut self) -> Value {
        self.latencies.sort_unstable();
        let at = |part: f64| {
            let index = (self.latencies.len().saturating_sub(1) as f64 * part) as usize;
            self.latencies.get(index).map(|latency| latency.as_secs_f64() * 1e6)
        };
        let count = self.latencies.len();
        let seconds = (self.span.end - self.span.begin).as_secs_f64();
        json!({
            "answers": self.all,
            "per_second": count as f64 / seconds,
            "mb_per_second": self.bytes as f64 / 1e6 / seconds,
            "bytes": self.bytes as f64 / count.max(1) as f64,
            "p50_us": at(0.5),
            "p99_us": at(0.99),
            "max_us": at(1.0),
        })
    }
}
