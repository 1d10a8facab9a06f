//! Whose word is taken for where a request comes from.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::HeaderMap;
use ipnet::IpNet;

use super::caller::{Caller, Peer};
use super::forwarded;

/// The most proxies one behind the other. Nobody has as many, and so nobody's list is looked through for longer.
const HOPS_MAX: usize = 16;

/// Where a proxy asks from whose word is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// An address of this network.
    Network(IpNet),
    /// A socket in the file system.
    Unix,
}

/// Text that names no proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a proxy is an address or a network, such as 10.1.2.3 or 10.0.0.0/8, or `unix` for one that connects by a socket file"
)]
pub struct NoProxy;

impl FromStr for Proxy {
    type Err = NoProxy;

    fn from_str(text: &str) -> Result<Self, NoProxy> {
        if text == "unix" {
            return Ok(Self::Unix);
        }
        let address = || text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
        text.parse().or_else(|_| address()).map(Self::Network).map_err(|_| NoProxy)
    }
}

/// The proxies whose word is taken.
#[derive(Debug)]
pub(super) struct Proxies {
    trusted: Vec<Proxy>,
    /// Whether it has been said that somebody else forwards requests.
    is_told: AtomicBool,
}

impl Proxies {
    pub(super) fn new(trusted: Vec<Proxy>) -> Self {
        Self { trusted, is_told: AtomicBool::new(false) }
    }

    /// Who sends a request with these headers over a connection with `peer`, as far as it can be seen before anybody says
    /// their name.
    pub(super) fn caller(&self, peer: Option<&Peer>, headers: &HeaderMap) -> Caller {
        let mut caller = Caller::at(peer);
        let address = caller.address;
        if !forwarded::is_forwarded(headers) {
            return caller;
        }
        if self.trusts(address) {
            caller.is_proxied = true;
            caller.address = self.client(headers).or(address);
        } else {
            self.tell(address);
        }
        caller
    }

    /// The client of the farthest proxy that is trusted. Proxies write one of the two headers and leave the other as the
    /// client has sent it, so that two which do not agree say nothing.
    fn client(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let listed = forwarded::by_list(headers).map(|hops| self.walk(hops));
        let element = forwarded::by_elements(headers).map(|hops| self.walk(hops));
        match (listed, element) {
            (Some(a), Some(b)) => a.filter(|_| a == b),
            (a, b) => a.or(b).flatten(),
        }
    }

    /// The first that is not trusted. Where there is none, or something that is no address, the last one that is.
    fn walk(&self, hops: impl Iterator<Item = Option<IpAddr>>) -> Option<IpAddr> {
        let mut last = None;
        for hop in hops.take(HOPS_MAX) {
            let Some(address) = hop else { break };
            last = Some(address);
            if !self.trusts(last) {
                break;
            }
        }
        last
    }

    fn trusts(&self, address: Option<IpAddr>) -> bool {
        self.trusted.iter().any(|proxy| match (proxy, address) {
            (Proxy::Network(network), Some(address)) => network.contains(&address),
            (Proxy::Unix, None) => true,
            _ => false,
        })
    }

    /// Says once that somebody may be a proxy. Anybody can claim to be one, so that it is not said again.
    fn tell(&self, address: Option<IpAddr>) {
        if !self.is_told.swap(true, Ordering::Relaxed) {
            let place = address.map_or("unix".to_owned(), |address| address.to_string());
            tracing::warn!(
                "a request from {place} says that it was forwarded: if that is your proxy, tell its clients apart with --trusted-proxy {place}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    /// Who asks, with `10.0.0.0/8`, `2001:db8::/32` and sockets trusted.
    #[track_caller]
    fn check(peer: Option<&str>, headers: &[(&'static str, &str)], expected: Option<&str>) {
        let trusted = ["10.0.0.0/8", "2001:db8::/32", "unix"].map(|proxy| proxy.parse().unwrap());
        let peer = Peer { address: peer.map(|peer| (peer.parse::<IpAddr>().unwrap(), 1).into()) };
        let lines = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        let caller = Proxies::new(trusted.into()).caller(Some(&peer), &lines.collect());
        assert_eq!(caller.address, expected.map(|address| address.parse().unwrap()), "{headers:?}");
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let list = "x-forwarded-for";
        let client = Some("192.0.2.1");
        check(Some("10.0.0.1"), &[], Some("10.0.0.1"));
        check(Some("10.0.0.1"), &[(list, "192.0.2.1")], client);
        check(Some("::ffff:10.0.0.1"), &[(list, "192.0.2.1")], client);
        check(Some("2001:db8::5"), &[(list, "192.0.2.1")], client);
        check(None, &[(list, "192.0.2.1")], client);
        check(Some("198.51.100.1"), &[(list, "192.0.2.1")], Some("198.51.100.1"));
        // What the client itself has sent stands before what the proxies add.
        check(Some("10.0.0.1"), &[(list, "1.1.1.1, 10.9.9.9, 192.0.2.1, 10.0.0.2")], client);
        check(Some("10.0.0.1"), &[(list, "1.1.1.1"), (list, "192.0.2.1, 10.0.0.2")], client);
        check(Some("10.0.0.1"), &[(list, "10.0.0.3, 10.0.0.2")], Some("10.0.0.3"));
    }

    #[test]
    fn what_is_malformed_is_the_proxys_own_word() {
        let (list, elements) = ("x-forwarded-for", "forwarded");
        let proxy = Some("10.0.0.1");
        check(proxy, &[(list, "192.0.2.1, nonsense")], proxy);
        check(proxy, &[(list, "192.0.2.1, nonsense, 10.0.0.2")], Some("10.0.0.2"));
        check(proxy, &[(elements, "for=192.0.2.1, for=\"")], proxy);
        check(proxy, &[(elements, "for=192.0.2.1, for=_x")], proxy);
        check(None, &[(list, "nonsense")], None);
        let long = "10.0.0.2,".repeat(5000);
        check(proxy, &[(list, &format!("192.0.2.1,{long}"))], Some("10.0.0.2"));
    }

    #[test]
    fn two_headers_must_agree() {
        let (list, elements) = ("x-forwarded-for", "forwarded");
        let proxy = Some("10.0.0.1");
        check(proxy, &[(elements, "for=192.0.2.1")], Some("192.0.2.1"));
        check(proxy, &[(elements, "for=192.0.2.1"), (list, "192.0.2.1")], Some("192.0.2.1"));
        check(proxy, &[(elements, "for=192.0.2.9"), (list, "192.0.2.1")], proxy);
    }

    #[test]
    fn a_proxy_is_a_network_or_an_address() {
        let network = |text: &str| Ok(Proxy::Network(text.parse().unwrap()));
        assert_eq!("10.0.0.0/8".parse(), network("10.0.0.0/8"));
        assert_eq!("10.1.2.3".parse(), network("10.1.2.3/32"));
        assert_eq!("::1".parse(), network("::1/128"));
        assert_eq!("::ffff:10.1.2.3".parse(), network("10.1.2.3/32"));
        assert_eq!("unix".parse(), Ok(Proxy::Unix));
        for text in [
            "",
            "*",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0/8",
            "proxy.example.com",
            "10.0.0.1:80",
            "[::1]",
            " ::1",
        ] {
            assert_eq!(text.parse::<Proxy>(), Err(NoProxy), "{text}");
        }
    }
}
