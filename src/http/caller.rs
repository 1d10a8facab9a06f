//! Who sends a request.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The other end of a connection. It stands in the extensions of every request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    /// Absent where connections have no address, as over a socket in the file system.
    pub(super) address: Option<SocketAddr>,
}

/// Who sends a request, as far as is known. It stands in the extensions of every request behind the guard, so that what is
/// said, counted and shown can depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Caller {
    /// As the one who runs this server calls its holder of a token; absent where nobody has to say who they are.
    pub(crate) name: Option<Arc<str>>,
    /// Where it comes from.
    pub(crate) address: Option<IpAddr>,
}

impl Caller {
    /// Somebody of whom only the connection is known.
    pub(super) fn anonymous(peer: Option<&Peer>) -> Self {
        let address = peer.and_then(|peer| peer.address).map(|address| address.ip().to_canonical());
        Self { name: None, address }
    }
}
