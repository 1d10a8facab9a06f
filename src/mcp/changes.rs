//! What a subscriber is told: the difference between what it has seen and what is served now, never a queue of events.
//! However much happened meanwhile, a slow subscriber is told once of each thing that is now different.

use rmcp::model::{
    ResourceListChangedNotification, ResourceUpdatedNotification, ResourceUpdatedNotificationParam,
    ServerNotification,
};

use crate::catalog::{Node, Snapshot};

/// What a subscriber wants to hear of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interest {
    /// That a listing says something else.
    pub(super) list: bool,
    /// That these resources are others than they were: the URIs as the subscriber spells them, and the served paths
    /// that they name.
    pub(super) resources: Vec<(String, String)>,
}

/// Something that is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The listing.
    List,
    /// The resource at this URI: its bytes, or whether there is one.
    Resource(String),
}

impl From<Change> for ServerNotification {
    fn from(change: Change) -> Self {
        match change {
            Change::List => ResourceListChangedNotification::default().into(),
            Change::Resource(uri) => {
                ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(uri)).into()
            }
        }
    }
}

/// What of interest is different in `new`. The listing comes first, so that who is told of a resource that is new to it
/// has already heard that there is something new.
pub(super) fn between(old: &Snapshot, new: &Snapshot, interest: &Interest) -> Vec<Change> {
    let list = (interest.list && !new.lists_as(old)).then_some(Change::List);
    let is_other = |(_, path): &&(String, String)| !is_same(old, new, path);
    let resources = interest.resources.iter().filter(is_other).map(|(uri, _)| Change::Resource(uri.clone()));
    list.into_iter().chain(resources).collect()
}

/// Whether the same bytes are at `path`, or a directory with the same children, or nothing.
fn is_same(old: &Snapshot, new: &Snapshot, path: &str) -> bool {
    let digest = |node: Node<'_>| node.file.map(|file| file.digest());
    match (old.node(path), new.node(path)) {
        (None, None) => true,
        (Some(before), Some(now)) if digest(before) != digest(now) => false,
        (Some(before), Some(_)) if before.file.is_some() => true,
        (Some(_), Some(_)) => {
            let [old, new] = [old, new].map(|snapshot| {
                let children = snapshot.children(path, None).into_iter().flatten();
                children.map(|node| (node.path, digest(node))).collect::<Vec<_>>()
            });
            old == new
        }
        _ => false,
    }
}
