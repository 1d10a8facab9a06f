//! Small pieces of text that several pages show.

use maud::{Markup, html};

use crate::catalog::File;

/// The most hex digits of a digest where there is little room: enough to tell files of one skill apart.
const SHORT_DIGITS: usize = 12;

/// The hex digits of a file's digest.
pub(super) fn hex(file: &File) -> String {
    file.digest().to_string().trim_start_matches("sha256:").to_owned()
}

/// The beginning of a file's digest; all of it where somebody points.
pub(super) fn short_digest(file: &File) -> Markup {
    let digits = hex(file);
    html! {
        code.digest title={"SHA-256 of the file: " (digits)} { (digits.get(..SHORT_DIGITS).unwrap_or(&digits)) }
    }
}

/// What must not be shown whole: the first lines of `text`, and whether anything is missing.
pub(super) fn cut(text: &str, max_bytes: usize, max_lines: usize) -> (&str, bool) {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if let Some((at, _)) = text[..end].match_indices('\n').nth(max_lines.saturating_sub(1)) {
        end = at + 1;
    } else if end < text.len() {
        // Not in the middle of a line, unless it is a very long one.
        end = text[..end].rfind('\n').map_or(end, |at| at + 1);
    }
    (&text[..end], end < text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_lines_where_that_can_be() {
        let check = |text, bytes, lines, expected| assert_eq!(cut(text, bytes, lines), expected, "{text:?}");
        check("a\nb\n", 10, 10, ("a\nb\n", false));
        check("a\nb\nc", 10, 2, ("a\nb\n", true));
        check("a\nb\n", 10, 2, ("a\nb\n", false));
        check("ab\ncd\nef", 4, 10, ("ab\n", true));
        check("éééé", 3, 10, ("é", true));
        check("", 0, 1, ("", false));
    }
}
