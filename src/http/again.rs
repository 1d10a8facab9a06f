//! Polling a connection again at once when it has woken itself.
//!
//! hyper wakes the task of a connection whenever the body of a request is read, though the task is what reads it. The
//! runtime would put the task behind all others and call another thread to help with it, which costs more than the answer.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::AcqRel, Ordering::Acquire};
use std::task::{Context, Poll, Wake, Waker};

use futures::task::AtomicWaker;

/// How often it is polled in a row before others have their turn.
const TIMES_MAX: usize = 4;

/// It is not polled, so that its task has to be woken.
const AT_REST: u8 = 0;
/// It is being polled.
const POLLED: u8 = 1;
/// It has been woken meanwhile.
const WOKEN: u8 = 2;

/// What polls one future again.
pub(super) struct Again {
    wakes: Arc<Wakes>,
    waker: Waker,
}

struct Wakes {
    state: AtomicU8,
    task: AtomicWaker,
}

impl Again {
    /// For a future that has not been polled.
    pub(super) fn new() -> Self {
        let wakes = Arc::new(Wakes { state: AtomicU8::new(AT_REST), task: AtomicWaker::new() });
        Self { waker: wakes.clone().into(), wakes }
    }

    /// Polls the future until it does not wake itself.
    pub(super) fn poll<F: Future>(&self, mut future: Pin<&mut F>, cx: &Context<'_>) -> Poll<F::Output> {
        self.wakes.task.register(cx.waker());
        for _ in 0..TIMES_MAX {
            self.wakes.state.swap(POLLED, AcqRel);
            let polled = future.as_mut().poll(&mut Context::from_waker(&self.waker));
            if self.wakes.state.swap(AT_REST, AcqRel) == POLLED || polled.is_ready() {
                return polled;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let woken = |state| (state != AT_REST).then_some(WOKEN);
        if self.state.fetch_update(AcqRel, Acquire, woken).is_err() {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::time::Duration;

    use super::*;

    /// How often a task is polled whose future wakes itself so often, and how often the future.
    async fn polls(times: usize) -> (usize, usize) {
        let (mut tasks, mut futures) = (0, 0);
        let again = Again::new();
        let mut future = pin!(poll_fn(|cx| {
            futures += 1;
            if futures > times {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
        poll_fn(|cx| {
            tasks += 1;
            again.poll(future.as_mut(), cx)
        })
        .await;
        (tasks, futures)
    }

    #[tokio::test]
    async fn what_wakes_itself_is_polled_at_once_and_not_for_ever() {
        assert_eq!(polls(0).await, (1, 1));
        assert_eq!(polls(TIMES_MAX - 1).await, (1, TIMES_MAX));
        assert_eq!(polls(TIMES_MAX * 3).await, (4, TIMES_MAX * 3 + 1));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_others_wake_is_polled() {
        for _ in 0..200 {
            let (send, receive) = tokio::sync::oneshot::channel();
            tokio::spawn(async move { send.send(()) });
            let again = Again::new();
            let mut receive = pin!(receive);
            let received = poll_fn(|cx| again.poll(receive.as_mut(), cx));
            tokio::time::timeout(Duration::from_secs(20), received).await.unwrap().unwrap();
        }
    }
}
