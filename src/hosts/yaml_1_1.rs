//! What a scalar without quotes means in YAML 1.1, as PyYAML's resolver has it.

use serde_json::Value;

/// A meaning that YAML 1.1 gives to a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    Null,
    Bool(bool),
    Int(f64),
    Float(f64),
    /// A day or a point in time.
    Date,
    /// `<<` or `=`, which mean something as keys.
    Special,
    Text,
}

impl Meaning {
    pub(super) fn of(text: &str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Self::Null,
            "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Self::Bool(true),
            "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Self::Bool(false),
            "<<" | "=" => Self::Special,
            _ if is_date(text) => Self::Date,
            _ => float(text).map(Self::Float).or_else(|| int(text).map(Self::Int)).unwrap_or(Self::Text),
        }
    }

    /// In words.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(true) => "the boolean true",
            Self::Bool(false) => "the boolean false",
            Self::Int(_) => "another number",
            Self::Float(_) => "a number",
            Self::Date => "a date",
            Self::Special => "no plain text",
            Self::Text => "a text",
        }
    }

    /// Whether it is the value that YAML 1.2 gives.
    pub(super) fn is(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Null, Value::Null) | (Self::Text, Value::String(_)) => true,
            (Self::Bool(a), Value::Bool(b)) => a == *b,
            // Equal doubles are enough: what is beyond them is written alike in both.
            (Self::Int(a) | Self::Float(a), Value::Number(b)) => b.as_f64() == Some(a),
            _ => false,
        }
    }
}

/// `2026-11-30`, or with a time behind it.
fn is_date(text: &str) -> bool {
    let mut scan = Scan(text.as_bytes());
    let date = (scan.digits(), scan.take(b"-"), scan.digits(), scan.take(b"-"), scan.digits());
    let (4, true, month @ 1..=2, true, day @ 1..=2) = date else { return false };
    if scan.0.is_empty() {
        return (month, day) == (2, 2);
    }
    if !scan.take(b"Tt") && !scan.blanks() {
        return false;
    }
    let time = (scan.digits(), scan.take(b":"), scan.digits(), scan.take(b":"), scan.digits());
    if !matches!(time, (1..=2, true, 2, true, 2)) {
        return false;
    }
    if scan.take(b".") {
        scan.digits();
    }
    scan.blanks();
    if scan.take(b"Z") || scan.0.is_empty() {
        return scan.0.is_empty();
    }
    scan.take(b"+-")
        && matches!(scan.digits(), 1..=2)
        && (scan.0.is_empty() || scan.take(b":") && scan.digits() == 2 && scan.0.is_empty())
}

struct Scan<'a>(&'a [u8]);

impl Scan<'_> {
    fn digits(&mut self) -> usize {
        self.run(u8::is_ascii_digit)
    }

    fn blanks(&mut self) -> bool {
        self.run(|byte| matches!(byte, b' ' | b'\t')) > 0
    }

    fn run(&mut self, is: impl Fn(&u8) -> bool) -> usize {
        let count = self.0.iter().take_while(|byte| is(byte)).count();
        self.0 = self.0.get(count..).unwrap_or_default();
        count
    }

    fn take(&mut self, one_of: &[u8]) -> bool {
        let is = self.0.first().is_some_and(|first| one_of.contains(first));
        self.0 = self.0.get(usize::from(is)..).unwrap_or_default();
        is
    }
}

fn unsigned(text: &str) -> (f64, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (-1.0, text.get(1..).unwrap_or("")),
        Some(b'+') => (1.0, text.get(1..).unwrap_or("")),
        _ => (1.0, text),
    }
}

fn int(text: &str) -> Option<f64> {
    let (sign, rest) = unsigned(text);
    let digits: String = rest.chars().filter(|c| *c != '_').collect();
    let radix = |digits: &str, radix| u128::from_str_radix(digits, radix).ok().map(|n| sign * n as f64);
    if let Some(binary) = digits.strip_prefix("0b") {
        return radix(binary, 2);
    }
    if let Some(hexadecimal) = digits.strip_prefix("0x") {
        return radix(hexadecimal, 16);
    }
    if rest == "0" {
        return Some(0.0);
    }
    if rest.starts_with('0') {
        let is_octal = rest.len() > 1 && rest.bytes().all(|byte| matches!(byte, b'0'..=b'7' | b'_'));
        return if is_octal { radix(&digits, 8) } else { None };
    }
    if !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    sexagesimal(&digits)
        .or_else(|| digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?)
        .map(|n| sign * n)
}

