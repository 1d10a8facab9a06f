//! How many bytes are held for clients at once.
//!
//! A large answer takes its bytes from one budget before it is made, and gives them back when the last one has been written
//! or the connection is gone. Whoever asks for one waits for that in the order of asking, but those who hold their share
//! already wait for themselves alone. Small answers are not counted: a host that only asks what this server is must not wait
//! for those who wait for files.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::oneshot;

use super::asker::Asker;
use super::refusal::Refused;
use super::share::{Lack, Ledger, Sharer};

/// The most bytes that large answers hold together, while they are made and while they wait to be written. A file of
/// 16 MiB, the largest that is served unless an option says more, needs up to 80 MiB while its answer is made, so that there
/// is room for a few of them, and for many that are read slowly. One caller holds at most half of it.
const HELD_MAX_BYTES: u64 = 256 * 1024 * 1024;
/// The largest answer that is not counted. The number of requests in hand bounds what those hold, and the system takes so
/// much off at once for a client that does not read.
pub(super) const SMALL_MAX_BYTES: u64 = 64 * 1024;
/// The most requests that wait for their turn. Each holds a connection meanwhile.
const WAITING_MAX: usize = 512;
/// The most of those by one caller. More of them would wait in vain.
const WAITING_OF_ONE_MAX: usize = 64;
/// How long a request waits for its turn before it is put off.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Gives out turns.
#[derive(Clone, Debug)]
pub(super) struct Turns(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    ledger: Ledger,
    /// In the order in which they came.
    waiting: BTreeMap<u64, Waiting>,
    next: u64,
}

#[derive(Debug)]
struct Waiting {
    sharer: Sharer,
    bytes: i64,
    turn: oneshot::Sender<Share>,
}

/// A request's turn: a part of the budget, or nothing for a small answer.
#[derive(Debug)]
pub(super) struct Turn(Option<Share>);

/// A part of the budget.
#[derive(Debug)]
struct Share {
    turns: Turns,
    sharer: Sharer,
    bytes: i64,
}

impl Default for Turns {
    fn default() -> Self {
        Self::new(HELD_MAX_BYTES)
    }
}

impl Turns {
    fn new(all_bytes: u64) -> Self {
        let ledger = Ledger::new(signed(all_bytes));
        Self(Arc::new(Mutex::new(State { ledger, waiting: BTreeMap::new(), next: 0 })))
    }

    /// Waits, within a bound, for the turn of a request of `asker` whose answer holds at most so many bytes, or as many as
    /// can be said of it beforehand.
    ///
    /// # Errors
    /// When it takes too long, or too many wait already.
    pub(super) async fn next(&self, asker: &Asker, bytes: u64) -> Result<Turn, Refused> {
        asker.asked();
        if bytes <= SMALL_MAX_BYTES {
            return Ok(Turn(None));
        }
        // What is larger than a share can be must come through too, alone.
        let bytes = signed(bytes.min(HELD_MAX_BYTES / 2));
        let busy = || Refused::busy("the server is busy; try again in a moment");
        let (_leaves, turn) = self.queue(asker.sharer(), bytes).ok_or_else(busy)?;
        match tokio::time::timeout(WAIT_MAX, turn).await {
            Ok(Ok(share)) => Ok(Turn(Some(share))),
            _ => Err(busy()),
        }
    }

    /// Joins those who wait, if there is room among them.
    fn queue(&self, sharer: Sharer, bytes: i64) -> Option<(Leaves, oneshot::Receiver<Share>)> {
        let (turn, granted) = oneshot::channel();
        let mut state = self.lock();
        let own = state.waiting.values().filter(|waiting| waiting.sharer == sharer).count();
        if own >= WAITING_OF_ONE_MAX || state.waiting.len() >= WAITING_MAX {
            return None;
        }
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number, Waiting { sharer, bytes, turn });
        drop(state);
        self.grant();
        Some((Leaves { turns: self.clone(), number }, granted))
    }

    /// Gives a turn to everybody who can have one.
    fn grant(&self) {
        let granted = self.lock().grant();
        // Not under the lock: a turn that nobody takes any more is given back here.
        for waiting in granted {
            let share = Share { turns: self.clone(), sharer: waiting.sharer, bytes: waiting.bytes };
            let _ = waiting.turn.send(share);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that is done under the lock can be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn grant(&mut self) -> Vec<Waiting> {
        let mut granted = Vec::new();
        for (&number, waiting) in &self.waiting {
            match self.ledger.take(&waiting.sharer, waiting.bytes) {
                Ok(()) => granted.push(number),
                Err(Lack::Share) => {}
                // Those behind must not take again and again what the first one needs all of.
                Err(Lack::Taken) => break,
            }
        }
        granted.iter().filter_map(|number| self.waiting.remove(number)).collect()
    }
}

/// Somebody who waits no longer when this is dropped.
struct Leaves {
    turns: Turns,
    number: u64,
}

impl Drop for Leaves {
    fn drop(&mut self) {
        let left = self.turns.lock().waiting.remove(&self.number);
        if left.is_some() {
            self.turns.grant();
        }
    }
}

impl Share {
    /// Takes note of how many bytes there are in fact.
    fn settle(&mut self, bytes: u64) {
        let bytes = signed(bytes);
        self.turns.lock().ledger.change(&self.sharer, bytes - self.bytes);
        self.bytes = bytes;
        self.turns.grant();
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.turns.lock().ledger.change(&self.sharer, -self.bytes);
        self.turns.grant();
    }
}

impl Turn {
    /// Whether it holds no part of the budget.
    pub(super) fn is_for_little(&self) -> bool {
        self.0.is_none()
    }

    /// The answer, which keeps the turn until its end and for as long as any of its bytes are held.
    pub(super) fn hold<B>(self, answer: axum::http::Response<B>) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        let Self(Some(mut share)) = self else { return answer.map(Body::new) };
        if let Some(bytes) = answer.body().size_hint().exact() {
            share.settle(bytes);
        }
        answer.map(|body| Body::new(Keeping::new(body, Arc::new(share))))
    }
}

