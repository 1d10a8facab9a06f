//! The mistakes that authors make most, told from the line that the parser stopped in.

use std::ops::Range;

use granit_parser::ErrorKind;

use crate::finding::{Code, Problem};
use crate::problem::{problem, shorten};

/// A line `key: value` as written, in bytes of the text.
struct Field {
    key: Range<usize>,
    value: Range<usize>,
}

/// The common mistake that explains an error of `kind` at `at`, if there is one.
pub(super) fn mistake(text: &str, at: usize, kind: &ErrorKind) -> Option<Problem> {
    use ErrorKind as K;
    let line = line_of(text, at);
    if let Some(tab) = tab_in_indentation(text, &line) {
        let tabs = matches!(
            kind,
            K::TabNotAllowed
                | K::TabInBlockIndentation
                | K::TabInPlainScalar
                | K::TabInIndentation
                | K::TabAtBlockScalarStart
                | K::SimpleKeyExpected
                | K::ExpectedBlockMappingKey
                | K::MappingValueNotAllowed
        );
        if tabs {
            return Some(syntax(tab, "a tab is used as indentation", "indent with spaces"));
        }
    }
    let field = field(text, &line)?;
    let value = text.get(field.value.clone())?;
    let key = text.get(field.key.clone())?;
    let quoted = value.starts_with(['"', '\'']);
    let is_block = value.starts_with(['|', '>']);
    match kind {
        K::InvalidBlockScalarHeader if is_block => Some(syntax(
            field.value,
            &format!("text stands on the line of `{}`", value.get(..1)?),
            &format!("leave `{key}: {}-` alone on its line and indent the text below it", value.get(..1)?),
        )),
        K::UnknownAnchor if value.starts_with('*') => Some(syntax(
            field.value,
            "a value that begins with `*` is an alias, and no anchor has its name",
            "put the value in quotes",
        )),
        K::InvalidTrailingDoubleQuotedScalar | K::InvalidTrailingSingleQuotedScalar if quoted => {
            Some(syntax(
                at..field.value.end,
                "text goes on after the closing quote",
                "put the whole value in quotes, of the other kind than those inside it",
            ))
        }
        K::MappingValueNotAllowed if key_is_on_a_deeper_line(text, &line) => Some(syntax(
            field.key,
            "a key is indented below a key that already has a value",
            "give both keys the same indentation, or put the value above in quotes",
        )),
        K::MappingValueNotAllowed => Some(syntax(
            at..at + 1,
            &format!("the value of `{}` has a second `: ` and is not quoted", shorten(key)),
            &format!("put the value in quotes, or write it on the next line below `{}: >-`", shorten(key)),
        )),
        K::BlockSequenceEntryNotAllowed if value.starts_with("- ") => Some(syntax(
            field.value,
            "a value that begins with `- ` is a list, which cannot begin on the line of its key",
            "put the value in quotes, or begin the list on the next line",
        )),
        K::ExpectedBlockMappingKey if value.starts_with(['[', '{']) => Some(syntax(
            at..field.value.end.max(at),
            "text goes on after the closing bracket",
            "put the whole value in quotes",
        )),
        _ => None,
    }
}

/// Whether the line is indented more than the line with text before it, which has a value of its own.
fn key_is_on_a_deeper_line(text: &str, line: &Range<usize>) -> bool {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let Some(this) = text.get(line.clone()) else { return false };
    let before = text.get(..line.start).unwrap_or("");
    let Some(above) = before.lines().rev().find(|line| !line.trim().is_empty()) else { return false };
    let Some((_, value)) = above.split_once(':') else { return false };
    indent(this) > indent(above) && !value.trim().is_empty() && this.matches(": ").count() < 2
}

fn tab_in_indentation(text: &str, line: &Range<usize>) -> Option<Range<usize>> {
    let content = text.get(line.clone())?;
    let indentation = content.len() - content.trim_start_matches([' ', '\t']).len();
    let tab = content.get(..indentation)?.find('\t')?;
    Some(line.start + tab..line.start + tab + 1)
}

/// The line that `at` stands in, without its end.
fn line_of(text: &str, at: usize) -> Range<usize> {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let end = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| at + length);
    start..end
}

/// Takes a line apart at its first `:` that a blank follows.
fn field(text: &str, line: &Range<usize>) -> Option<Field> {
    let content = text.get(line.clone())?;
    let colon = content.find(": ").or_else(|| content.find(":\t"))?;
    let key = content.get(..colon)?.trim_start_matches([' ', '-']);
    let value = content.get(colon + 1..)?.trim_start_matches([' ', '\t']);
    let value_start = line.end - value.len();
    Some(Field {
        key: line.start + colon - key.len()..line.start + colon,
        value: value_start..value_start + value.trim_end().len(),
    })
}

fn syntax(span: Range<usize>, message: &str, help: &str) -> Problem {
    problem(Code::YamlSyntax, span, message, help)
}
