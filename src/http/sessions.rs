//! Sessions: what clients from before 2026-07-28 need in order to be told of changes, and nothing else. Every request is
//! answered from the catalog, with a session or without, so a client that gets none is only told of nothing.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::transport::common::server_side_http::session_id;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::mcp::session::Session;

/// How long a session may go without a request and without an open stream before it ends.
const IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// How often idle sessions are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The sessions that are open.
#[derive(Debug)]
pub(super) struct Sessions {
    catalog: Catalog,
    max: usize,
    stopping: CancellationToken,
    open: Mutex<HashMap<Arc<str>, Open>>,
}

#[derive(Debug)]
struct Open {
    session: Arc<Session>,
    used: Instant,
    /// The end of its stream, if one is open.
    stream: Option<CancellationToken>,
    /// How many streams there have been.
    streams: u64,
}

/// A session's one stream, while it is open. The session is not idle for that long.
#[derive(Debug)]
pub(super) struct Stream {
    /// Whose it is.
    pub(super) session: Arc<Session>,
    /// When it is to end: with the session, with the server, or because the client has opened another one.
    pub(super) end: CancellationToken,
    sessions: Arc<Sessions>,
    id: Arc<str>,
    number: u64,
}

impl Sessions {
    /// At most `max` sessions at once; none at all for 0. Their streams end with `stopping`.
    pub(super) fn new(catalog: Catalog, max: usize, stopping: CancellationToken) -> Arc<Self> {
        Arc::new(Self { catalog, max, stopping, open: Mutex::default() })
    }

    /// Whether there can be any.
    pub(super) fn are_on(&self) -> bool {
        self.max > 0
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Opens a session, unless there are as many as may be.
    pub(super) fn open(&self) -> Option<(Arc<str>, Arc<Session>)> {
        let mut open = self.lock();
        if open.len() >= self.max {
            open.retain(|_, open| !open.is_idle());
        }
        if open.len() >= self.max {
            return None;
        }
        let (id, session) = (session_id(), Session::new(self.catalog.clone()));
        let new = Open { session: session.clone(), used: Instant::now(), stream: None, streams: 0 };
        open.insert(id.clone(), new);
        Some((id, session))
    }

    /// The session with this id, which is in use from now on.
    pub(super) fn get(&self, id: &str) -> Option<Arc<Session>> {
        let mut open = self.lock();
        let open = open.get_mut(id).filter(|open| !open.is_idle())?;
        open.used = Instant::now();
        Some(open.session.clone())
    }

    /// Ends a session, and its stream. Says whether there was one.
    pub(super) fn end(&self, id: &str) -> bool {
        let ended = self.lock().remove(id);
        ended.as_ref().and_then(|open| open.stream.as_ref()).inspect(|stream| stream.cancel());
        ended.is_some()
    }

    /// Opens the stream of a session. One that is still open ends: its client has most likely lost it.
    pub(super) fn stream(self: &Arc<Self>, id: &str) -> Option<Stream> {
        let mut all = self.lock();
        let (id, _) = all.get_key_value(id)?;
        let id = id.clone();
        let open = all.get_mut(&id).filter(|open| !open.is_idle())?;
        let end = self.stopping.child_token();
        if let Some(lost) = open.stream.replace(end.clone()) {
            lost.cancel();
        }
        open.streams += 1;
        let (session, number) = (open.session.clone(), open.streams);
        Some(Stream { session, end, sessions: self.clone(), id, number })
    }

    /// Ends idle sessions, for ever.
    pub(super) async fn sweep(&self) -> Infallible {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            self.lock().retain(|_, open| !open.is_idle());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Open>> {
        // No more than plain values is written under the lock, so what a panicking thread left is whole.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn is_idle(&self) -> bool {
        self.stream.is_none() && self.used.elapsed() >= IDLE_MAX
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(open) = self.sessions.lock().get_mut(&self.id)
            && open.streams == self.number
        {
            open.stream = None;
            open.used = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Skills;

    use super::*;

    async fn sessions(max: usize) -> Arc<Sessions> {
        Sessions::new(Skills::new().await.catalog, max, CancellationToken::new())
    }

    #[tokio::test]
    async fn there_are_no_more_than_may_be() {
        let sessions = sessions(2).await;
        let (first, _) = sessions.open().unwrap();
        sessions.open().unwrap();
        assert!(sessions.open().is_none());
        assert!(sessions.end(&first) && !sessions.end(&first));
        assert!(sessions.get(&first).is_none());
        sessions.open().unwrap();
        assert!(sessions.open().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_session_ends_and_one_with_a_stream_does_not() {
        let sessions = sessions(3).await;
        let sweeping = sessions.clone();
        tokio::spawn(async move { sweeping.sweep().await });
        let [idle, used, open] = [(); 3].map(|()| sessions.open().unwrap().0);
        let stream = sessions.stream(&open).unwrap();
        for _ in 0..10 {
            tokio::time::sleep(IDLE_MAX / 4).await;
            assert!(sessions.get(&used).is_some());
        }
        assert!(sessions.get(&idle).is_none());
        // Its place is free, and so is that of a stream's session some time after the stream is gone.
        sessions.open().unwrap();
        assert!(!stream.end.is_cancelled());
        drop(stream);
        tokio::time::sleep(IDLE_MAX / 2).await;
        assert!(sessions.stream(&open).is_some());
        tokio::time::sleep(IDLE_MAX + SWEEP_INTERVAL).await;
        assert!(sessions.get(&open).is_none());
        assert_eq!(sessions.lock().len(), 0);
    }

    #[tokio::test]
    async fn a_session_has_one_stream() {
        let sessions = sessions(1).await;
        let (id, _) = sessions.open().unwrap();
        let lost = sessions.stream(&id).unwrap();
        let stream = sessions.stream(&id).unwrap();
        assert!(lost.end.is_cancelled() && !stream.end.is_cancelled());
        // The end of the lost one changes nothing.
        drop(lost);
        assert!(sessions.lock()[&id].stream.is_some());
        sessions.end(&id);
        assert!(stream.end.is_cancelled());
    }
}
