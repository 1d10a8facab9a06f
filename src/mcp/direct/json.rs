//! JSON straight from the catalog, as serde writes rmcp's types.

use serde::Serialize;

use crate::catalog::Listed;
use crate::mcp::entry::skill_md_path;
use crate::mcp::resource::About;
use crate::timestamp::Seconds;
use crate::uri;

use super::answer::escape;

/// A value.
pub(super) fn value(out: &mut Vec<u8>, value: &impl Serialize) {
    // Neither a buffer in memory nor anything that is written here can fail.
    let _ = serde_json::to_writer(out, value);
}

/// A text, in quotes.
pub(super) fn text(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    escape::append(out, text);
    out.push(b'"');
}

/// Parts of a text, in quotes. Nothing of them needs an escape.
fn plain<'a>(out: &mut Vec<u8>, parts: impl IntoIterator<Item = &'a str>) {
    out.push(b'"');
    parts.into_iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    out.push(b'"');
}

/// The URI of a served path, which may be known to stand in it as it is.
fn uri_of(out: &mut Vec<u8>, path: &str, is_plain: bool) {
    if is_plain || uri::is_plain(path) {
        plain(out, [uri::SCHEME, path]);
    } else {
        plain(out, std::iter::once(uri::SCHEME).chain(uri::escaped(path)));
    }
}

/// A skill's entry (E1–E6).
pub(super) fn skill(out: &mut Vec<u8>, listed: Listed<'_>) {
    let is_plain = listed.has_plain_paths();
    out.extend_from_slice(b"{\"uri\":");
    uri_of(out, &skill_md_path(listed.skill), is_plain);
    out.extend_from_slice(b",\"frontmatter\":");
    out.extend_from_slice(listed.skill.frontmatter.json().as_bytes());
    out.extend_from_slice(b",\"resources\":[");
    let mut opening = &b"{\"uri\":"[..];
    for (path, file) in listed.files() {
        out.extend_from_slice(opening);
        uri_of(out, path, is_plain);
        out.extend_from_slice(b",\"digest\":\"sha256:");
        out.extend_from_slice(&file.digest().to_hex());
        out.extend_from_slice(b"\",\"size\":");
        value(out, &file.size());
        opening = b"},{\"uri\":";
    }
    if opening.starts_with(b"}") {
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

/// A file or directory as a resource (U5, D1).
pub(super) fn resource(out: &mut Vec<u8>, about: &About<'_>, seconds: &mut Seconds) {
    out.extend_from_slice(b"{\"uri\":");
    uri_of(out, about.path, about.is_plain);
    out.extend_from_slice(b",\"name\":");
    text(out, about.name.as_bytes());
    if let Some(description) = &about.description {
        out.extend_from_slice(b",\"description\":");
        text(out, description.as_bytes());
    }
    out.extend_from_slice(b",\"mimeType\":");
    plain(out, [about.media_type]);
    if let Some(file) = about.file {
        out.extend_from_slice(b",\"size\":");
        value(out, &file.size());
    }
    if let Some(modified) = about.modified().and_then(|time| seconds.of(time)) {
        out.extend_from_slice(b",\"annotations\":{\"lastModified\":");
        plain(out, [modified]);
        out.push(b'}');
    }
    out.push(b'}');
}

/// The entries of a page, in `json`, as the field of a result.
pub(super) fn entries(out: &mut Vec<u8>, field: &str, json: &[u8]) {
    open_entries(out, field);
    out.extend_from_slice(json);
    close_entries(out);
}

/// What stands in front of the entries of a page.
pub(super) fn open_entries(out: &mut Vec<u8>, field: &str) {
    for part in [",\"", field, "\":["] {
        out.extend_from_slice(part.as_bytes());
    }
}

/// What stands behind them.
pub(super) fn close_entries(out: &mut Vec<u8>) {
    out.push(b']');
}
