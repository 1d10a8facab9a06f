//! Where a request may come from: the check of `Host` and `Origin` that keeps web pages from reaching a server on their
//! reader's machine, by a request across origins or by rebinding a name of theirs to it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};

use super::Options;
use super::allowed::{Host, Origin, SaidHost};
use super::caller::{Caller, Peer};
use super::listen::Place;
use super::proxies::Proxies;
use super::refusal::Refused;

/// The names by which a machine calls itself.
pub(super) const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The most of a refused host's name that is told: as long as a name can be.
const NAME_TOLD_MAX_CHARS: usize = 253;

/// What a page of another origin may send and read, in the words of CORS.
const CORS: [(HeaderName, &str); 2] = [
    (
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
    ),
    (header::ACCESS_CONTROL_MAX_AGE, "7200"),
];

/// What a page of another origin may read beside what browsers always show it.
const EXPOSED: HeaderValue = HeaderValue::from_static("mcp-session-id, retry-after, www-authenticate");

/// The hosts and the origins that may ask, and those who may ask for others.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
    proxies: Proxies,
    /// Whether it has been said that another host is asked for.
    is_host_told: AtomicBool,
    is_origin_told: AtomicBool,
}

impl Guard {
    /// Lets through what names this machine or, where it is one, the address listened on; pages of this very server; and
    /// what the options add. A socket in the file system is no place of its own: whoever connects to it names this machine,
    /// and pages come to it only by way of a proxy, whose origin has to be named.
    pub(super) fn new(place: &Place, options: &Options) -> Self {
        let mut hosts: Vec<Host> = LOOPBACK.iter().filter_map(|host| host.parse().ok()).collect();
        let mut origins = options.allow_origins.clone();
        if let Some(address) = place.address {
            if !address.ip().is_unspecified() {
                hosts.extend(
                    SocketAddr::new(address.ip(), 0)
                        .to_string()
                        .strip_suffix(":0")
                        .and_then(|host| host.parse().ok()),
                );
            }
            let own = |host| format!("{}://{host}:{}", place.scheme(), address.port()).parse().ok();
            origins.extend(LOOPBACK.into_iter().filter_map(own));
        }
        hosts.extend(options.allow_hosts.iter().cloned());
        Self {
            hosts,
            origins,
            proxies: Proxies::new(options.trusted_proxies.clone()),
            is_host_told: AtomicBool::new(false),
            is_origin_told: AtomicBool::new(false),
        }
    }

    /// Says once which host is refused: a server that others reach under a name has to be told that name.
    fn tell_host(&self, host: &SaidHost<'_>) {
        if !self.is_host_told.swap(true, Ordering::Relaxed) {
            let name: String = host.name().chars().take(NAME_TOLD_MAX_CHARS).collect();
            tracing::warn!(
                "a request for the host {name} is refused: if that is this server, say so with --allow-host {name}"
            );
        }
    }

    /// The same of an origin. One that is no origin is nothing to allow.
    fn tell_origin(&self, origin: &HeaderValue) {
        if text(origin).parse::<Origin>().is_ok() && !self.is_origin_told.swap(true, Ordering::Relaxed) {
            let name: String = text(origin).chars().take(NAME_TOLD_MAX_CHARS).collect();
            tracing::warn!(
                "a request of a page of {name} is refused: if it may read the skills, say so with --allow-origin {name}"
            );
        }
    }

    /// Who sends a request with these headers over a connection with `peer`, as far as it can be seen before anybody says
    /// their name.
    pub(super) fn caller(&self, peer: Option<&Peer>, headers: &HeaderMap) -> Caller {
        self.proxies.caller(peer, headers)
    }

    /// Lets a request through or refuses it. Gives back the origin of the page that it comes from, if from one.
    pub(super) fn check<'a>(
        &self,
        uri: &Uri,
        headers: &'a HeaderMap,
    ) -> Result<Option<&'a HeaderValue>, Refused> {
        // HTTP/2 says the host with the target; where it is said twice, both count.
        let target = uri.authority().map(|authority| SaidHost::parse(authority.as_str())).transpose();
        let header = sole(headers, header::HOST)?.map(|host| SaidHost::parse(text(host))).transpose();
        let (Ok(target), Ok(header)) = (target, header) else { return Err(no_host()) };
        if target.is_none() && header.is_none() {
            return Err(no_host());
        }
        let is_known = |host: &&SaidHost<'_>| self.hosts.iter().any(|known| known.covers(host));
        if let Some(stranger) = target.iter().chain(&header).find(|host| !is_known(host)) {
            self.tell_host(stranger);
            return Err(Refused::new(
                StatusCode::FORBIDDEN,
                "the Host header names a host that is not allowed here; whoever runs this server can allow it with --allow-host",
            ));
        }
        let origin = sole(headers, header::ORIGIN)?;
        let is_allowed =
            |origin: &HeaderValue| text(origin).parse().is_ok_and(|origin| self.origins.contains(&origin));
        if let Some(stranger) = origin.filter(|origin| !is_allowed(origin)) {
            self.tell_origin(stranger);
            return Err(Refused::new(
                StatusCode::FORBIDDEN,
                "the Origin header is not allowed here; whoever runs this server can allow it with --allow-origin",
            ));
        }
        Ok(origin)
    }
}

