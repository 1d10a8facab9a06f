//! What every answer begins and ends with, as serde writes it of rmcp's results.

use rmcp::ErrorData;
use rmcp::model::RequestId;

use crate::catalog::Part;
use crate::mcp::failure::Failure;

use super::answer::{Answer, WHOLE_MAX_BYTES};
use super::{Direct, json};

/// Room for the beginning of an answer, and for its end.
const HEAD_BYTES: usize = 512;
const END_BYTES: usize = 512;

impl Direct {
    /// The beginning of an answer, up to what the catalog says, for which there is room for `more_bytes`. The `_meta` comes
    /// first in listings, and last elsewhere.
    pub(super) fn begun(&self, part: Part, id: &RequestId, more_bytes: usize) -> Vec<u8> {
        let mut out = self.head(id, more_bytes);
        if part == Part::Children {
            self.write_meta(&mut out);
        }
        self.hints(&mut out);
        out
    }

    /// A page of a listing, whose entries are in `json`.
    pub(super) fn page(
        &self,
        id: &RequestId,
        field: &str,
        mut json: Vec<u8>,
        next_cursor: Option<String>,
    ) -> Answer {
        let mut head = self.head(id, 0);
        self.write_meta(&mut head);
        if let Some(cursor) = next_cursor {
            head.extend_from_slice(b",\"nextCursor\":");
            json::text(&mut head, cursor.as_bytes());
        }
        self.hints(&mut head);
        if json.len() <= WHOLE_MAX_BYTES {
            head.reserve(json.len() + END_BYTES);
            json::entries(&mut head, field, &json);
            self.end(Part::Children, &mut head);
            return Answer::whole(head);
        }
        json::open_entries(&mut head, field);
        json::close_entries(&mut json);
        self.end(Part::Children, &mut json);
        Answer::of_page(head, json)
    }

    /// The beginning of an answer, and room for `more_bytes`.
    fn head(&self, id: &RequestId, more_bytes: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD_BYTES + more_bytes + END_BYTES);
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

    /// The end of an answer.
    pub(super) fn end(&self, part: Part, out: &mut Vec<u8>) {
        if part != Part::Children {
            self.write_meta(out);
        }
        out.extend_from_slice(b"}}");
        out.extend_from_slice(self.end.as_bytes());
    }

    /// The answer to a request that fails while its file is read.
    pub(super) fn error(&self, id: &RequestId, failure: Failure) -> Answer {
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
        out.push(b'}');
        out.extend_from_slice(self.end.as_bytes());
        Answer::of_error(out, error.code.0)
    }
}
