//! Skills, files and directories as resources (U5, D1), and files' contents (R1).

use std::borrow::Cow;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use rmcp::model::{Annotations, DIRECTORY_MIME_TYPE, Resource, ResourceContents};

use crate::catalog::{File, Listed, Node, Stated};
use crate::media_type;
use crate::skill::Content;
use crate::timestamp;
use crate::uri;

/// What is said of a file or directory.
#[derive(Clone, Debug)]
pub(super) struct About<'a> {
    /// The served path.
    pub(super) path: &'a str,
    /// Whether that is known to stand in its URI as it is.
    pub(super) is_plain: bool,
    /// What it is called.
    pub(super) name: &'a str,
    /// What it is for, of a skill.
    pub(super) description: Option<Cow<'a, str>>,
    /// Its media type.
    pub(super) media_type: &'static str,
    /// Absent for a directory.
    pub(super) file: Option<&'a File>,
}

/// The `SKILL.md` at this path of a skill, named and described as its frontmatter says (U5).
pub(super) fn of_skill<'a>(listed: Listed<'a>, path: &'a str) -> About<'a> {
    About {
        path,
        is_plain: listed.has_plain_paths(),
        name: listed.skill.name(),
        description: Some(listed.skill.frontmatter.description()),
        media_type: media_type::MARKDOWN,
        file: listed.node(path).and_then(|node| node.file),
    }
}

/// A file or directory of a skill. A nested skill's `SKILL.md` is the same resource as in `resources/list`.
pub(super) fn of_node(node: Node<'_>) -> About<'_> {
    let Node { path, file, .. } = node;
    if let Some(listed) = node.described() {
        return of_skill(listed, path);
    }
    let name = uri::split(path).1;
    let media_type = file.map_or(DIRECTORY_MIME_TYPE, |file| media_type::of(name, file.content()));
    About { path, is_plain: node.has_plain_path(), name, description: None, media_type, file }
}

impl About<'_> {
    /// When the file was last modified, where the file system says so.
    pub(super) fn modified(&self) -> Option<SystemTime> {
        self.file?.modified()
    }
}

/// The same as rmcp's type.
impl From<About<'_>> for Resource {
    fn from(about: About<'_>) -> Self {
        let mut resource =
            Resource::new(uri::from_path(about.path), about.name).with_mime_type(about.media_type);
        resource.size = about.file.map(File::size);
        resource.annotations = about.modified().and_then(timestamp::seconds).map(|modified| {
            let mut annotations = Annotations::default();
            annotations.last_modified = Some(modified);
            annotations
        });
        resource.description = about.description.map(Cow::into_owned);
        resource
    }
}

/// The media type of the file at a served path.
pub(super) fn media_type(path: &str, content: Content) -> &'static str {
    media_type::of(uri::split(path).1, content)
}

/// The one content item of a file that was asked for as `uri`: text where its bytes are text, else base64.
pub(super) fn contents(uri: String, path: &str, file: Stated, bytes: Bytes) -> ResourceContents {
    let text = match file.content() {
        Content::Text => String::from_utf8(bytes.into()).map_err(|error| error.into_bytes().into()),
        Content::Binary => Err(bytes),
    };
    let contents = match text {
        Ok(text) => ResourceContents::text(text, uri),
        Err(bytes) => ResourceContents::blob(STANDARD.encode(bytes), uri),
    };
    contents.with_mime_type(media_type(path, file.content()))
}
