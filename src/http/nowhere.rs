//! The answer at a path where nothing is, or nothing of that method: who has taken the wrong one is told the right one.
//! Nobody comes as far as this who is not let in.

use axum::Router;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::path::EndpointPath;

/// Something may be there another time, and it is text whatever it seems to be.
const HEADERS: [(HeaderName, HeaderValue); 2] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
];

/// The routes, and this answer at every other path of a listener that has these behind it.
pub(super) fn beside(routes: Router, endpoint: Option<&EndpointPath>, has_page: bool) -> Router {
    let nothing = words("nothing is at this path", endpoint, has_page);
    // Who sends messages to the page has forgotten the path.
    let otherwise = words("this path is for other methods", endpoint, has_page);
    routes
        .method_not_allowed_fallback(async move || answer(StatusCode::METHOD_NOT_ALLOWED, otherwise))
        .fallback(async move || answer(StatusCode::NOT_FOUND, nothing))
}

fn answer(status: StatusCode, words: String) -> Response {
    (status, HEADERS, words).into_response()
}

fn words(fault: &str, endpoint: Option<&EndpointPath>, has_page: bool) -> String {
    let endpoint = endpoint.map(|path| format!("MCP is spoken at {path}"));
    let page = has_page.then(|| "a page for people is at /".to_owned());
    let there: Vec<_> = endpoint.into_iter().chain(page).collect();
    let colon = if there.is_empty() { "" } else { ": " };
    format!("{fault}{colon}{}\n", there.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_named() {
        let path = EndpointPath::default();
        let check = |endpoint, has_page, expected| {
            assert_eq!(words("nothing is at this path", endpoint, has_page), expected);
        };
        check(
            Some(&path),
            true,
            "nothing is at this path: MCP is spoken at /mcp, a page for people is at /\n",
        );
        check(Some(&path), false, "nothing is at this path: MCP is spoken at /mcp\n");
        check(None, true, "nothing is at this path: a page for people is at /\n");
        check(None, false, "nothing is at this path\n");
    }
}
