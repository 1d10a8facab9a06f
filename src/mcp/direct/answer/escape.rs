//! The escapes of a JSON text, as serde_json writes them: eight bytes are looked at at a time, and what needs no escape is
//! copied in runs.

/// The bytes of the longest escape, of a control character without a short one.
const LONGEST: u8 = 6;

/// Every byte of a word.
const ONES: u64 = u64::from_le_bytes([1; 8]);
/// The highest bit of every byte.
const HIGHS: u64 = ONES << 7;

/// Appends a text without its quotes.
pub(crate) fn append(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    loop {
        let (run, after) = rest.split_at(run(rest));
        out.extend_from_slice(run);
        let Some((byte, after)) = after.split_first() else { return };
        append_one(out, *byte);
        rest = after;
    }
}

/// How many bytes a text has without its quotes.
pub(crate) fn len(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum()
}

/// How many bytes at the beginning need no escape.
fn run(text: &[u8]) -> usize {
    let (words, rest) = text.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let found = needing(u64::from_le_bytes(*word));
        if found != 0 {
            return at * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let rest_needs = rest.iter().position(|byte| LENGTHS[usize::from(*byte)] > 1);
    text.len() - rest.len() + rest_needs.unwrap_or(rest.len())
}

/// A word whose lowest bit that is set is in the first byte of `word` that needs an escape; 0 if none does. A borrow can
/// set bits above that one, never below.
fn needing(word: u64) -> u64 {
    let less = |word: u64, than: u8| word.wrapping_sub(ONES * u64::from(than)) & !word;
    let is = |byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    (less(word, 0x20) | is(b'"') | is(b'\\')) & HIGHS
}

fn append_one(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            let digits =
                [b"0123456789abcdef"[usize::from(byte >> 4)], b"0123456789abcdef"[usize::from(byte & 15)]];
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&digits);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// How many bytes each byte becomes.
const LENGTHS: [u8; 256] = {
    let mut lengths = [1; 256];
    let mut byte = 0;
    while byte < 0x20 {
        lengths[byte] = LONGEST;
        byte += 1;
    }
    let short = b"\"\\\n\r\t\x08\x0c";
    let mut at = 0;
    while at < short.len() {
        lengths[short[at] as usize] = 2;
        at += 1;
    }
    lengths
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) {
        let expected = serde_json::to_string(text).unwrap();
        let mut escaped = Vec::new();
        append(&mut escaped, text.as_bytes());
        assert_eq!(format!("\"{}\"", String::from_utf8(escaped).unwrap()), expected, "{text:?}");
        assert_eq!(len(text.as_bytes()) + 2, expected.len(), "{text:?}");
    }

    #[test]
    fn every_character_is_escaped_as_serde_json_does_wherever_it_stands() {
        for byte in 0..0xff {
            let character = char::from(byte);
            for before in 0..17 {
                check(&format!("{}{character}{}", "x".repeat(before), "é".repeat(17 - before)));
                check(&format!("{}{character}!{character}", "\u{1f600}".repeat(before)));
            }
        }
        check("");
    }

    proptest! {
        #[test]
        fn every_text_is_escaped_as_serde_json_does(text in "[\\x00-\\x2f\"\\\\a-c\\x7f-\\xff\u{2028}\u{1f600}]{0,80}") {
            check(&text);
        }
    }
}