/// That a request comes from a page that may ask. It stands in the extensions of such a request behind the guard.
#[derive(Clone, Copy, Debug)]
pub(super) struct FromPage;

/// Lets the page at `origin` read an answer.
pub(super) fn allow_reading(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.append(header::VARY, HeaderValue::from_name(header::ORIGIN));
    }
}

/// Tells a browser what a page may send, with which methods.
pub(super) fn allow_sending(headers: &mut HeaderMap, methods: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    for (name, value) in CORS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// The value of a header that a request has once or not at all.
fn sole(headers: &HeaderMap, name: HeaderName) -> Result<Option<&HeaderValue>, Refused> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    match values.next() {
        None => Ok(first),
        Some(_) => Err(Refused::new(StatusCode::BAD_REQUEST, "a Host or Origin header is there twice")),
    }
}

/// What a header says; nothing if that is no text, which names nobody either.
fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default().trim()
}

fn no_host() -> Refused {
    Refused::new(StatusCode::BAD_REQUEST, "the Host header is missing or malformed")
}

#[cfg(test)]
mod tests {
    use axum::response::Response;

    use super::*;

    fn place(address: &str, is_secure: bool) -> Place {
        Place::network(address.parse().unwrap(), is_secure)
    }

    #[track_caller]
    fn check(host: &str, origin: Option<&str>, expected: Option<StatusCode>) {
        let options = Options {
            allow_hosts: ["skills.example.com", "other.example.com:8443"]
                .map(|host| host.parse().unwrap())
                .into(),
            allow_origins: ["https://app.example.com", "HTTPS://App2.example.com:443/"]
                .map(|origin| origin.parse().unwrap())
                .into(),
            ..Options::default()
        };
        let guard = Guard::new(&place("192.0.2.1:3000", false), &options);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let refused = guard.check(&Uri::from_static("/mcp"), &headers).map(|_| ());
        let status = refused.err().map(|refused| Response::from(refused).status());
        assert_eq!(status, expected, "{host} {origin:?}");
    }

    #[test]
    fn hosts_of_this_machine_and_configured_ones_may_ask() {
        for host in
            ["localhost", "LOCALHOST:3000", "127.0.0.1:3000", "127.0.0.1", "[::1]:3000", "192.0.2.1:3000"]
        {
            check(host, None, None);
        }
        check("skills.example.com", None, None);
        check("Skills.Example.com:9", None, None);
        check("other.example.com:8443", None, None);
        let forbidden = Some(StatusCode::FORBIDDEN);
        check("other.example.com", None, forbidden);
        check("evil.example.com", None, forbidden);
        check("localhost.evil.example.com", None, forbidden);
        check("192.0.2.2:3000", None, forbidden);
        check("a b", None, Some(StatusCode::BAD_REQUEST));
        check("x@localhost", None, Some(StatusCode::BAD_REQUEST));
    }

    #[test]
    fn pages_of_this_server_and_of_configured_origins_may_ask() {
        for origin in [
            "http://localhost:3000",
            "http://127.0.0.1:3000",
            "http://[::1]:3000",
            "https://app.example.com",
            "https://app2.example.com",
        ] {
            check("localhost:3000", Some(origin), None);
        }
        for origin in [
            "null",
            "",
            "http://localhost",
            "http://localhost:3001",
            "https://localhost:3000",
            "http://evil.example.com",
            "http://app.example.com",
            "https://app.example.com:444",
            "https://app.example.com.evil.example.com",
        ] {
            check("localhost:3000", Some(origin), Some(StatusCode::FORBIDDEN));
        }
    }

    #[test]
    fn a_header_that_is_there_twice_is_refused() {
        let guard = Guard::new(&place("127.0.0.1:3000", false), &Options::default());
        let mut headers = HeaderMap::new();
        headers.append(header::HOST, HeaderValue::from_static("localhost"));
        headers.append(header::HOST, HeaderValue::from_static("evil.example.com"));
        assert!(guard.check(&Uri::from_static("/mcp"), &headers).is_err());
    }

    #[test]
    fn a_target_that_names_its_host_is_checked_too() {
        let guard = Guard::new(&place("127.0.0.1:3000", false), &Options::default());
        let is_ok = |uri: &'static str, host: Option<&'static str>| {
            let host = host.map(|host| (header::HOST, HeaderValue::from_static(host)));
            guard.check(&Uri::from_static(uri), &host.into_iter().collect()).is_ok()
        };
        assert!(is_ok("http://localhost:3000/mcp", None) && is_ok("http://localhost/mcp", Some("127.0.0.1")));
        assert!(!is_ok("/mcp", None) && !is_ok("http://evil.example.com/mcp", None));
        assert!(!is_ok("http://evil.example.com/mcp", Some("localhost")));
        assert!(!is_ok("http://localhost/mcp", Some("evil.example.com")));
    }

    #[test]
    fn own_pages_come_by_the_own_scheme() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost:3000"));
        headers.insert(header::ORIGIN, HeaderValue::from_static("https://localhost:3000"));
        for is_secure in [true, false] {
            let guard = Guard::new(&place("127.0.0.1:3000", is_secure), &Options::default());
            assert_eq!(guard.check(&Uri::from_static("/mcp"), &headers).is_ok(), is_secure);
        }
    }
}
