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
    // Where what is not yet appended begins.
    let mut from = 0;
    let mut escape = |at: usize| {
        out.extend_from_slice(&text[from..at]);
        append_one(out, text[at]);
        from = at + 1;
    };
    let (words, rest) = text.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let mut found = needing(u64::from_le_bytes(*word));
        while found != 0 {
            escape(number * 8 + found.trailing_zeros() as usize / 8);
            found &= found - 1;
        }
    }
    let rest = text.len() - rest.len()..text.len();
    rest.filter(|at| LENGTHS[usize::from(text[*at])] > 1).for_each(&mut escape);
    out.extend_from_slice(&text[from..]);
}

/// How many bytes a text has without its quotes.
pub(crate) fn len(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum()
}

/// The highest bit of each byte of a word that needs an escape.
fn needing(word: u64) -> u64 {
    // The highest bit of each byte that is not 0: it is set already, or what is added to the other bits carries into it.
    let present = |word: u64| ((word & !HIGHS) + !HIGHS) | word;
    let is_other_than = |byte: u8| present(word ^ (ONES * u64::from(byte)));
    let is_no_control = present(word & (ONES * 0xe0));
    !(is_no_control & is_other_than(b'"') & is_other_than(b'\\')) & HIGHS
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