/// A body that keeps something until its end.
pub(super) struct Keeping<B, T> {
    body: B,
    kept: Arc<T>,
}

impl<B, T> Keeping<B, T> {
    /// A `body` that keeps `kept`.
    pub(super) fn new(body: B, kept: Arc<T>) -> Self {
        Self { body, kept }
    }
}

/// Bytes that keep it as well. A body is gone once its bytes wait to be written.
struct Held<T> {
    bytes: Bytes,
    _kept: Arc<T>,
}

impl<T> AsRef<[u8]> for Held<T> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl<B, T> HttpBody for Keeping<B, T>
where
    B: HttpBody<Data = Bytes> + Unpin,
    T: Send + Sync + 'static,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let kept = &self.kept;
        let hold = |bytes| Bytes::from_owner(Held { bytes, _kept: kept.clone() });
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(hold))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response that keeps something until its end.
pub(super) fn keep<T: Send + Sync + 'static>(response: Response, kept: T) -> Response {
    response.map(|body| Body::new(Keeping::new(body, Arc::new(kept))))
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use http_body_util::{BodyExt as _, Full};
    use tokio::time::{Instant, sleep};

    use super::super::caller::Caller;
    use super::*;

    const MIB: u64 = 1024 * 1024;

    fn by(name: &str) -> Asker {
        let mut asker = Asker::default();
        asker.caller = Some(Caller { name: Some(name.into()), ..Caller::default() });
        asker
    }

    async fn next(turns: &Turns, name: &str, bytes: u64) -> Result<Turn, StatusCode> {
        turns.next(&by(name), bytes).await.map_err(|refused| Response::from(refused).status())
    }

    fn answer(bytes: usize) -> axum::http::Response<Full<Bytes>> {
        axum::http::Response::new(Full::from(vec![b'x'; bytes]))
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_lasts_as_long_as_the_bytes_of_its_answer() {
        let turns = Turns::new(4 * MIB);
        let made = next(&turns, "a", 2 * MIB).await.unwrap();
        assert_eq!(next(&turns, "a", MIB).await.unwrap_err(), StatusCode::SERVICE_UNAVAILABLE);
        // What is made is smaller than what had to be feared.
        let mut held = vec![made.hold(answer(MIB as usize)).into_body().collect().await.unwrap().to_bytes()];
        let made = next(&turns, "a", MIB).await.unwrap();
        held.push(made.hold(answer(MIB as usize)).into_body().collect().await.unwrap().to_bytes());
        assert_eq!(next(&turns, "a", MIB).await.unwrap_err(), StatusCode::SERVICE_UNAVAILABLE);
        let part = held.pop().unwrap().slice(..1);
        assert_eq!(next(&turns, "a", MIB).await.unwrap_err(), StatusCode::SERVICE_UNAVAILABLE);
        drop(part);
        assert!(next(&turns, "a", MIB).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_is_served_though_another_one_holds_what_they_can() {
        let turns = Turns::new(64 * MIB);
        let mut held = Vec::new();
        while let Ok(turn) = next(&turns, "slow", MIB).await {
            held.push(turn);
        }
        assert_eq!(held.len(), 32);
        let waiting: Vec<_> = (0..100)
            .map(|_| {
                tokio::spawn({
                    let turns = turns.clone();
                    async move { next(&turns, "slow", MIB).await.is_ok() }
                })
            })
            .collect();
        sleep(Duration::from_millis(1)).await;
        let begin = Instant::now();
        for _ in 0..100 {
            assert!(next(&turns, "well-behaved", 16 * MIB).await.is_ok());
        }
        assert_eq!(begin.elapsed(), Duration::ZERO);
        for waiting in waiting {
            assert!(!waiting.await.unwrap());
        }
        assert!(turns.lock().waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_answer_is_not_kept_waiting_by_small_ones() {
        let turns = Turns::new(16 * MIB);
        let (first, second) = (next(&turns, "a", 8 * MIB).await.unwrap(), next(&turns, "b", 4 * MIB).await);
        let large = tokio::spawn({
            let turns = turns.clone();
            async move { next(&turns, "c", 8 * MIB).await.is_ok() }
        });
        sleep(Duration::from_secs(1)).await;
        let small = tokio::spawn({
            let turns = turns.clone();
            async move { next(&turns, "d", MIB).await.is_ok() }
        });
        sleep(Duration::from_secs(1)).await;
        assert!(!large.is_finished() && !small.is_finished());
        drop(first);
        assert!(large.await.unwrap() && small.await.unwrap() && second.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_answer_needs_no_turn_and_a_huge_one_gets_one() {
        let turns = Turns::default();
        let huge = next(&turns, "a", u64::MAX).await.unwrap();
        assert!(next(&turns, "a", MIB).await.is_err());
        assert!(next(&turns, "a", SMALL_MAX_BYTES).await.is_ok());
        drop(huge);
        assert!(next(&turns, "a", MIB).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn one_who_goes_away_waits_no_longer() {
        let turns = Turns::new(4 * MIB);
        let held = next(&turns, "a", 4 * MIB).await.unwrap();
        let gone = tokio::time::timeout(Duration::from_secs(1), next(&turns, "b", MIB)).await;
        assert!(gone.is_err() && turns.lock().waiting.is_empty());
        drop(held);
        assert!(next(&turns, "b", 4 * MIB).await.is_ok());
    }
}
