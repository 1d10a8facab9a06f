//! Where a finding's file lies, in the forms that programs read.

use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// What stands for itself in a path segment of a URI (RFC 3986, `unreserved`).
const IN_SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path without `.` components, and below the working directory where it lies there.
pub(super) fn tidy(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    let path = below.unwrap_or_else(|| path.to_owned());
    let tidied: PathBuf = path.components().filter(|component| *component != Component::CurDir).collect();
    if tidied.as_os_str().is_empty() { PathBuf::from(".") } else { tidied }
}

/// A URI reference: relative for a relative path, else with the scheme `file`. Bytes that are not UTF-8 are kept.
pub(super) fn uri(path: &Path) -> String {
    let tidied = tidy(path);
    let segments = tidied.components().filter_map(|component| match component {
        Component::Normal(name) => Some(percent_encode(name.as_encoded_bytes(), IN_SEGMENT).to_string()),
        Component::ParentDir => Some("..".to_owned()),
        Component::CurDir => Some(".".to_owned()),
        Component::Prefix(prefix) => Some(prefix.as_os_str().to_string_lossy().replace('\\', "/")),
        Component::RootDir => None,
    });
    let joined = segments.collect::<Vec<_>>().join("/");
    if tidied.is_absolute() { format!("file:///{joined}") } else { joined }
}

/// The path as text, and its bytes in base64 where the text does not say them all.
pub(super) fn text(path: &Path) -> (String, Option<String>) {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_text = std::str::from_utf8(bytes).is_ok();
    (path.to_string_lossy().into_owned(), (!is_text).then(|| STANDARD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_keeps_every_byte_of_a_path() {
        let check = |path: &str, expected| assert_eq!(uri(Path::new(path)), expected);
        check("./skills/a b/SKILL.md", "skills/a%20b/SKILL.md");
        check("../ä#?.md", "../%C3%A4%23%3F.md");
        check("/srv/x%20.md", "file:///srv/x%2520.md");
        check(".", ".");
        let here = std::env::current_dir().unwrap().join("skills/SKILL.md");
        assert_eq!(uri(&here), "skills/SKILL.md");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_utf8_is_kept() {
        use std::os::unix::ffi::OsStrExt as _;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"a/\xff.md"));
        assert_eq!(uri(path), "a/%FF.md");
        assert_eq!(text(path), ("a/\u{fffd}.md".to_owned(), Some("YS//Lm1k".to_owned())));
    }
}
