//! The answers of the page, and the headers that keep what strangers wrote from doing anything in a browser.

use axum::body::{Body, Bytes};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use http_body_util::Full;

use crate::page::asset::Asset;
use crate::skill::Digest;

use super::super::etag;
use super::value;

/// Nothing is loaded but from this server, and nothing runs but its one script.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What every answer says unless it says something stricter.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// When a browser that was put off may come again.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("2");

/// How long a file of the page itself can be kept: its name changes with it.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// What can only be shown again after it was asked for again, and by nobody else.
pub(super) const ASKED_AGAIN: HeaderValue = HeaderValue::from_static("private, no-cache");

/// A whole answer.
pub(super) type Whole = Response<Full<Bytes>>;

/// Adds what every answer says.
pub(super) async fn beware(mut response: axum::response::Response) -> axum::response::Response {
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// A page, or only that it is still the one that the browser has.
pub(super) fn page(status: StatusCode, html: String, asked: &HeaderMap) -> Whole {
    let tag = format!("\"{}\"", Digest::of(html.as_bytes()));
    let is_known = status == StatusCode::OK && etag::is_known(asked, &tag);
    let mut response = Response::new(Full::from(if is_known { String::new() } else { html }));
    *response.status_mut() = if is_known { StatusCode::NOT_MODIFIED } else { status };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, ASKED_AGAIN);
    headers.insert(header::ETAG, value(&tag));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, RETRY_AFTER_SECONDS);
    }
    response
}

/// A file of the page itself.
pub(super) fn asset(asset: &'static Asset) -> Whole {
    let mut response = Response::new(Full::from(asset.text));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    response.headers_mut().insert(header::CACHE_CONTROL, KEPT);
    response
}

/// A refusal in one line of text.
pub(super) fn plain(status: StatusCode, why: &'static str) -> axum::response::Response {
    let mut response = axum::response::Response::new(Body::from(why));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, RETRY_AFTER_SECONDS);
    }
    response
}

/// That nothing is there.
pub(super) fn missing() -> axum::response::Response {
    plain(StatusCode::NOT_FOUND, "nothing is served there\n")
}

/// That the server has no room for this right now.
pub(super) fn busy() -> axum::response::Response {
    plain(StatusCode::SERVICE_UNAVAILABLE, "the server is busy; try again in a moment\n")
}
