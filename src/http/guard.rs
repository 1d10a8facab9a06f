//! Who may ask: the check of `Host` and `Origin` that keeps web pages from reaching a server on their reader's machine,
//! by a request across origins or by rebinding a name of theirs to it.

use std::net::SocketAddr;

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::uri::Authority;
use axum::http::{StatusCode, Uri};

use super::Options;
use super::legacy::SESSION_ID;
use super::refusal::Refused;

/// The names by which a machine calls itself.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// What a page of another origin may send and read, in the words of CORS.
const CORS: [(HeaderName, &str); 2] = [
    (
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
    ),
    (header::ACCESS_CONTROL_MAX_AGE, "7200"),
];

/// The hosts and the origins that may ask.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: Vec<(String, Option<u16>)>,
    origins: Vec<String>,
}

impl Guard {
    /// Lets through what names this machine or, where it is one, the address listened on; pages of this very server; and
    /// what the options add.
    pub(super) fn new(address: SocketAddr, options: &Options) -> Self {
        let mut hosts: Vec<_> = LOOPBACK.iter().map(|host| ((*host).to_owned(), None)).collect();
        if !address.ip().is_unspecified() {
            hosts.extend(address.to_string().parse().ok().map(|at: Authority| (at.host().to_owned(), None)));
        }
        hosts.extend(options.allow_hosts.iter().filter_map(|host| split_host(host)));
        let own = LOOPBACK.iter().map(|host| format!("http://{host}:{}", address.port()));
        let origins = own.chain(options.allow_origins.iter().cloned());
        Self { hosts, origins: origins.map(|origin| normal_origin(&origin)).collect() }
    }

    /// Lets a request through or refuses it. Gives back the origin of the page that it comes from, if from one.
    pub(super) fn check<'a>(
        &self,
        uri: &Uri,
        headers: &'a HeaderMap,
    ) -> Result<Option<&'a HeaderValue>, Refused> {
        // HTTP/2 has the host in the URI.
        let host = match sole(headers, header::HOST)? {
            Some(host) => host.to_str().ok().and_then(split_host),
            None => uri.authority().and_then(|authority| split_host(authority.as_str())),
        };
        let Some((host, port)) = host else {
            return Err(Refused::new(StatusCode::BAD_REQUEST, "the Host header is missing or malformed"));
        };
        let is_host =
            |known: &&(String, Option<u16>)| known.0 == host && (known.1.is_none() || known.1 == port);
        if !self.hosts.iter().any(|known| is_host(&known)) {
            return Err(Refused::new(
                StatusCode::FORBIDDEN,
                "the Host header names a host that is not allowed here",
            ));
        }
        let origin = sole(headers, header::ORIGIN)?;
        let is_allowed = |origin: &HeaderValue| {
            origin.to_str().is_ok_and(|origin| self.origins.contains(&normal_origin(origin)))
        };
        if origin.is_some_and(|origin| !is_allowed(origin)) {
            return Err(Refused::new(StatusCode::FORBIDDEN, "the Origin header is not allowed here"));
        }
        Ok(origin)
    }
}

/// Lets the page at `origin` read an answer.
pub(super) fn allow_reading(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_name(SESSION_ID));
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

/// A `Host` header's host, in lower case, and its port.
fn split_host(host: &str) -> Option<(String, Option<u16>)> {
    let authority: Authority = host.trim().parse().ok()?;
    let is_bare = !authority.as_str().contains('@');
    is_bare.then(|| (authority.host().to_ascii_lowercase(), authority.port_u16()))
}

/// An origin in lower case and without its scheme's own port, as browsers write it.
fn normal_origin(origin: &str) -> String {
    let origin = origin.trim().trim_end_matches('/').to_ascii_lowercase();
    let own_port = if origin.starts_with("http://") { ":80" } else { ":443" };
    origin.strip_suffix(own_port).map_or(origin.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host: &str, origin: Option<&str>, expected: Option<StatusCode>) {
        let options = Options {
            allow_hosts: vec!["skills.example.com".into(), "other.example.com:8443".into()],
            allow_origins: vec!["https://app.example.com".into(), "HTTPS://App2.example.com:443/".into()],
            sessions: 0,
        };
        let guard = Guard::new(([192, 0, 2, 1], 3000).into(), &options);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let refused = guard.check(&Uri::from_static("/mcp"), &headers).map(|_| ());
        let status = refused.err().map(|refused| axum::response::Response::from(refused).status());
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
        let guard = Guard::new(([127, 0, 0, 1], 3000).into(), &Options::default());
        let mut headers = HeaderMap::new();
        headers.append(header::HOST, HeaderValue::from_static("localhost"));
        headers.append(header::HOST, HeaderValue::from_static("evil.example.com"));
        assert!(guard.check(&Uri::from_static("/mcp"), &headers).is_err());
    }
}
