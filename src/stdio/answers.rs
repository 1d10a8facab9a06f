//! The output: one line an answer, and how many answers are still owed.

use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The most requests that are worked on, or whose answers wait to be written.
const IN_FLIGHT_MAX: u32 = 16;

/// Where answers are written, and how many are still owed.
pub(super) struct Answers<W> {
    output: Arc<Mutex<W>>,
    /// One for each request that may be worked on.
    pub(super) permits: Arc<Semaphore>,
    stopped: CancellationToken,
}

impl<W: AsyncWrite + Send + Unpin> Answers<W> {
    /// Nothing is owed yet. `stopped` is cancelled when the output is gone.
    pub(super) fn new(output: W, stopped: CancellationToken) -> Self {
        let permits = Arc::new(Semaphore::new(IN_FLIGHT_MAX as usize));
        Self { output: Arc::new(Mutex::new(output)), permits, stopped }
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
            for piece in line {
                output.write_all(&piece).await?;
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

    /// Returns once every answer that is owed has been written.
    pub(super) async fn all_written(&self) {
        let _ = self.permits.acquire_many(IN_FLIGHT_MAX).await;
    }
}

impl<W> Clone for Answers<W> {
    fn clone(&self) -> Self {
        Self { output: self.output.clone(), permits: self.permits.clone(), stopped: self.stopped.clone() }
    }
}
