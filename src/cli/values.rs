//! The values of options as people write them: numbers, with units where they have any.

use std::str::FromStr;

/// The units of sizes in small letters, and how many bytes they are. A letter alone is none of them: some programs take it
/// for a thousand, and others for 1024.
const SIZES: [(&str, u64); 11] = [
    ("", 1),
    ("b", 1),
    ("kb", 1000),
    ("mb", 1000 * 1000),
    ("gb", 1000 * 1000 * 1000),
    ("ki", 1 << 10),
    ("mi", 1 << 20),
    ("gi", 1 << 30),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
];

/// The units of times, and how many seconds they are.
const TIMES: [(&str, u64); 4] = [("", 1), ("s", 1), ("m", 60), ("h", 3600)];

/// A number of bytes.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let number = with_unit(&text.to_ascii_lowercase(), &SIZES);
    number.ok_or_else(|| {
        "give a whole number of bytes, for example 16777216, or one with kB, MB, GB, KiB, MiB or GiB, for example 16MiB"
            .to_owned()
    })
}

/// A number of seconds.
pub(super) fn seconds(text: &str) -> Result<u64, String> {
    let number = with_unit(text, &TIMES);
    number.ok_or_else(|| {
        "give a whole number of seconds, for example 30, or one with s, m or h, for example 5m".to_owned()
    })
}

/// A number of seconds that pass between two things.
pub(super) fn period(text: &str) -> Result<u64, String> {
    match seconds(text)? {
        0 => Err("give at least 1 second".to_owned()),
        seconds => Ok(seconds),
    }
}

/// A number of things.
pub(super) fn count<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "give a whole number, for example 100".to_owned())
}

/// Whether something is so.
pub(super) fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" | "t" | "y" => Ok(true),
        "false" | "no" | "off" | "0" | "f" | "n" => Ok(false),
        _ => Err("give true or false".to_owned()),
    }
}

/// The number in front, times its unit; `None` if it is no number, or larger than any.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, times) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_may_have_a_unit() {
        let check = |text: &str, expected: Option<u64>| assert_eq!(bytes(text).ok(), expected, "{text}");
        check("0", Some(0));
        check("16777216", Some(16 << 20));
        check("10MB", Some(10_000_000));
        check("16 MiB", Some(16 << 20));
        check("1gib", Some(1 << 30));
        check("64Ki", Some(64 << 10));
        check("7B", Some(7));
        for text in ["", "MB", "10M", "-1", "+1", "1.5MB", "10 M B", "1e3", "99999999999GB", " 1"] {
            check(text, None);
        }
    }

    #[test]
    fn a_time_may_have_a_unit() {
        let check = |text: &str, expected: Option<u64>| assert_eq!(seconds(text).ok(), expected, "{text}");
        check("30", Some(30));
        check("30s", Some(30));
        check("5 m", Some(300));
        check("1h", Some(3600));
        for text in ["", "s", "500ms", "1d", "1.5", "-1", "soon"] {
            check(text, None);
        }
        assert_eq!((period("0s").ok(), period("1s").ok()), (None, Some(1)));
    }
}
