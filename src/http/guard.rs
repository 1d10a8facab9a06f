//! Who may ask: the check of `Host` and `Origin` that keeps web pages from reaching a server on their reader's machine,
//! by a request across origins or by rebinding a name of theirs to it.

use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use super::Options;
use super::allowed::{Host, Origin};
use super::caller::{Caller, Peer};
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
    hosts: Vec<Host>,
    origins: Vec<Origin>,
}

impl Guard {
    /// Lets through what names this machine or, where it is one, the address listened on; pages of this very server; and
    /// what the options add.
    pub(super) fn new(address: SocketAddr, options: &Options) -> Self {
        let mut hosts: Vec<Host> = LOOPBACK.iter().filter_map(|host| host.parse().ok()).collect();
        if !address.ip().is_unspecified() {
            hosts.extend(
                SocketAddr::new(address.ip(), 0)
                    .to_string()
                    .strip_suffix(":0")
                    .and_then(|host| host.parse().ok()),
            );
        }
        hosts.extend(options.allow_hosts.iter().cloned());
        let own = LOOPBACK.iter().filter_map(|host| format!("http://{host}:{}", address.port()).parse().ok());
        Self { hosts, origins: own.chain(options.allow_origins.iter().cloned()).collect() }
    }

    /// Lets a request through or refuses it. Gives back the origin of the page that it comes from, if from one.
    pub(super) fn check<'a>(&self, headers: &'a HeaderMap) -> Result<Option<&'a HeaderValue>, Refused> {
        let Some(host) = sole(headers, header::HOST)?.and_then(parse::<Host>) else {
            return Err(Refused::new(StatusCode::BAD_REQUEST, "the Host header is missing or malformed"));
        };
        if !self.hosts.iter().any(|known| known.covers(&host)) {
            return Err(Refused::new(
                StatusCode::FORBIDDEN,
                "the Host header names a host that is not allowed here",
            ));
        }
        let origin = sole(headers, header::ORIGIN)?;
        let is_allowed =
            |origin: &HeaderValue| parse(origin).is_some_and(|origin| self.origins.contains(&origin));
        if origin.is_some_and(|origin| !is_allowed(origin)) {
            return Err(Refused::new(StatusCode::FORBIDDEN, "the Origin header is not allowed here"));
        }
        Ok(origin)
    }
}

/// That a request comes from a page that may ask. It stands in the extensions of such a request behind the guard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page;

/// Lets requests through or refuses them, and lets pages that may ask read what they are answered.
pub(super) async fn layer(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    let origin = match guard.check(request.headers()) {
        Ok(origin) => origin.cloned(),
        Err(refused) => return refused.into(),
    };
    let caller = Caller::anonymous(request.extensions().get::<Peer>());
    request.extensions_mut().insert(caller);
    if origin.is_some() {
        request.extensions_mut().insert(Page);
    }
    let mut response = next.run(request).await;
    allow_reading(response.headers_mut(), origin);
    response
}

/// Lets the page at `origin` read an answer.
fn allow_reading(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
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

fn parse<T: FromStr>(value: &HeaderValue) -> Option<T> {
    value.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let guard = Guard::new(([192, 0, 2, 1], 3000).into(), &options);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let refused = guard.check(&headers).map(|_| ());
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
        let guard = Guard::new(([127, 0, 0, 1], 3000).into(), &Options::default());
        let mut headers = HeaderMap::new();
        headers.append(header::HOST, HeaderValue::from_static("localhost"));
        headers.append(header::HOST, HeaderValue::from_static("evil.example.com"));
        assert!(guard.check(&headers).is_err());
    }
}
