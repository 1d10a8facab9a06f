//! What is kept of a peer from before 2026-07-28, which subscribes to one resource at a time and is told of changes of the
//! listing without having asked.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::ServerNotification;
use rmcp::service::{Peer, RoleServer};

use crate::catalog::{Catalog, Snapshot};

use super::changes::{self, Interest};
use super::failure::Failure;
use super::filter::{URIS_MAX, URIS_MAX_BYTES};

/// A peer, between its handshake and its end.
#[derive(Debug)]
pub(crate) struct Session {
    catalog: Catalog,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether hands have been shaken.
    has_begun: bool,
    /// What the peer has been told of. `None` before there was a catalog.
    seen: Option<Arc<Snapshot>>,
    /// What it subscribed to: URIs as it spells them, and the paths that they name.
    subscribed: HashMap<String, String>,
    /// The bytes of those URIs.
    bytes: usize,
}

/// What a peer has not been told yet.
#[derive(Debug)]
pub(crate) struct News {
    /// What tells it.
    pub(crate) notifications: Vec<ServerNotification>,
    current: Arc<Snapshot>,
}

impl Session {
    /// A session of a peer that has not been heard of yet.
    pub(crate) fn new(catalog: Catalog) -> Arc<Self> {
        Arc::new(Self { catalog, state: Mutex::default() })
    }

    /// Whether hands have been shaken.
    pub(crate) fn has_begun(&self) -> bool {
        self.state().has_begun
    }

    /// Begins: what changes from here on is told.
    pub(super) fn begin(&self) {
        let mut state = self.state();
        state.has_begun = true;
        state.seen = self.catalog.current();
    }

    /// Adds a resource to those whose changes are told.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn subscribe(&self, uri: String, path: String) -> Result<(), Failure> {
        let mut state = self.state();
        if state.subscribed.contains_key(&uri) {
            return Ok(());
        }
        if state.subscribed.len() >= URIS_MAX || state.bytes + uri.len() > URIS_MAX_BYTES {
            return Err(Failure::TooManySubscriptions);
        }
        state.bytes += uri.len();
        state.subscribed.insert(uri, path);
        Ok(())
    }

    /// Takes a resource away from them.
    pub(super) fn unsubscribe(&self, uri: &str) {
        let mut state = self.state();
        if state.subscribed.remove(uri).is_some() {
            state.bytes -= uri.len();
        }
    }

    /// Waits until there is something to tell. It is told again unless [`Session::told`] is called. Never ends when there
    /// will be no catalog. Dropping the future loses nothing.
    pub(crate) async fn news(&self) -> News {
        let seen = self.state().seen.clone();
        let mut seen = match seen {
            Some(seen) => seen,
            None => match self.catalog.snapshot().await {
                Ok(first) => first,
                Err(_) => std::future::pending().await,
            },
        };
        loop {
            // What the peer need not hear of is no longer held.
            self.state().seen = Some(seen.clone());
            let current = self.catalog.newer_than(&seen).await;
            let changes = changes::between(&seen, &current, &self.interest());
            if !changes.is_empty() {
                return News { notifications: changes.into_iter().map(Into::into).collect(), current };
            }
            seen = current;
        }
    }

    /// Takes note of what has been told.
    pub(crate) fn told(&self, news: News) {
        self.state().seen = Some(news.current);
    }

    /// Tells a peer that can be written to at any time, for as long as it can be.
    pub(crate) async fn tell(&self, peer: Peer<RoleServer>) -> Infallible {
        while self.has_begun() {
            let mut news = self.news().await;
            for notification in std::mem::take(&mut news.notifications) {
                // This waits until it has been written: a peer that does not read is told later, and of less.
                if peer.send_notification(notification).await.is_err() {
                    return std::future::pending().await;
                }
            }
            self.told(news);
        }
        std::future::pending().await
    }

    fn interest(&self) -> Interest {
        let resources =
            self.state().subscribed.iter().map(|(uri, path)| (uri.clone(), path.clone())).collect();
        Interest { list: true, resources }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No more than plain values is written under the lock, so what a panicking thread left is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
