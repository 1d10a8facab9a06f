//! `skill://` URIs and the paths that they stand for, both ways (U1–U3).
//!
//! A path here is a served path: `/`-separated UTF-8 segments, none of them empty, `.` or `..`, and without NUL.

use std::borrow::Cow;

use memchr::memchr2;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode_str, utf8_percent_encode};

/// The scheme and what follows it, as written in every URI that goes out.
pub const SCHEME: &str = "skill://";

/// The longest URI that is looked at, in bytes: the longest served path, each byte percent-encoded, and room to spare.
pub const URI_MAX_BYTES: usize = 64 * 1024;

/// All but RFC 3986's unreserved characters and the slash. A colon in the first segment would read as a port (U3),
/// and escaping the sub-delimiters too keeps one spelling for every path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Why a URI names no served path. The message completes "the URI …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// Another scheme, or no URI at all.
    #[error("does not begin with skill://")]
    Scheme,
    /// Longer than [`URI_MAX_BYTES`].
    #[error("is longer than {URI_MAX_BYTES} bytes")]
    TooLong,
    /// A query or a fragment; a literal `?` or `#` of a file name is percent-encoded.
    #[error("has a query or a fragment")]
    Suffix,
    /// An escape that is not two hex digits, or escapes that are not UTF-8.
    #[error("has a broken percent-escape")]
    Escape,
    /// An empty segment, `.`, `..`, or one with an encoded slash or NUL.
    #[error("has a segment that no file can have")]
    Segment,
}

/// A served path's parent, empty at the top, and its last segment.
pub fn split(path: &str) -> (&str, &str) {
    // Segments are short.
    match path.bytes().rposition(|byte| byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => ("", path),
    }
}

/// The URI of a served path.
pub fn from_path(path: &str) -> String {
    let mut uri = String::with_capacity(SCHEME.len() + path.len());
    uri.push_str(SCHEME);
    if is_plain(path) {
        uri.push_str(path);
    } else {
        uri.extend(escaped(path));
    }
    uri
}

/// Whether a served path stands in its URI as it is, as nearly all do.
pub fn is_plain(path: &str) -> bool {
    // All bytes are looked at, whatever the first ones are, many at a time.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() | matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    path.bytes().fold(true, |all, byte| all & is_plain(byte))
}

/// Whether `uri` is how the URI of this served path is written.
pub fn is_of_path(uri: &str, path: &str) -> bool {
    if is_plain(path) { uri.strip_prefix(SCHEME) == Some(path) } else { uri == from_path(path) }
}

/// A served path as it stands in a URI, also in its query.
pub fn escaped(path: &str) -> PercentEncode<'_> {
    utf8_percent_encode(path, ESCAPED)
}

/// The served path that a URI names, whichever RFC 3986 spelling it has: the scheme's case, the case of hex digits, and
/// which characters are escaped make no difference. Everything else does: dot segments, empty segments (so a trailing
/// slash), encoded slashes and NUL are refused, never resolved.
///
/// # Errors
/// A [`UriError`] for whatever no served path can be written as.
pub fn to_path(uri: &str) -> Result<String, UriError> {
    if uri.len() > URI_MAX_BYTES {
        return Err(UriError::TooLong);
    }
    let rest = match uri.split_at_checked(SCHEME.len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(SCHEME) => rest,
        _ => return Err(UriError::Scheme),
    };
    if memchr2(b'?', b'#', rest.as_bytes()).is_some() {
        return Err(UriError::Suffix);
    }
    let mut path = String::with_capacity(rest.len());
    for segment in rest.split('/') {
        if !path.is_empty() {
            path.push('/');
        }
        let decoded = decode_segment(segment)?;
        if matches!(&*decoded, "" | "." | "..") || memchr2(b'/', 0, decoded.as_bytes()).is_some() {
            return Err(UriError::Segment);
        }
        path.push_str(&decoded);
    }
    Ok(path)
}

