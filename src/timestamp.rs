//! A time as RFC 3339 writes it, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Datelike, SecondsFormat, Utc};

/// In whole seconds. `None` outside the years that it can write.
pub(crate) fn seconds(time: SystemTime) -> Option<String> {
    Some(utc(time)?.to_rfc3339_opts(SecondsFormat::Secs, true))
}

/// In milliseconds. `None` outside the years that it can write.
pub(crate) fn millis(time: SystemTime) -> Option<String> {
    Some(utc(time)?.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Cut to whole milliseconds.
fn utc(time: SystemTime) -> Option<DateTime<Utc>> {
    let millis = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).ok()?,
        Err(before) => -i64::try_from(before.duration().as_millis()).ok()?,
    };
    DateTime::from_timestamp_millis(millis).filter(|time| (0..=9999).contains(&time.year()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_is_written_as_rfc_3339_says() {
        let written = |s| seconds(UNIX_EPOCH + Duration::from_secs(s));
        assert_eq!(written(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(written(1_785_196_800).as_deref(), Some("2026-07-28T00:00:00Z"));
        assert_eq!(written(253_402_300_799).as_deref(), Some("9999-12-31T23:59:59Z"));
        assert_eq!(written(253_402_300_800), None);
        assert_eq!(written(i64::MAX as u64), None);
        let early = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(seconds(early).as_deref(), Some("1969-12-31T23:59:59Z"));
        let between = UNIX_EPOCH + Duration::from_micros(1_002_900);
        assert_eq!(millis(between).as_deref(), Some("1970-01-01T00:00:01.002Z"));
    }
}
