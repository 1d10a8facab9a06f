//! What may be subscribed to: resources whose URIs can name something here, and not more than it is easy to look after.
//!
//! rmcp compares filters in quadratic time, so a filter is cut down before rmcp gets to see it. The acknowledgement tells
//! the client what is left.

use std::collections::HashSet;

use rmcp::model::SubscriptionFilter;

use crate::uri;

use super::changes::Interest;

/// The most resources that one subscriber can subscribe to. The Python client gives a subscription up when more than 1,024
/// events wait to be looked at.
pub(super) const URIS_MAX: usize = 1000;
/// The most bytes that their URIs have in sum.
pub(super) const URIS_MAX_BYTES: usize = 64 * 1024;

/// Leaves of the URIs in a filter those that name a path that can be served, each once, as many as may be.
pub(super) fn cut(filter: &mut SubscriptionFilter) {
    let Some(uris) = &mut filter.resource_subscriptions else { return };
    let mut room = URIS_MAX_BYTES;
    let mut kept = HashSet::new();
    uris.retain(|uri| {
        let fits = kept.len() < URIS_MAX && uri.len() <= room && !kept.contains(uri);
        let is_kept = fits && uri::to_path(uri).is_ok();
        if is_kept {
            room -= uri.len();
            kept.insert(uri.clone());
        }
        is_kept
    });
}

/// What of a filter is honoured. There are no tools and no prompts whose listing could change.
pub(super) fn honoured(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    filter.resources_list_changed = requested.resources_list_changed;
    filter.resource_subscriptions = requested.resource_subscriptions.clone();
    cut(&mut filter);
    filter
}

/// What the subscriber with this filter wants to hear of.
pub(super) fn interest(filter: &SubscriptionFilter) -> Interest {
    let uris = filter.resource_subscriptions.iter().flatten();
    let resources = uris.filter_map(|uri| Some((uri.clone(), uri::to_path(uri).ok()?))).collect();
    Interest { list: filter.resources_list_changed == Some(true), resources }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[track_caller]
    fn check(uris: impl IntoIterator<Item = String>, expected: &[&str]) {
        let mut filter = SubscriptionFilter::builder().resource_subscriptions(uris).build();
        cut(&mut filter);
        assert_eq!(filter.resource_subscriptions.unwrap(), expected);
    }

    #[test]
    fn a_filter_keeps_what_can_be_served_once() {
        let uris =
            ["skill://a/SKILL.md", "x", "", "skill://a/SKILL.md", "skill://b", "skill://a/../b", "SKILL://b"];
        check(uris.map(str::to_owned), &["skill://a/SKILL.md", "skill://b", "SKILL://b"]);
    }

    #[test]
    fn a_filter_is_bounded_in_number_and_bytes() {
        let mut many = SubscriptionFilter::builder()
            .resource_subscriptions((0..2 * URIS_MAX).map(|number| format!("skill://a/{number}")))
            .build();
        cut(&mut many);
        assert_eq!(many.resource_subscriptions.map(|uris| uris.len()), Some(URIS_MAX));
        let long = format!("skill://{}", "x".repeat(URIS_MAX_BYTES / 2));
        check([long.clone(), format!("{long}y"), "skill://z".to_owned()], &[&long, "skill://z"]);
    }

    /// The most that a message can hold, of any kind, costs no more than reading it.
    #[test]
    fn a_huge_filter_is_cheap() {
        let distinct = (0..20_000).map(|number| format!("skill://{number}"));
        let same = (0..60_000).map(|_| "skill://a".to_owned());
        let nonsense = (0..60_000).map(|number| format!("{number}"));
        for uris in [distinct.collect::<Vec<_>>(), same.collect(), nonsense.collect()] {
            let mut requested = SubscriptionFilter::builder().resource_subscriptions(uris).build();
            let begin = Instant::now();
            cut(&mut requested);
            let accepted = requested.intersection(&honoured(&requested));
            assert!(accepted.is_subset_of(&requested));
            // Unoptimized, on a busy machine; anything quadratic would take much longer.
            assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        }
    }
}
