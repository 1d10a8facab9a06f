//! Characters that nobody sees but a model reads: tag characters, zero-width characters, controls that reorder text.
//!
//! What is at home in writing is passed over: joiners in emoji and in the scripts that need them, single variation
//! selectors, flags, a byte-order mark at the start, direction marks and isolates in a line with letters that run from
//! right to left.

use std::ops::Range;

use crate::finding::{Code, Problem};
use crate::problem::problem;

/// The most characters of one text that a finding names.
const NAMED_MAX: usize = 4;

/// One problem for all such characters in a text, at the first of them.
pub(crate) fn in_text(text: &str) -> Option<Problem> {
    if text.is_ascii() {
        return None;
    }
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let seen = Seen::of(sightings(text, start));
    let first = seen.first.clone()?;
    let message = match seen.number {
        1 => format!("the text holds a character that is not shown: {}", seen.names()),
        n => format!("the text holds {n} characters that are not shown: {}", seen.names()),
    };
    Some(problem(Code::HiddenUnicode, first, message, "remove them, and find out how they got there"))
}

/// Whether a text holds any such character, be it where writing needs it.
pub(crate) fn may_be_in(text: &str) -> bool {
    text.chars().any(is_hidden)
}

/// What is said of a file's name that holds such characters.
pub(crate) fn in_name(name: &str) -> Option<String> {
    let seen = Seen::of(sightings(name, 0));
    (seen.number > 0).then(|| format!("the name holds what is not shown: {}", seen.names()))
}

/// The characters of a text that nobody sees, however many there are.
#[derive(Default)]
struct Seen {
    first: Option<Range<usize>>,
    /// The first of them.
    named: Vec<char>,
    number: usize,
}

impl Seen {
    fn of(sightings: impl Iterator<Item = (Range<usize>, char)>) -> Self {
        sightings.fold(Self::default(), |mut seen, (span, c)| {
            seen.first.get_or_insert(span);
            if seen.named.len() < NAMED_MAX {
                seen.named.push(c);
            }
            seen.number += 1;
            seen
        })
    }

    fn names(&self) -> String {
        let name = |c: &char| format!("U+{:04X} ({})", u32::from(*c), kind(*c));
        let mut named: Vec<_> = self.named.iter().map(name).collect();
        if self.number > NAMED_MAX {
            named.push("…".to_owned());
        }
        named.join(", ")
    }
}

/// Where the text holds such a character.
fn sightings(text: &str, start: usize) -> impl Iterator<Item = (Range<usize>, char)> {
    let rest = text.get(start..).unwrap_or("");
    let mut lines = Lines::default();
    rest.char_indices().filter_map(move |(at, c)| {
        let at = start + at;
        let is_told = is_hidden(c) && !is_at_home(text, at, c, &mut lines);
        is_told.then(|| (at..at + c.len_utf8(), c))
    })
}

/// Whether a character is one that nobody sees.
pub(crate) fn is_hidden(c: char) -> bool {
    !c.is_ascii()
        && matches!(c,
            '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// What sets the direction of text.
const DIRECTION: &str = "text direction";

fn kind(c: char) -> &'static str {
    match c {
        '\u{e0000}'..='\u{e007f}' => "tag",
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            "variation selector"
        }
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => DIRECTION,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => "blank letter",
        _ => "zero width",
    }
}

/// Whether writing needs a character that nobody sees where it stands, and it changes the order of nothing.
pub(crate) fn is_harmless(text: &str, at: usize, c: char) -> bool {
    kind(c) != DIRECTION && is_at_home(text, at, c, &mut Lines::default())
}

/// Whether writing needs the character where it stands.
fn is_at_home(text: &str, at: usize, c: char, lines: &mut Lines) -> bool {
    let before = || text.get(..at).unwrap_or("").chars().next_back();
    let after = || text.get(at + c.len_utf8()..).unwrap_or("").chars().next();
    match c {
        '\u{200d}' if before().is_some_and(is_pictograph) => after().is_some_and(is_pictograph),
        '\u{200c}' | '\u{200d}' => before().is_some_and(joins),
        '\u{200b}' => before().is_some_and(has_no_blanks) || after().is_some_and(has_no_blanks),
        '\u{180b}'..='\u{180f}' => before().is_some_and(|c| matches!(c, '\u{1800}'..='\u{18af}')),
        // Many in a row are a way to carry bytes.
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            before().is_some_and(|c| !c.is_whitespace() && !c.is_control() && !is_hidden(c))
        }
        '\u{e0020}'..='\u{e007f}' => is_in_flag(text, at),
        '\u{115f}' | '\u{1160}' => {
            let is_jamo = |c| matches!(c, '\u{1100}'..='\u{11ff}');
            before().is_some_and(is_jamo) || after().is_some_and(is_jamo)
        }
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}' => {
            lines.run_from_right(text, at)
        }
        _ => false,
    }
}

