//! A time as RFC 3339 writes it, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Datelike as _, SecondsFormat, Timelike as _, Utc};

/// In whole seconds. `None` outside the years that it can write. Listings have one for each file, so its digits are put in
/// their places without the detour of a format.
pub(crate) fn seconds(time: SystemTime) -> Option<String> {
    let time = utc(time)?;
    let year = time.year().unsigned_abs();
    let pairs = [year / 100, year % 100, time.month(), time.day(), time.hour(), time.minute(), time.second()];
    let mut text = *b"0000-00-00T00:00:00Z";
    for (at, pair) in [0, 2, 5, 8, 11, 14, 17].into_iter().zip(pairs) {
        let pair = pair as u8;
        text[at] += pair / 10;
        text[at + 1] += pair % 10;
    }
    str::from_utf8(&text).ok().map(str::to_owned)
}

/// Times in whole seconds, one after the other. The files of a skill were mostly written together, so that one is often
/// written as the one before.
#[derive(Debug, Default)]
pub(crate) struct Seconds {
    /// Since 1970, and as they are written.
    last: Option<(u64, String)>,
}

impl Seconds {
    /// As [`seconds`].
    pub(crate) fn of(&mut self, time: SystemTime) -> Option<&str> {
        let since = time.duration_since(UNIX_EPOCH).map(|since| since.as_secs());
        // Those before 1970 are rare, and counted otherwise.
        let is_last =
            self.last.as_ref().is_some_and(|(last, _)| since.as_ref().is_ok_and(|since| since == last));
        if !is_last {
            self.last = Some((since.unwrap_or(u64::MAX), seconds(time)?));
        }
        self.last.as_ref().map(|(_, text)| &**text)
    }
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

    use proptest::prelude::*;

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

    #[test]
    fn one_time_after_the_other_is_written_as_each_alone() {
        let mut written = Seconds::default();
        let after = |nanos| UNIX_EPOCH + Duration::from_nanos(nanos);
        let early = UNIX_EPOCH - Duration::from_secs(1);
        for time in
            [after(1), after(2), after(1_500_000_000), after(0), early, early, after(0), after(1 << 62)]
        {
            assert_eq!(written.of(time), seconds(time).as_deref());
        }
    }

    proptest! {
        #[test]
        fn every_time_is_written_as_chrono_writes_it(second in -62_167_219_200..=253_402_300_799_i64) {
            let time = DateTime::from_timestamp_secs(second).unwrap();
            let expected = time.to_rfc3339_opts(SecondsFormat::Secs, true);
            prop_assert_eq!(seconds(time.into()), Some(expected));
        }
    }
}
