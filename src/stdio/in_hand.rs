//! The requests that rmcp has in hand.
//!
//! The id of a request is free again as soon as the request is cancelled, but rmcp may still have something to say of it. So
//! rmcp knows each request by a number that no other ever gets, and the client hears nothing of one that has been cancelled.

use std::collections::HashMap;

use rmcp::model::RequestId;
use tokio::sync::OwnedSemaphorePermit;

use crate::mcp::wire::{self, Incoming, Outgoing};

/// What rmcp has in hand, by the client's ids and by rmcp's numbers.
#[derive(Debug, Default)]
pub(super) struct InHand {
    numbers: HashMap<RequestId, i64>,
    requests: HashMap<i64, Request>,
    /// The number of the next request.
    next: i64,
}

#[derive(Debug)]
struct Request {
    id: RequestId,
    /// A subscription lasts, so it has none.
    permit: Option<OwnedSemaphorePermit>,
}

/// A message is of a request that has been cancelled.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cancelled;

impl InHand {
    /// Takes a request in hand, and puts its number into the message. Only a subscription has no permit.
    pub(super) fn take(&mut self, message: &mut Incoming, permit: Option<OwnedSemaphorePermit>) {
        let Some(id) = wire::request_id_mut(message) else { return };
        let number = self.next;
        self.next += 1;
        let id = std::mem::replace(id, RequestId::Number(number));
        self.numbers.insert(id.clone(), number);
        self.requests.insert(number, Request { id, permit });
    }

    /// Whether a request with this id of the client's is in hand.
    pub(super) fn has(&self, id: &RequestId) -> bool {
        self.numbers.contains_key(id)
    }

    /// Whether there are subscriptions among them.
    pub(super) fn has_subscriptions(&self) -> bool {
        self.requests.values().any(|request| request.permit.is_none())
    }

    /// Lets go of the request with this id of the client's, whose permit is free with that. Gives back by which id rmcp knows
    /// it.
    pub(super) fn cancel(&mut self, id: &RequestId) -> Option<RequestId> {
        let number = self.numbers.remove(id)?;
        self.requests.remove(&number);
        Some(RequestId::Number(number))
    }

    /// Puts the client's id into what rmcp says. Lets go of a request that is answered with it, and gives back its permit.
    ///
    /// # Errors
    /// The client is not to hear it.
    pub(super) fn give_back(
        &mut self,
        message: &mut Outgoing,
    ) -> Result<Option<OwnedSemaphorePermit>, Cancelled> {
        if let Some(subscription) = wire::tells(message) {
            let id = self.request(&subscription).ok_or(Cancelled)?.id.clone();
            wire::set_subscription(message, id);
            return Ok(None);
        }
        let Some(answered) = wire::answers(message) else { return Ok(None) };
        let Request { id, permit } =
            number(answered).and_then(|number| self.requests.remove(&number)).ok_or(Cancelled)?;
        self.numbers.remove(&id);
        *answered = id.clone();
        wire::set_subscription(message, id);
        Ok(permit)
    }

    fn request(&self, known_as: &RequestId) -> Option<&Request> {
        self.requests.get(&number(known_as)?)
    }
}

/// The number that an id of rmcp's is.
fn number(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(number) => Some(*number),
        RequestId::String(_) => None,
    }
}