fn decode_segment(segment: &str) -> Result<Cow<'_, str>, UriError> {
    if !segment.contains('%') {
        return Ok(segment.into());
    }
    // `percent_decode_str` passes a broken escape through; here it is an error, so that a URI has one meaning.
    let mut after_percent = segment.split('%').skip(1);
    let whole =
        |part: &str| part.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    if !after_percent.all(whole) {
        return Err(UriError::Escape);
    }
    percent_decode_str(segment).decode_utf8().map_err(|_| UriError::Escape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(uri: &str, expected: Result<&str, UriError>) {
        assert_eq!(to_path(uri).as_deref(), expected.as_ref().map(|path| *path), "{uri}");
    }

    #[test]
    fn a_uri_names_a_path_in_any_equivalent_spelling() {
        check("skill://a/SKILL.md", Ok("a/SKILL.md"));
        check("SKILL://a/SKILL.md", Ok("a/SKILL.md"));
        check("skill://a/%53KILL%2Emd", Ok("a/SKILL.md"));
        check("skill://a/caf%c3%a9.md", Ok("a/café.md"));
        check("skill://a/café.md", Ok("a/café.md"));
        check("skill://a/b:c", Ok("a/b:c"));
        check("skill://a/%255c", Ok("a/%5c"));
        check("skill://a/%5C", Ok("a/\\"));
        check("skill://a/...", Ok("a/..."));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        check("a/SKILL.md", Err(UriError::Scheme));
        check("file:///etc/passwd", Err(UriError::Scheme));
        check("skill:/a", Err(UriError::Scheme));
        check("", Err(UriError::Scheme));
        check("skill://", Err(UriError::Segment));
        check("skill:///a", Err(UriError::Segment));
        check("skill://a/", Err(UriError::Segment));
        check("skill://a//b", Err(UriError::Segment));
        check("skill://a/../b", Err(UriError::Segment));
        check("skill://a/%2e%2E/b", Err(UriError::Segment));
        check("skill://a/./b", Err(UriError::Segment));
        check("skill://a%2fb", Err(UriError::Segment));
        check("skill://a/%00", Err(UriError::Segment));
        check("skill://a\0", Err(UriError::Segment));
        check("skill://a?b", Err(UriError::Suffix));
        check("skill://a#b", Err(UriError::Suffix));
        check("skill://a/%", Err(UriError::Escape));
        check("skill://a/%4", Err(UriError::Escape));
        check("skill://a/%zz", Err(UriError::Escape));
        check("skill://a/%ff", Err(UriError::Escape));
        check(&format!("skill://{}", "a".repeat(URI_MAX_BYTES)), Err(UriError::TooLong));
    }

    #[test]
    fn a_path_is_written_one_way() {
        assert_eq!(from_path("acme/setup guide.md"), "skill://acme/setup%20guide.md");
        assert_eq!(from_path("a/100%#1?.md"), "skill://a/100%25%231%3F.md");
        assert_eq!(from_path("a:b/c\\d"), "skill://a%3Ab/c%5Cd");
        assert_eq!(from_path("a/é~_-."), "skill://a/%C3%A9~_-.");
    }

    proptest! {
        #[test]
        fn every_path_comes_back(segments in prop::collection::vec("[^/\0]{1,20}", 1..6)) {
            prop_assume!(segments.iter().all(|s| s != "." && s != ".."));
            let path = segments.join("/");
            let uri = from_path(&path);
            prop_assert!(is_of_path(&uri, &path));
            let others = [&uri[..uri.len() - 1], &(uri.clone() + "a")];
            prop_assert!(others.iter().all(|other| !is_of_path(other, &path)));
            prop_assert_eq!(to_path(&uri), Ok(path));
        }

        #[test]
        fn no_uri_brings_it_down(uri in ".*") {
            if let Ok(path) = to_path(&format!("skill://{uri}")) {
                prop_assert_eq!(to_path(&from_path(&path)), Ok(path));
            }
        }
    }
}
