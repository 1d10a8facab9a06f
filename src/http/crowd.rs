//! Which of the open connections wait for their client, so that one of them can make room for another, and does not wait
//! for ever.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::caller::Network;
use super::share::Sharer;

/// The most requests that a client may take back before they are answered, not counting one for each that it waits for.
/// Opening and resetting streams of HTTP/2 costs it nothing, and this server the work.
const IN_VAIN_MAX: usize = 100;

/// The open connections, and which of them wait for their client: for a request, or for the rest of one.
#[derive(Debug)]
pub(super) struct Crowd {
    /// The most that are open at once.
    max: usize,
    slots: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
    /// Told of each one that begins to wait.
    came: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// In the order in which they began to wait.
    connections: BTreeMap<u64, (Sharer, CancellationToken)>,
    next: u64,
    /// How many are open from each place that has a name, waiting or not.
    open: HashMap<Sharer, usize>,
}

impl Crowd {
    /// At most `max` connections at once.
    pub(super) fn new(max: usize) -> Arc<Self> {
        let slots = Arc::new(Semaphore::new(max));
        Arc::new(Self { max, slots, waiting: Mutex::default(), came: Notify::new() })
    }

    /// Lets a connection in; if need be, another one has to leave. Three quarters of all may come from one address, for
    /// which one of its own has to leave then. If all of those are being answered, there is no room for it.
    pub(super) async fn admit(self: &Arc<Self>, sharer: Sharer) -> Option<Arc<Guest>> {
        if self.holds_most(&sharer) {
            let mut waiting = lock(&self.waiting);
            let mut own = waiting.connections.iter().filter(|(_, (other, _))| *other == sharer);
            let number = own.next().map(|(&number, _)| number)?;
            drop(own);
            waiting.connections.remove(&number).inspect(|(_, dismissed)| dismissed.cancel());
        }
        let slot = tokio::select! {
            biased;
            slot = self.slots.clone().acquire_owned() => slot,
            () = self.dismiss_one() => self.slots.clone().acquire_owned().await,
        };
        Some(Guest::new(self.clone(), sharer, slot.ok()?))
    }

    fn holds_most(&self, sharer: &Sharer) -> bool {
        let open = lock(&self.waiting).open.get(sharer).copied().unwrap_or_default();
        *sharer != Sharer::At(Network::Unix) && open >= self.max - self.max / 4
    }

    /// Dismisses the connection that has been waiting longest. If none is, waits until one does.
    pub(super) async fn dismiss_one(&self) {
        loop {
            let first = lock(&self.waiting).connections.pop_first();
            if let Some((_, (_, dismissed))) = first {
                return dismissed.cancel();
            }
            self.came.notified().await;
        }
    }

    /// Puts a connection last among those that wait, from its place among them if it has one.
    fn enter(&self, from: Option<u64>, sharer: &Sharer, dismissed: &CancellationToken) -> u64 {
        let mut waiting = lock(&self.waiting);
        if let Some(number) = from {
            waiting.connections.remove(&number);
        }
        let number = waiting.next;
        waiting.next += 1;
        waiting.connections.insert(number, (sharer.clone(), dismissed.clone()));
        self.came.notify_one();
        number
    }

