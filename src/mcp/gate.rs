//! Lets in subscriptions that last. Each holds a connection or a task for as long as its client likes, so their number is
//! bounded, and all of them end when the server or the connection does.

use std::sync::Arc;

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::catalog::{Catalog, Snapshot};

use super::wire::Refusal;

/// Where subscriptions come in.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    catalog: Catalog,
    max: usize,
    places: Arc<Semaphore>,
    end: CancellationToken,
}

/// A subscription's place. It is free again when the last clone is gone.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    /// What was served when the subscription was asked for, and so before it was acknowledged: what changes from here on
    /// is told. `None` if the catalog was still being built.
    pub(super) seen: Option<Arc<Snapshot>>,
    /// When the subscription is to end.
    pub(crate) end: CancellationToken,
    _place: Arc<OwnedSemaphorePermit>,
}

impl Gate {
    /// A gate for at most `max` subscriptions at once, which end with `end`.
    pub(crate) fn new(catalog: Catalog, max: usize, end: CancellationToken) -> Self {
        Self { catalog, max, places: Arc::new(Semaphore::new(max)), end }
    }

    /// How many subscriptions are inside.
    pub(crate) fn inside(&self) -> usize {
        self.max - self.places.available_permits().min(self.max)
    }

    /// Lets the subscription that the request with this id asks for in.
    ///
    /// # Errors
    /// The answer to give, if there are too many.
    pub(crate) fn admit(&self, id: Option<&RequestId>) -> Result<Pass, Box<Refusal>> {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return Err(Refusal::too_many(id));
        };
        Ok(Pass { seen: self.catalog.current(), end: self.end.clone(), _place: Arc::new(place) })
    }
}
