//! Answers in front of rmcp: the requests that hosts send most, recognised from their bytes and answered in bytes, with
//! what rmcp and the [`Handler`] would answer to the letter.
//!
//! A request that is not plain ([`request`]), or that fails before a file is read, is nobody's here: it goes to rmcp as it
//! came, which knows every rule and every error. So the way through here is only ever shorter, and what it has in common
//! with the other is written once: what an entry says, where a page ends, what a cursor means.

mod answer;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod json;
mod listing;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::RequestId;

use crate::catalog::{File, Held, ReadError, Snapshot, Stated};
use crate::timestamp::Seconds;
use crate::uri;

use super::Handler;
use super::answer::unwinding;
use super::cursor::Listing;
use super::entry;
use super::failure::Failure;
use super::page::{RESOURCES_MAX, SKILLS_MAX};
use super::resource;

pub(crate) use answer::Answer;
use answer::{Form, WHOLE_MAX_BYTES, escape};
pub(crate) use request::{Method, Request, VERSION};

/// Answers plain requests. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Direct {
    handler: Handler,
    /// The `_meta` of every result, as JSON.
    meta: Arc<str>,
    /// The `cacheScope` of every result, as JSON.
    cache_scope: Arc<str>,
    /// What follows every answer.
    end: &'static str,
}

/// The one method whose answer may have to wait.
const READ: &str = Method::ReadResource.as_str();

/// A request that will be answered here.
#[derive(Debug)]
pub(crate) enum Reply {
    /// With this.
    Ready(Answer),
    /// With a file that is large or still to be read.
    File(Wanted),
}

impl Reply {
    /// How many bytes are held for it, beside a few pieces: those of a file that is asked for, the one kind that can be large.
    pub(crate) fn holds_bytes(&self) -> u64 {
        match self {
            Self::Ready(_) => 0,
            Self::File(wanted) => wanted.bytes,
        }
    }
}

/// A file that is asked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    id: RequestId,
    uri: String,
    path: String,
    bytes: u64,
}

impl Direct {
    /// Answers as `handler` does, and ends each answer with `end`.
    pub(crate) fn new(handler: Handler, end: &'static str) -> Self {
        let json = |value: serde_json::Result<String>| Arc::from(value.unwrap_or_default());
        let meta = json(serde_json::to_string(&handler.stamp.meta));
        let cache_scope = json(serde_json::to_string(&handler.stamp.cache_scope));
        Self { handler, meta, cache_scope, end }
    }

    /// Begins to answer a request. `None` if it is not to be answered here.
    pub(crate) fn begin(&self, request: Request) -> Option<Reply> {
        let method = request.method;
        let work = || {
            let snapshot = self.handler.catalog.current()?;
            self.reply(&snapshot, request)
        };
        // What makes this panic is left to rmcp, and so to the handler that answers also then.
        let reply = super::answer::caught(method.as_str(), work).flatten()?;
        if let Reply::Ready(_) = reply {
            tracing::trace!(method = method.as_str(), "answered");
        }
        Some(reply)
    }

    /// The answer to a request that has begun to be answered.
    pub(crate) async fn finish(&self, reply: Reply) -> Answer {
        match reply {
            Reply::Ready(answer) => answer,
            Reply::File(wanted) => self.file(wanted).await,
        }
    }

    fn reply(&self, snapshot: &Snapshot, request: Request) -> Option<Reply> {
        let Request { id, method, uri, cursor, .. } = request;
        let cursor = cursor.as_deref();
        let after = |listing: Listing<'_>| cursor.map(|cursor| listing.after(cursor)).transpose().ok();
        let answer = match (method, uri) {
            (Method::GetSkill, Some(uri)) if cursor.is_none() => {
                let listed = entry::find(snapshot, &uri)?;
                let mut head = self.head(&id);
                self.hints(&mut head);
                head.extend_from_slice(b",\"skill\":");
                json::skill(&mut head, listed);
                Answer::new(head, self.tail(""))
            }
            (Method::ListSkills, None) => {
                let after = after(Listing::Skills)?;
                let skills = snapshot.listed_after(after.as_deref());
                let page = listing::fill(skills, SKILLS_MAX, |out, listed| json::skill(out, *listed));
                let next = page.last.map(|last| Listing::Skills.cursor(&last.skill.path));
                self.page(&id, "skills", page.json, next)
            }
            (Method::ListResources, None) => {
                let after = after(Listing::Resources)?;
                let skills = snapshot.listed_after(after.as_deref());
                let mut seconds = Seconds::default();
                let page = listing::fill(skills, RESOURCES_MAX, |out, listed| {
                    let path = entry::skill_md_path(listed.skill);
                    json::resource(out, &resource::of_skill(*listed, &path), &mut seconds);
                });
                let next = page.last.map(|last| Listing::Resources.cursor(&last.skill.path));
                self.page(&id, "resources", page.json, next)
            }
            (Method::ReadDirectory, Some(uri)) => {
                let path = uri::to_path(&uri).ok()?;
                let listing = Listing::Directory(&path);
                let after = after(listing)?;
                let children = snapshot.children(&path, after.as_deref())?;
                let mut seconds = Seconds::default();
                let page = listing::fill(children, RESOURCES_MAX, |out, child| {
                    json::resource(out, &resource::of_node(*child), &mut seconds);
                });
                let next = page.last.map(|child| listing.cursor(child.path));
                self.page(&id, "resources", page.json, next)
            }
            (Method::ReadResource, Some(uri)) if cursor.is_none() => {
                let path = uri::to_path(&uri).ok()?;
                let file = snapshot.node(&path)?.file?;
                let wanted = Wanted { id, uri, path, bytes: file.size() };
                match self.held(&wanted, file) {
                    Some(answer) => answer,
                    None => return Some(Reply::File(wanted)),
                }
            }
            _ => return None,
        };
        Some(Reply::Ready(answer))
    }

