//! All numbers of a server in the forms that Prometheus and others read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, prometheus_text, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::catalog::{CacheCounts, Catalog, Standing};
use crate::finding::{Code, Severity};
use crate::http::accept::ConnectionCounts;
use crate::http::outcome::Outcome;
use crate::http::sessions::Sessions;
use crate::mcp::gate::Gate;
use crate::mcp::method::Method;
use crate::report;

use super::{Metrics, STATUSES, process, read};

/// Who knows the numbers.
#[derive(Debug)]
pub(in crate::http) struct Sources {
    pub(in crate::http) metrics: Arc<Metrics>,
    pub(in crate::http) connections: Arc<ConnectionCounts>,
    pub(in crate::http) catalog: Catalog,
    pub(in crate::http) sessions: Arc<Sessions>,
    pub(in crate::http) gate: Gate,
    /// When the process began.
    pub(in crate::http) started: SystemTime,
}

/// A form in which numbers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Format {
    /// Version 0.0.4 of Prometheus' text format.
    Prometheus,
    /// Version 1.0.0 of OpenMetrics' text format.
    OpenMetrics,
}

impl Format {
    /// What it is called.
    pub(in crate::http) fn media_type(self) -> &'static str {
        match self {
            Self::Prometheus => prometheus_text::CONTENT_TYPE,
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Writes the numbers down.
#[derive(Debug)]
pub(in crate::http) struct Exposition(Registry);

impl Exposition {
    /// Of what these know.
    pub(in crate::http) fn new(sources: Sources) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(sources));
        Self(registry)
    }

    /// All numbers as they are now. It reads files of the system and all findings.
    pub(in crate::http) fn write(&self, format: Format) -> Result<String, fmt::Error> {
        let mut written = String::new();
        match format {
            Format::Prometheus => prometheus_text::encode(&mut written, &self.0)?,
            Format::OpenMetrics => text::encode(&mut written, &self.0)?,
        }
        Ok(written)
    }
}

impl Collector for Sources {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut page = Page(encoder);
        self.requests(&mut page)?;
        self.connections(&mut page)?;
        self.looks(&mut page)?;
        self.cache(&mut page)?;
        if let Some(standing) = self.catalog.standing() {
            catalog(&standing, &mut page)?;
        }
        self.process(&mut page)
    }
}

impl Sources {
    fn requests(&self, page: &mut Page<'_>) -> fmt::Result {
        let metrics = &self.metrics;
        let mut requests =
            page.family("skillserve_requests", "Requests to the endpoint", MetricType::Counter)?;
        for method in Method::all() {
            for (outcome, count) in Outcome::kinds().zip(&metrics.requests[method.index()]) {
                let count = read(count);
                // What can be is there from the start, so that its first rise is seen; what hardly ever is, is not.
                if count > 0 || outcome == "ok" {
                    count_of(&mut requests, &[("method", method.as_str()), ("outcome", outcome)], count)?;
                }
            }
        }
        let help = "Time from a request's head to that of its answer";
        let mut took = page.family("skillserve_request_duration_seconds", help, MetricType::Histogram)?;
        for method in Method::all() {
            let (sum, count, steps) = metrics.took[method.index()].read();
            if count > 0 {
                let labels = [("method", method.as_str())];
                let mut of_method = took.encode_family(&labels)?;
                of_method.encode_histogram::<NoLabelSet>(sum, count, &steps, None)?;
            }
        }
        let help = "Requests to any path by the class of their status";
        let mut statuses = page.family("skillserve_http_requests", help, MetricType::Counter)?;
        for (class, count) in STATUSES.iter().zip(&metrics.statuses) {
            count_of(&mut statuses, &[("status", class)], read(count))?;
        }
        let answered = read(&metrics.answered);
        let in_flight = read(&metrics.begun).saturating_sub(answered);
        page.gauge("skillserve_requests_in_flight", "Requests that have no answer yet", in_flight)?;
        page.counter("skillserve_response_bytes", "Bytes of the bodies of answers", read(&metrics.bytes))
    }

    fn connections(&self, page: &mut Page<'_>) -> fmt::Result {
        let connections = &self.connections;
        page.gauge("skillserve_connections_open", "Connections that are open", read(&connections.open))?;
        page.counter("skillserve_connections_accepted", "Connections accepted", read(&connections.accepted))?;
        let help = "Silent connections closed to make room for others";
        page.counter("skillserve_connections_dismissed", help, read(&connections.dismissed))?;
        let help = "Connections closed because too many of their requests were taken back";
        page.counter("skillserve_connections_in_vain", help, read(&connections.in_vain))?;
        let help = "Connections closed because what came over them was no request that can be read";
        page.counter("skillserve_connections_unreadable", help, read(&connections.unreadable))?;
        let help = "Connections closed at once because their address had as many as it may";
        page.counter("skillserve_connections_refused", help, read(&connections.refused))?;
        let help = "Streams open that tell of changes";
        page.gauge("skillserve_subscriptions_open", help, self.gate.inside() as u64)?;
        page.gauge("skillserve_sessions_open", "Sessions of older clients", self.sessions.count() as u64)
    }