/// Which lines have letters that run from right to left, asked from the first line to the last. Each is looked through once.
#[derive(Default)]
struct Lines {
    /// Where the line ends that was asked for last.
    end: usize,
    runs_from_right: bool,
}

impl Lines {
    /// Whether the line that `at` stands in has such letters.
    fn run_from_right(&mut self, text: &str, at: usize) -> bool {
        if at >= self.end {
            let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
            let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
            self.end = start + line.len();
            self.runs_from_right = line.chars().any(runs_from_right);
        }
        self.runs_from_right
    }
}

/// A flag of a part of a country is a black flag, tags, and the tag that ends them.
fn is_in_flag(text: &str, at: usize) -> bool {
    // The longest that exist have five letters and the end. No more than one beyond them is looked at.
    const TAGS_MAX: usize = 6;
    let is_tag = |c: &char| matches!(c, '\u{e0020}'..='\u{e007f}');
    let mut before = text.get(..at).unwrap_or("").chars().rev();
    let after = text.get(at..).unwrap_or("").chars().take(TAGS_MAX + 1).take_while(is_tag);
    let tags_before = before.clone().take(TAGS_MAX + 1).take_while(is_tag).count();
    let base = before.nth(tags_before);
    let length = tags_before + after.clone().count();
    base == Some('\u{1f3f4}') && length <= TAGS_MAX && after.last() == Some('\u{e007f}')
}

/// Whether it can stand beside a joiner in an emoji.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '©' | '®' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}'
        | '\u{e007f}')
}

/// Whether its script joins letters, so that joiners and their opposite change how it looks.
fn joins(c: char) -> bool {
    matches!(c,
        '\u{600}'..='\u{109f}' | '\u{1700}'..='\u{18af}' | '\u{1900}'..='\u{1c4f}' | '\u{a8e0}'..='\u{aaff}'
        | '\u{abc0}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{11fff}')
}

/// Whether its script is written without blanks, so that a zero-width space says where a line may break.
fn has_no_blanks(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{19e0}'..='\u{19ff}')
}

fn runs_from_right(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}')
        && c.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, Range<usize>)>) {
        let found = in_text(text);
        let told = found.as_ref().map(|found| (found.message.as_str(), found.span.clone()));
        assert_eq!(told, expected, "{text:?}");
    }

    #[test]
    fn what_is_at_home_in_writing_is_passed_over() {
        for text in [
            "plain",
            "café – “quoted” 中文、日本語",
            "\u{feff}with a byte-order mark",
            "family 👨\u{200d}👩\u{200d}👧 heart ❤\u{fe0f} \u{2764}\u{fe0f}\u{200d}🔥 nurse 👩🏽\u{200d}⚕\u{fe0f}",
            "flag 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🇩🇪 1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم क्\u{200d}ष",
            "שלום\u{200f}! abc",
            "עברית \u{2067}abc\u{2069}",
            "葛\u{e0100}城",
            "ภาษา\u{200b}ไทย",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn what_nobody_sees_is_told() {
        check(
            "ab\u{200b}c",
            Some(("the text holds a character that is not shown: U+200B (zero width)", 2..5)),
        );
        check(
            "a\u{e0041}\u{e0042}",
            Some(("the text holds 2 characters that are not shown: U+E0041 (tag), U+E0042 (tag)", 1..5)),
        );
        check(
            "a\u{202e}b\u{202c}c",
            Some((
                "the text holds 2 characters that are not shown: U+202E (text direction), U+202C (text direction)",
                1..4,
            )),
        );
        check(
            "😀\u{fe01}\u{fe02}",
            Some(("the text holds a character that is not shown: U+FE02 (variation selector)", 7..10)),
        );
        for text in [
            "a\u{200d}b",
            "a\u{feff}b",
            "a\u{2060}b",
            "x\u{3164}",
            "🏴\u{e0041}",
            "🏴\u{e0041}\u{e0042}\u{e0043}\u{e0044}\u{e0045}\u{e0046}\u{e0047}\u{e007f}",
        ] {
            assert!(in_text(text).is_some(), "{text:?}");
        }
        for many in ["\u{200e}", "\u{e0041}", "a\u{200e}\u{202e}"] {
            assert!(in_text(&many.repeat(1 << 18)).is_some(), "{many:?}");
        }
        assert_eq!(
            in_name("a\u{200b}.md").as_deref(),
            Some("the name holds what is not shown: U+200B (zero width)")
        );
        assert_eq!(in_name("ä.md"), None);
    }
}
