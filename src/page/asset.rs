//! The stylesheet, the script and the icon. Their names hold a part of their digests, so that a browser can keep them.

use std::sync::LazyLock;

use crate::skill::Digest;

/// The most hex digits of a digest that go into a name: enough to tell one version from the next.
const NAME_MAX_DIGITS: usize = 16;

/// A file of the page itself.
#[derive(Debug)]
pub struct Asset {
    /// Its name in their directory.
    pub name: String,
    /// Its media type.
    pub media_type: &'static str,
    /// What it holds.
    pub text: &'static str,
}

/// Where the page's own files are, relative to a page.
const DIRECTORY: &str = "assets";

/// How everything looks.
pub static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("page", "css", "text/css; charset=utf-8", include_str!("page.css")));
/// What makes the page follow changes, and the filter answer as it is typed into.
pub static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("page", "js", "text/javascript; charset=utf-8", include_str!("page.js")));
/// The mark of the server.
pub static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", "image/svg+xml", include_str!("icon.svg")));

impl Asset {
    fn new(stem: &str, extension: &str, media_type: &'static str, text: &'static str) -> Self {
        let digest = Digest::of(text.as_bytes()).to_string();
        let digits = digest.trim_start_matches("sha256:");
        let name = format!("{stem}-{}.{extension}", digits.get(..NAME_MAX_DIGITS).unwrap_or(digits));
        Self { name, media_type, text }
    }

    /// The asset of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        [&*STYLE, &*SCRIPT, &*ICON].into_iter().find(|asset| asset.name == name)
    }

    /// Where it is, relative to a page.
    pub(super) fn href(&self) -> String {
        format!("{DIRECTORY}/{}", self.name)
    }
}
