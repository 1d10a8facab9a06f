//! Answers in front of rmcp: the requests that hosts send most, recognised from their bytes and answered in bytes, with
//! what rmcp and the [`Handler`] would answer to the letter.
//!
//! A request that is not plain ([`request`]), or that fails before a file is read, is nobody's here: it goes to rmcp as it
//! came, which knows every rule and every error. So the way through here is only ever shorter, and what it has in common
//! with the other is written once: what an entry says, where a page ends, what a cursor means.

mod answer;
mod frame;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod json;
mod listing;
mod reader;
mod reply;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rmcp::model::RequestId;

use crate::catalog::{Part, ReadError};
use crate::skill::Content;

use super::Handler;
use super::answer::unwinding;
use super::failure::Failure;
use super::resource;

pub(crate) use answer::Answer;
use answer::Form;
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

/// What follows a file in its contents.
const END_OF_CONTENTS: &[u8] = b"\"}]";

/// A request that will be answered here.
#[derive(Debug)]
pub(crate) enum Reply {
    /// With this.
    Ready(Answer),
    /// With a file that is large or still to be read.
    File(Wanted),
}

impl Reply {
    /// How many bytes are held for it: its own, or beside a few pieces those of a file that is asked for.
    pub(crate) fn holds_bytes(&self) -> u64 {
        match self {
            Self::Ready(answer) => answer.len(),
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

impl Wanted {
    /// The contents of the file that go out, up to the file itself.
    fn begin_contents(&self, out: &mut Vec<u8>, content: Content, form: Form) {
        out.extend_from_slice(b",\"contents\":[{\"uri\":");
        json::text(out, self.uri.as_bytes());
        out.extend_from_slice(b",\"mimeType\":");
        json::text(out, resource::media_type(&self.path, content).as_bytes());
        out.extend_from_slice(match form {
            Form::Text => b",\"text\":\"",
            Form::Base64 => b",\"blob\":\"",
        });
    }
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

    /// Reads a file. That it cannot be read is an answer too.
    async fn file(&self, wanted: Wanted) -> Answer {
        let work = async {
            let (file, bytes) = match self.handler.catalog.read(&wanted.path).await {
                Err(ReadError::NotServed) => return Err(Failure::NoResource(wanted.uri.clone())),
                read => read?,
            };
            let form = Form::of(file.content(), &bytes);
            let mut head = self.begun(Part::File, &wanted.id, wanted.uri.len());
            wanted.begin_contents(&mut head, file.content(), form);
            let mut tail = END_OF_CONTENTS.to_vec();
            self.end(Part::File, &mut tail);
            Ok(Answer::of_file(head, bytes, form, tail))
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
}
