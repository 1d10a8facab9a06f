//! What a file's bytes are, found piece by piece, so that a large file is never held as a whole.

use sha2::{Digest as _, Sha256};

use crate::hidden;
use crate::skill::{Content, Digest};

/// What is known of the bytes so far.
#[derive(Clone, Default)]
pub(super) struct Scan {
    hash: Sha256,
    size: u64,
    /// Whether there was a byte that no text has.
    is_binary: bool,
    /// The bytes of a character that goes on in the next piece.
    begun: Vec<u8>,
    may_hide: bool,
    /// The bytes of a message, if they are counted.
    escaped_bytes: Option<u64>,
}

impl Scan {
    /// Begins; `counts_escapes` if it is of interest how many bytes of a message carry the text.
    pub(super) fn new(counts_escapes: bool) -> Self {
        Self { escaped_bytes: counts_escapes.then_some(0), ..Self::default() }
    }

    /// Takes the next piece.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        if let Some(escaped_bytes) = &mut self.escaped_bytes {
            *escaped_bytes += bytes.iter().map(escaped).sum::<u64>();
        }
        if !self.is_binary {
            self.is_binary = bytes.contains(&0) || !self.take_text(bytes);
        }
    }

    /// The digest of all bytes, their number, and whether they are text.
    pub(super) fn finish(&self) -> (Digest, u64, Content) {
        let is_text = !self.is_binary && self.begun.is_empty();
        let content = if is_text { Content::Text } else { Content::Binary };
        (Digest::from(self.hash.clone()), self.size, content)
    }

    /// Whether there may be characters in the text that nobody sees.
    pub(super) fn may_hide(&self) -> bool {
        self.may_hide
    }

    /// How many bytes of a message carry the text, escapes included, if they were counted.
    pub(super) fn escaped_bytes(&self) -> Option<u64> {
        self.escaped_bytes
    }

    /// Whether what follows goes on with the text so far.
    fn take_text(&mut self, mut bytes: &[u8]) -> bool {
        while let (false, Some((next, rest))) = (self.begun.is_empty(), bytes.split_first()) {
            bytes = rest;
            self.begun.push(*next);
            let begun = std::mem::take(&mut self.begun);
            if !self.take_piece(&begun) {
                return false;
            }
        }
        self.take_piece(bytes)
    }

    fn take_piece(&mut self, bytes: &[u8]) -> bool {
        let (whole, begun) = match std::str::from_utf8(bytes) {
            Ok(_) => (bytes, &[][..]),
            Err(error) if error.error_len().is_none() => bytes.split_at(error.valid_up_to()),
            Err(_) => return false,
        };
        self.begun.extend_from_slice(begun);
        self.may_hide |= !whole.is_ascii() && std::str::from_utf8(whole).is_ok_and(hidden::may_be_in);
        true
    }
}

/// How many bytes of a JSON text a byte takes.
fn escaped(byte: &u8) -> u64 {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let pieces: [&[u8]; 10] = [
            b"a\n",
            "é".as_bytes(),
            "😀".as_bytes(),
            "\u{200b}".as_bytes(),
            b"\xff",
            b"\0",
            b"\xf0\x9f",
            b"\xed\xa0\x80",
            "\u{e0041}".as_bytes(),
            b"\xc3",
        ];
        let piece = prop_oneof![6 => prop::sample::select(pieces[..4].to_vec()), 1 => prop::sample::select(pieces.to_vec())];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn pieces_say_what_the_whole_says(bytes in bytes(), cuts in prop::collection::vec(0..40_usize, 0..6)) {
            let mut scan = Scan::new(true);
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                scan.take(&bytes[from..cut]);
                from = cut;
            }
            let content = Content::of(&bytes);
            prop_assert_eq!(scan.finish(), (Digest::of(&bytes), bytes.len() as u64, content));
            if content == Content::Text {
                let text = String::from_utf8_lossy(&bytes);
                prop_assert_eq!(scan.may_hide(), hidden::may_be_in(&text));
                prop_assert!(scan.may_hide() || hidden::in_text(&text).is_none());
                let json = serde_json::to_string(&text).map_or(0, |json| json.len() as u64);
                prop_assert_eq!(scan.escaped_bytes(), Some(json - 2));
            }
        }
    }
}
