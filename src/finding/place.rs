//! Where in a text file.

use std::ops::Range;

/// A place in a text file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in code points, counted from 1.
    pub column: u32,
    /// The line that it ends in.
    pub end_line: u32,
    /// The column behind its last character.
    pub end_column: u32,
    /// The text of the line, without its end, cut to a bounded window around the mark.
    pub excerpt: String,
    /// The bytes of `excerpt` that the finding is about; empty for a point.
    pub mark: Range<usize>,
}

impl Place {
    /// The most bytes of a line that go into an excerpt. Each of them that is no UTF-8 takes three there.
    pub const EXCERPT_MAX_BYTES: usize = 160;

    /// The place of `span` in `text`, which need not be valid UTF-8 as a whole.
    pub fn of(text: &[u8], span: &Range<usize>) -> Self {
        let start = span.start.min(text.len());
        let end = span.end.clamp(start, text.len());
        let line_start = text[..start].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let line_end = text[start..].iter().position(|b| *b == b'\n').map_or(text.len(), |at| start + at);
        let window_start = cut(text, start.saturating_sub(Self::EXCERPT_MAX_BYTES / 2), line_start);
        let window_end = cut(text, (window_start + Self::EXCERPT_MAX_BYTES).min(line_end), start);
        let head =
            String::from_utf8_lossy(&text[window_start..start]).trim_start_matches('\u{feff}').to_owned();
        let marked = String::from_utf8_lossy(&text[start..end.min(window_end).max(start)]).into_owned();
        let tail = String::from_utf8_lossy(&text[end.min(window_end).max(start)..window_end]);
        let mark = head.len()..head.len() + marked.trim_end_matches(['\r', '\n']).len();
        let excerpt = format!("{head}{marked}{tail}").trim_end_matches(['\r', '\n']).to_owned();
        let (line, column) = position(text, start);
        let trailing = text[start..end].iter().rev().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        let (end_line, end_column) = position(text, end - trailing);
        Self {
            line,
            column,
            end_line,
            end_column,
            mark: mark.start.min(excerpt.len())..mark.end.min(excerpt.len()),
            excerpt,
        }
    }
}

/// The line and the column of the byte `at`. A byte-order mark takes no column.
fn position(text: &[u8], at: usize) -> (u32, u32) {
    let line_start = text[..at].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let line = text[..line_start].iter().filter(|b| **b == b'\n').count() + 1;
    let before = String::from_utf8_lossy(&text[line_start..at]);
    let column = before.trim_start_matches('\u{feff}').chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// Moves `at` back to the nearest place where a UTF-8 character can begin, but never below `floor`.
fn cut(text: &[u8], at: usize, floor: usize) -> usize {
    let at = at.max(floor);
    (floor..=at).rev().take(4).find(|i| text.get(*i).is_none_or(|b| b & 0xC0 != 0x80)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, span: Range<usize>, expected: (u32, u32, &str, &str)) {
        let place = Place::of(text.as_bytes(), &span);
        let marked = &place.excerpt[place.mark.clone()];
        assert_eq!((place.line, place.column, place.excerpt.as_str(), marked), expected);
    }

    #[test]
    fn a_place_counts_lines_and_code_points() {
        check("a\nbé: c\nd", 5..6, (2, 3, "bé: c", ":"));
        check("one\r\ntwo\r\n", 5..8, (2, 1, "two", "two"));
        check("\u{feff}---\nx", 3..6, (1, 1, "---", "---"));
        check("abc", 3..3, (1, 4, "abc", ""));
        check("", 0..0, (1, 1, "", ""));
        check("ab\ncd", 0..5, (1, 1, "ab", "ab"));
        check("ab", 7..9, (1, 3, "ab", ""));
    }

    #[test]
    fn an_excerpt_is_bounded_and_holds_its_mark() {
        let text = "é".repeat(1_000_000);
        let place = Place::of(text.as_bytes(), &(999_998..1_000_000));
        assert!(place.excerpt.len() <= 2 * Place::EXCERPT_MAX_BYTES);
        assert_eq!(&place.excerpt[place.mark], "é");
    }

    #[test]
    fn an_excerpt_never_begins_in_the_line_before() {
        let place = Place::of(b"\n\x80", &(1..2));
        assert_eq!((place.line, place.column, place.excerpt.as_str(), place.mark), (2, 1, "\u{fffd}", 0..3));
    }

    /// Bytes that make short lines and broken characters, and now and then a long line.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => prop::sample::select(b"a\n\r\x80\xc3\xa9\xef\xbb\xbf\xf0\x9f\xff".as_slice()).prop_map(|b| vec![b]),
            1 => (any::<u8>(), 1..200_usize).prop_map(|(b, times)| vec![b; times]),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_place_holds_for_any_bytes(text in bytes(), start in 0..2000_usize, len in 0..400_usize) {
            let place = Place::of(&text, &(start..start + len));
            prop_assert!(!place.excerpt.contains('\n'), "{place:?}");
            prop_assert!(place.excerpt.get(place.mark.clone()).is_some(), "{place:?}");
            prop_assert!(place.excerpt.len() <= 3 * Place::EXCERPT_MAX_BYTES, "{place:?}");
            let before = text.get(..start).unwrap_or(&text);
            let lines = before.iter().filter(|b| **b == b'\n').count() + 1;
            prop_assert_eq!(usize::try_from(place.line).unwrap(), lines);
        }
    }

    #[test]
    fn an_end_is_behind_the_last_character() {
        let check = |text: &str, span, expected| {
            let place = Place::of(text.as_bytes(), &span);
            assert_eq!((place.end_line, place.end_column), expected, "{text:?}");
        };
        check("a\nbé: c\nd", 2..5, (2, 3));
        check("ab\ncd", 0..5, (2, 3));
        check("ab\ncd\n", 0..3, (1, 3));
        check("ab\r\ncd\n", 0..4, (1, 3));
        check("abc", 1..1, (1, 2));
        check("", 0..0, (1, 1));
    }
}
