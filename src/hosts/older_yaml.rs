//! Values that readers of YAML 1.1 see differently, and a block that ends the frontmatter.

use crate::finding::{Code, Host, Problem};
use crate::problem::shorten;
use crate::yaml;
use crate::yaml::outline::{Form, Written};

use super::Text;
use super::yaml_1_1::Meaning;

/// The readers of YAML 1.1.
const PYTHON: &[Host] = &[Host::FastMcp, Host::FastAgent];

/// One problem for all values and keys that are something else in YAML 1.1, and one for all dates.
pub(super) fn values(text: &Text<'_>) -> Vec<Problem> {
    let mut others = Vec::new();
    let mut dates = Vec::new();
    for written in &text.outline.written {
        let Form::Plain(plain) = &written.form else { continue };
        if written.properties.tag.is_some() {
            // The tag decides.
            continue;
        }
        let meaning = Meaning::of(plain);
        let Some(value) = yaml::plain_value(plain) else { continue };
        let is_same = match (written.is_key, meaning) {
            (false, meaning) => meaning.is(&value),
            // Keys become texts, and that text may be what is written.
            (true, Meaning::Text) => yaml::plain_key(plain).as_ref() == Some(plain),
            // One that is no text in either version is another rule's.
            (true, _) => !value.is_string(),
        };
        match meaning {
            _ if is_same => {}
            Meaning::Date => dates.push((written, plain.as_str())),
            meaning => others.push((written, plain.as_str(), meaning)),
        }
    }
    let others = others.first().map(|(written, plain, meaning)| {
        let what = if written.is_key { "key" } else { "value" };
        let message = format!(
            "the {what} `{}` is {} for readers of YAML 1.1{}",
            shorten(plain),
            meaning.name(),
            more(others.len())
        );
        text.skill(Code::YamlVersions, &written.span, message, "put it in quotes", PYTHON)
    });
    let date = dates.first().map(|(written, plain)| {
        let message = format!("`{}` is a date for readers of YAML 1.1{}", shorten(plain), more(dates.len()));
        // fast-agent writes a date back as text, and compares that; but a name or description that is one is lost.
        let is_written_back =
            |(written, plain): &(&Written, &str)| is_iso(plain) && !is_required(text, written);
        let hosts = if dates.iter().all(is_written_back) { &[Host::FastMcp] } else { PYTHON };
        text.skill(Code::YamlDate, &written.span, message, "put it in quotes", hosts)
    });
    others.into_iter().chain(date).collect()
}

/// Whether it is the value of `name` or `description`, or a key.
fn is_required(text: &Text<'_>, written: &Written) -> bool {
    let before = text.text.get(..written.span.start).unwrap_or("").trim_end();
    let key = before.rsplit('\n').next().unwrap_or("").trim_end_matches(':');
    written.is_key || written.depth == 1 && matches!(key, "name" | "description")
}

fn more(count: usize) -> String {
    if count > 1 { format!(", and {} more like it", count - 1) } else { String::new() }
}

/// Whether a date reads as ISO 8601 has it, so that writing it back gives the same text.
fn is_iso(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_form = |form: &str, bytes: &[u8]| {
        form.len() == bytes.len()
            && form.bytes().zip(bytes).all(|(f, b)| if f == b'0' { b.is_ascii_digit() } else { f == *b })
    };
    let number = |at: usize| text.get(at..at + 2).and_then(|digits| digits.parse::<u32>().ok()).unwrap_or(99);
    if !(is_form("0000-00-00", bytes) || is_form("0000-00-00T00:00:00", bytes)) {
        return false;
    }
    let days = match number(5) {
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    let is_time = bytes.len() == 10 || number(11) < 24 && number(14) < 60 && number(17) < 60;
    (1..=days).contains(&number(8)) && is_time && !text.starts_with("0000")
}

/// A block whose value ends with a line end, as the last thing in the frontmatter.
pub(super) fn block_at_end(text: &Text<'_>) -> Option<Problem> {
    let last = text
        .outline
        .written
        .iter()
        .rev()
        .find(|written| !matches!(written.form, Form::Plain(ref plain) if plain.is_empty()))?;
    let rest = text.text.get(last.span.end..)?;
    let Form::Block(is_empty) = last.form else { return None };
    if !rest.trim().is_empty() {
        return None;
    }
    let header = header(text, last)?;
    // Behind the last line end, which is where some cut, an empty line may stand. Blanks beyond the indentation are text.
    let before = text.text.get(..last.span.start)?;
    let indentation = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
    let last_line = text.text.rsplit('\n').next()?;
    let ends_with_empty_line = last_line.trim().is_empty() && last_line.len() <= indentation;
    let (hosts, help): (&[Host], _) = match (header.contains('+'), ends_with_empty_line) {
        _ if header.contains('-') => return None,
        (false, true) => return None,
        (_, false) if is_empty => return None,
        (false, false) => (&[Host::FastMcp], "write `>-` or `|-`, or put another field behind it"),
        (true, true) => {
            (&[Host::TypeScript, Host::FastAgent], "put another field behind it, or remove the empty line")
        }
        (true, false) => (&[Host::FastMcp], "put another field behind it, or write `-` for the `+`"),
    };
    let message = "a block of text ends the frontmatter, and readers see another line end there";
    let end = last.span.start + text.slice(&last.span).lines().next().unwrap_or("").len();
    Some(text.skill(Code::YamlBlockEnd, &(last.span.start..end), message, help, hosts))
}

/// `>`, `|+` and the like.
fn header<'a>(text: &'a Text<'_>, block: &Written) -> Option<&'a str> {
    let slice = text.slice(&block.span);
    if slice.starts_with(['|', '>']) {
        return slice.lines().next();
    }
    // The span begins with the text, which a line end and blanks part from the header.
    let before = text.text.get(..block.span.start)?;
    let lines = before.lines().rev().find(|line| line.contains(['|', '>']))?;
    lines.rsplit([' ', '\t']).find(|word| word.starts_with(['|', '>']))
}