/// `12:30:45`.
fn sexagesimal(digits: &str) -> Option<f64> {
    let mut parts = digits.split(':');
    let first: f64 = parts.next().filter(|first| first.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()?;
    let mut is_one = false;
    let sum = parts.try_fold(first, |sum, part| {
        is_one = true;
        let is_part = matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
        is_part.then(|| part.parse::<f64>().ok()).flatten().map(|part| sum * 60.0 + part)
    })?;
    is_one.then_some(sum)
}

fn float(text: &str) -> Option<f64> {
    let (sign, rest) = unsigned(text);
    match rest {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if rest.len() == text.len() => return Some(f64::NAN),
        _ => {}
    }
    let (whole, fraction) = rest.split_once('.')?;
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    if whole.contains(':') {
        let fraction = fraction.replace('_', "");
        let part: f64 = if fraction.is_empty() { 0.0 } else { format!("0.{fraction}").parse().ok()? };
        return Some(sign * (sexagesimal(&whole.replace('_', ""))? + part));
    }
    let (fraction, exponent) = match fraction.find(['e', 'E']) {
        Some(at) => (fraction.get(..at)?, Some(fraction.get(at + 1..)?)),
        None => (fraction, None),
    };
    let has_start = if whole.is_empty() {
        // A sign cannot stand directly before the point.
        rest.len() == text.len() && fraction.starts_with(|c: char| c.is_ascii_digit())
    } else {
        whole.starts_with(|c: char| c.is_ascii_digit())
    };
    let has_exponent = exponent.is_none_or(|exponent| {
        exponent
            .strip_prefix(['+', '-'])
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    });
    if !has_start || !has_exponent || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let (whole, fraction) = (whole.replace('_', ""), fraction.replace('_', ""));
    let exponent = exponent.unwrap_or("0");
    format!("0{whole}.{fraction}0e{exponent}").parse::<f64>().ok().map(|n| sign * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Meaning) {
        assert_eq!(Meaning::of(text), expected, "{text}");
    }

    #[test]
    fn scalars_mean_what_pyyaml_says() {
        check("yes", Meaning::Bool(true));
        check("OFF", Meaning::Bool(false));
        check("y", Meaning::Text);
        check("oN", Meaning::Text);
        check("~", Meaning::Null);
        for (text, number) in [
            ("017", 15.0),
            ("0b101", 5.0),
            ("0x1F", 31.0),
            ("1_000", 1000.0),
            ("12:30", 750.0),
            ("12:30:45", 45045.0),
            ("-12", -12.0),
            ("+7", 7.0),
            ("0", 0.0),
            ("-0b1", -1.0),
        ] {
            check(text, Meaning::Int(number));
        }
        for (text, number) in
            [("1.5", 1.5), ("1.", 1.0), (".5", 0.5), ("1.5e+3", 1500.0), ("1_0.5", 10.5), ("1:30.5", 90.5)]
        {
            check(text, Meaning::Float(number));
        }
        for text in
            ["1e3", "1.5e3", "-.5", "08", "0o17", "1.2.3", "12:60", "0:30", "_1", "v1", "0x", "1:", "-", "."]
        {
            check(text, Meaning::Text);
        }
        for text in [
            "2026-11-30",
            "2026-11-30T10:00:00Z",
            "2026-1-3 1:00:00",
            "2026-11-30 10:00:00.5 +1:00",
            "2026-13-45",
        ] {
            check(text, Meaning::Date);
        }
        for text in ["2026-1-3", "2026-11", "2026-11-30T10:00", "2026-11-30x", "2026-11-30 10:00:00 Zulu"] {
            check(text, Meaning::Text);
        }
        check("<<", Meaning::Special);
    }

    #[test]
    fn a_meaning_is_compared_with_that_of_yaml_1_2() {
        let same =
            |text: &str| crate::yaml::plain_value(text).is_some_and(|value| Meaning::of(text).is(&value));
        for text in [
            "true",
            "12",
            "-7",
            "0x1F",
            "1.0",
            ".5",
            "text",
            "null",
            "1.10",
            "00",
            "1789692905",
            "18446744073709551617",
        ] {
            assert!(same(text), "{text}");
        }
        for text in ["yes", "017", "0o17", "1_000", "12:30", "0b101", "1e3", "-.5", "08", "=", "2026-11-30"] {
            assert!(!same(text), "{text}");
        }
    }
}
