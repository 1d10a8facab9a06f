//! How the parsers and the format's rules put a [`Problem`] together.

use std::ops::Range;

use serde_json::Value;

use crate::finding::{Code, Problem};

/// The most code points of untrusted text that a message quotes.
const QUOTE_MAX_CHARS: usize = 60;

/// A problem from its parts.
pub(crate) fn problem(
    code: Code,
    span: Range<usize>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Problem {
    Problem { code, span, message: message.into(), help: help.into(), elsewhere: Vec::new() }
}

/// `text` as a message may quote it: one line, of bounded length.
pub(crate) fn shorten(text: &str) -> String {
    let line = text.split(['\n', '\r']).next().unwrap_or("");
    match line.char_indices().nth(QUOTE_MAX_CHARS) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or("")),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

/// What a value is, in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_one_line_of_bounded_length() {
        assert_eq!(shorten("a b"), "a b");
        assert_eq!(shorten("a\nb"), "a…");
        assert_eq!(shorten(&"é".repeat(QUOTE_MAX_CHARS)), "é".repeat(QUOTE_MAX_CHARS));
        assert_eq!(shorten(&"é".repeat(QUOTE_MAX_CHARS + 1)), "é".repeat(QUOTE_MAX_CHARS) + "…");
    }
}
