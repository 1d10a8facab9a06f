//! The stream over which a page hears that it is out of date. It says no more than that: the page asks for itself anew, and
//! what it gets is what everybody else gets.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;

use crate::catalog::Standing;

use super::super::asker::Asker;
use super::super::share::Slot;
use super::super::stream::{self, COMMENT, KEEP_ALIVE};
use super::{Pages, answer};

/// How long there is silence after a change is told. What changes meanwhile is told as one.
const GAP: Duration = Duration::from_millis(250);
/// What a stream begins with: how soon a browser that lost it asks for it again.
const BEGIN: Bytes = Bytes::from_static(b"retry: 2000\n\n");
/// Tells a change.
const CHANGED: Bytes = Bytes::from_static(b"event: changed\ndata: {}\n\n");

/// What stands behind a stream.
struct Source {
    pages: Arc<Pages>,
    /// How things stood when it was told last.
    seen: Option<Standing>,
    was: Was,
    _slot: Slot,
}

/// What a stream said last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Was {
    Nothing,
    Quiet,
    Told,
}

/// Answers with a stream, if there is a slot for one more.
pub(super) async fn answer(State(pages): State<Arc<Pages>>, head: Parts) -> Response {
    let asker = Asker::of(&head.extensions);
    let Some(slot) = pages.streams.take(&asker.sharer()) else { return answer::busy() };
    let source = Source { seen: pages.catalog.standing(), pages, was: Was::Nothing, _slot: slot };
    asker.asked();
    stream::of(futures::stream::unfold(source, next))
}

async fn next(mut source: Source) -> Option<(Result<Bytes, Infallible>, Source)> {
    let stopping = source.pages.stopping.clone();
    let bytes = tokio::select! {
        biased;
        () = stopping.cancelled() => return None,
        bytes = source.say() => bytes,
    };
    Some((Ok(bytes), source))
}

impl Source {
    /// The next thing to say. Nothing is lost if it is not waited for to the end.
    async fn say(&mut self) -> Bytes {
        match self.was {
            Was::Nothing => {
                self.was = Was::Quiet;
                return BEGIN;
            }
            Was::Quiet => {}
            Was::Told => tokio::time::sleep(GAP).await,
        }
        match tokio::time::timeout(KEEP_ALIVE, self.other()).await {
            Ok(standing) => {
                self.seen = standing;
                self.was = Was::Told;
                CHANGED
            }
            Err(_) => {
                self.was = Was::Quiet;
                COMMENT
            }
        }
    }

    /// Waits until things stand otherwise.
    async fn other(&self) -> Option<Standing> {
        match &self.seen {
            Some(seen) => Some(self.pages.catalog.other_than(seen).await),
            None => match self.pages.catalog.snapshot().await {
                Ok(_) => self.pages.catalog.standing(),
                Err(_) => std::future::pending().await,
            },
        }
    }
}
