//! Times and durations for people.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Utc};
use maud::{Markup, html};

/// A time in UTC, to the second; nothing for one that no calendar has.
pub(super) fn time(time: SystemTime) -> Markup {
    let seconds = time.duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_secs()).ok());
    let time: Option<DateTime<Utc>> = seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    html! {
        @if let Some(time) = time {
            time datetime=(time.format("%Y-%m-%dT%H:%M:%SZ")) { (time.format("%Y-%m-%d %H:%M:%S UTC")) }
        }
    }
}

/// How long something took.
pub(super) fn duration(took: Duration) -> String {
    match took.as_millis() {
        0 => "less than 1 ms".to_owned(),
        ms @ 1..1000 => format!("{ms} ms"),
        ms => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
    }
}
