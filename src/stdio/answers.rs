//! The output: one line an answer, and how many answers are still owed.

use std::io::{ErrorKind, IoSlice};
use std::sync::{Arc, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::mcp::direct::Answer;

/// The most requests that are worked on, or whose answers wait to be written.
const IN_FLIGHT_MAX: u32 = 16;
/// How many bytes are enough for one write: as many as a pipe of Linux holds. More are not made before their time.
const WRITE_BYTES: usize = 64 * 1024;

/// How many answers are written together while more are to be made: few enough for a pipe to have room for as many again of
/// 10 KiB each.
const TOGETHER: usize = 3;

/// Where answers are written, and how many are still owed.
pub(super) struct Answers<W> {
    output: Arc<Mutex<W>>,
    ready: Arc<std::sync::Mutex<Vec<Ready>>>,
    /// One for each request that may be worked on.
    pub(super) permits: Arc<Semaphore>,
    /// Told whenever the client has taken something.
    taken: Arc<Notify>,
    stopped: CancellationToken,
}

/// An answer that waits to be written, and what is given back then.
type Ready = (Answer, OwnedSemaphorePermit);

impl<W: AsyncWrite + Send + Unpin + 'static> Answers<W> {
    /// Nothing is owed yet. `stopped` is cancelled when the output is gone.
    pub(super) fn new(output: W, stopped: CancellationToken) -> Self {
        let permits = Arc::new(Semaphore::new(IN_FLIGHT_MAX as usize));
        Self {
            output: Arc::new(Mutex::new(output)),
            ready: Arc::default(),
            permits,
            taken: Arc::default(),
            stopped,
        }
    }

    /// Writes a line, whole, and gives the permit back. A client that cannot be written to is gone, and so its session.
    pub(super) async fn write(
        &self,
        message: &impl serde::Serialize,
        permit: Option<OwnedSemaphorePermit>,
    ) -> std::io::Result<()> {
        // One message at a time is held as bytes: the lock comes first.
        let mut output = self.output.lock().await;
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let written = self.write_pieces(&mut output, [line.into()].into_iter()).await;
        drop(permit);
        written
    }

    /// Has an answer written, a line that is there as bytes or is made as they are taken, together with those that are put
    /// here until the output is free.
    pub(super) fn put(&self, answer: Answer, permit: OwnedSemaphorePermit) {
        let mut ready = self.ready();
        ready.push((answer, permit));
        if ready.len() > 1 {
            return;
        }
        let answers = self.clone();
        tokio::spawn(async move {
            let mut output = answers.output.lock().await;
            let ready = std::mem::take(&mut *answers.ready());
            let (lines, permits): (Vec<Answer>, Vec<_>) = ready.into_iter().unzip();
            let written = answers.write_pieces(&mut output, lines.into_iter().flatten()).await;
            drop(permits);
            written
        });
    }

    /// Lets the answers that wait be written if there are many, so that a client that asks much at once reads the first ones
    /// while the others are made.
    pub(super) async fn let_write(&self) {
        if self.ready().len() >= TOGETHER {
            tokio::task::yield_now().await;
        }
    }

    fn ready(&self) -> MutexGuard<'_, Vec<Ready>> {
        // What is done under the lock cannot be left half done.
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write_pieces(
        &self,
        output: &mut W,
        mut pieces: impl Iterator<Item = Bytes>,
    ) -> std::io::Result<()> {
        let writing = async {
            loop {
                let (mut batch, mut bytes) = (Vec::new(), 0);
                while bytes < WRITE_BYTES
                    && let Some(piece) = pieces.next()
                {
                    bytes += piece.len();
                    batch.push(piece);
                }
                if batch.is_empty() {
                    return output.flush().await;
                }
                let mut slices: Vec<_> = batch.iter().map(|piece| IoSlice::new(piece)).collect();
                let mut left = &mut slices[..];
                while !left.is_empty() {
                    let count = output.write_vectored(left).await?;
                    if count == 0 {
                        return Err(ErrorKind::WriteZero.into());
                    }
                    IoSlice::advance_slices(&mut left, count);
                    self.taken.notify_one();
                }
            }
        };
        let written = writing.await;
        if let Err(error) = &written {
            tracing::debug!(%error, "the output cannot be written");
            self.stopped.cancel();
        }
        written
    }

    /// Returns once the client has taken something since this was last asked.
    pub(super) async fn taken(&self) {
        self.taken.notified().await;
    }

    /// Returns once every answer that is owed has been written, and what else waits for the output.
    pub(super) async fn all_written(&self) {
        let _ = self.permits.acquire_many(IN_FLIGHT_MAX).await;
        drop(self.output.lock().await);
    }
}

impl<W> Clone for Answers<W> {
    fn clone(&self) -> Self {
        Self {
            output: self.output.clone(),
            ready: self.ready.clone(),
            permits: self.permits.clone(),
            taken: self.taken.clone(),
            stopped: self.stopped.clone(),
        }
    }
}
