//! Whether a client takes each of the answers that it asked for on one connection.
//!
//! Over HTTP/2 a client says how much of each answer it wants next. One that wants nothing holds the answer though nothing
//! waits to be written to its connection, so that [`super::patience`] sees nothing of it. Here every answer is looked at by
//! itself.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::parts::Parts;
use super::patience::{LEAST_BYTES, LOOK};

/// The parts in which an answer is handed out, and seen to be taken: a frame of HTTP/2 as most clients take it.
const PART_BYTES: usize = 16 * 1024;

/// The answers that a client has not yet taken on one connection.
#[derive(Debug, Default)]
pub(super) struct Paces {
    answers: Mutex<OpenAnswers>,
}

#[derive(Debug, Default)]
struct OpenAnswers {
    open: HashMap<u64, Weak<Pace>>,
    next: u64,
}

/// How one answer is taken.
#[derive(Debug)]
struct Pace {
    paces: Arc<Paces>,
    number: u64,
    /// Bytes that were handed out and not taken.
    held: AtomicUsize,
    /// Those that were taken since the last look.
    taken: AtomicUsize,
    /// Whether the client waits for more of it.
    is_waited_for: AtomicBool,
    /// Whether the client had taken all that there was at some time since the last look.
    was_waited_for: AtomicBool,
}

impl Paces {
    /// Ends when a client has taken too little during a [`LOOK`]: the answers that waited for it all the time together
    /// [`LEAST_BYTES`], and each of them its equal part of that.
    pub(super) async fn neglected(&self) {
        loop {
            let begun = self.lock().next;
            tokio::time::sleep(LOOK).await;
            let open: Vec<_> = self.lock().open.values().filter_map(Weak::upgrade).collect();
            // Those that began meanwhile have until the next look.
            let looks: Vec<_> = open.iter().map(|pace| (pace.number < begun, pace.look())).collect();
            let waited = looks.into_iter().filter_map(|(is_old, taken)| taken.filter(|_| is_old));
            let taken: Vec<usize> = waited.collect();
            if taken.iter().any(|bytes| bytes * taken.len() < LEAST_BYTES) {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, OpenAnswers> {
        // Nothing that is done under the lock can be left half done.
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pace {
    fn new(paces: &Arc<Paces>) -> Arc<Self> {
        let mut answers = paces.lock();
        let number = answers.next;
        answers.next += 1;
        let pace = Arc::new(Self {
            paces: paces.clone(),
            number,
            held: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            is_waited_for: AtomicBool::new(false),
            was_waited_for: AtomicBool::new(false),
        });
        answers.open.insert(number, Arc::downgrade(&pace));
        pace
    }

    /// Bytes that were taken since the last look; `None` if the client has been waiting for more.
    fn look(&self) -> Option<usize> {
        let taken = self.taken.swap(0, Relaxed);
        let is_waited_for = self.is_waited_for();
        let was_waited_for = self.was_waited_for.swap(is_waited_for, Relaxed);
        (!was_waited_for && !is_waited_for).then_some(taken)
    }

    fn is_waited_for(&self) -> bool {
        self.is_waited_for.load(Relaxed) && self.held.load(Relaxed) == 0
    }

    fn waits(&self, is_waited_for: bool) {
        self.is_waited_for.store(is_waited_for, Relaxed);
        if self.is_waited_for() {
            self.was_waited_for.store(true, Relaxed);
        }
    }

    /// A part that is handed out, and counts as taken once it is gone.
    fn part(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        self.held.fetch_add(bytes.len(), Relaxed);
        Bytes::from_owner(Part { bytes, pace: self.clone() })
    }
}

impl Drop for Pace {
    fn drop(&mut self) {
        self.paces.lock().open.remove(&self.number);
    }
}

struct Part {
    bytes: Bytes,
    pace: Arc<Pace>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.pace.taken.fetch_add(self.bytes.len(), Relaxed);
        self.pace.held.fetch_sub(self.bytes.len(), Relaxed);
        if self.pace.is_waited_for() {
            self.pace.was_waited_for.store(true, Relaxed);
        }
    }
}

/// An answer that is handed out in parts.
pub(super) struct Paced<B> {
    body: Parts<B>,
    pace: Arc<Pace>,
}

impl<B> Paced<B> {
    /// Has `body` looked at among the other answers of a connection.
    pub(super) fn new(body: B, paces: &Arc<Paces>) -> Self {
        Self { body: Parts::new(body, PART_BYTES), pace: Pace::new(paces) }
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for Paced<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        self.pace.waits(frame.is_pending());
        frame.map_ok(|frame| frame.map_data(|bytes| self.pace.part(bytes)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Body;
    use http_body_util::BodyExt as _;
    use tokio::time::{sleep, timeout};

    use super::*;

    const LEAST_A_SECOND: usize = LEAST_BYTES / LOOK.as_secs() as usize;
    const LONG: Duration = Duration::from_secs(3600);

    /// A client that takes so many bytes a second of an answer without end.
    async fn take(paces: &Arc<Paces>, bytes_a_second: usize) {
        let piece = Bytes::from(vec![b'x'; 1 << 20]);
        let pieces = futures::stream::repeat_with(move || Ok::<_, std::convert::Infallible>(piece.clone()));
        let mut answer = Paced::new(Body::from_stream(pieces), paces);
        loop {
            let part = answer.frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(part.len() <= PART_BYTES);
            sleep(Duration::from_secs(1).mul_f64(part.len() as f64 / bytes_a_second as f64)).await;
        }
    }

    /// Whether a client is left that takes its answers so fast.
    async fn is_left(clients: &[usize]) -> bool {
        let paces = Arc::default();
        let all = futures::future::join_all(clients.iter().map(|client| take(&paces, *client)));
        tokio::select! {
            () = paces.neglected() => true,
            _ = timeout(LONG, all) => false,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn every_answer_has_to_be_taken() {
        assert!(!is_left(&[]).await);
        assert!(!is_left(&[2 * LEAST_A_SECOND]).await);
        assert!(is_left(&[LEAST_A_SECOND / 2]).await);
        // Those of one connection share what it takes.
        assert!(!is_left(&[LEAST_A_SECOND / 2; 4]).await);
        assert!(is_left(&[LEAST_A_SECOND / 8; 4]).await);
        // One must not hide behind the others.
        assert!(is_left(&[100 * LEAST_A_SECOND, 1]).await);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_even_begun_is_seen() {
        let paces = Arc::default();
        let answer = Paced::new(Body::from("x"), &paces);
        assert!(timeout(3 * LOOK, paces.neglected()).await.is_ok());
        drop(answer);
        assert!(paces.lock().open.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_quiet_stream_is_waited_for() {
        let paces: Arc<Paces> = Arc::default();
        let events = futures::stream::unfold((), |()| async {
            sleep(3 * LOOK).await;
            Some((Ok::<_, std::convert::Infallible>("event"), ()))
        });
        let mut stream = Paced::new(Body::from_stream(events), &paces);
        let read = async {
            for _ in 0..10 {
                stream.frame().await.unwrap().unwrap();
            }
        };
        tokio::select! {
            () = paces.neglected() => panic!("it was waited for"),
            () = read => {}
        }
        // An event that is not taken is seen.
        let event = stream.frame().await.unwrap().unwrap();
        assert!(timeout(3 * LOOK, paces.neglected()).await.is_ok());
        drop(event);
    }
}
