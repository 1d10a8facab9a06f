//! Properties of tokens, as a file holds them and as a request says them.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::credentials::Credentials;
use super::file::parse;
use super::token::{TOKEN_MAX_BYTES, Token, is_token};

/// The tokens of a file are read again when they are written by their digests.
pub fn tokens(file: &[u8]) {
    let Ok(entries) = parse(file) else { return };
    let digest = |token: &Token| hex::encode(token.digest().map(u64::to_ne_bytes).concat());
    let lines = entries.iter().map(|entry| format!("{}:sha256:{}\n", entry.name, digest(&entry.token)));
    let again = parse(lines.collect::<String>().as_bytes()).expect("the same");
    assert_eq!(again.len(), entries.len());
    assert!(again.iter().zip(&entries).all(|(a, b)| a.name == b.name && a.token.is(&b.token)));
}

/// Any header is read, and taken out, and a token is understood in both ways in which it can be said.
pub fn credentials(text: &[u8]) {
    let said = |value: HeaderValue| {
        let mut headers = HeaderMap::from_iter([(AUTHORIZATION, value)]);
        let credentials = Credentials::take(&mut headers, true);
        assert!(headers.is_empty());
        credentials
    };
    if let Ok(value) = HeaderValue::from_bytes(text) {
        said(value);
    }
    let is_given = |value: String| {
        let value = HeaderValue::from_str(&value).expect("a value");
        matches!(said(value), Credentials::Given(token) if token.is(&Token::of(text)))
    };
    if text.len() <= TOKEN_MAX_BYTES {
        assert!(is_given(format!("Basic {}", STANDARD.encode([b"me:", text].concat()))));
    }
    if let Some(token) = std::str::from_utf8(text).ok().filter(|text| is_token(text)) {
        assert!(is_given(format!("bearer  {token}")));
    }
}
