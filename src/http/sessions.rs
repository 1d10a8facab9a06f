//! Sessions: what clients from before 2026-07-28 need in order to be told of changes, and nothing else. Every request is
//! answered from the catalog, with a session or without, so a client that gets none is only told of nothing.
//!
//! A session is there for whoever opened it alone: to anybody else its id names nothing.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::transport::common::server_side_http::session_id;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::mcp::session::Session;

use super::share::{Sharer, Slot, Slots};

/// How long a session may go without a request and without an open stream before it ends.
const IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// How often idle sessions are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The sessions that are open.
#[derive(Debug)]
pub(super) struct Sessions {
    catalog: Catalog,
    max: u32,
    slots: Slots,
    stopping: CancellationToken,
    open: Mutex<HashMap<Arc<str>, Open>>,
}

#[derive(Debug)]
struct Open {
    session: Arc<Session>,
    /// What it takes of all that may be open, and so also whose it is.
    slot: Slot,
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
    /// At most `max` sessions at once, of which nobody has all where there can be several; none at all for 0. Their streams
    /// end with `stopping`.
    pub(super) fn new(catalog: Catalog, max: usize, stopping: CancellationToken) -> Arc<Self> {
        let max = u32::try_from(max).unwrap_or(u32::MAX);
        Arc::new(Self { catalog, max, slots: Slots::new(max), stopping, open: Mutex::default() })
    }

