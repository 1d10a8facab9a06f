//! How a server ends: it is no longer ready and takes nobody in, what lasts is told to end, what is in hand is answered
//! within a bound, and then it is over.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use tokio_util::sync::CancellationToken;

/// The end of a server. All clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Drain {
    begun: CancellationToken,
    over: CancellationToken,
    max: Duration,
}

impl Drain {
    /// An end that gives the requests in hand at most this long, once it has begun.
    pub(crate) fn new(max: Duration) -> Self {
        Self { begun: CancellationToken::new(), over: CancellationToken::new(), max }
    }

    /// What is cancelled when the end begins: whatever lasts ends with it.
    pub(crate) fn begun(&self) -> &CancellationToken {
        &self.begun
    }

    /// Waits until nothing is waited for any more.
    pub(super) async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Begins the end at the first signal. It is over at the second, or when its time is up.
    pub(super) async fn follow(&self, signals: impl Stream<Item = ()>) -> Infallible {
        let mut signals = pin!(signals.chain(futures::stream::pending()));
        signals.next().await;
        self.begun.cancel();
        let _ = tokio::time::timeout(self.max, signals.next()).await;
        self.over.cancel();
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use tokio::time::{Instant, sleep, timeout};

    use super::*;

    const MAX: Duration = Duration::from_secs(5);

    /// How long it takes from the first of these signals until it is over.
    async fn check(signals: impl Stream<Item = ()>) -> Duration {
        let drain = Drain::new(MAX);
        let follow = timeout(Duration::from_secs(60), drain.follow(signals));
        let over = async {
            drain.begun().cancelled().await;
            let begun = Instant::now();
            drain.over().await;
            begun.elapsed()
        };
        tokio::join!(follow, over).1
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_signal_ends_it_at_once() {
        assert_eq!(check(stream::iter([()])).await, MAX);
        assert_eq!(check(stream::iter([(), ()])).await, Duration::ZERO);
        let later = stream::once(async {}).chain(stream::once(sleep(Duration::from_secs(1))));
        assert_eq!(check(later).await.as_secs(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_signal_it_does_not_begin() {
        let drain = Drain::new(MAX);
        let _ = timeout(Duration::from_secs(60), drain.follow(stream::empty())).await;
        assert!(!drain.begun().is_cancelled());
    }
}
