//! How long a session that is to end may still take for the answers that it owes.

use std::future::Future;
use std::time::Duration;

use tokio::io::AsyncWrite;
use tokio::time::{sleep, timeout};

use crate::catalog::Catalog;

use super::answers::Answers;
use super::transport::End;

/// How long the requests in hand may take once the session is stopped. Hosts kill a process that is still there 2 s after
/// they have told it to stop.
pub(super) const DRAIN_MAX: Duration = Duration::from_millis(1500);
/// How long nothing may be taken of the answers once the input has ended. A client that pipes its requests in may well begin
/// to read late; one that takes nothing for so long is not going to.
const UNTAKEN_MAX: Duration = Duration::from_secs(10);
/// How long the first catalog is waited for once the input has ended. The largest trees on the slowest disks take minutes; a
/// process whose client is gone is not to wait for a root that never comes.
const CATALOG_MAX: Duration = Duration::from_secs(5 * 60);

/// Stops the session with `shutdown`, and returns when one that is stopped has had its time.
pub(super) async fn stopped(shutdown: impl Future<Output = ()>, end: &End) {
    tokio::select! {
        () = shutdown => end.stopped.cancel(),
        () = end.stopped.cancelled() => {}
    }
    sleep(DRAIN_MAX).await;
}

/// Returns when a session whose input has ended gets no further: there is a catalog to answer from, or will be none in time,
/// and nothing is taken of the answers.
pub(super) async fn stalled<W>(answers: &Answers<W>, catalog: &Catalog, end: &End)
where
    W: AsyncWrite + Send + Unpin + 'static,
{
    end.ending.cancelled().await;
    let _ = timeout(CATALOG_MAX, catalog.snapshot()).await;
    while timeout(UNTAKEN_MAX, answers.taken()).await.is_ok() {}
}
