//! Making a page: in its turn, away from the threads that others wait for, and in bounded memory.
//!
//! A page has its turn among all large answers before it is one of the few that are made, so that who waits for having taken
//! too much holds none of those up.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, StatusCode};
use axum::response::Response;
use tokio::sync::OwnedSemaphorePermit;

use crate::catalog::{File, ReadError, Snapshot, Standing};
use crate::page::{self, Search, Shown, Site};
use crate::report::Names;
use crate::skill::{Content, SKILL_MD};

use super::super::asker::Asker;
use super::super::share::Slot;
use super::super::turns::Turn;
use super::Pages;
use super::answer;

/// How long a page waits for the first look at the directories before it says that there is none yet.
const STARTING_MAX: Duration = Duration::from_secs(1);
/// How long a page waits to be made before it is put off.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// What a page takes of the budget of large answers beside its file, until its size is known: 1 MiB, more than nearly all
/// have. One that shows a text of control characters has up to 5 MiB, and only as many are of unknown size as are made at
/// once.
const PAGE_BYTES: u64 = 1024 * 1024;

/// A page's place among those that are made.
struct Place {
    turn: Turn,
    _permit: OwnedSemaphorePermit,
    _waits: Slot,
}

impl Pages {
    /// Answers with the page that `make` makes, or that there is none.
    pub(super) async fn render(
        self: Arc<Self>,
        head: &Parts,
        make: impl FnOnce(Site<'_>) -> Option<String> + Send + 'static,
    ) -> Response {
        let Some(standing) = self.standing().await else { return self.starting(&head.headers) };
        match self.place(&head.extensions, 0).await {
            Some(place) => self.make(head, place, standing, make).await,
            None => answer::busy(),
        }
    }

    /// Answers with the page of a skill.
    pub(super) async fn render_skill(
        self: Arc<Self>,
        head: &Parts,
        path: String,
        search: Search,
    ) -> Response {
        let Some(standing) = self.standing().await else { return self.starting(&head.headers) };
        let skill_md = format!("{path}/{SKILL_MD}");
        let size = file(&standing.snapshot, &skill_md).map_or(0, File::size);
        let Some(place) = self.place(&head.extensions, size).await else { return answer::busy() };
        let bytes = self.catalog.read(&skill_md).await.ok().map(|(_, bytes)| bytes);
        // What was read may be newer.
        let standing = self.catalog.standing().unwrap_or(standing);
        let make = move |site: Site<'_>| {
            let shown = file(&site.standing.snapshot, &skill_md).zip(bytes.as_deref());
            let shown = shown.map(|(file, bytes)| Shown { path: &skill_md, file, bytes });
            page::skill(site, &path, &search, shown.as_ref())
        };
        self.make(head, place, standing, make).await
    }

    /// Answers with the page of a file.
    pub(super) async fn render_file(
        self: Arc<Self>,
        head: &Parts,
        path: String,
        as_source: bool,
    ) -> Response {
        let Some(standing) = self.standing().await else { return self.starting(&head.headers) };
        // What cannot be shown need not be read.
        let read = file(&standing.snapshot, &path).filter(|file| file.content() != Content::Binary);
        let (is_read, size) = (read.is_some(), read.map_or(0, File::size));
        let Some(place) = self.place(&head.extensions, size).await else { return answer::busy() };
        let bytes = match is_read {
            false => Default::default(),
            true => match self.catalog.read(&path).await {
                Ok((_, bytes)) => bytes,
                Err(ReadError::NotServed) => return self.make(head, place, standing, |_| None).await,
                Err(ReadError::Changing | ReadError::Unavailable) => return answer::busy(),
            },
        };
        // What was read may be newer.
        let standing = self.catalog.standing().unwrap_or(standing);
        let make = move |site: Site<'_>| {
            let file = file(&site.standing.snapshot, &path)?;
            Some(page::file(site, &Shown { path: &path, file, bytes: &bytes }, as_source))
        };
        self.make(head, place, standing, make).await
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

    /// Waits, within bounds, for the place of a page that shows a file of this size.
    async fn place(&self, extensions: &Extensions, size: u64) -> Option<Place> {
        let asker = Asker::of(extensions);
        asker.asked();
        let waits = self.waiting.take(&asker.sharer())?;
        let turn = self.turns.next(&asker, size.saturating_add(PAGE_BYTES)).await.ok()?;
        let permit = tokio::time::timeout(WAIT_MAX, self.renders.clone().acquire_owned()).await.ok()?.ok()?;
        Some(Place { turn, _permit: permit, _waits: waits })
    }

    /// Makes the page and sends it, in its place until it is made. The connection stays until it has been sent.
    async fn make(
        self: Arc<Self>,
        head: &Parts,
        place: Place,
        standing: Standing,
        make: impl FnOnce(Site<'_>) -> Option<String> + Send + 'static,
    ) -> Response {
        let headers = head.headers.clone();
        // Who goes away leaves their place when this is done, and not before.
        let made = tokio::task::spawn_blocking(move || {
            let names = Names::of(standing.roots.iter());
            let site = Site { name: &self.name, standing: &standing, names: &names };
            let whole = match make(site) {
                Some(html) => answer::page(StatusCode::OK, html, &headers),
                None => answer::page(StatusCode::NOT_FOUND, page::nothing(site), &headers),
            };
            place.turn.hold(whole)
        });
        match made.await {
            Ok(response) => response,
            Err(_) => answer::plain(StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made\n"),
        }
    }
}

fn file<'a>(snapshot: &'a Snapshot, path: &str) -> Option<&'a File> {
    snapshot.node(path)?.file
}
