//! A page of a listing, written as it is filled.

use crate::mcp::page::{PAGE_MAX_BYTES, cut};

/// The room for a few entries. What needs more is given that of a page at once, not moved each time that it has grown.
const FEW_BYTES: usize = 4 * 1024;

/// The entries of one page.
#[derive(Debug)]
pub(super) struct Page<C> {
    /// As JSON, with a comma between each two.
    pub(super) json: Vec<u8>,
    /// The candidate of the last entry, when there are more.
    pub(super) last: Option<C>,
}

/// Fills a page: as many `candidates` as fit, in their order, each written as an entry.
pub(super) fn fill<C>(
    candidates: impl IntoIterator<Item = C>,
    max_entries: usize,
    mut write: impl FnMut(&mut Vec<u8>, &C),
) -> Page<C> {
    let (mut json, mut written, mut last_begins) = (Vec::with_capacity(FEW_BYTES), 0, 0);
    let cut = cut(candidates, max_entries, |candidate| {
        last_begins = json.len();
        if last_begins > FEW_BYTES / 2 {
            json.reserve(PAGE_MAX_BYTES.saturating_sub(last_begins));
        }
        if last_begins > 0 {
            json.push(b',');
        }
        let begin = json.len();
        write(&mut json, candidate);
        written += 1;
        json.len() - begin
    });
    if written > cut.entries {
        json.truncate(last_begins);
    }
    Page { json, last: cut.last }
}
