//! The text of a `SKILL.md`, and the lines `---` that its frontmatter stands between (N1).

use std::ops::Range;

use crate::finding::{Code, Problem};
use crate::problem::problem;

/// The file as text.
///
/// Hosts take a `SKILL.md` as text, whole, so one bad byte in the body counts as much as one in the frontmatter.
///
/// # Errors
/// [`Code::NotUtf8`], also for a NUL, which no text has.
pub(super) fn text(file: &[u8]) -> Result<&str, Problem> {
    if let Some(encoding) = utf16(file) {
        let message = format!("the file is {encoding}, not UTF-8");
        return Err(problem(Code::NotUtf8, 0..0, message, "save the file as UTF-8"));
    }
    let text = std::str::from_utf8(file).map_err(|error| {
        let at = error.valid_up_to();
        let byte = file.get(at).copied().unwrap_or_default();
        let message = format!("the byte 0x{byte:02X} is not UTF-8");
        problem(Code::NotUtf8, at..at, message, "save the file as UTF-8")
    })?;
    match memchr::memchr(0, file) {
        Some(at) => {
            let help = "remove it, and keep binary data in a file of its own";
            Err(problem(Code::NotUtf8, at..at + 1, "a NUL stands in the file, so it is no text", help))
        }
        None => Ok(text),
    }
}

/// What the two fences part a file into, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fences {
    /// From behind the line end of the opening fence to before the line end in front of the closing one.
    pub yaml: Range<usize>,
    /// Where the line of the closing fence begins.
    pub closing: usize,
    /// Where the line behind the closing fence begins.
    pub body: usize,
}

/// Finds the fences.
///
/// The opening fence is the first line, after an optional byte-order mark; the closing fence is the next line that is
/// `---`. Blanks may follow either. The last line end does not belong to the YAML: that is where hosts cut, and it
/// decides the value of a block that keeps its line ends.
///
/// # Errors
/// [`Code::NoFrontmatter`] or [`Code::UnclosedFrontmatter`].
pub(super) fn find(text: &str) -> Result<Fences, Problem> {
    let opening = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    let mut lines = lines(text, opening);
    let Some(start) = lines.next().filter(|line| is_fence(line.text)).map(|line| line.next) else {
        return Err(no_frontmatter(text, opening));
    };
    let mut end = start;
    for line in lines {
        if is_fence(line.text) {
            let yaml = start..end;
            return Ok(Fences { yaml, closing: line.end - line.text.len(), body: line.next });
        }
        end = line.end;
    }
    Err(unclosed(text, opening, start))
}

struct Line<'a> {
    /// Without its end.
    text: &'a str,
    /// Where the text ends.
    end: usize,
    /// Where the next line begins.
    next: usize,
}

fn lines(text: &str, from: usize) -> impl Iterator<Item = Line<'_>> {
    let mut next = from;
    text.get(from..).unwrap_or("").split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        let content = match line.strip_suffix('\n') {
            Some(content) => content.strip_suffix('\r').unwrap_or(content),
            None => line,
        };
        Line { text: content, end: start + content.len(), next }
    })
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b' ' | b'\t')))
}

/// The encoding of a file that shows itself as UTF-16, by its mark or by the NULs around its first character.
fn utf16(file: &[u8]) -> Option<&'static str> {
    match file {
        [0xFF, 0xFE, ..] | [b'-' | b'#', 0, ..] => Some("UTF-16 (little endian)"),
        [0xFE, 0xFF, ..] | [0, b'-' | b'#', ..] => Some("UTF-16 (big endian)"),
        _ => None,
    }
}

fn no_frontmatter(text: &str, start: usize) -> Problem {
    let content = text.get(start..).unwrap_or("");
    let first = content.split(['\n', '\r']).next().unwrap_or("");
    let blank = first.trim().is_empty();
    let fenced_later = content.lines().skip(1).take(20).any(|line| line.trim() == "---");
    let (message, help) = if content.trim().is_empty() {
        ("the file is empty", "begin it with `---`, then `name:` and `description:`, then `---`")
    } else if first.starts_with("---") && content.get(first.len()..).is_some_and(is_cr_only) {
        ("the lines end with a carriage return alone", "save the file with LF or CRLF line ends")
    } else if first.starts_with("```") || first.starts_with("~~~") {
        (
            "the file begins with a fenced code block",
            "remove the lines of the fence, so that `---` is the first line",
        )
    } else if first.trim_end() == "+++" {
        ("the frontmatter is TOML", "write it as YAML between two lines `---`")
    } else if first.trim() == "---" {
        ("the opening `---` is indented", "begin the first line with `---`, without a blank before it")
    } else if first.starts_with("----") {
        ("the opening fence has more than three dashes", "make the first line `---`")
    } else if first.starts_with("---") {
        ("text stands on the line of the opening `---`", "make the first line `---` and nothing else")
    } else if first.starts_with("name:") || first.starts_with("description:") {
        (
            "the fields do not stand between two lines `---`",
            "put a line `---` before them, and one after them",
        )
    } else if blank && fenced_later {
        ("a blank line stands before the opening `---`", "make `---` the first line")
    } else if fenced_later {
        (
            "text stands before the opening `---`",
            "make `---` the first line, and move the text below the closing one",
        )
    } else {
        (
            "the file does not begin with a frontmatter",
            "begin it with `---`, then `name:` and `description:`, then `---`",
        )
    };
    problem(Code::NoFrontmatter, start..start + first.len(), message, help)
}

fn is_cr_only(rest: &str) -> bool {
    rest.starts_with('\r') && !rest.starts_with("\r\n")
}

fn unclosed(text: &str, opening: usize, start: usize) -> Problem {
    let almost = lines(text, start)
        .find(|line| line.text.trim() == "---" || matches!(line.text.trim_end(), "..." | "----"));
    let (span, help) = match almost {
        Some(line) if line.text.trim() == "---" => (
            line.end - line.text.len()..line.end,
            "remove what stands before or after this `---`, if it is to close the frontmatter",
        ),
        Some(line) => (line.end - line.text.len()..line.end, "close the frontmatter with exactly `---`"),
        None => (opening..opening + 3, "put a line `---` after the last field"),
    };
    problem(
        Code::UnclosedFrontmatter,
        span,
        "the frontmatter is opened by `---` and no later line closes it",
        help,
    )
}
