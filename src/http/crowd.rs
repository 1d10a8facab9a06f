//! Which of the open connections wait for their client, so that one of them can make room for another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The connections that wait for their client: for a request, or for the rest of one.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    waiting: Mutex<Waiting>,
    /// Told of each one that begins to wait.
    came: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// In the order in which they began to wait.
    connections: BTreeMap<u64, CancellationToken>,
    next: u64,
}

impl Crowd {
    /// Dismisses the connection that has been waiting longest. If none is, waits until one does.
    pub(super) async fn dismiss_one(&self) {
        loop {
            let first = lock(&self.waiting).connections.pop_first();
            if let Some((_, dismissed)) = first {
                return dismissed.cancel();
            }
            self.came.notified().await;
        }
    }

    fn enter(&self, dismissed: &CancellationToken) -> u64 {
        let mut waiting = lock(&self.waiting);
        let number = waiting.next;
        waiting.next += 1;
        waiting.connections.insert(number, dismissed.clone());
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
    dismissed: CancellationToken,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Its number among those that wait, or the last that it had.
    number: u64,
    /// How many of its requests are in hand. A client may send one before it has read the answer to another.
    in_hand: usize,
}

impl Guest {
    /// A connection whose client is waited for.
    pub(super) fn new(crowd: Arc<Crowd>) -> Arc<Self> {
        let dismissed = CancellationToken::new();
        let state = State { number: crowd.enter(&dismissed), in_hand: 0 };
        Arc::new(Self { crowd, dismissed, state: Mutex::new(state) })
    }

    /// Ends when the connection is to make room.
    pub(super) async fn dismissed(&self) {
        self.dismissed.cancelled().await;
    }

    /// Says that the client has asked and that it is its turn to wait, for as long as the value lives.
    pub(super) fn asked(self: &Arc<Self>) -> InHand {
        let mut state = lock(&self.state);
        state.in_hand += 1;
        self.crowd.leave(state.number);
        InHand(self.clone())
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.crowd.leave(lock(&self.state).number);
    }
}

/// A request that has come in whole and is not yet answered. Its connection is not dismissed.
#[derive(Debug)]
pub(super) struct InHand(Arc<Guest>);

impl Drop for InHand {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.in_hand -= 1;
        if state.in_hand == 0 {
            state.number = self.0.crowd.enter(&self.0.dismissed);
        }
    }
}

/// Nothing that is done under these locks can be left half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_one_that_has_been_waiting_longest_goes_first() {
        let crowd = Arc::new(Crowd::default());
        let guests: [_; 3] = std::array::from_fn(|_| Guest::new(crowd.clone()));
        let gone = || guests.each_ref().map(|guest| guest.dismissed.is_cancelled());
        drop(guests[0].asked());
        let dismiss = || async { tokio::time::timeout(Duration::from_secs(1), crowd.dismiss_one()).await };
        assert!(dismiss().await.is_ok());
        assert_eq!(gone(), [false, true, false]);
        let (first, second) = (guests[2].asked(), guests[2].asked());
        assert!(dismiss().await.is_ok());
        assert_eq!(gone(), [true, true, false]);

        // The last one has been asked for something and stays.
        drop(first);
        assert!(dismiss().await.is_err());
        drop(second);
        assert!(dismiss().await.is_ok());
        assert_eq!(gone(), [true; 3]);
    }

    #[test]
    fn one_that_is_gone_is_forgotten() {
        let crowd = Arc::new(Crowd::default());
        let guest = Guest::new(crowd.clone());
        let in_hand = guest.asked();
        drop(guest);
        drop(in_hand);
        assert!(lock(&crowd.waiting).connections.is_empty());
    }
}
