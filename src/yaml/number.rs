//! Numbers of the YAML 1.2 core schema as JSON numbers, digit for digit, and as the keys that JavaScript makes of them.

use serde_json::Number;

/// What a plain text is, when it looks like a number.
#[derive(Debug, PartialEq)]
pub(super) enum Read {
    /// No number.
    Text,
    /// A number that JSON can hold.
    Number(Number),
    /// A number that JSON cannot hold, or that is infinite as the double that hosts make of it.
    NotJson,
}

/// Reads `text` by the number forms of the core schema (YAML 1.2.2, 10.3.2).
pub(super) fn read(text: &str) -> Read {
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if is_special_float(text) {
        return Read::NotJson;
    }
    match decimal(text) {
        // JSON texts have no infinity, so a double that overflows is `Infinity` on one side and an error on the other.
        Some(json) if json.parse::<f64>().is_ok_and(f64::is_finite) => number(&json),
        Some(_) => Read::NotJson,
        None => Read::Text,
    }
}

/// `number` as the property name that JavaScript gives it.
pub(super) fn property_name(number: &Number) -> Option<String> {
    number.as_str().parse::<f64>().ok().filter(|double| double.is_finite()).map(javascript)
}

fn number(json: &str) -> Read {
    serde_json::from_str(json).map_or(Read::NotJson, Read::Number)
}

fn radix(digits: &str, radix: u32) -> Read {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Read::Text;
    }
    u128::from_str_radix(digits, radix).map_or(Read::NotJson, |value| number(&value.to_string()))
}

fn is_special_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// The JSON spelling of a decimal integer or float, if `text` is one: `+012` is `12`, `.5` is `0.5`, `5.` is `5.0`.
fn decimal(text: &str) -> Option<String> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole)
        || !digits(fraction.unwrap_or(""))
        || (whole.is_empty() && fraction.is_none_or(str::is_empty))
    {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        significant => significant,
    };
    let fraction = match fraction {
        None => String::new(),
        // A float stays a float for the hosts that tell it from an integer.
        Some("") => ".0".to_owned(),
        Some(digits) => format!(".{digits}"),
    };
    let exponent = match exponent {
        None => String::new(),
        Some(text) => {
            let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
            if unsigned.is_empty() || !digits(unsigned) {
                return None;
            }
            format!("e{text}")
        }
    };
    Some(format!("{sign}{whole}{fraction}{exponent}"))
}

/// `Number::toString` of ECMAScript for a finite double.
fn javascript(double: f64) -> String {
    if double == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:e}", double.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    let text = if count <= point && point <= 21 {
        format!("{digits}{}", zeros(point - count))
    } else if 0 < point && point <= 21 {
        let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{whole}.{fraction}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{:+}", point - 1)
    };
    if double < 0.0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let number = match read(text) {
            Read::Number(number) => Some(number.to_string()),
            Read::Text => None,
            Read::NotJson => Some("not JSON".to_owned()),
        };
        assert_eq!(number.as_deref(), expected, "{text:?}");
    }

    #[test]
    fn numbers_keep_their_digits() {
        for (text, json) in [
            ("0", "0"),
            ("-0", "-0"),
            ("+12", "12"),
            ("0755", "755"),
            ("1.0", "1.0"),
            ("1.10", "1.10"),
            ("5.", "5.0"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("-0.0", "-0.0"),
            ("0o17", "15"),
            ("0x1F", "31"),
            ("0xFFFFFFFFFFFFFFFFFF", "4722366482869645213695"),
            ("18446744073709551617", "18446744073709551617"),
            ("3.141592653589793238462643", "3.141592653589793238462643"),
            ("1e3", "1e+3"),
            ("1.e-3", "1.0e-3"),
        ] {
            check(text, Some(json));
        }
    }

    #[test]
    fn what_is_no_number_is_text() {
        for text in [
            "", "-", "+", ".", "e3", ".e3", "1e", "1e+", "1_000", "0b1", "0X1F", "-0x10", "0o8", "0x",
            "1.2.3", "12:30", "inf", "NaN", "-.nan", ".iNf", "١", "1 ", "--1",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn what_is_infinite_or_no_number_is_not_json() {
        for text in [
            ".inf",
            "-.Inf",
            "+.INF",
            ".nan",
            ".NaN",
            "1e400",
            &"9".repeat(400),
            &format!("0x{}", "f".repeat(40)),
        ] {
            check(text, Some("not JSON"));
        }
    }

    #[test]
    fn keys_are_spelt_as_javascript_spells_numbers() {
        for (double, name) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (123_456.789, "123456.789"),
            (0.000_001, "0.000001"),
            (0.000_000_1, "1e-7"),
            (1.5e-9, "1.5e-9"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.25e300, "1.25e+300"),
            (18_446_744_073_709_551_616.0, "18446744073709552000"),
        ] {
            assert_eq!(javascript(double), name);
        }
    }
}
