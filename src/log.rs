//! What goes to stderr: findings and events, as text for people or as one JSON object a line for machines.

use std::fmt;
use std::time::SystemTime;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::finding::{Finding, Severity};
use crate::progress::{self, Stderr};
use crate::report::escape;
use crate::timestamp;

/// How events are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A line or two for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The target of the one event that is the result of a command and not a remark about it: it is told whatever the level.
pub const RESULT: &str = "skillserve::result";

/// The target of the line that each request has over HTTP.
pub const ACCESS: &str = "skillserve::access";

/// Writes what waits to be written when it is dropped, for at most a second or so.
pub type Guard = WorkerGuard;

/// The most lines that wait for a reader of stderr. Those beyond it are lost.
const WAITING_MAX_LINES: usize = 50_000;

/// Sends events of at least `level` to stderr from here on. What the libraries say is kept only when it is an error: at
/// finer levels they log whole messages. Text says when only if it `is_timed`; JSON always does.
///
/// A thread of its own writes them, because a host that does not read stderr must not hold up what it asks for.
pub fn start(level: LevelFilter, format: Format, is_timed: bool) -> Guard {
    let (stderr, guard) =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(WAITING_MAX_LINES).finish(Stderr);
    let filter = Targets::new()
        .with_target("skillserve", level)
        .with_target(RESULT, level.max(LevelFilter::INFO))
        // What it calls an error is a client that has gone.
        .with_target("rmcp", LevelFilter::OFF)
        .with_default(level.min(LevelFilter::ERROR));
    let layer = tracing_subscriber::fmt::layer().with_writer(stderr);
    let registry = tracing_subscriber::registry().with(filter);
    progress::allow(format == Format::Text && level >= LevelFilter::INFO);
    // A second start in one process changes nothing; only tests do that.
    let _ = match format {
        Format::Text => registry.with(layer.event_format(ForPeople { is_timed })).try_init(),
        Format::Json => registry.with(layer.json().flatten_event(true).with_target(false)).try_init(),
    };
    guard
}

/// Tells a finding.
pub fn finding(finding: &Finding) {
    let (code, help) = (finding.code.as_str(), escape::text(&finding.help));
    let (path, mut message) = (escape::path(&finding.path), escape::text(&finding.message));
    for elsewhere in &finding.elsewhere {
        message.push_str("; ");
        message.push_str(&elsewhere.sentence());
    }
    let (line, column) = (finding.place.as_ref().map(|p| p.line), finding.place.as_ref().map(|p| p.column));
    match finding.severity {
        Severity::Error => tracing::error!(code, path, line, column, help, "{message}"),
        Severity::Warning => tracing::warn!(code, path, line, column, help, "{message}"),
    }
}

/// `error[code] path:line:column: message`, then `help: …` on a line of its own. For a request, `METHOD /path …`. The time
/// stands before all that.
struct ForPeople {
    is_timed: bool,
}

impl<S, N> FormatEvent<S, N> for ForPeople
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        if self.is_timed {
            write!(out, "{} ", timestamp::millis(SystemTime::now()).unwrap_or_default())?;
        }
        if event.metadata().target() == ACCESS {
            let path = fields.path.as_deref().unwrap_or_default();
            return writeln!(out, "{}{path}{}", fields.message, fields.others);
        }
        out.write_str(match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warning",
            Level::INFO => "info",
            Level::DEBUG => "debug",
            Level::TRACE => "trace",
        })?;
        if let Some(code) = &fields.code {
            write!(out, "[{code}]")?;
        }
        if let Some(path) = &fields.path {
            write!(out, " {path}")?;
        }
        for number in fields.place.iter().flatten() {
            write!(out, ":{number}")?;
        }
        writeln!(out, ": {}{}", fields.message, fields.others)?;
        fields.help.map_or(Ok(()), |help| writeln!(out, "  help: {help}"))
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    code: Option<String>,
    path: Option<String>,
    /// The line, then the column.
    place: [Option<u64>; 2],
    help: Option<String>,
    others: String,
}

/// Whether a value can stand without quotes beside others.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/+@".contains(&byte))
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "code" => self.code = Some(value.to_owned()),
            "path" => self.path = Some(value.to_owned()),
            "help" => self.help = Some(value.to_owned()),
            "http_method" => self.message = format!("{value} "),
            name if is_plain(value) => {
                self.others.push_str(&format!(" {name}={value}"));
            }
            _ => self.record_debug(field, &value),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "line" => self.place[0] = Some(value),
            "column" => self.place[1] = Some(value),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        use fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.others, " {name}={value:?}"),
        };
    }
}
