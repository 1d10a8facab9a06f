//! The output: one line an answer, and how many answers are still owed.

use std::io::ErrorKind;
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The most requests that are worked on, or whose answers wait to be written.
const IN_FLIGHT_MAX: u32 = 16;

/// Where answers are written, and how many are still owed.
pub(super) struct Answers<W> {
    output: Arc<Mutex<W>>,
    /// One for each request that may be worked on.
    pub(super) permits: Arc<Semaphore>,
    /// Told whenever the client has taken something.
    taken: Arc<Notify>,
    stopped: CancellationToken,
}

impl<W: AsyncWrite + Send + Unpin> Answers<W> {
    /// Nothing is owed yet. `stopped` is cancelled when the output is gone.
    pub(super) fn new(output: W, stopped: CancellationToken) -> Self {
        let permits = Arc::new(Semaphore::new(IN_FLIGHT_MAX as usize));
        Self { output: Arc::new(Mutex::new(output)), permits, taken: Arc::default(), stopped }
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
        self.write_pieces(&mut output, [line.into()], permit).await
    }

    /// Writes a line that is there as bytes, or is made as they are taken, and gives the permit back.
    pub(super) async fn write_bytes(
        &self,
        line: impl IntoIterator<Item = Bytes>,
        permit: OwnedSemaphorePermit,
    ) -> std::io::Result<()> {
        let mut output = self.output.lock().await;
        self.write_pieces(&mut output, line, Some(permit)).await
    }

    async fn write_pieces(
        &self,
        output: &mut W,
        line: impl IntoIterator<Item = Bytes>,
        permit: Option<OwnedSemaphorePermit>,
    ) -> std::io::Result<()> {
        let writing = async {
            for mut piece in line {
                while !piece.is_empty() {
                    let count = output.write(&piece).await?;
                    if count == 0 {
                        return Err(ErrorKind::WriteZero.into());
                    }
                    piece.advance(count);
                    self.taken.notify_one();
                }
            }
            output.flush().await
        };
        let written = writing.await;
        if let Err(error) = &written {
            tracing::debug!(%error, "the output cannot be written");
            self.stopped.cancel();
        }
        drop(permit);
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
            permits: self.permits.clone(),
            taken: self.taken.clone(),
            stopped: self.stopped.clone(),
        }
    }
}
