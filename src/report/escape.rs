//! Makes untrusted text safe to show: what could move a cursor, hide, or reorder what is read becomes visible.

use std::fmt::Write as _;
use std::path::Path;

/// `text` with every character that is not plainly visible written as an escape.
pub fn text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if is_deceptive(c) => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// A path, escaped like [`text`]; bytes that are not UTF-8 are written as `\xff`.
pub fn path(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        shown.push_str(&text(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// JSON as it can be shown: the same value, with what is not plainly visible as JSON's own escapes. Line feeds stay, because
/// in valid JSON they stand between values only.
pub fn json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_deceptive(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

/// Controls, and what is invisible or changes the order of its neighbours: zero-width characters, bidirectional controls,
/// line and paragraph separators, tag characters.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: &str) {
        assert_eq!(text(raw), expected);
        assert_eq!(path(Path::new(raw)), expected);
    }

    #[test]
    fn what_is_not_plainly_visible_is_escaped() {
        check("plain é 🚀 \"quoted\"", "plain é 🚀 \"quoted\"");
        check("a\x1b[31mb\x07", "a\\u{1b}[31mb\\u{7}");
        check("line\nfeed\ttab\r", "line\\nfeed\\ttab\\r");
        check("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}");
        check("a\u{200b}b\u{e0041}c\u{85}", "a\\u{200b}b\\u{e0041}c\\u{85}");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "a\u{9b}31m": "é \u{202e}\u{e0041}\u{7f}\n\u{1b}🚀" });
        let shown = json(&serde_json::to_string_pretty(&value).unwrap());
        let expected = "{\n  \"a\\u009b31m\": \"é \\u202e\\udb40\\udc41\\u007f\\n\\u001b🚀\"\n}";
        assert_eq!(shown, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_utf8_is_shown_byte_by_byte() {
        use std::os::unix::ffi::OsStrExt;
        let raw = std::ffi::OsStr::from_bytes(b"bad\xff\xfename");
        assert_eq!(path(Path::new(raw)), "bad\\xff\\xfename");
    }
}
