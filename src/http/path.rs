//! The path of the endpoint.

use std::fmt;
use std::str::FromStr;

use super::routes::paths;
use super::{admin, health, page};

/// What belongs to no server alone (RFC 8615).
const WELL_KNOWN: &str = "/.well-known";

/// The path of the one endpoint: it is there exactly, and not below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointPath(String);

/// Text that is no such path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a path is /name or /name/name, of letters, digits and -._~, and none that this server has beside the endpoint"
)]
pub struct NoPath;

impl EndpointPath {
    /// As it stands in a request.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for EndpointPath {
    fn default() -> Self {
        Self("/mcp".to_owned())
    }
}

impl fmt::Display for EndpointPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for EndpointPath {
    type Err = NoPath;

    fn from_str(text: &str) -> Result<Self, NoPath> {
        // These are never escaped, so that there is one spelling of a path, and mean nothing to a router.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_name = |name: &str| !["", ".", ".."].contains(&name) && name.bytes().all(is_plain);
        let names = text.strip_prefix('/').ok_or(NoPath)?;
        if is_taken(text) || !names.split('/').all(is_name) {
            return Err(NoPath);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Whether a path begins with the first name of something that this server has beside the endpoint.
fn is_taken(path: &str) -> bool {
    fn first(path: &str) -> Option<&str> {
        path.split('/').nth(1)
    }
    let probes = paths(&health::ROUTES).chain(paths(&admin::ROUTES));
    probes.chain(paths(&page::ROUTES)).chain([WELL_KNOWN]).any(|own| first(own) == first(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_of_plain_names() {
        for text in ["/mcp", "/a/b-c/d_e~f.g", "/mcp/healthz", "/v1.0/mcp"] {
            assert_eq!(text.parse::<EndpointPath>().map(|path| path.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "",
            "/",
            "mcp",
            "//",
            "/mcp/",
            "/a//b",
            "/..",
            "/a/./b",
            "/a?b",
            "/a#b",
            "/{a}",
            "/{*a}",
            "/:a",
            "/*a",
            "/a%20b",
            "/a b",
            "/é",
            "/healthz",
            "/readyz/x",
            "/metrics",
            "/status.json",
            "/skill",
            "/file",
            "/problems",
            "/explain",
            "/download",
            "/events",
            "/.well-known/mcp",
            "/assets/mcp",
            "http://x/mcp",
        ] {
            assert_eq!(text.parse::<EndpointPath>(), Err(NoPath), "{text}");
        }
    }
}
