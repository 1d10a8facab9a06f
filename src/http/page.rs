//! The page for people: its routes, and what every answer of it tells a browser to beware of.
//!
//! [`crate::page`] makes the HTML. Here is who may ask for how much of it at once.

mod answer;
mod download;
mod events;
mod rendered;

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::HeaderValue;
use axum::http::request::Parts;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::finding::Code;
use crate::page::asset::Asset;
use crate::page::{self, Search};

use super::asker::Asker;
use super::routes::{Route, router};
use super::share::Slots;
use super::turns::Turns;

/// The most pages that are made at once. Each takes a processor while it looks through all skills, and most machines that
/// serve have few.
const RENDERS_MAX: usize = 4;
/// The most requests for pages that are in hand at once, made or waiting to be made. One caller has at most half of them.
const WAITING_MAX: u32 = 64;

/// The most streams that tell browsers of changes at once, over all connections. A browser has one for each page that is
/// looked at. One caller has at most half of them.
const STREAMS_MAX: u32 = 128;

/// What stands behind the page.
pub(super) struct Pages {
    catalog: Catalog,
    name: String,
    turns: Turns,
    renders: Arc<Semaphore>,
    waiting: Slots,
    streams: Slots,
    stopping: CancellationToken,
}

/// The query of a request.
type Asked = Query<HashMap<String, String>>;

/// The routes of the page of a server with this name. Its streams end with `stopping`; what is large waits for its turn.
pub(super) fn routes(catalog: Catalog, name: &str, turns: Turns, stopping: CancellationToken) -> Router {
    let pages = Pages {
        catalog,
        name: name.to_owned(),
        turns,
        renders: Arc::new(Semaphore::new(RENDERS_MAX)),
        waiting: Slots::new(WAITING_MAX),
        streams: Slots::new(STREAMS_MAX),
        stopping,
    };
    router(&ROUTES).layer(map_response(answer::beware)).with_state(Arc::new(pages))
}

/// Where each part of the page is, and what answers.
pub(super) const ROUTES: [Route<Arc<Pages>>; 8] = [
    ("/", || get(skills)),
    ("/problems", || get(problems)),
    ("/skill", || get(skill)),
    ("/file", || get(file)),
    ("/explain", || get(explain)),
    ("/download", || get(download::answer)),
    ("/events", || get(events::answer)),
    ("/assets/{name}", || get(asset)),
];

async fn skills(State(pages): State<Arc<Pages>>, Query(asked): Asked, head: Parts) -> Response {
    let search = search(&asked);
    pages.render(&head, move |site| Some(page::skills(site, &search))).await
}

async fn problems(State(pages): State<Arc<Pages>>, Query(asked): Asked, head: Parts) -> Response {
    let search = search(&asked);
    pages.render(&head, move |site| Some(page::problems(site, &search))).await
}

async fn skill(State(pages): State<Arc<Pages>>, Query(asked): Asked, head: Parts) -> Response {
    let (search, path) = (search(&asked), path(&asked));
    pages.render_skill(&head, path, search).await
}

async fn file(State(pages): State<Arc<Pages>>, Query(asked): Asked, head: Parts) -> Response {
    let as_source = asked.get("as").is_some_and(|what| what == "source");
    pages.render_file(&head, path(&asked), as_source).await
}

async fn explain(State(pages): State<Arc<Pages>>, Query(asked): Asked, head: Parts) -> Response {
    let code = asked.get("code").and_then(|code| Code::named(code));
    pages.render(&head, move |site| code.map(|code| page::explain(site, code))).await
}

/// A file of the page itself, which never changes under its name.
async fn asset(Path(name): Path<String>, head: Parts) -> Response {
    Asker::of(&head.extensions).asked();
    Asset::named(&name).map_or_else(answer::missing, |asset| answer::asset(asset).map(Body::new))
}

fn search(asked: &HashMap<String, String>) -> Search {
    let typed = asked.get("q").map_or("", String::as_str);
    Search::new(typed, asked.get("page").and_then(|page| page.parse().ok()).unwrap_or(1))
}

fn path(asked: &HashMap<String, String>) -> String {
    asked.get("path").cloned().unwrap_or_default()
}

/// A header's value that is made of ASCII.
fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}
