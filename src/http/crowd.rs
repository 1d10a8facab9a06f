//! Which of the open connections wait for their client, so that one of them can make room for another, and does not wait
//! for ever.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::caller::{Caller, Network, Peer};
use super::share::{Sharer, Slot};

/// The most requests that a client may take back before they are answered, not counting one for each that it waits for.
/// Opening and resetting streams of HTTP/2 costs it nothing, and this server the work.
const IN_VAIN_MAX: usize = 100;

/// The open connections, and which of them wait for their client: for a request, or for the rest of one.
#[derive(Debug)]
pub(super) struct Crowd {
    /// The most that are open at once.
    max: usize,
    slots: Arc<Semaphore>,
    open: Mutex<Open>,
    /// How often one has begun to wait.
    waits: AtomicU64,
    /// Told of each one that begins to wait.
    came: Notify,
}

#[derive(Debug, Default)]
struct Open {
    /// What is seen of each. They are looked through only when one has to leave, while every request changes them.
    badges: Vec<Arc<Badge>>,
    /// How many there are of each sharer.
    counts: HashMap<Sharer, usize>,
}

/// What a crowd sees of a connection.
#[derive(Debug)]
struct Badge {
    sharer: Sharer,
    dismissed: CancellationToken,
    /// Why it is; set before it is.
    why: OnceLock<Why>,
    /// Its place among those that wait, in the order in which they began to; 0 if it does not.
    place: AtomicU64,
}

/// Why a connection has to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Another one needs its place.
    Room,
    /// Its client has taken too many requests back.
    InVain,
}

impl Badge {
    fn dismiss(&self, why: Why) {
        let _ = self.why.set(why);
        self.dismissed.cancel();
    }
}

impl Crowd {
    /// At most `max` connections at once.
    pub(super) fn new(max: usize) -> Arc<Self> {
        let slots = Arc::new(Semaphore::new(max));
        Arc::new(Self { max, slots, open: Mutex::default(), waits: AtomicU64::new(1), came: Notify::new() })
    }

    /// Lets a connection in; if need be, another one has to leave. Three quarters of all may come from one address, for
    /// which one of its own has to leave then. If all of those are being answered, there is no room for it.
    pub(super) async fn admit(self: &Arc<Self>, peer: Peer) -> Option<Arc<Guest>> {
        let sharer = Sharer::from(&Caller::at(Some(&peer)));
        if self.holds_most(&sharer) && !self.dismiss_first(|badge| badge.sharer == sharer) {
            return None;
        }
        let slot = tokio::select! {
            biased;
            slot = self.slots.clone().acquire_owned() => slot,
            () = self.dismiss_one() => self.slots.clone().acquire_owned().await,
        };
        Some(Guest::new(self.clone(), peer, sharer, slot.ok()?))
    }

    /// Lets a connection in as soon as there is a place. Nobody has to leave for it.
    pub(super) async fn admit_last(self: &Arc<Self>, peer: Peer) -> Option<Arc<Guest>> {
        let sharer = Sharer::from(&Caller::at(Some(&peer)));
        let slot = self.slots.clone().acquire_owned().await.ok()?;
        Some(Guest::new(self.clone(), peer, sharer, slot))
    }

    fn holds_most(&self, sharer: &Sharer) -> bool {
        let open = lock(&self.open).counts.get(sharer).copied().unwrap_or_default();
        *sharer != Sharer::At(Network::Unix) && open >= self.max - self.max / 4
    }

    /// Dismisses the connection that has been waiting longest. If none is, waits until one does.
    pub(super) async fn dismiss_one(&self) {
        while !self.dismiss_first(|_| true) {
            self.came.notified().await;
        }
    }

    /// Dismisses the one of these connections that has been waiting longest, if any is.
    fn dismiss_first(&self, is_meant: impl Fn(&Badge) -> bool) -> bool {
        let open = lock(&self.open);
        loop {
            let waiting = open.badges.iter().filter(|badge| is_meant(badge));
            let waiting =
                waiting.map(|badge| (badge.place.load(Relaxed), badge)).filter(|(place, _)| *place > 0);
            let Some((place, badge)) = waiting.min_by_key(|(place, _)| *place) else { return false };
            // A request of it may have come in meanwhile.
            if badge.place.compare_exchange(place, 0, Relaxed, Relaxed).is_ok() {
                badge.dismiss(Why::Room);
                return true;
            }
        }
    }

