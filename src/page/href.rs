//! Where the pages are, relative to any of them.

use crate::uri;

/// The skills, and the place that all others are relative to.
pub(super) const SKILLS: &str = "./";
/// What is not served, and what else is wrong.
pub(super) const PROBLEMS: &str = "problems";

/// A skill.
pub(super) fn skill(path: &str) -> String {
    format!("skill?path={}", uri::escaped(path))
}

/// A file, as it reads best.
pub(super) fn file(path: &str) -> String {
    format!("file?path={}", uri::escaped(path))
}

/// A file as it is written.
pub(super) fn source(path: &str) -> String {
    format!("file?path={}&as=source", uri::escaped(path))
}

/// A file's bytes.
pub(super) fn download(path: &str) -> String {
    format!("download?path={}", uri::escaped(path))
}

/// What a finding's code means.
pub(super) fn explain(code: &str) -> String {
    format!("explain?code={}", uri::escaped(code))
}
