//! The id by which a request is found again in logs: the client's or a proxy's own where it is plain, else one of ours.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header that carries it, both ways.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is taken over. A UUID has 36 bytes, and some proxies write two of them.
const ID_MAX_BYTES: usize = 80;

/// What the ids of this process begin with, so that those of another one are others.
static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The id of the request with these headers: plain characters that need no escape in a log.
pub(super) fn of(headers: &HeaderMap) -> HeaderValue {
    brought(headers).unwrap_or_else(new)
}

/// The id that the request with these headers has already, if it is plain.
pub(super) fn brought(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(REQUEST_ID).filter(|value| is_plain(value.as_bytes())).cloned()
}

/// An id of our own.
fn new() -> HeaderValue {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let id = format!("{:016x}-{number}", *PROCESS);
    // Hex digits, a hyphen and digits are a header's value.
    HeaderValue::try_from(id).unwrap_or_else(|_| HeaderValue::from_static("none"))
}

fn is_plain(id: &[u8]) -> bool {
    let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=@".contains(byte);
    (1..=ID_MAX_BYTES).contains(&id.len()) && id.iter().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(brought: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_bytes(brought.as_bytes()).unwrap());
        of(&headers).to_str().unwrap().to_owned()
    }

    #[test]
    fn a_plain_id_is_taken_over() {
        for plain in ["a", "7f9c-24e8:1", "Root=1-67891233-abcdef", &"x".repeat(ID_MAX_BYTES)] {
            assert_eq!(id(plain), plain);
        }
        for odd in ["", "a b", "a\"b", "ä", "a;b", "a,b", "\u{202e}x", &"x".repeat(ID_MAX_BYTES + 1)] {
            assert_ne!(id(odd), odd);
        }
    }

    #[test]
    fn ids_of_our_own_are_others_each_time() {
        assert_ne!(id(""), id(""));
        assert!(is_plain(id("").as_bytes()));
    }
}
