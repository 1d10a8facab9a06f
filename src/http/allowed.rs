//! Hosts and origins as headers and options name them.

use std::borrow::Cow;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// A host as a `Host` header has it, in lower case: `name`, or `name:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    name: String,
    port: Option<u16>,
}

/// A host as a request says it. Each request does, so that its text is not copied.
#[derive(Debug)]
pub(super) struct SaidHost<'a> {
    name: Cow<'a, str>,
    port: Option<u16>,
}

/// The origin of a page as an `Origin` header has it: `scheme://host`, or `scheme://host:port` where the port is not the
/// scheme's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    scheme: String,
    host: Host,
}

/// Text that names no host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a host is a name or name:port, such as skills.example.com or [::1]:8008, with no scheme, path or wildcard"
)]
pub struct NoHost;

/// Text that is no origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an origin is a scheme and a host, such as https://app.example.com, with no path or wildcard")]
pub struct NoOrigin;

impl Host {
    /// The port that is named with it.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether it is the one that is `said`, or that one at some port where this one names none.
    pub(super) fn covers(&self, said: &SaidHost<'_>) -> bool {
        self.name == said.name && (self.port.is_none() || self.port == said.port)
    }
}

impl FromStr for Host {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        let SaidHost { name, port } = SaidHost::parse(text)?;
        Ok(Self { name: name.into_owned(), port })
    }
}

impl<'a> SaidHost<'a> {
    /// Reads it as a `Host` header has it.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn parse(text: &'a str) -> Result<Self, NoHost> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(parse_port(port).ok_or(NoHost)?)),
            _ => (text, None),
        };
        let name = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(address) => format!("[{}]", address.parse::<Ipv6Addr>().map_err(|_| NoHost)?).into(),
            None if !is_name(name) => return Err(NoHost),
            None if name.bytes().any(|byte| byte.is_ascii_uppercase()) => name.to_ascii_lowercase().into(),
            None => name.into(),
        };
        Ok(Self { name, port })
    }

    /// Its name without a port.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for Origin {
    type Err = NoOrigin;

    fn from_str(text: &str) -> Result<Self, NoOrigin> {
        let (scheme, host) = text.split_once("://").ok_or(NoOrigin)?;
        if !is_scheme(scheme) {
            return Err(NoOrigin);
        }
        let scheme = scheme.to_ascii_lowercase();
        let mut host: Host = host.strip_suffix('/').unwrap_or(host).parse().map_err(|NoHost| NoOrigin)?;
        // Browsers leave it out.
        if matches!((&*scheme, host.port), ("http", Some(80)) | ("https", Some(443))) {
            host.port = None;
        }
        Ok(Self { scheme, host })
    }
}

fn parse_port(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    !text.is_empty() && text.bytes().all(is_allowed)
}

fn is_scheme(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_and_perhaps_a_port() {
        let host = |name: &str, port| Ok(Host { name: name.to_owned(), port });
        assert_eq!("Skills.Example.com".parse(), host("skills.example.com", None));
        assert_eq!("my_host:80".parse(), host("my_host", Some(80)));
        assert_eq!("192.0.2.1:8008".parse(), host("192.0.2.1", Some(8008)));
        assert_eq!("[::1]".parse(), host("[::1]", None));
        assert_eq!("[0:0::1]:8008".parse(), host("[::1]", Some(8008)));
        for text in [
            "",
            " ",
            "::1",
            "::1:80",
            "[::1",
            "[x]",
            "a b",
            "a:",
            ":80",
            "a:x",
            "a:+1",
            "a:65536",
            "https://x",
            "x/",
            "x@y",
            "*",
            "*.example.com",
            "bücher.example",
        ] {
            assert_eq!(text.parse::<Host>(), Err(NoHost), "{text}");
        }
    }

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        let same = |a: &str, b: &str| assert_eq!(a.parse::<Origin>().unwrap(), b.parse().unwrap());
        same("HTTPS://App.example.com:443/", "https://app.example.com");
        same("http://localhost:80", "http://localhost");
        same("vscode-webview://0a-1b", "vscode-webview://0A-1b");
        assert_ne!("http://x:443".parse::<Origin>(), "http://x".parse());
        for text in
            ["", "null", "*", "app.example.com", "://x", "https://", "https://x/y", "https://*.x", "1a://x"]
        {
            assert_eq!(text.parse::<Origin>(), Err(NoOrigin), "{text}");
        }
    }
}
