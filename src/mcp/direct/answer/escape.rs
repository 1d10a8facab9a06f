//! The escapes of a JSON text, as serde_json writes them: many bytes are looked at at a time, and what needs no escape is
//! copied in runs.

/// The bytes of the longest escape, of a control character without a short one.
const LONGEST: u8 = 6;

/// How many bytes are looked at at a time, and copied if none of them needs an escape.
const BLOCK_BYTES: usize = 32;

/// Appends a text without its quotes.
pub(crate) fn append(out: &mut Vec<u8>, text: &[u8]) {
    let (blocks, rest) = text.as_chunks::<BLOCK_BYTES>();
    for block in blocks {
        // For each byte 1 if it needs an escape, and 0 if not.
        let needing = block.map(|byte| u8::from(needs_escape(byte)));
        let words = needing.as_chunks::<8>().0;
        if words.iter().fold(0, |any, word| any | u64::from_le_bytes(*word)) == 0 {
            out.extend_from_slice(block);
            continue;
        }
        let mut from = 0;
        for (number, word) in words.iter().enumerate() {
            let mut found = u64::from_le_bytes(*word);
            while found != 0 {
                let at = number * 8 + found.trailing_zeros() as usize / 8;
                out.extend_from_slice(&block[from..at]);
                append_one(out, block[at]);
                from = at + 1;
                found &= found - 1;
            }
        }
        out.extend_from_slice(&block[from..]);
    }
    if !rest.iter().fold(false, |any, byte| any | needs_escape(*byte)) {
        return out.extend_from_slice(rest);
    }
    for byte in rest {
        if needs_escape(*byte) { append_one(out, *byte) } else { out.push(*byte) }
    }
}

/// How many bytes a text has without its quotes.
pub(crate) fn len(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum()
}

/// Whether a byte needs an escape, found out without a branch.
fn needs_escape(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
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
            for before in 0..35 {
                check(&format!("{}{character}{}", "x".repeat(before), "é".repeat(35 - before)));
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
