//! The methods that are told apart where requests are counted and logged.
//!
//! Whatever else a client asks for is one of the others: nobody can make the list of them longer by making up names.

use rmcp::model::{ClientNotification, JsonRpcMessage};

use super::wire::Incoming;

/// A method that is told apart, or any other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Method(u8);

/// Every name: of all requests that are answered, and of notifications. The first one stands for those that are not told
/// apart.
const NAMES: [&str; 21] = [
    "other",
    "initialize",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/directory/read",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "skills/get",
    "skills/list",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

impl Method {
    /// How many there are.
    pub(crate) const COUNT: usize = NAMES.len();

    /// Every one of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..).zip(NAMES).map(|(number, _)| Self(number))
    }

    /// The method of this name.
    pub(crate) fn named(name: &str) -> Self {
        Self::all().find(|method| method.as_str() == name).unwrap_or_default()
    }

    /// The method of a message from a client.
    pub(crate) fn of(message: &Incoming) -> Self {
        match message {
            JsonRpcMessage::Request(request) => Self::named(request.request.method()),
            JsonRpcMessage::Notification(notification) => Self::named(match &notification.notification {
                ClientNotification::CancelledNotification(_) => "notifications/cancelled",
                ClientNotification::InitializedNotification(_) => "notifications/initialized",
                ClientNotification::ProgressNotification(_) => "notifications/progress",
                ClientNotification::RootsListChangedNotification(_) => "notifications/roots/list_changed",
                _ => return Self::default(),
            }),
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Self::default(),
        }
    }

    /// Whether it is one of a request that is answered, be it only to some peers.
    pub(crate) fn is_request(self) -> bool {
        self != Self::default() && !self.as_str().starts_with("notifications/")
    }

    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        NAMES[self.index()]
    }

    /// Its place among all of them.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::wire;
    use super::*;

    #[test]
    fn names_that_are_made_up_are_one() {
        let method = |name: &str| {
            let mut message = json!({"jsonrpc": "2.0", "method": name});
            if !name.starts_with("notifications/") {
                message["id"] = json!(1);
            }
            Method::of(&wire::parse(message.to_string().as_bytes()).unwrap()).as_str()
        };
        for name in ["server/discover", "skills/list", "ping", "notifications/initialized"] {
            assert_eq!(method(name), name);
        }
        for name in ["x", "skills/lists", "other", "", "notifications/x"] {
            assert_eq!(method(name), "other");
        }
    }

    #[test]
    fn every_method_has_its_place() {
        let places: Vec<_> = Method::all().map(Method::index).collect();
        assert_eq!(places, (0..Method::COUNT).collect::<Vec<_>>());
        assert!(NAMES[1..].is_sorted());
    }
}
