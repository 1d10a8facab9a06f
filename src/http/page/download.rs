//! A file's bytes, to be kept and never to be shown: no browser takes them for a page, a picture or a script.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header::{self, HeaderValue};
use axum::http::request::Parts;
use axum::http::{StatusCode, response::Builder};
use axum::response::Response;
use http_body_util::Full;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::catalog::{File, ReadError};
use crate::media_type;
use crate::report::escape::is_deceptive;

use super::super::asker::Asker;
use super::super::etag;
use super::answer::{self, ASKED_AGAIN};
use super::{Asked, Pages, path, value};

/// Nothing at all may happen in what a browser should show after all.
const POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'");

/// All but the characters of an `attr-char` (RFC 8187).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Answers a request for a file's bytes. They are what the catalog says they are.
pub(super) async fn answer(State(pages): State<Arc<Pages>>, Query(asked): Asked, head: Parts) -> Response {
    let path = path(&asked);
    let Ok(snapshot) = pages.catalog.snapshot().await else { return answer::busy() };
    let size = snapshot.node(&path).and_then(|node| node.file).map_or(0, File::size);
    let Ok(turn) = pages.turns.next(&Asker::of(&head.extensions), size).await else { return answer::busy() };
    let (file, bytes) = match pages.catalog.read(&path).await {
        Ok(read) => read,
        Err(ReadError::NotServed) => return answer::missing(),
        Err(ReadError::Changing | ReadError::Unavailable) => return answer::busy(),
    };
    let tag = format!("\"{}\"", file.digest());
    let is_known = etag::is_known(&head.headers, &tag);
    let status = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let response = Builder::new()
        .status(status)
        .header(header::CONTENT_TYPE, media_type::BYTES)
        .header(header::CONTENT_DISPOSITION, disposition(&path))
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::CACHE_CONTROL, ASKED_AGAIN)
        .header(header::ETAG, value(&tag))
        .body(Full::new(if is_known { Default::default() } else { bytes }));
    match response {
        Ok(whole) => turn.hold(whole),
        Err(_) => answer::missing(),
    }
}

/// What makes a browser keep the file at `path` under its name. What nobody sees in a name, or what would end it, is left
/// out of it.
fn disposition(path: &str) -> HeaderValue {
    let name = path.rsplit('/').next().unwrap_or(path);
    let shown: String = name.chars().map(|c| if is_deceptive(c) { '_' } else { c }).collect();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '.' | '_');
    let ascii: String = shown.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    value(&format!(
        "attachment; filename=\"{ascii}\"; filename*=UTF-8''{}",
        utf8_percent_encode(&shown, ESCAPED)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_no_more_than_a_name() {
        let check = |path, expected| assert_eq!(disposition(path).to_str().unwrap(), expected);
        check("a/b c.md", "attachment; filename=\"b c.md\"; filename*=UTF-8''b%20c.md");
        check("a/ü.md", "attachment; filename=\"_.md\"; filename*=UTF-8''%C3%BC.md");
        check("x\";a=\r\n.md", "attachment; filename=\"x__a___.md\"; filename*=UTF-8''x%22%3Ba%3D__.md");
        check("gpj.\u{202e}exe", "attachment; filename=\"gpj._exe\"; filename*=UTF-8''gpj._exe");
    }
}
