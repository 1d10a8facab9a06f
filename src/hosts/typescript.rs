//! What the TypeScript client's own reader leaves out of YAML.

use std::ops::Range;

use crate::finding::{Code, Host, Problem};
use crate::yaml;
use crate::yaml::outline::{Form, Written};

use super::Text;

/// The deepest nesting of collections that the reader takes, the root not counted.
const DEPTH_MAX: usize = 32;

/// The first construct that the reader does not take.
pub(super) fn unreadable(text: &Text<'_>) -> Option<Problem> {
    let of_written =
        text.outline.written.iter().find_map(|written| Some((written.span.clone(), fault(text, written)?)));
    let (span, (message, help)) = of_written.or_else(|| {
        let end = document_end(text.text)?;
        Some((end, ("a line `...` ends the document", "remove it")))
    })?;
    let message = format!("{message}, which the TypeScript client's reader does not take");
    Some(text.skill(Code::YamlTypescript, &first_line(text, &span), message, help, &[Host::TypeScript]))
}

fn first_line(text: &Text<'_>, span: &Range<usize>) -> Range<usize> {
    let length = text.slice(span).lines().next().unwrap_or("").len();
    span.start..span.start + length
}

fn fault(text: &Text<'_>, written: &Written) -> Option<(&'static str, &'static str)> {
    let slice = text.slice(&written.span);
    let is_long = slice.contains('\n');
    let is_collection = matches!(written.form, Form::List(_) | Form::Mapping(_));
    if !written.properties.is_none() {
        return Some(("an anchor or a tag is used", "remove it, and write the value out where it was used"));
    }
    if is_collection && written.depth > DEPTH_MAX {
        return Some(("collections are nested more than 32 levels deep", "flatten them"));
    }
    match &written.form {
        Form::Alias => Some(("an alias is used", "write the value out")),
        Form::Quoted if is_long => {
            Some(("a text in quotes goes on in the next line", "write it in one line, or below `>-`"))
        }
        Form::Quoted if written.is_key && is_explicit(text, written) => {
            Some(("a key is written with `?`", "write `key: value`"))
        }
        Form::Quoted if written.is_key && !written.is_in_brackets && has_blank_behind(text, written) => {
            Some(("a blank stands between a key in quotes and its colon", "remove the blank"))
        }
        Form::Quoted if written.is_key && slice.get(1..slice.len() - 1) == Some("__proto__") => {
            Some(("a key is named `__proto__`", "name it otherwise"))
        }
        Form::List(true) | Form::Mapping(true) if is_long => Some((
            "brackets go on in the next line",
            "write one `- ` or one `key: value` a line, without brackets",
        )),
        Form::Mapping(true) if written.depth == 0 => {
            Some(("the fields stand between brackets", "write one `key: value` a line"))
        }
        Form::Mapping(true) if !slice.starts_with('{') => {
            Some(("a pair stands in a list between brackets", "put it between braces, or in quotes"))
        }
        Form::Block(_) if has_indicator(text, written) => Some((
            "a block of text has an indentation indicator",
            "begin the text with a line that is not indented more",
        )),
        Form::Plain(plain) => plain_fault(text, written, plain),
        _ => None,
    }
}

fn plain_fault(text: &Text<'_>, written: &Written, plain: &str) -> Option<(&'static str, &'static str)> {
    if written.is_in_brackets && plain.is_empty() {
        return Some((
            "nothing stands where a value is expected between brackets",
            "write the value, or `null`",
        ));
    }
    let line_start = text.text.get(..written.span.start)?.rfind('\n').map_or(0, |end| end + 1);
    let before = text.text.get(line_start..written.span.start)?;
    let leads = before.trim_start_matches([' ', '\t', '-']).is_empty();
    if plain.starts_with('?') && (leads || written.is_key) {
        return Some(("a text begins with `?`", "put it in quotes"));
    }
    if !written.is_key {
        return None;
    }
    if is_explicit(text, written) {
        return Some(("a key is written with `?`", "write `key: value`"));
    }
    let behind = text.text.get(written.span.end..).unwrap_or("").trim_start_matches([' ', '\t']);
    if written.is_in_brackets && behind.strip_prefix(':').is_some_and(|rest| !rest.starts_with([' ', '\t'])) {
        return Some(("no blank follows a colon between brackets", "put a blank behind the colon"));
    }
    if plain == "__proto__" {
        return Some(("a key is named `__proto__`", "name it otherwise"));
    }
    let is_text = yaml::plain_value(plain).is_some_and(|value| value.is_string());
    (!is_text).then_some(("a key is no text", "put it in quotes"))
}

/// Whether a blank follows a key.
fn has_blank_behind(text: &Text<'_>, key: &Written) -> bool {
    text.text.get(key.span.end..).is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// Whether `? ` stands before a key.
fn is_explicit(text: &Text<'_>, key: &Written) -> bool {
    let before = text.text.get(..key.span.start).unwrap_or("").trim_end();
    let mark = before.len().saturating_sub(1);
    let is_in_comment = || text.outline.comments.iter().any(|comment| comment.contains(&mark));
    before.ends_with('?') && before.len() < key.span.start && !is_in_comment()
}

/// Whether a digit stands in the header of a block, `|2` for example.
fn has_indicator(text: &Text<'_>, block: &Written) -> bool {
    let start =
        if text.slice(&block.span).starts_with(['|', '>']) { block.span.start + 1 } else { block.span.start };
    let before = text.text.get(..start).unwrap_or("").trim_end_matches([' ', '\n', '\r', '\t']);
    let line = before.rsplit('\n').next().unwrap_or("");
    let line = text.text.get(before.len() - line.len()..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let is_header = |word: &str| {
        word.starts_with(['|', '>']) && word.len() <= 3 && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    line.split([' ', '\t']).any(is_header)
}

/// A line `...` that is not in a text.
fn document_end(text: &str) -> Option<Range<usize>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "..." {
            return Some(start..start + 3);
        }
        start += line.len();
    }
    None
}