    /// Whether there can be any.
    pub(super) fn are_on(&self) -> bool {
        self.max > 0
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Opens a session for a caller, unless there are as many as may be, or they have as many as one may.
    pub(super) fn open(&self, caller: &Sharer) -> Option<(Arc<str>, Arc<Session>)> {
        let mut open = self.lock();
        let slot = self.slots.take(caller).or_else(|| {
            open.retain(|_, open| !open.is_idle());
            self.slots.take(caller)
        })?;
        let (id, session) = (session_id(), Session::new(self.catalog.clone()));
        let new = Open { session: session.clone(), slot, used: Instant::now(), stream: None, streams: 0 };
        open.insert(id.clone(), new);
        Some((id, session))
    }

    /// The caller's session with this id, which is in use from now on.
    pub(super) fn get(&self, id: &str, caller: &Sharer) -> Option<Arc<Session>> {
        let mut open = self.lock();
        let open = open.get_mut(id).filter(|open| open.is_of(caller) && !open.is_idle())?;
        open.used = Instant::now();
        Some(open.session.clone())
    }

    /// Ends a session of the caller, and its stream. Says whether there was one.
    pub(super) fn end(&self, id: &str, caller: &Sharer) -> bool {
        let mut open = self.lock();
        if !open.get(id).is_some_and(|open| open.is_of(caller)) {
            return false;
        }
        let ended = open.remove(id);
        ended.as_ref().and_then(|open| open.stream.as_ref()).inspect(|stream| stream.cancel());
        ended.is_some()
    }

    /// Opens the stream of a session of the caller. One that is still open ends: its client has most likely lost it.
    pub(super) fn stream(self: &Arc<Self>, id: &str, caller: &Sharer) -> Option<Stream> {
        let mut all = self.lock();
        let (id, _) = all.get_key_value(id)?;
        let id = id.clone();
        let open = all.get_mut(&id).filter(|open| open.is_of(caller) && !open.is_idle())?;
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
    /// Whether a caller has opened it. Whoever has not said who they are may have moved to another address; that they know
    /// the id has to do.
    fn is_of(&self, caller: &Sharer) -> bool {
        match (self.slot.sharer(), caller) {
            (Sharer::Named(opener), Sharer::Named(name)) => opener == name,
            (Sharer::At(_), Sharer::At(_)) => true,
            _ => false,
        }
    }

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
    use crate::http::caller::Network;
    use crate::testing::Skills;

    use super::*;

    const ANYBODY: Sharer = Sharer::At(Network::Unix);

    fn named(name: &str) -> Sharer {
        Sharer::Named(name.into())
    }

    async fn sessions(max: usize) -> Arc<Sessions> {
        Sessions::new(Skills::new().await.catalog, max, CancellationToken::new())
    }

    #[tokio::test]
    async fn there_are_no_more_than_may_be() {
        let sessions = sessions(2).await;
        let (first, _) = sessions.open(&named("a")).unwrap();
        sessions.open(&named("b")).unwrap();
        assert!(sessions.open(&named("c")).is_none());
        assert!(sessions.end(&first, &named("a")) && !sessions.end(&first, &named("a")));
        assert!(sessions.get(&first, &named("a")).is_none());
        sessions.open(&named("c")).unwrap();
        assert!(sessions.open(&named("a")).is_none());
    }

    #[tokio::test]
    async fn nobody_has_all() {
        let sessions = sessions(4).await;
        let opened: Vec<_> = (0..4).map_while(|_| sessions.open(&ANYBODY)).collect();
        assert_eq!(opened.len(), 2);
        sessions.open(&named("a")).unwrap();
        assert!(sessions.end(&opened[0].0, &ANYBODY));
        sessions.open(&named("b")).unwrap();
    }

    #[tokio::test]
    async fn a_session_is_there_for_its_opener_alone() {
        let sessions = sessions(8).await;
        let others = [named("a"), named("b"), ANYBODY];
        for opener in &others {
            let (id, _) = sessions.open(opener).unwrap();
            for other in others.iter().filter(|other| *other != opener) {
                assert!(sessions.get(&id, other).is_none());
                assert!(sessions.stream(&id, other).is_none());
                assert!(!sessions.end(&id, other));
            }
            assert!(sessions.get(&id, opener).is_some());
            assert!(sessions.stream(&id, opener).is_some());
            assert!(sessions.end(&id, opener));
        }
        let (id, _) = sessions.open(&ANYBODY).unwrap();
        assert!(sessions.get(&id, &Sharer::At(Network::V4([192, 0, 2, 1]))).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_session_ends_and_one_with_a_stream_does_not() {
        let sessions = sessions(6).await;
        let sweeping = sessions.clone();
        tokio::spawn(async move { sweeping.sweep().await });
        let [idle, used, open] = [(); 3].map(|()| sessions.open(&ANYBODY).unwrap().0);
        let stream = sessions.stream(&open, &ANYBODY).unwrap();
        for _ in 0..10 {
            tokio::time::sleep(IDLE_MAX / 4).await;
            assert!(sessions.get(&used, &ANYBODY).is_some());
        }
        assert!(sessions.get(&idle, &ANYBODY).is_none());
        // Its place is free, and so is that of a stream's session some time after the stream is gone.
        sessions.open(&ANYBODY).unwrap();
        assert!(!stream.end.is_cancelled());
        drop(stream);
        tokio::time::sleep(IDLE_MAX / 2).await;
        assert!(sessions.stream(&open, &ANYBODY).is_some());
        tokio::time::sleep(IDLE_MAX + SWEEP_INTERVAL).await;
        assert!(sessions.get(&open, &ANYBODY).is_none());
        assert_eq!(sessions.lock().len(), 0);
    }

    #[tokio::test]
    async fn a_session_has_one_stream() {
        let sessions = sessions(1).await;
        let (id, _) = sessions.open(&ANYBODY).unwrap();
        let lost = sessions.stream(&id, &ANYBODY).unwrap();
        let stream = sessions.stream(&id, &ANYBODY).unwrap();
        assert!(lost.end.is_cancelled() && !stream.end.is_cancelled());
        // The end of the lost one changes nothing.
        drop(lost);
        assert!(sessions.lock()[&id].stream.is_some());
        sessions.end(&id, &ANYBODY);
        assert!(stream.end.is_cancelled());
    }
}