    fn looks(&self, page: &mut Page<'_>) -> fmt::Result {
        let looks = self.catalog.look_counts();
        let mut family = page.family("skillserve_looks", "Looks at the directories", MetricType::Counter)?;
        count_of(&mut family, &[("outcome", "ok")], looks.succeeded)?;
        count_of(&mut family, &[("outcome", "failed")], looks.failed)?;
        page.counter_of_seconds("skillserve_look_seconds", "Time spent on looks", looks.took.as_secs_f64())?;
        let help = "Directories listed in looks";
        page.counter("skillserve_look_directories", help, looks.directories)
    }

    fn cache(&self, page: &mut Page<'_>) -> fmt::Result {
        let CacheCounts { hits, misses, reads, evictions, held_bytes, max_bytes } =
            self.catalog.cache_counts();
        page.counter("skillserve_cache_hits", "Files that were in memory when asked for", hits)?;
        page.counter("skillserve_cache_misses", "Files that were not", misses)?;
        page.counter("skillserve_cache_reads", "Files read from disk because they were asked for", reads)?;
        page.counter("skillserve_cache_evictions", "Files that made room in memory for others", evictions)?;
        page.gauge(
            "skillserve_cache_bytes",
            "Bytes of files, and of what is prepared of them for answers, in memory",
            held_bytes,
        )?;
        page.gauge("skillserve_cache_max_bytes", "The most of these bytes", max_bytes)
    }

    fn process(&self, page: &mut Page<'_>) -> fmt::Result {
        let mut build = page.family("skillserve_build", "What runs", MetricType::Info)?;
        build.encode_info(&[("version", env!("CARGO_PKG_VERSION"))])?;
        let help = "When the process began, in seconds since 1970";
        page.gauge_of_seconds("process_start_time_seconds", help, since_1970(self.started))?;
        let used = process::used();
        if let Some(bytes) = used.resident_bytes {
            page.gauge("process_resident_memory_bytes", "Memory that the process holds", bytes)?;
        }
        if let Some(seconds) = used.cpu_seconds {
            page.counter_of_seconds("process_cpu_seconds", "Time on a processor", seconds)?;
        }
        Ok(())
    }
}

/// What is served, what is not, and the last look.
fn catalog(standing: &Standing, page: &mut Page<'_>) -> fmt::Result {
    let totals = standing.snapshot.totals();
    page.gauge("skillserve_skills", "Skills that are served", totals.skills as u64)?;
    page.gauge("skillserve_files", "Files that are served", totals.files as u64)?;
    page.gauge("skillserve_file_bytes", "Bytes of the files that are served", totals.bytes)?;
    let mut skipped = BTreeMap::<Code, u64>::new();
    for code in report::skipped_skills(&standing.findings).into_values() {
        *skipped.entry(code).or_default() += 1;
    }
    let help = "Skills that are not served, by the code of the first finding that says why";
    let mut family = page.family("skillserve_skills_skipped", help, MetricType::Gauge)?;
    for (code, count) in skipped {
        family.encode_family(&[("code", code.as_str())])?.encode_gauge(&count)?;
    }
    let mut findings = BTreeMap::<(Code, Severity), u64>::new();
    for finding in &*standing.findings {
        *findings.entry((finding.code, finding.severity)).or_default() += 1;
    }
    let mut family = page.family("skillserve_findings", "What is wrong with skills", MetricType::Gauge)?;
    for ((code, severity), count) in findings {
        let labels = [("code", code.as_str()), ("severity", severity.as_str())];
        family.encode_family(&labels)?.encode_gauge(&count)?;
    }
    let lost = standing.roots.iter().filter(|root| root.is_lost).count();
    page.gauge("skillserve_roots", "Directories that are served", standing.roots.len() as u64)?;
    page.gauge("skillserve_roots_lost", "Those of them that cannot be read", lost as u64)?;
    let help = "When the last look that succeeded began, in seconds since 1970";
    page.gauge_of_seconds("skillserve_last_look_timestamp_seconds", help, since_1970(standing.look.at))
}

/// Metrics, one after the other. A counter's name gets its ending `_total` when it is written.
struct Page<'a>(DescriptorEncoder<'a>);

impl Page<'_> {
    fn family<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0.encode_descriptor(name, help, None, kind)
    }

    fn counter(&mut self, name: &str, help: &str, count: u64) -> fmt::Result {
        self.family(name, help, MetricType::Counter)?.encode_counter::<NoLabelSet, _, f64>(&count, None)
    }

    fn counter_of_seconds(&mut self, name: &str, help: &str, seconds: f64) -> fmt::Result {
        self.family(name, help, MetricType::Counter)?.encode_counter::<NoLabelSet, _, f64>(&seconds, None)
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.family(name, help, MetricType::Gauge)?.encode_gauge(&value)
    }

    fn gauge_of_seconds(&mut self, name: &str, help: &str, seconds: f64) -> fmt::Result {
        self.family(name, help, MetricType::Gauge)?.encode_gauge(&seconds)
    }
}

fn count_of<const N: usize>(
    family: &mut MetricEncoder<'_>,
    labels: &[(&str, &str); N],
    count: u64,
) -> fmt::Result {
    family.encode_family(labels)?.encode_counter::<NoLabelSet, _, f64>(&count, None)
}

fn since_1970(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).as_ref().map_or(0.0, Duration::as_secs_f64)
}
