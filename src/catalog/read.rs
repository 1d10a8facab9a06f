//! What a file's bytes are, from one read of them.

use std::sync::Arc;
use std::time::SystemTime;

use crate::finding::{Place, Problem};
use crate::hidden;
use crate::index::Record;
use crate::skill::{Content, Digest};
use crate::tree::{File, ReadError, Reader};

use super::proof::Proof;
use super::scan::Scan;

/// The largest file of which the escapes are not counted: 1 MiB. With them it has at most six times as many bytes.
const UNCOUNTED_MAX_BYTES: u64 = 1024 * 1024;

/// What one read of a file gave.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub digest: Digest,
    pub size: u64,
    pub content: Content,
    /// Whether a file with the same identity is sure to have the same bytes.
    pub is_settled: bool,
    pub proof: Proof,
    /// What few files have.
    rare: Option<Arc<Rare>>,
}

#[derive(Debug)]
struct Rare {
    /// What nobody sees in it.
    hidden: Option<Hidden>,
    /// How many bytes of a message carry it.
    wire_bytes: u64,
}

/// What nobody sees in a text: as a finding says it, and where.
#[derive(Debug)]
pub(super) struct Hidden {
    pub problem: Problem,
    pub place: Place,
}

impl Read {
    /// Describes bytes that were read at or after `now` from a file that was looked at before.
    pub(super) fn of(bytes: &[u8], file: File<'_>, now: SystemTime) -> Self {
        let mut scan = scan_of(bytes.len() as u64);
        scan.take(bytes);
        let hidden = scan.may_hide().then(|| Hidden::of(bytes)).flatten();
        Self::scanned(&scan, hidden, file, now)
    }

    /// Reads a file and forgets its bytes.
    pub(super) fn file(
        reader: &mut Reader<'_>,
        file: File<'_>,
        max_bytes: u64,
        now: SystemTime,
    ) -> Result<Self, ReadError> {
        let source = file.source();
        let (scan, whole) = reader.pieces(&source, max_bytes, scan_of, Scan::take)?;
        if !scan.may_hide() || scan.finish().2 == Content::Binary {
            return Ok(Self::scanned(&scan, None, file, now));
        }
        // Whether such characters are at home depends on what is around them, so the text is looked at as a whole.
        if let Some(bytes) = whole {
            return Ok(Self::scanned(&scan, Hidden::of(bytes), file, now));
        }
        Ok(Self::of(&reader.read(&source, max_bytes)?, file, now))
    }

    fn scanned(scan: &Scan, hidden: Option<Hidden>, file: File<'_>, now: SystemTime) -> Self {
        let (digest, size, content) = scan.finish();
        let hidden = hidden.filter(|_| content == Content::Text);
        let escaped_bytes = scan.escaped_bytes().filter(|_| content == Content::Text);
        let wire_bytes = escaped_bytes.unwrap_or_else(|| plain_wire_bytes(size, content));
        let is_rare = hidden.is_some() || escaped_bytes.is_some();
        let rare = is_rare.then(|| Arc::new(Rare { hidden, wire_bytes }));
        Self {
            digest,
            size,
            content,
            is_settled: file.identity().is_settled(now),
            proof: Proof::given(),
            rare,
        }
    }

    /// What an earlier read gave, of a file that is found to be what it was then.
    pub(super) fn known(record: &Record, file: File<'_>, now: SystemTime) -> Self {
        let Record { digest, size, content, wire_bytes } = *record;
        let is_plain = wire_bytes == plain_wire_bytes(size, content);
        let rare = (!is_plain).then(|| Arc::new(Rare { hidden: None, wire_bytes }));
        Self {
            digest,
            size,
            content,
            is_settled: file.identity().is_settled(now),
            proof: Proof::lacking(),
            rare,
        }
    }

    /// Describes the bytes of a text with a digest that an earlier read gave. `None` where more is to be said of them: of
    /// what nobody sees in them, or how many bytes of a message carry them.
    pub(super) fn plain(text: &[u8], digest: Digest, file: File<'_>, now: SystemTime) -> Option<Self> {
        let size = text.len() as u64;
        let hides_nothing =
            || text.is_ascii() || std::str::from_utf8(text).is_ok_and(|text| !hidden::may_be_in(text));
        let is_settled = file.identity().is_settled(now);
        let is_plain = size <= UNCOUNTED_MAX_BYTES && hides_nothing();
        let (content, proof) = (Content::Text, Proof::lacking());
        is_plain.then_some(Self { digest, size, content, is_settled, proof, rare: None })
    }

    /// The same for a later start; `None` where more is to be said of the bytes.
    pub(super) fn to_record(&self) -> Option<Record> {
        let (digest, size, content) = (self.digest, self.size, self.content);
        self.hidden().is_none().then(|| Record { digest, size, content, wire_bytes: self.wire_bytes() })
    }

    /// Whether a file that was read as `before` still has the bytes that were read.
    pub(super) fn is_still(&self, before: File<'_>, file: File<'_>) -> bool {
        self.is_settled && before.identity() == file.identity()
    }

    /// What nobody sees in it.
    pub(super) fn hidden(&self) -> Option<&Hidden> {
        self.rare.as_ref()?.hidden.as_ref()
    }

    /// How many bytes of a message carry it: a JSON text with its escapes, or base64.
    pub(super) fn wire_bytes(&self) -> u64 {
        self.rare.as_ref().map_or_else(|| plain_wire_bytes(self.size, self.content), |rare| rare.wire_bytes)
    }
}

/// A scan of a file of this length.
fn scan_of(length_bytes: u64) -> Scan {
    // Of a smaller file escapes do not matter.
    Scan::new(length_bytes > UNCOUNTED_MAX_BYTES)
}

impl Hidden {
    fn of(bytes: &[u8]) -> Option<Self> {
        let problem = hidden::in_text(std::str::from_utf8(bytes).ok()?)?;
        let place = Place::of(bytes, &problem.span);
        Some(Self { problem, place })
    }
}

/// How many bytes of a message carry a file, escapes not counted.
fn plain_wire_bytes(size: u64, content: Content) -> u64 {
    match content {
        Content::Binary => size.div_ceil(3).saturating_mul(4),
        Content::Text => size,
    }
}