    /// Puts a connection last among those that wait.
    fn enter(&self, badge: &Badge) {
        badge.place.store(self.waits.fetch_add(1, Relaxed), Relaxed);
        self.came.notify_one();
    }
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Guest {
    crowd: Arc<Crowd>,
    peer: Peer,
    badge: Arc<Badge>,
    state: Mutex<State>,
    /// Told of the first request.
    begun: Notify,
    _slot: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct State {
    /// How many of its requests have begun and are not over.
    begun: usize,
    /// How many of those are in hand. A client may send one before it has read the answer to another.
    in_hand: usize,
    /// When it was last heard of: a request began, or was answered.
    heard: Instant,
    /// How many requests were taken back.
    in_vain: usize,
    /// Whether there has been a request, or one since a next one is waited for.
    has_begun: bool,
}

impl Guest {
    /// A connection whose client is waited for.
    fn new(crowd: Arc<Crowd>, peer: Peer, sharer: Sharer, slot: OwnedSemaphorePermit) -> Arc<Self> {
        let dismissed = CancellationToken::new();
        let badge = Arc::new(Badge {
            sharer: sharer.clone(),
            dismissed,
            why: OnceLock::new(),
            place: AtomicU64::new(0),
        });
        let mut open = lock(&crowd.open);
        *open.counts.entry(sharer).or_default() += 1;
        open.badges.push(badge.clone());
        drop(open);
        crowd.enter(&badge);
        let state = State { begun: 0, has_begun: false, in_hand: 0, heard: Instant::now(), in_vain: 0 };
        Arc::new(Self { crowd, peer, badge, state: Mutex::new(state), begun: Notify::new(), _slot: slot })
    }

    /// Ends when the connection has to leave.
    pub(super) async fn dismissed(&self) {
        self.badge.dismissed.cancelled().await;
    }

    /// Why it has to leave, if it has to.
    pub(super) fn why_dismissed(&self) -> Option<Why> {
        self.badge.why.get().copied()
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
        while !lock(&self.state).has_begun {
            self.begun.notified().await;
        }
    }

    /// Ends when a request of it is in progress, be it that one has to begin. For one that waits.
    pub(super) async fn asks(&self) {
        {
            let mut state = lock(&self.state);
            state.has_begun = state.begun > 0;
        }
        self.begun().await;
    }

    /// Whether a request of it has begun and is not over.
    pub(super) fn is_asking(&self) -> bool {
        lock(&self.state).begun > 0
    }

    /// The other end.
    pub(super) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Whom it counts for.
    pub(super) fn sharer(&self) -> &Sharer {
        &self.badge.sharer
    }

    /// Says that a request begins, which has this slot among those in hand, if it needs one.
    pub(super) fn begins(self: &Arc<Self>, slot: Option<Slot>) -> Arc<Visit> {
        let mut state = lock(&self.state);
        state.begun += 1;
        state.heard = Instant::now();
        if !std::mem::replace(&mut state.has_begun, true) {
            self.begun.notify_one();
        }
        if state.in_hand == 0 {
            self.crowd.enter(&self.badge);
        }
        Arc::new(Visit {
            guest: self.clone(),
            slot: Mutex::new(slot),
            is_read: AtomicBool::new(false),
            has_asked: AtomicBool::new(false),
            is_answered: AtomicBool::new(false),
        })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut open = lock(&self.crowd.open);
        open.badges.retain(|badge| !Arc::ptr_eq(badge, &self.badge));
        if let Some(count) = open.counts.get_mut(&self.badge.sharer) {
            *count -= 1;
            if *count == 0 {
                open.counts.remove(&self.badge.sharer);
            }
        }
    }
}

/// A request, from its beginning until the last byte of its answer is written. It counts as taken back if it is never said to
/// be answered.
#[derive(Debug)]
pub(super) struct Visit {
    guest: Arc<Guest>,
    slot: Mutex<Option<Slot>>,
    is_read: AtomicBool,
    has_asked: AtomicBool,
    is_answered: AtomicBool,
}

impl Visit {
    /// The other end of its connection.
    pub(super) fn peer(&self) -> &Peer {
        &self.guest.peer
    }

    /// Says that the request has come in whole and that it is its client's turn to wait. From here on its connection is not
    /// dismissed.
    pub(super) fn asked(&self) {
        if !self.has_asked.swap(true, Relaxed) {
            let mut state = lock(&self.guest.state);
            state.in_hand += 1;
            self.guest.badge.place.store(0, Relaxed);
        }
    }

    /// Says that its body is read from here on, which a client may have waited to be told.
    pub(super) fn reads(&self) {
        self.is_read.store(true, Relaxed);
    }

    /// Whether its body has begun to be read.
    pub(super) fn is_read(&self) -> bool {
        self.is_read.load(Relaxed)
    }

    /// Gives its slot back, if it has one, so that another request may have it.
    pub(super) fn gives_slot_back(&self) {
        lock(&self.slot).take();
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
        let Guest { crowd, badge, state, .. } = &*self.guest;
        let mut state = lock(state);
        state.begun -= 1;
        if *self.has_asked.get_mut() {
            state.in_hand -= 1;
            if state.in_hand == 0 {
                state.heard = Instant::now();
                crowd.enter(badge);
            }
        }
        if !*self.is_answered.get_mut() {
            state.in_vain += 1;
            if state.in_vain > IN_VAIN_MAX {
                badge.dismiss(Why::InVain);
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

    fn at(last: u8) -> Peer {
        Peer { address: Some(([192, 0, 2, last], 1).into()) }
    }

    async fn admit(crowd: &Arc<Crowd>, last: u8) -> Arc<Guest> {
        crowd.admit(at(last)).await.unwrap()
    }

    /// A request of which nothing more is to come.
    fn asked(guest: &Arc<Guest>) -> Arc<Visit> {
        let visit = guest.begins(None);
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
        let gone = || guests.each_ref().map(|guest| guest.why_dismissed() == Some(Why::Room));
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
        let gone = guests.each_ref().map(|guest| guest.why_dismissed() == Some(Why::Room));
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
                let request = guest.begins(None);
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
            drop(guest.begins(None));
        }
        for _ in 0..3 {
            guest.begins(None).answered();
            drop(guest.begins(None));
        }
        assert_eq!(guest.why_dismissed(), None);
        drop(guest.begins(None));
        assert_eq!(guest.why_dismissed(), Some(Why::InVain));
    }

    #[tokio::test]
    async fn one_that_is_gone_is_forgotten() {
        let crowd = Crowd::new(1);
        let guest = admit(&crowd, 1).await;
        let in_hand = asked(&guest);
        drop(guest);
        drop(in_hand);
        let open = lock(&crowd.open);
        assert!(open.badges.is_empty() && open.counts.is_empty());
    }
}
