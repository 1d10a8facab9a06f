//! `subscriptions/listen`: one request that stays open and tells of changes until its client or the server ends it.

use rmcp::service::SubscriptionContext;

use crate::catalog::Catalog;

use super::changes;
use super::failure::Failure;
use super::filter;
use super::gate::Pass;

/// Tells a subscriber of what it asked to hear of. Returns when the subscription is to end, with nothing half told, so
/// that the final result comes after all of it.
///
/// # Errors
/// When there is no catalog.
pub(super) async fn listen(
    catalog: &Catalog,
    pass: &Pass,
    subscription: &SubscriptionContext,
) -> Result<(), Failure> {
    let mut seen = match &pass.seen {
        Some(seen) => seen.clone(),
        None => tokio::select! {
            first = catalog.snapshot() => first?,
            () = pass.end.cancelled() => return Ok(()),
        },
    };
    let interest = filter::interest(subscription.accepted());
    loop {
        let current = tokio::select! {
            biased;
            () = pass.end.cancelled() => return Ok(()),
            current = catalog.newer_than(&seen) => current,
        };
        for change in changes::between(&seen, &current, &interest) {
            // Each waits until it has been written: a client that does not read is told later, and of less.
            if subscription.sink().send(change.into()).await.is_err() {
                return Ok(());
            }
        }
        seen = current;
    }
}
