//! What the one who runs this server can see: how it stands with the skills, and its numbers. It stands on a listener of its
//! own where there is one, else beside the endpoint.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use super::etag;
use super::metrics::{Exposition, Format};
use super::routes::{Route, router};
use super::status::Status;

/// Where the numbers are.
pub(super) const METRICS: &str = "/metrics";
/// Where it says what is served and what is not.
pub(super) const STATUS: &str = "/status.json";

/// What a browser is not to make anything else of.
const NO_SNIFF: (HeaderName, HeaderValue) =
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));

/// Who can say it.
#[derive(Debug)]
pub(super) struct Admin {
    exposition: Exposition,
    status: Status,
}

impl Admin {
    /// Says what these know.
    pub(super) fn new(exposition: Exposition, status: Status) -> Arc<Self> {
        Arc::new(Self { exposition, status })
    }
}

/// Where each thing is asked, and what answers.
pub(super) const ROUTES: [Route<Arc<Admin>>; 2] = [(METRICS, || get(metrics)), (STATUS, || get(status))];

/// Where this is asked.
pub(super) fn routes(admin: Arc<Admin>) -> Router {
    router(&ROUTES).with_state(admin)
}

async fn metrics(State(admin): State<Arc<Admin>>, headers: HeaderMap) -> Response {
    let format = if accepts_open_metrics(&headers) { Format::OpenMetrics } else { Format::Prometheus };
    let written = tokio::task::spawn_blocking(move || admin.exposition.write(format)).await;
    match written {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, format.media_type())], [NO_SNIFF], text).into_response(),
        _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn status(State(admin): State<Arc<Admin>>, headers: HeaderMap) -> Response {
    let object = tokio::task::spawn_blocking(move || admin.status.now()).await;
    let Ok(Ok(object)) = object else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let about = [(header::ETAG, object.tag.clone()), (header::CACHE_CONTROL, "no-cache".to_owned())];
    if etag::is_known(&headers, &object.tag) {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    (about, [NO_SNIFF], [(header::CONTENT_TYPE, "application/json")], object.into_body()).into_response()
}

/// Whether a client asks for OpenMetrics, be it beside other formats.
fn accepts_open_metrics(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut ranges = values.flat_map(|value| value.split(','));
    ranges.any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_named =
            parts.next().is_some_and(|name| name.eq_ignore_ascii_case("application/openmetrics-text"));
        is_named && parts.all(|part| !matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn open_metrics_is_for_who_asks_for_it() {
        let check = |accept, expected| {
            assert_eq!(accepts_open_metrics(&headers(header::ACCEPT, accept)), expected, "{accept}");
        };
        check(
            "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;q=0.2",
            true,
        );
        check("text/plain, Application/OpenMetrics-Text", true);
        check("application/openmetrics-text;q=0, text/plain", false);
        check("text/plain;version=0.0.4", false);
        check("*/*", false);
    }
}