    /// The answer with a small file that is in memory.
    fn held(&self, wanted: &Wanted, file: &File) -> Option<Answer> {
        if wanted.bytes > WHOLE_MAX_BYTES as u64 {
            return None;
        }
        let stated = file.stated();
        let escape =
            |bytes: &[u8]| (Form::of(file.content(), bytes) == Form::Text).then(|| escape::whole(bytes));
        Some(match self.handler.catalog.held_escaped(file, escape)? {
            Held::Escaped(text) => self.contents(wanted, stated, text, Form::Escaped),
            Held::Plain(bytes) => {
                let form = Form::of(file.content(), &bytes);
                self.contents(wanted, stated, bytes, form)
            }
        })
    }

    /// Reads a file. That it cannot be read is an answer too.
    async fn file(&self, wanted: Wanted) -> Answer {
        let work = async {
            let (file, bytes) = match self.handler.catalog.read(&wanted.path).await {
                Err(ReadError::NotServed) => return Err(Failure::NoResource(wanted.uri.clone())),
                read => read?,
            };
            let form = Form::of(file.content(), &bytes);
            Ok(self.contents(&wanted, file, bytes, form))
        };
        match unwinding(READ, work).await {
            Ok(answer) => {
                tracing::trace!(method = READ, "answered");
                answer
            }
            Err(failure) => {
                tracing::trace!(method = READ, ?failure, "failed");
                self.error(&wanted.id, failure)
            }
        }
    }

    fn contents(&self, wanted: &Wanted, file: Stated, bytes: bytes::Bytes, form: Form) -> Answer {
        let mut head = self.head(&wanted.id);
        self.hints(&mut head);
        head.extend_from_slice(b",\"contents\":[{\"uri\":");
        json::text(&mut head, wanted.uri.as_bytes());
        head.extend_from_slice(b",\"mimeType\":");
        json::text(&mut head, resource::media_type(&wanted.path, file.content()).as_bytes());
        head.extend_from_slice(match form {
            Form::Text | Form::Escaped => b",\"text\":\"",
            Form::Base64 => b",\"blob\":\"",
        });
        Answer::of_file(head, bytes, form, self.tail("\"}]"))
    }

    /// A page of a listing, whose entries are in `json`.
    fn page(&self, id: &RequestId, field: &str, json: Vec<u8>, next_cursor: Option<String>) -> Answer {
        let mut head = self.head(id);
        self.write_meta(&mut head);
        if let Some(cursor) = next_cursor {
            head.extend_from_slice(b",\"nextCursor\":");
            json::text(&mut head, cursor.as_bytes());
        }
        self.hints(&mut head);
        for part in [",\"", field, "\":["] {
            head.extend_from_slice(part.as_bytes());
        }
        Answer::of_page(head, json, &["]}}", self.end].concat())
    }

    /// The beginning of an answer.
    fn head(&self, id: &RequestId) -> Vec<u8> {
        let mut out = Vec::with_capacity(512);
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        json::value(&mut out, id);
        out.extend_from_slice(b",\"result\":{\"resultType\":\"complete\"");
        out
    }

    /// For how long and by whom an answer may be kept (K1).
    fn hints(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"ttlMs\":");
        json::value(out, &self.handler.ttl_ms());
        out.extend_from_slice(b",\"cacheScope\":");
        out.extend_from_slice(self.cache_scope.as_bytes());
    }

    fn write_meta(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"_meta\":");
        out.extend_from_slice(self.meta.as_bytes());
    }

    /// The end of an answer, after what `closes` its own field.
    fn tail(&self, closes: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.meta.len() + 32);
        out.extend_from_slice(closes.as_bytes());
        self.write_meta(&mut out);
        out.extend_from_slice(b"}}");
        out.extend_from_slice(self.end.as_bytes());
        out
    }

    /// The answer to a request that fails while its file is read.
    fn error(&self, id: &RequestId, failure: Failure) -> Answer {
        let mut error = ErrorData::from(failure);
        // As rmcp says it to peers of 2026-07-28 and later, the only ones whose requests come here.
        if error.code == rmcp::model::ErrorCode::RESOURCE_NOT_FOUND {
            error.code = rmcp::model::ErrorCode::INVALID_PARAMS;
        }
        let mut out = Vec::new();
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        json::value(&mut out, id);
        out.extend_from_slice(b",\"error\":");
        json::value(&mut out, &error);
        Answer::of_error(out, ["}", self.end].concat().into(), error.code.0)
    }
}
