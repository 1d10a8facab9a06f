//! What is refused although the parser takes it, because the hosts' parser refuses it or reads something else.

use std::ops::Range;

use granit_parser::Marker;

use crate::finding::{Code, Problem};
use crate::problem::problem;

/// Refuses the texts in which the parser here and the hosts' would see different lines.
pub(super) fn before(text: &str) -> Result<(), Problem> {
    let bytes = text.as_bytes();
    let lone = |at: &usize| bytes.get(*at) == Some(&b'\r') && bytes.get(at + 1) != Some(&b'\n');
    if let Some(at) = memchr_all(bytes, b'\r').find(lone) {
        return Err(problem(
            Code::YamlSyntax,
            at..at + 1,
            "a carriage return without a line feed stands in the frontmatter",
            "save the file with LF or CRLF line ends",
        ));
    }
    if let Some(at) = text.find("\n\u{feff}") {
        return Err(problem(
            Code::YamlSyntax,
            at + 1..at + 4,
            "a byte-order mark stands within the frontmatter",
            "remove the invisible U+FEFF",
        ));
    }
    for separator in ["\u{2028}---", "\u{2029}---", "---\u{2028}", "---\u{2029}"] {
        if let Some(at) = text.find(separator) {
            return Err(problem(
                Code::YamlSyntax,
                at..at + separator.len(),
                "a Unicode line separator next to `---` is a fence for some hosts and none for others",
                "replace the line separator (U+2028 or U+2029) by a space",
            ));
        }
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() && line.contains('\t') {
            let at = start..start + line.trim_end_matches(['\r', '\n']).len();
            return Err(problem(Code::YamlSyntax, at, "a line of blanks has a tab", "empty the line"));
        }
        start += line.len();
    }
    if let Some(at) = document_end(text) {
        return Err(problem(
            Code::YamlSyntax,
            at,
            "a line `...` ends the YAML document within the frontmatter",
            "remove the line",
        ));
    }
    Ok(())
}

/// The indentation of the line that is being read.
#[derive(Debug, Default)]
pub(super) struct Indentation {
    /// The line's number, from 1.
    line: usize,
    /// Where its blanks and indicators end.
    end: usize,
    /// The first tab among them.
    tab: Option<usize>,
}

impl Indentation {
    /// Refuses what begins at `start`, if a tab stands before it that hosts count as indentation: before an anchor, a tag
    /// or a collection without brackets.
    pub(super) fn check(&mut self, text: &str, start: &Marker) -> Result<(), Problem> {
        let Some(at) = start.byte_offset() else { return Ok(()) };
        if start.line() != self.line {
            let line_start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
            let line = text.get(line_start..).unwrap_or("");
            let indentation = line.len() - line.trim_start_matches([' ', '\t', '-', '?', ':']).len();
            let tab = line.get(..indentation).and_then(|indentation| indentation.find('\t'));
            let (end, tab) = (line_start + indentation, tab.map(|tab| line_start + tab));
            *self = Self { line: start.line(), end, tab };
        }
        match self.tab {
            Some(tab) if tab < at && at <= self.end => Err(problem(
                Code::YamlSyntax,
                tab..tab + 1,
                "a tab is used as indentation",
                "indent with spaces",
            )),
            _ => Ok(()),
        }
    }
}

/// Refuses a comment that follows something without a blank between, one that a tab indents below a block scalar, and one
/// between brackets that is not indented.
pub(super) fn comment(
    text: &str,
    at: Range<usize>,
    is_below_block: bool,
    is_in_brackets: bool,
) -> Result<(), Problem> {
    let before = text.get(..at.start).unwrap_or("");
    let blanks = before.len() - before.trim_end_matches([' ', '\t']).len();
    let blanks = before.len() - blanks..before.len();
    if is_below_block && text.get(blanks.clone()).is_some_and(|blanks| blanks.contains('\t')) {
        return Err(problem(Code::YamlSyntax, blanks, "a tab is used as indentation", "indent with spaces"));
    }
    match text.get(..at.start).and_then(|before| before.chars().next_back()) {
        Some('\n') if is_in_brackets && may_end_in_plain_scalar(before) => {
            let at = at.start..at.start + 1;
            // Hosts read it as a part of the value above.
            let message = "a comment between brackets begins in the first column";
            Err(problem(Code::YamlSyntax, at, message, "indent the comment"))
        }
        None | Some(' ' | '\t' | '\n' | '\u{feff}') => Ok(()),
        Some(_) => {
            let at = at.start..at.start + 1;
            Err(problem(Code::YamlSyntax, at, "`#` stands directly after a value", "put a space before `#`"))
        }
    }
}

/// Whether the last line with text may end in a value that is not quoted, as opposed to a comma, bracket or comment.
fn may_end_in_plain_scalar(before: &str) -> bool {
    let before = before.trim_end();
    let line = before.rsplit('\n').next().unwrap_or("");
    !before.ends_with([',', '[', '{', ']', '}']) && !line.contains(" #") && !line.starts_with('#')
}

