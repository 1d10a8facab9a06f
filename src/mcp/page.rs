//! How much goes on one page of a listing.

use serde::Serialize;

/// The most bytes of one page's JSON. An entry that is larger alone stands on a page of its own: entries are never
/// split (L1).
pub(super) const PAGE_MAX_BYTES: usize = 256 * 1024;
/// What is kept back of [`PAGE_MAX_BYTES`] for all that stands around the entries: the cursor, `_meta`, the envelope.
const ENVELOPE_MAX_BYTES: usize = 16 * 1024;
/// The most skills on one page.
pub(super) const SKILLS_MAX: usize = 250;
/// The most resources on one page.
pub(super) const RESOURCES_MAX: usize = 250;

/// The entries of one page.
#[derive(Debug, PartialEq)]
pub(super) struct Page<E, C> {
    /// What stands on it.
    pub(super) entries: Vec<E>,
    /// The candidate that its last entry was made of, when there are more.
    pub(super) last: Option<C>,
}

/// Fills a page: as many `candidates` as fit, in their order, each made into an entry.
pub(super) fn fill<C, E: Serialize>(
    candidates: impl IntoIterator<Item = C>,
    max_entries: usize,
    make: impl Fn(&C) -> E,
) -> Page<E, C> {
    let mut entries = Vec::new();
    let cut = cut(candidates, max_entries, |candidate| {
        let entry = make(candidate);
        let bytes = json_bytes(&entry);
        entries.push(entry);
        bytes
    });
    entries.truncate(cut.entries);
    Page { entries, last: cut.last }
}

/// Where a page ends.
#[derive(Debug, PartialEq)]
pub(super) struct Cut<C> {
    /// How many entries stand on it.
    pub(super) entries: usize,
    /// The candidate of its last entry, when there are more.
    pub(super) last: Option<C>,
}

/// Finds where a page ends. `make` makes the entry of a candidate and says how many bytes of JSON it has. The last entry
/// that it made may be one too many.
pub(super) fn cut<C>(
    candidates: impl IntoIterator<Item = C>,
    max_entries: usize,
    mut make: impl FnMut(&C) -> usize,
) -> Cut<C> {
    let mut cut = Cut { entries: 0, last: None };
    let mut bytes = ENVELOPE_MAX_BYTES;
    for candidate in candidates {
        if cut.entries == max_entries {
            return cut;
        }
        bytes += make(&candidate) + ",".len();
        if bytes > PAGE_MAX_BYTES && cut.entries > 0 {
            return cut;
        }
        cut.entries += 1;
        cut.last = Some(candidate);
    }
    cut.last = None;
    cut
}

/// How many bytes a value takes as JSON.
fn json_bytes(value: &impl Serialize) -> usize {
    let mut count = Count(0);
    // Counting fails for no value that can be sent, and what cannot be sent has no size.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

struct Count(usize);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills pages from entries of these lengths until all are out, and counts what stands on each.
    #[track_caller]
    fn check(lengths: &[usize], max_entries: usize, expected: &[usize]) {
        let mut rest = 0..lengths.len();
        let mut pages = Vec::new();
        loop {
            let page = fill(rest.clone(), max_entries, |at| "x".repeat(lengths[*at]));
            pages.push(page.entries.len());
            match page.last {
                Some(last) => rest.start = last + 1,
                None => break,
            }
        }
        assert_eq!(pages, expected);
    }

    #[test]
    fn a_page_is_bounded_in_entries() {
        check(&[], 3, &[0]);
        check(&[1; 3], 3, &[3]);
        check(&[1; 4], 3, &[3, 1]);
    }

    #[test]
    fn a_page_is_bounded_in_bytes() {
        check(&[100_000; 5], 100, &[2, 2, 1]);
        check(&[PAGE_MAX_BYTES - ENVELOPE_MAX_BYTES - 3, 1], 100, &[1, 1]);
    }

    #[test]
    fn an_entry_larger_than_a_page_stands_alone() {
        check(&[10, 1_000_000, 10], 100, &[1, 1, 1]);
        check(&[1_000_000], 100, &[1]);
    }
}
