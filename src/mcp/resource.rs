//! Skills, files and directories as resources (U5, D1), and files' contents (R1).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use rmcp::model::{Annotations, DIRECTORY_MIME_TYPE, Resource, ResourceContents};

use crate::catalog::{File, Node, Skill, Snapshot};
use crate::media_type;
use crate::skill::{Content, SKILL_MD};
use crate::timestamp;
use crate::uri;

use super::entry::{skill_md_path, text};

/// The `SKILL.md` of a skill, named and described as its frontmatter says (U5).
pub(super) fn of_skill(snapshot: &Snapshot, skill: &Skill) -> Resource {
    let path = skill_md_path(skill);
    let resource = Resource::new(uri::from_path(&path), text(&skill.frontmatter, "name"))
        .with_description(text(&skill.frontmatter, "description"))
        .with_mime_type(media_type::MARKDOWN);
    match snapshot.node(&path).and_then(|node| node.file.as_ref()) {
        Some(file) => with_file(resource, file),
        None => resource,
    }
}

/// A file or directory of a skill. A nested skill's `SKILL.md` is the same resource as in `resources/list`.
pub(super) fn of_node(snapshot: &Snapshot, node: &Node) -> Resource {
    let (parent, name) = split(&node.path);
    if name == SKILL_MD
        && let Some(skill) = snapshot.skill(parent)
    {
        return of_skill(snapshot, skill);
    }
    let resource = Resource::new(uri::from_path(&node.path), name);
    match &node.file {
        Some(file) => with_file(resource.with_mime_type(media_type::of(name, file.content())), file),
        None => resource.with_mime_type(DIRECTORY_MIME_TYPE),
    }
}

/// The one content item of a file that was asked for as `uri`: text where its bytes are text, else base64.
pub(super) fn contents(uri: String, path: &str, file: &File, bytes: Bytes) -> ResourceContents {
    let text = match file.content() {
        Content::Text => String::from_utf8(bytes.into()).map_err(|error| error.into_bytes().into()),
        Content::Binary => Err(bytes),
    };
    let contents = match text {
        Ok(text) => ResourceContents::text(text, uri),
        Err(bytes) => ResourceContents::blob(STANDARD.encode(bytes), uri),
    };
    contents.with_mime_type(media_type::of(split(path).1, file.content()))
}

fn with_file(resource: Resource, file: &File) -> Resource {
    let resource = resource.with_size(file.size());
    match file.modified.and_then(timestamp::seconds) {
        Some(modified) => {
            let mut annotations = Annotations::default();
            annotations.last_modified = Some(modified);
            resource.with_annotations(annotations)
        }
        None => resource,
    }
}

/// A served path's parent, empty at the top, and its last segment.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