    fn leave(&self, number: u64) {
        lock(&self.waiting).connections.remove(&number);
    }
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Guest {
    crowd: Arc<Crowd>,
    sharer: Sharer,
    dismissed: CancellationToken,
    state: Mutex<State>,
    /// Told of the first request.
    begun: Notify,
    _slot: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct State {
    /// Its number among those that wait, or the last that it had.
    number: u64,
    /// How many of its requests are in hand. A client may send one before it has read the answer to another.
    in_hand: usize,
    /// When it was last heard of: a request began, or was answered.
    heard: Instant,
    /// How many requests were taken back.
    in_vain: usize,
    /// Whether there has been a request.
    has_begun: bool,
}

impl Guest {
    /// A connection whose client is waited for.
    fn new(crowd: Arc<Crowd>, sharer: Sharer, slot: OwnedSemaphorePermit) -> Arc<Self> {
        let dismissed = CancellationToken::new();
        *lock(&crowd.waiting).open.entry(sharer.clone()).or_default() += 1;
        let number = crowd.enter(None, &sharer, &dismissed);
        let state =
            Mutex::new(State { number, in_hand: 0, heard: Instant::now(), in_vain: 0, has_begun: false });
        Arc::new(Self { crowd, sharer, dismissed, state, begun: Notify::new(), _slot: slot })
    }

    /// Ends when the connection is to make room.
    pub(super) async fn dismissed(&self) {
        self.dismissed.cancelled().await;
    }

    /// Whether it was to make room.
    pub(super) fn is_dismissed(&self) -> bool {
        self.dismissed.is_cancelled()
    }

    /// Ends when the client has been waited for, and not heard of, for so long.
    pub(super) async fn silent(&self, max: Duration) {
        loop {
            let left = {
                let state = lock(&self.state);
                if state.in_hand > 0 { max } else { max.saturating_sub(state.heard.elapsed()) }
            };
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }

    /// Ends when its first request has begun. For one that waits.
    pub(super) async fn begun(&self) {
        if !lock(&self.state).has_begun {
            self.begun.notified().await;
        }
    }

    /// Whom it counts for.
    pub(super) fn sharer(&self) -> &Sharer {
        &self.sharer
    }

    /// Says that a request begins.
    pub(super) fn begins(self: &Arc<Self>) -> Arc<Visit> {
        let mut state = lock(&self.state);
        state.heard = Instant::now();
        if !std::mem::replace(&mut state.has_begun, true) {
            self.begun.notify_one();
        }
        if state.in_hand == 0 {
            state.number = self.crowd.enter(Some(state.number), &self.sharer, &self.dismissed);
        }
        Arc::new(Visit {
            guest: self.clone(),
            has_asked: AtomicBool::new(false),
            is_answered: AtomicBool::new(false),
        })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.crowd.leave(lock(&self.state).number);
        let mut waiting = lock(&self.crowd.waiting);
        if let Some(open) = waiting.open.get_mut(&self.sharer) {
            *open -= 1;
            if *open == 0 {
                waiting.open.remove(&self.sharer);
            }
        }
    }
}

/// A request, from its beginning until the last byte of its answer is written. It counts as taken back if it is never said to
/// be answered.
#[derive(Debug)]
pub(super) struct Visit {
    guest: Arc<Guest>,
    has_asked: AtomicBool,
    is_answered: AtomicBool,
}

impl Visit {
    /// Says that the request has come in whole and that it is its client's turn to wait. From here on its connection is not
    /// dismissed.
    pub(super) fn asked(&self) {
        if !self.has_asked.swap(true, Relaxed) {
            let mut state = lock(&self.guest.state);
            state.in_hand += 1;
            self.guest.crowd.leave(state.number);
        }
    }

    /// Says that it has an answer.
    pub(super) fn answered(&self) {
        self.is_answered.store(true, Relaxed);
        let mut state = lock(&self.guest.state);
        state.in_vain = state.in_vain.saturating_sub(1);
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let Guest { crowd, sharer, dismissed, state, .. } = &*self.guest;
        let mut state = lock(state);
        if *self.has_asked.get_mut() {
            state.in_hand -= 1;
            if state.in_hand == 0 {
                state.heard = Instant::now();
                state.number = crowd.enter(None, sharer, dismissed);
            }
        }
        if !*self.is_answered.get_mut() {
            state.in_vain += 1;
            if state.in_vain > IN_VAIN_MAX {
                dismissed.cancel();
            }
        }
    }
}

/// Nothing that is done under these locks can be left half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {

    use super::*;

    fn at(last: u8) -> Sharer {
        Sharer::At(Network::V4([192, 0, 2, last]))
    }

    async fn admit(crowd: &Arc<Crowd>, last: u8) -> Arc<Guest> {
        crowd.admit(at(last)).await.unwrap()
    }

    /// A request of which nothing more is to come.
    fn asked(guest: &Arc<Guest>) -> Arc<Visit> {
        let visit = guest.begins();
        visit.asked();
        visit
    }

    async fn within_a_second<T>(future: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout(Duration::from_secs(1), future).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_one_that_has_been_waiting_longest_goes_first() {
        let crowd = Crowd::new(3);
        let guests = [admit(&crowd, 0).await, admit(&crowd, 1).await, admit(&crowd, 2).await];
        let gone = || guests.each_ref().map(|guest| guest.dismissed.is_cancelled());
        drop(asked(&guests[0]));
        assert!(within_a_second(crowd.dismiss_one()).await.is_some());
        assert_eq!(gone(), [false, true, false]);
        let (first, second) = (asked(&guests[2]), asked(&guests[2]));
        assert!(within_a_second(crowd.dismiss_one()).await.is_some());
        assert_eq!(gone(), [true, true, false]);

        // The last one has been asked for something and stays.
        drop(first);
        assert!(within_a_second(crowd.dismiss_one()).await.is_none());
        drop(second);
        assert!(within_a_second(crowd.dismiss_one()).await.is_some());
        assert_eq!(gone(), [true; 3]);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_comes_has_the_place_of_one_that_goes() {
        let crowd = Crowd::new(1);
        let first = admit(&crowd, 1).await;
        let second = tokio::spawn({
            let crowd = crowd.clone();
            async move { admit(&crowd, 2).await }
        });
        assert!(within_a_second(first.dismissed()).await.is_some() && !second.is_finished());
        drop(first);
        assert!(within_a_second(second).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_makes_room_for_itself() {
        let crowd = Crowd::new(4);
        let guests = [admit(&crowd, 1).await, admit(&crowd, 1).await, admit(&crowd, 1).await];
        let in_hand = guests.each_ref().map(asked);
        assert!(crowd.admit(at(1)).await.is_none());
        let other = admit(&crowd, 2).await;
        let [_, first, second] = in_hand;
        drop((first, second));
        // There is room for another one's, and what was silent before has not to leave for it.
        drop(other);
        let _more = admit(&crowd, 1).await;
        let gone = guests.each_ref().map(|guest| guest.dismissed.is_cancelled());
        assert_eq!(gone, [false, true, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_is_silent_only_while_it_is_waited_for() {
        let crowd = Crowd::new(1);
        let guest = admit(&crowd, 1).await;
        const MAX: Duration = Duration::from_secs(30);
        let begin = Instant::now();
        let (silent, ()) = tokio::join!(
            async {
                guest.silent(MAX).await;
                begin.elapsed().as_secs()
            },
            async {
                sleep(MAX / 2).await;
                let request = guest.begins();
                sleep(MAX / 2).await;
                request.asked();
                request.answered();
                sleep(10 * MAX).await;
                drop(request);
            }
        );
        let answered = 30 + 300;
        assert!((answered + 30..answered + 60).contains(&silent), "{silent}");
    }

    #[tokio::test]
    async fn a_client_that_takes_everything_back_is_left() {
        let crowd = Crowd::new(1);
        let guest = admit(&crowd, 1).await;
        for _ in 0..IN_VAIN_MAX {
            drop(guest.begins());
        }
        for _ in 0..3 {
            guest.begins().answered();
            drop(guest.begins());
        }
        assert!(!guest.dismissed.is_cancelled());
        drop(guest.begins());
        assert!(guest.dismissed.is_cancelled());
    }

    #[tokio::test]
    async fn one_that_is_gone_is_forgotten() {
        let crowd = Crowd::new(1);
        let guest = admit(&crowd, 1).await;
        let in_hand = asked(&guest);
        drop(guest);
        drop(in_hand);
        let waiting = lock(&crowd.waiting);
        assert!(waiting.connections.is_empty() && waiting.open.is_empty());
    }
}
