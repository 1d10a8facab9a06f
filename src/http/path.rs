//! The path of the endpoint.

use std::fmt;
use std::str::FromStr;

/// The first names of what this server has beside the endpoint.
const TAKEN: [&str; 12] = [
    ".well-known",
    "assets",
    "download",
    "events",
    "explain",
    "file",
    "healthz",
    "metrics",
    "problems",
    "readyz",
    "skill",
    "status.json",
];

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
        let is_taken = names.split('/').next().is_some_and(|first| TAKEN.contains(&first));
        if is_taken || !names.split('/').all(is_name) {
            return Err(NoPath);
        }
        Ok(Self(text.to_owned()))
    }
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
            "/file",
            "/.well-known/mcp",
            "/assets/mcp",
            "http://x/mcp",
        ] {
            assert_eq!(text.parse::<EndpointPath>(), Err(NoPath), "{text}");
        }
    }
}
