//! Properties of what a request's head says.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::header::{FORWARDED, HeaderMap, HeaderValue};
use axum::http::uri::{Authority, Uri};

use super::allowed::{Host, Origin, SaidHost};
use super::forwarded::{by_elements, by_list};
use super::trace_context::TraceContext;

pub use super::auth::fuzzing::{credentials, tokens};

/// Hosts and origins are what a library finds in the same text.
pub fn host(text: &str) {
    if let Ok(said) = SaidHost::parse(text) {
        let authority: Authority = text.parse().expect("an authority");
        assert_eq!(said.name(), plain(authority.host()));
        let host: Host = text.parse().expect("the same");
        assert_eq!(host.port(), authority.port_u16());
        assert!(host.covers(&said));
    }
    if let Ok(origin) = text.parse::<Origin>() {
        let uri = match text.parse::<Uri>() {
            Ok(uri) => uri,
            // The library takes no scheme of more than 64 characters.
            Err(_) if text.len() > 64 => return,
            Err(error) => panic!("{error}"),
        };
        let authority = uri.authority().expect("a host");
        let port = authority.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        let written = format!("{}://{}{port}", uri.scheme_str().expect("a scheme"), plain(authority.host()));
        assert_eq!(written.parse(), Ok(origin));
    }
}

/// A host's name in the one way that it is written.
fn plain(host: &str) -> String {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => format!("[{}]", address.parse::<Ipv6Addr>().expect("an address")),
        None => host.to_ascii_lowercase(),
    }
}

/// Whatever a client has written, what the proxy adds is found first, and there are not more hops than commas.
pub fn forwarded(lines: &[u8]) {
    let proxy: IpAddr = [198, 51, 100, 2].into();
    let values = || lines.split(|byte| *byte == b'\n').filter_map(|line| HeaderValue::from_bytes(line).ok());
    let (mut listed, mut elements) = (HeaderMap::new(), HeaderMap::new());
    for value in values() {
        listed.append("x-forwarded-for", value.clone());
        elements.append(FORWARDED, value);
    }
    for value in values() {
        let line = [value.as_bytes(), b", 198.51.100.2"].concat();
        let mut headers = listed.clone();
        headers.append("x-forwarded-for", HeaderValue::from_bytes(&line).expect("a value"));
        assert_eq!(by_list(&headers).and_then(|mut hops| hops.next()), Some(Some(proxy)));
    }
    elements.append(FORWARDED, HeaderValue::from_static("for=198.51.100.2"));
    assert_eq!(by_elements(&elements).and_then(|mut hops| hops.next()), Some(Some(proxy)));
    let most = lines.len() + elements.len();
    assert!(by_list(&listed).into_iter().flatten().count() <= most);
    assert!(by_elements(&elements).into_iter().flatten().count() <= most);
}

/// A trace's ids are those of the text, and are read again when they are written.
pub fn trace(text: &str) {
    let Some(context) = TraceContext::parse(text) else { return };
    let written = format!("00-{}-{}-", context.trace_id(), context.parent_id());
    assert_eq!(written[2..], text[2..written.len()]);
    assert_eq!(TraceContext::parse(&format!("{written}01")), Some(context));
}
