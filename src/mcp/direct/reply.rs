//! The answer to a plain request, as far as it can be given without waiting.

use rmcp::model::RequestId;

use crate::catalog::{Part, Snapshot};
use crate::mcp::cursor::Listing;
use crate::mcp::page::{RESOURCES_MAX, SKILLS_MAX};
use crate::mcp::{entry, resource};
use crate::timestamp::Seconds;
use crate::uri;

use super::answer::{Answer, Form, WHOLE_MAX_BYTES};
use super::{Direct, END_OF_CONTENTS, Method, Reply, Request, Wanted, json, listing};

/// The most that is held of an answer for the next one who asks for the same.
const PREPARED_MAX_BYTES: usize = 64 * 1024;
/// The field of a result in which resources are listed.
const RESOURCES: &str = "resources";
/// Room for what most answers consist of that are not pages or files.
const FEW_BYTES: usize = 1024;

impl Direct {
    /// Answers, or says for which file it has to wait. `None` if the request is not to be answered here.
    pub(super) fn reply(&self, snapshot: &Snapshot, request: Request) -> Option<Reply> {
        if let Some(answer) = self.prepared(snapshot, &request) {
            return Some(Reply::Ready(answer));
        }
        let Request { id, method, uri, cursor, .. } = request;
        let cursor = cursor.as_deref();
        let answer = match (method, uri) {
            (Method::GetSkill, Some(uri)) if cursor.is_none() => self.skill(snapshot, &id, &uri),
            (Method::ListSkills, None) => self.skills(snapshot, &id, cursor),
            (Method::ListResources, None) => self.resources(snapshot, &id, cursor),
            (Method::ReadDirectory, Some(uri)) => self.children(snapshot, &id, &uri, cursor),
            (Method::ReadResource, Some(uri)) if cursor.is_none() => return self.contents(snapshot, id, uri),
            _ => None,
        };
        answer.map(Reply::Ready)
    }

    fn skill(&self, snapshot: &Snapshot, id: &RequestId, uri: &str) -> Option<Answer> {
        let listed = entry::find(snapshot, uri)?;
        Some(self.preparing(snapshot, Part::Skill, id, uri, |out| {
            out.extend_from_slice(b",\"skill\":");
            json::skill(out, listed);
        }))
    }

    fn skills(&self, snapshot: &Snapshot, id: &RequestId, cursor: Option<&str>) -> Option<Answer> {
        let after = after(Listing::Skills, cursor)?;
        let skills = snapshot.listed_after(after.as_deref());
        let page = listing::fill(skills, SKILLS_MAX, |out, listed| json::skill(out, *listed));
        let next = page.last.map(|last| Listing::Skills.cursor(&last.skill.path));
        Some(self.page(id, "skills", page.json, next))
    }

    fn resources(&self, snapshot: &Snapshot, id: &RequestId, cursor: Option<&str>) -> Option<Answer> {
        let after = after(Listing::Resources, cursor)?;
        let skills = snapshot.listed_after(after.as_deref());
        let mut seconds = Seconds::default();
        let page = listing::fill(skills, RESOURCES_MAX, |out, listed| {
            let path = entry::skill_md_path(listed.skill);
            json::resource(out, &resource::of_skill(*listed, &path), &mut seconds);
        });
        let next = page.last.map(|last| Listing::Resources.cursor(&last.skill.path));
        Some(self.page(id, RESOURCES, page.json, next))
    }

    fn children(
        &self,
        snapshot: &Snapshot,
        id: &RequestId,
        uri: &str,
        cursor: Option<&str>,
    ) -> Option<Answer> {
        let path = uri::to_path(uri).ok()?;
        let listing = Listing::Directory(&path);
        let after = after(listing, cursor)?;
        let children = snapshot.children(&path, after.as_deref())?;
        let mut seconds = Seconds::default();
        let page = listing::fill(children, RESOURCES_MAX, |out, child| {
            json::resource(out, &resource::of_node(*child), &mut seconds);
        });
        let is_all = cursor.is_none() && page.last.is_none();
        Some(if is_all && page.json.len() <= WHOLE_MAX_BYTES {
            let write = |out: &mut Vec<u8>| json::entries(out, RESOURCES, &page.json);
            self.preparing(snapshot, Part::Children, id, uri, write)
        } else {
            self.page(id, RESOURCES, page.json, page.last.map(|child| listing.cursor(child.path)))
        })
    }

    fn contents(&self, snapshot: &Snapshot, id: RequestId, uri: String) -> Option<Reply> {
        let path = uri::to_path(&uri).ok()?;
        let file = snapshot.node(&path)?.file?;
        let wanted = Wanted { id, uri, path, bytes: file.size() };
        let is_small = wanted.bytes <= WHOLE_MAX_BYTES as u64;
        let Some(bytes) = is_small.then(|| self.handler.catalog.held_of(file)).flatten() else {
            return Some(Reply::File(wanted));
        };
        let form = Form::of(file.content(), &bytes);
        let answer = self.preparing(snapshot, Part::File, &wanted.id, &wanted.uri, |out| {
            wanted.begin_contents(out, file.content(), form);
            out.reserve(form.len(&bytes) + END_OF_CONTENTS.len());
            form.append(out, &bytes);
            out.extend_from_slice(END_OF_CONTENTS);
        });
        Some(Reply::Ready(answer))
    }

    /// The answer to a request whose like has been answered before.
    fn prepared(&self, snapshot: &Snapshot, request: &Request) -> Option<Answer> {
        let part = match request.method {
            Method::GetSkill => Part::Skill,
            Method::ReadResource => Part::File,
            Method::ReadDirectory => Part::Children,
            Method::ListSkills | Method::ListResources => return None,
        };
        let uri = request.uri.as_deref().filter(|_| request.cursor.is_none())?;
        let prepared = self.handler.catalog.prepared(snapshot, part, uri)?;
        let mut out = self.begun(part, &request.id, prepared.len());
        out.extend_from_slice(&prepared);
        self.end(part, &mut out);
        Some(Answer::whole(out))
    }

    /// An answer with what the catalog says, which `write` writes, and which is held for the next one who asks.
    fn preparing(
        &self,
        snapshot: &Snapshot,
        part: Part,
        id: &RequestId,
        uri: &str,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Answer {
        let mut out = self.begun(part, id, FEW_BYTES);
        let begin = out.len();
        write(&mut out);
        let prepared = &out[begin..];
        if prepared.len() <= PREPARED_MAX_BYTES {
            self.handler.catalog.prepare(snapshot, part, uri, prepared);
        }
        self.end(part, &mut out);
        Answer::whole(out)
    }
}

/// The path after which a page begins; `None` if the cursor is none.
fn after(listing: Listing<'_>, cursor: Option<&str>) -> Option<Option<String>> {
    cursor.map(|cursor| listing.after(cursor)).transpose().ok()
}