/// Refuses a block scalar in whose lines of blanks not every host counts the same blanks: one with an indentation
/// indicator (`|2`), and one that keeps its line ends (`|+`) and has nothing else.
pub(super) fn block_scalar(text: &str, at: &Range<usize>, value: &str) -> Result<(), Problem> {
    // The parser's span begins with the text, or with the header where there is no text.
    let start = if text.get(at.start..).is_some_and(|rest| rest.starts_with(['|', '>'])) {
        at.start + 1
    } else {
        at.start
    };
    let before = text.get(..start).unwrap_or("").trim_end();
    let header_start = before.rfind('\n').map_or(0, |end| end + 1);
    let header = text.get(header_start..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let indicator = |(at, _): (usize, &str)| {
        let rest = header.get(at + 1..).unwrap_or("");
        let keeps_nothing = rest.starts_with('+') && value.bytes().all(|byte| byte == b'\n');
        keeps_nothing || rest.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
    };
    if !header.match_indices(['|', '>']).any(indicator) {
        return Ok(());
    }
    let mut start = text
        .get(before.len()..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |end| before.len() + end + 1);
    for line in text.get(start..).unwrap_or("").split_inclusive('\n') {
        let blanks = line.trim_end_matches(['\r', '\n']);
        if blanks.trim().is_empty() && !blanks.is_empty() {
            return Err(problem(
                Code::YamlSyntax,
                start..start + blanks.len(),
                "blanks that nobody sees would belong to the text above them",
                "empty this line",
            ));
        }
        start += line.len();
        if start >= at.end && !blanks.is_empty() {
            break;
        }
    }
    Ok(())
}

/// Refuses a plain scalar with a line of comment in it, which the parser drops and hosts refuse.
pub(super) fn plain_scalar(text: &str, at: &Range<usize>) -> Result<(), Problem> {
    let mut start = at.start;
    for (nth, line) in text.get(at.clone()).unwrap_or("").split_inclusive('\n').enumerate() {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        if nth > 0 && line.get(blanks..).is_some_and(|rest| rest.starts_with('#')) {
            return Err(problem(
                Code::YamlSyntax,
                start + blanks..start + blanks + 1,
                "a comment stands in the middle of a value",
                "put the value in quotes, or move the comment",
            ));
        }
        start += line.len();
    }
    Ok(())
}

/// The column of a comment after which hosts lose count of the indentation, so that a plain value below it goes on into
/// the next field: one on a line of its own, without a blank after `#` or with an empty line above.
pub(super) fn misleading_comment(text: &str, at: &Range<usize>) -> Option<usize> {
    let line_start = text.get(..at.start)?.rfind('\n').map_or(0, |end| end + 1);
    let blanks = text.get(line_start..at.start)?;
    let above = text.get(..line_start)?.trim_end_matches(['\n', '\r']).len();
    let has_empty_line_above = text.get(above..line_start)?.matches('\n').count() > 1;
    let is_tight = text.get(at.start + 1..)?.starts_with(|c: char| !c.is_ascii_whitespace());
    (blanks.trim().is_empty() && (is_tight || has_empty_line_above)).then_some(blanks.len())
}

/// Refuses a quoted scalar whose further lines a tab indents, or that escapes a line end before an empty line.
pub(super) fn quoted_scalar(text: &str, at: &Range<usize>) -> Result<(), Problem> {
    let source = text.get(at.clone()).unwrap_or("");
    let mut start = at.start;
    let mut is_escaped = false;
    for (nth, line) in source.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\r', '\n']);
        let blanks = content.len() - content.trim_start_matches([' ', '\t']).len();
        let is_blank = blanks == content.len();
        if nth > 0 && !is_blank && content.get(..blanks).is_some_and(|blanks| blanks.contains('\t')) {
            let at = start..start + blanks;
            return Err(problem(Code::YamlSyntax, at, "a tab is used as indentation", "indent with spaces"));
        }
        if is_escaped && is_blank {
            return Err(problem(
                Code::YamlSyntax,
                start..start,
                "an empty line follows a line end that a backslash escapes",
                "write `\\n` for a line end in the value",
            ));
        }
        is_escaped = content.ends_with('\\');
        start += line.len();
    }
    Ok(())
}

/// Whether there is anything but blanks and comments.
pub(super) fn has_content(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// A line `...` that is not the one after the only document.
fn document_end(text: &str) -> Option<Range<usize>> {
    let is_end = |line: &str| {
        line.strip_prefix("...")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
    };
    let is_content = has_content;
    let mut start = 0;
    let mut content = false;
    for line in text.split_inclusive('\n') {
        let next = start + line.len();
        if is_end(line) {
            let rest = text.get(next..).unwrap_or("");
            return (!content || !rest.trim().is_empty()).then_some(start..start + 3);
        }
        content |= is_content(line);
        start = next;
    }
    None
}

fn memchr_all(bytes: &[u8], wanted: u8) -> impl Iterator<Item = usize> {
    bytes.iter().enumerate().filter(move |(_, byte)| **byte == wanted).map(|(at, _)| at)
}
