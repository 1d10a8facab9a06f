//! What is refused although the parser takes it, because the hosts' parser refuses it or reads something else.

use std::ops::Range;

use granit_parser::Span;

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
    let last = text.rfind('\n').map_or(0, |end| end + 1);
    let blanks = text.get(last..).unwrap_or("");
    if blanks.trim().is_empty() && blanks.contains('\t') {
        return Err(problem(
            Code::YamlSyntax,
            last..text.len(),
            "a tab stands alone in the last line before the closing `---`",
            "remove this line",
        ));
    }
    if let Some(at) = document_end(text) {
        return Err(problem(
            Code::YamlSyntax,
            at,
            "a line `...` ends the YAML document, and nothing, or something else, stands around it",
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
    /// Refuses a node that a tab stands before where hosts count it as indentation.
    ///
    /// `is_block` says that the node is a collection without brackets.
    pub(super) fn check(&mut self, text: &str, span: &Span, is_block: bool) -> Result<(), Problem> {
        let Some(at) = span.start.byte_offset() else { return Ok(()) };
        if span.start.line() != self.line {
            let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
            let line = text.get(start..).unwrap_or("");
            let indentation = line.len() - line.trim_start_matches([' ', '\t', '-', '?', ':']).len();
            let tab = line.get(..indentation).and_then(|indentation| indentation.find('\t'));
            *self =
                Self { line: span.start.line(), end: start + indentation, tab: tab.map(|tab| start + tab) };
        }
        let has_properties = text.get(self.end..at).is_some_and(|between| between.starts_with(['&', '!']));
        match self.tab {
            Some(tab) if tab < at && ((is_block && at <= self.end) || has_properties) => Err(problem(
                Code::YamlSyntax,
                tab..tab + 1,
                "a tab is used as indentation",
                "indent with spaces",
            )),
            _ => Ok(()),
        }
    }
}

/// Refuses a comment that follows something without a blank between.
pub(super) fn comment(text: &str, at: Range<usize>) -> Result<(), Problem> {
    match text.get(..at.start).and_then(|before| before.chars().next_back()) {
        None | Some(' ' | '\t' | '\n' | '\u{feff}') => Ok(()),
        Some(_) => {
            let at = at.start..at.start + 1;
            Err(problem(Code::YamlSyntax, at, "`#` stands directly after a value", "put a space before `#`"))
        }
    }
}

/// Refuses a block scalar with an indentation indicator (`|2`) and a line of blanks, whose blanks not every host counts.
pub(super) fn block_scalar(text: &str, at: &Range<usize>) -> Result<(), Problem> {
    let before = text.get(..at.start).unwrap_or("");
    let header = before.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
    let indicator = |(at, _): (usize, &str)| {
        let rest = header.get(at + 1..).unwrap_or("");
        rest.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
    };
    if !header.match_indices(['|', '>']).any(indicator) {
        return Ok(());
    }
    let mut start = before.len() - before.lines().next_back().map_or(0, str::len);
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

/// A line `...` that is not the one after the only document.
fn document_end(text: &str) -> Option<Range<usize>> {
    let is_end = |line: &str| line.strip_prefix("...").is_some_and(|rest| rest.trim().is_empty());
    let is_content = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
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
