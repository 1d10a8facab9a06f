//! Who asks: what those who answer a request have to know of it beside what it says.

use std::sync::Arc;

use axum::http::Extensions;

use super::caller::{Caller, Network, Peer};
use super::crowd::Visit;
use super::share::Sharer;

/// Who sends a request, and over which connection. It goes with the request, and stands in its extensions where a route
/// answers it.
#[derive(Clone, Debug, Default)]
pub(super) struct Asker {
    /// Absent where a test asks without a connection.
    visit: Option<Arc<Visit>>,
    /// Absent until the guard has looked.
    pub(super) caller: Option<Caller>,
}

impl Asker {
    /// Somebody of whom only the connection is known.
    pub(super) fn new(visit: Arc<Visit>) -> Self {
        Self { visit: Some(visit), caller: None }
    }

    /// Who sends a request with these extensions to a route.
    pub(super) fn of(extensions: &Extensions) -> Self {
        extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// The other end of the connection.
    pub(super) fn peer(&self) -> Option<&Peer> {
        self.visit.as_deref().map(Visit::peer)
    }

    /// Whom what the request takes counts for.
    pub(super) fn sharer(&self) -> Sharer {
        self.caller.as_ref().map_or(Sharer::At(Network::Unix), Sharer::from)
    }

    /// Says that the body of the request is read from here on.
    pub(super) fn reads(&self) {
        if let Some(visit) = &self.visit {
            visit.reads();
        }
    }

    /// Says that the request has come in whole: from here on its connection is not dismissed.
    pub(super) fn asked(&self) {
        if let Some(visit) = &self.visit {
            visit.asked();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_known_counts_as_somebody_without_an_address() {
        assert_eq!(Asker::of(&Extensions::new()).sharer(), Sharer::At(Network::Unix));
    }
}
