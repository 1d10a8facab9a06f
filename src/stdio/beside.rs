//! What is answered beside rmcp: plain requests, once rmcp has seen how the session begins.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::io::AsyncWrite;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::mcp::direct::{Direct, Reply, Request};

use super::answers::Answers;

/// Answers plain requests.
#[derive(Debug)]
pub(super) struct Beside {
    direct: Direct,
    /// Whether rmcp has been handed a plain request. The first one tells it to which revision the session keeps.
    has_begun: bool,
    reading: Reading,
}

impl Beside {
    /// Nothing has been answered yet.
    pub(super) fn new(direct: Direct) -> Self {
        Self { direct, has_begun: false, reading: Reading::default() }
    }

    /// Answers a request in its turn, for which it has a permit. Gives the permit back if rmcp is to answer it.
    pub(super) fn answer<W: AsyncWrite + Send + Unpin + 'static>(
        &mut self,
        request: Request,
        answers: &Answers<W>,
        permit: OwnedSemaphorePermit,
    ) -> Option<OwnedSemaphorePermit> {
        if !std::mem::replace(&mut self.has_begun, true) {
            return Some(permit);
        }
        let id = request.id.clone();
        let Some(reply) = self.direct.begin(request) else { return Some(permit) };
        match reply {
            Reply::Ready(answer) => answers.put(answer, permit),
            Reply::File(_) => {
                let (direct, answers, reading) = (self.direct.clone(), answers.clone(), self.reading.clone());
                let cancelled = reading.begin(id.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        () = cancelled.cancelled() => {}
                        answer = direct.finish(reply) => {
                            if reading.end(&id, &cancelled) { answers.put(answer, permit) }
                        }
                    }
                });
            }
        }
        None
    }

    /// Whether a request with this id is being answered.
    pub(super) fn is_known(&self, id: &RequestId) -> bool {
        self.reading.has(id)
    }

    /// Cancels the request with this id, if it is being answered and its answer is not on its way yet.
    pub(super) fn cancel(&self, id: &RequestId) {
        self.reading.cancel(id);
    }
}

/// The requests whose files are being read, and what cancels each.
#[derive(Clone, Debug, Default)]
struct Reading {
    requests: Arc<Mutex<HashMap<RequestId, CancellationToken>>>,
}

impl Reading {
    fn begin(&self, id: RequestId) -> CancellationToken {
        let cancelled = CancellationToken::new();
        self.lock().insert(id, cancelled.clone());
        cancelled
    }

    fn has(&self, id: &RequestId) -> bool {
        self.lock().contains_key(id)
    }

    fn cancel(&self, id: &RequestId) {
        let mut requests = self.lock();
        if let Some(cancelled) = requests.remove(id) {
            cancelled.cancel();
        }
    }

    /// Whether a request has not been cancelled. Its id is free from here on.
    fn end(&self, id: &RequestId, cancelled: &CancellationToken) -> bool {
        let mut requests = self.lock();
        // After a cancellation the id may be that of another request.
        !cancelled.is_cancelled() && requests.remove(id).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        // No more than one entry is written under the lock, so what a panicking thread left is whole.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_request_is_not_answered_and_its_id_is_free() {
        let (reading, id) = (Reading::default(), RequestId::Number(1));
        let cancel = || reading.cancel(&id);
        let first = reading.begin(id.clone());
        cancel();
        assert!(first.is_cancelled() && !reading.has(&id));
        let second = reading.begin(id.clone());
        assert!(!reading.end(&id, &first) && reading.has(&id));
        assert!(reading.end(&id, &second) && !reading.has(&id));
        cancel();
        assert!(!second.is_cancelled());
    }
}
