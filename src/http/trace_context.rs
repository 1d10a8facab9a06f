//! W3C Trace Context: which trace a request belongs to, so that its line in the log can be found from there.

use std::fmt;

use axum::http::{HeaderMap, HeaderName};

/// The header that says so. In the `_meta` of a message since 2026-07-28 the key is the same.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The bytes of a value of version 00: `00-` and 32, 16 and 2 hex digits. Later versions may append to it.
const LEN: usize = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".len();

/// The trace that a request belongs to, and the span that it was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceContext {
    trace: u128,
    parent: u64,
}

impl TraceContext {
    /// What the headers say; nothing if they say it twice or wrongly.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(TRACEPARENT).iter();
        let value = values.next()?;
        if values.next().is_some() {
            return None;
        }
        Self::parse(value.to_str().ok()?)
    }

    /// Takes a value that keeps to the format.
    pub(super) fn parse(value: &str) -> Option<Self> {
        let (head, rest) = value.split_at_checked(LEN)?;
        let mut parts = head.split('-');
        let mut hex = |digits: usize| {
            let part = parts.next()?;
            let is_hex = part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            (part.len() == digits && is_hex).then(|| u128::from_str_radix(part, 16).ok()).flatten()
        };
        let (version, trace, parent, _flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
        let is_whole = if version == 0 { rest.is_empty() } else { rest.is_empty() || rest.starts_with('-') };
        let parent = u64::try_from(parent).ok()?;
        (version != 0xff && trace != 0 && parent != 0 && is_whole).then_some(Self { trace, parent })
    }

    /// The trace's id.
    pub(super) fn trace_id(self) -> impl fmt::Display {
        Hex::<32>(self.trace)
    }

    /// The id of the span that the request was made in.
    pub(super) fn parent_id(self) -> impl fmt::Display {
        Hex::<16>(self.parent.into())
    }
}

/// A number with so many hex digits.
struct Hex<const DIGITS: usize>(u128);

impl<const DIGITS: usize> fmt::Display for Hex<DIGITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0DIGITS$x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn check(value: &str, expected: Option<(&str, &str)>) {
        let ids = TraceContext::parse(value)
            .map(|context| (context.trace_id().to_string(), context.parent_id().to_string()));
        assert_eq!(ids.as_ref().map(|(trace, parent)| (&**trace, &**parent)), expected, "{value}");
    }

    #[test]
    fn a_trace_context_keeps_to_its_format() {
        let ids = Some(("0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"));
        check("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01", ids);
        check("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00", ids);
        check("cc-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-what-comes", ids);
        for value in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-0",
            "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-more",
            "cc-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01.more",
            "ff-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-00F067AA0BA902B7-01",
            "00-0af7651916cd43dd8448eb211c80319-c00f067aa0ba902b7-01",
            "00-+af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
            "00_0af7651916cd43dd8448eb211c80319c_00f067aa0ba902b7_01",
            "ää-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-0",
        ] {
            check(value, None);
        }
    }

    #[test]
    fn a_header_that_is_there_twice_says_nothing() {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_static("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01");
        headers.append(TRACEPARENT, value.clone());
        assert!(TraceContext::of(&headers).is_some());
        headers.append(TRACEPARENT, value);
        assert_eq!(TraceContext::of(&headers), None);
    }
}
