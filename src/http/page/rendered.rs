//! Making a page: in its turn, away from the threads that others wait for, and in bounded memory.

use std::sync::Arc;
use std::time::Duration;

use axum::body::HttpBody as _;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, StatusCode};
use axum::response::Response;
use tokio::sync::OwnedSemaphorePermit;

use crate::catalog::{File, ReadError, Snapshot, Standing};
use crate::page::{self, Search, Shown, Site};
use crate::report::Names;
use crate::skill::{Content, SKILL_MD};

use super::super::share::Sharer;
use super::super::turns::{Turn, asked};
use super::Pages;
use super::answer::{self, Whole};

/// How long a page waits for the first look at the directories before it says that there is none yet.
const STARTING_MAX: Duration = Duration::from_secs(1);
/// How long a page waits to be made before it is put off.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// The largest file that is read for a page without a turn, which what is made of it needs all the same: 256 KiB, more than
/// nearly all files have, so that only a few wait twice.
const SMALL_MAX_BYTES: u64 = 256 * 1024;

impl Pages {
    /// Answers with the page that `make` makes, or that there is none.
    pub(super) async fn render(
        self: Arc<Self>,
        head: &Parts,
        make: impl FnOnce(Site<'_>) -> Option<String> + Send + 'static,
    ) -> Response {
        let Some(standing) = self.standing().await else { return self.starting(&head.headers) };
        self.render_with(&head.headers, &head.extensions, None, standing, make).await
    }

    /// Answers with the page of a skill.
    pub(super) async fn render_skill(
        self: Arc<Self>,
        head: &Parts,
        path: String,
        search: Search,
    ) -> Response {
        let (headers, extensions) = (&head.headers, &head.extensions);
        let Some(standing) = self.standing().await else { return self.starting(headers) };
        let skill_md = format!("{path}/{SKILL_MD}");
        let turn = match self.turn(&standing.snapshot, &skill_md, extensions).await {
            Ok(turn) => turn,
            Err(busy) => return busy,
        };
        let bytes = self.catalog.read(&skill_md).await.ok().map(|(_, bytes)| bytes);
        // What was read may be newer.
        let standing = self.catalog.standing().unwrap_or(standing);
        let make = move |site: Site<'_>| {
            let shown = file(&site.standing.snapshot, &skill_md).zip(bytes.as_deref());
            let shown = shown.map(|(file, bytes)| Shown { path: &skill_md, file, bytes });
            page::skill(site, &path, &search, shown.as_ref())
        };
        self.render_with(headers, extensions, turn, standing, make).await
    }

    /// Answers with the page of a file.
    pub(super) async fn render_file(
        self: Arc<Self>,
        head: &Parts,
        path: String,
        as_source: bool,
    ) -> Response {
        let (headers, extensions) = (&head.headers, &head.extensions);
        let Some(standing) = self.standing().await else { return self.starting(headers) };
        let is_binary = file(&standing.snapshot, &path).is_some_and(|file| file.content() == Content::Binary);
        let turn = match self.turn(&standing.snapshot, &path, extensions).await {
            Ok(turn) => turn,
            Err(busy) => return busy,
        };
        let bytes = match is_binary {
            // What cannot be shown need not be read.
            true => Default::default(),
            false => match self.catalog.read(&path).await {
                Ok((_, bytes)) => bytes,
                Err(ReadError::NotServed) => {
                    return self.render_with(headers, extensions, None, standing, |_| None).await;
                }
                Err(ReadError::Changing | ReadError::Unavailable) => return answer::busy(),
            },
        };
        // What was read may be newer.
        let standing = self.catalog.standing().unwrap_or(standing);
        let make = move |site: Site<'_>| {
            let file = file(&site.standing.snapshot, &path)?;
            Some(page::file(site, &Shown { path: &path, file, bytes: &bytes }, as_source))
        };
        self.render_with(headers, extensions, turn, standing, make).await
    }

    /// How things stand; nothing if that is not known soon.
    async fn standing(&self) -> Option<Standing> {
        if let Some(standing) = self.catalog.standing() {
            return Some(standing);
        }
        let _ = tokio::time::timeout(STARTING_MAX, self.catalog.snapshot()).await;
        self.catalog.standing()
    }

    fn starting(&self, headers: &HeaderMap) -> Response {
        let page = page::starting(&self.name);
        answer::page(StatusCode::SERVICE_UNAVAILABLE, page, headers).map(axum::body::Body::new)
    }

    /// The turn of a request for the file at `path`, if it needs one.
    pub(super) async fn turn(
        &self,
        snapshot: &Snapshot,
        path: &str,
        extensions: &Extensions,
    ) -> Result<Option<Turn>, Response> {
        match file(snapshot, path) {
            Some(file) if file.size() > SMALL_MAX_BYTES => {
                match self.turns.next(extensions, file.size()).await {
                    Ok(turn) => Ok(Some(turn)),
                    Err(_) => Err(answer::busy()),
                }
            }
            _ => Ok(None),
        }
    }

    async fn render_with(
        self: Arc<Self>,
        headers: &HeaderMap,
        extensions: &Extensions,
        turn: Option<Turn>,
        standing: Standing,
        make: impl FnOnce(Site<'_>) -> Option<String> + Send + 'static,
    ) -> Response {
        asked(extensions);
        let Some(_waits) = self.waiting.take(&Sharer::of(extensions)) else { return answer::busy() };
        let Some(permit) = self.permit().await else { return answer::busy() };
        let (pages, headers) = (self.clone(), headers.clone());
        let made = tokio::task::spawn_blocking(move || {
            let names = Names::of(standing.roots.iter());
            let site = Site { name: &pages.name, standing: &standing, names: &names };
            let whole = match make(site) {
                Some(html) => answer::page(StatusCode::OK, html, &headers),
                None => answer::page(StatusCode::NOT_FOUND, page::nothing(site), &headers),
            };
            (whole, permit)
        });
        match made.await {
            // Until it has its turn, a page counts among those that are being made.
            Ok((whole, _permit)) => self.send(whole, turn, extensions).await,
            Err(_) => answer::plain(StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made\n"),
        }
    }

    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        tokio::time::timeout(WAIT_MAX, self.renders.clone().acquire_owned()).await.ok()?.ok()
    }

    /// Sends what was made. The connection stays until it has been sent; what is large keeps its turn so long.
    pub(super) async fn send(&self, whole: Whole, turn: Option<Turn>, extensions: &Extensions) -> Response {
        let bytes = whole.body().size_hint().lower();
        let turn = match turn {
            Some(turn) if bytes > SMALL_MAX_BYTES => Ok(turn),
            _ => self.turns.next(extensions, bytes).await,
        };
        match turn {
            Ok(turn) => turn.hold(whole),
            Err(_) => answer::busy(),
        }
    }
}

fn file<'a>(snapshot: &'a Snapshot, path: &str) -> Option<&'a File> {
    snapshot.node(path)?.file
}
