//! Whether a client still has what it asks for, by the tag that it was told then.

use axum::http::HeaderMap;
use axum::http::header::IF_NONE_MATCH;

/// Whether a client has what `tag` stands for. Tags are compared weakly, because a proxy that compresses weakens them.
pub(super) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let weak = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    values.flat_map(|value| value.split(',')).any(|known| known.trim() == "*" || weak(known) == weak(tag))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_tag_is_compared_weakly() {
        let check = |known, expected| {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, HeaderValue::from_static(known))]);
            assert_eq!(is_known(&headers, "W/\"a-1\""), expected, "{known}");
        };
        check("W/\"a-1\"", true);
        check("\"b\", \"a-1\"", true);
        check("*", true);
        check("\"a-2\"", false);
        check("a-1", false);
    }
}
