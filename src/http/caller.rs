//! Who sends a request.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    /// Absent where connections have no address, as over a socket in the file system.
    pub(super) address: Option<SocketAddr>,
}

/// Who sends a request, as far as is known. The guard finds out, so that what is said, counted and shown can depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Caller {
    /// As the one who runs this server calls its holder of a token; absent where nobody has to say who they are.
    pub(crate) name: Option<Arc<str>>,
    /// Where it comes from: the client's address as a trusted proxy has it, or the connection's own.
    pub(crate) address: Option<IpAddr>,
    /// Whether a trusted proxy has forwarded it.
    pub(crate) is_proxied: bool,
}

impl Caller {
    /// Somebody of whom only the connection is known.
    pub(super) fn at(peer: Option<&Peer>) -> Self {
        let address = peer.and_then(|peer| peer.address).map(|address| address.ip().to_canonical());
        Self { address, ..Self::default() }
    }

    /// Whether it is a program of this very machine, as far as anybody can tell.
    pub(super) fn is_local(&self) -> bool {
        !self.is_proxied && self.address.is_none_or(|address| address.is_loopback())
    }

    /// What it is told apart from others by as long as it has not said who it is.
    pub(super) fn network(&self) -> Network {
        Network::of(self.address)
    }
}

/// The addresses that count as one caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Network {
    /// Connections without an address.
    Unix,
    V4([u8; 4]),
    /// The first 64 bits: whoever has one such address usually has all that begin alike.
    V6([u8; 8]),
}

impl Network {
    fn of(address: Option<IpAddr>) -> Self {
        match address {
            None => Self::Unix,
            Some(IpAddr::V4(address)) => Self::V4(address.octets()),
            Some(IpAddr::V6(address)) => {
                let [a, b, c, d, e, f, g, h, ..] = address.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_one_subscriber_are_one_network() {
        let network = |text: &str| Network::of(Some(text.parse().unwrap()));
        assert_eq!(network("2001:db8::1"), network("2001:db8::ffff:1:2:3"));
        assert_ne!(network("2001:db8::1"), network("2001:db8:0:1::1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
    }
}
