//! The rules of the skill format for the fields of a frontmatter (N2–N5, E8). Pure: what it says of a skill does not
//! depend on where the skill stands; the catalog compares the name with the directory.

mod optional;

use std::ops::Range;

use serde_json::Value;

use crate::finding::{Code, Problem};
use crate::frontmatter::Frontmatter;
use crate::problem::{kind, problem, shorten};
use crate::skill::{DESCRIPTION_MAX_CHARS, NAME_MAX_CHARS, NameError, SkillName};

/// Judges the fields.
///
/// The name is there when nothing keeps the skill from being served; then the problems are warnings. Otherwise the
/// problems say everything that does, so that an author need not fix them one run at a time.
pub fn judge(frontmatter: &Frontmatter) -> (Option<SkillName>, Vec<Problem>) {
    match (name(frontmatter), description(frontmatter)) {
        (Ok(name), Ok(())) => (Some(name), optional::warnings(frontmatter)),
        (name, description) => (None, name.err().into_iter().chain(description.err()).collect()),
    }
}

/// N2.
fn name(frontmatter: &Frontmatter) -> Result<SkillName, Problem> {
    let at = value_span(frontmatter, "name");
    let text = match frontmatter.fields.get("name") {
        None => {
            let help = "add a line `name: ` with the name of the directory";
            return Err(problem(Code::NameMissing, at, misspelt(frontmatter, "name"), help));
        }
        Some(Value::String(text)) => text,
        Some(other) => return Err(name_not_text(frontmatter, other)),
    };
    SkillName::parse(text).map_err(|error| {
        let message = match error {
            NameError::Empty => "the name is empty".to_owned(),
            error => format!("the name \"{}\" {error}", shorten(text)),
        };
        let help = match slug(text) {
            Some(slug) => format!("name the skill and its directory `{slug}`"),
            None => "use lowercase letters a–z, digits and single hyphens between them".to_owned(),
        };
        problem(Code::NameInvalid, at, message, help)
    })
}

fn name_not_text(frontmatter: &Frontmatter, value: &Value) -> Problem {
    let at = value_span(frontmatter, "name");
    let is_written = frontmatter.spans.get("name").is_some_and(|at| !at.value.is_empty());
    let quote = |text: &str| format!("put it in quotes: `name: \"{}\"`", shorten(text));
    let help = match value {
        // A number may have been written in another way than it reads, `007` for example.
        Value::Number(_) => "put it in quotes, as it is written".to_owned(),
        Value::Bool(value) => quote(&value.to_string()),
        Value::Null if is_written => quote("null"),
        _ => "write the name of the directory after `name: `".to_owned(),
    };
    problem(Code::NameNotString, at, format!("the name is {}, not a text", kind(value)), help)
}

/// N3.
fn description(frontmatter: &Frontmatter) -> Result<(), Problem> {
    let at = value_span(frontmatter, "description");
    let text = match frontmatter.fields.get("description") {
        None => {
            let help = "add a line `description: ` that says what the skill does and when to use it";
            return Err(problem(Code::DescriptionMissing, at, misspelt(frontmatter, "description"), help));
        }
        Some(Value::String(text)) => text,
        Some(value) => {
            let message = format!("the description is {}, not a text", kind(value));
            let help = match value {
                Value::Null => "say after `description: ` what the skill does and when to use it",
                Value::Array(_) | Value::Object(_) => "write it as one text, in quotes or below `>-`",
                _ => "put it in quotes",
            };
            return Err(problem(Code::DescriptionNotString, at, message, help));
        }
    };
    if text.trim().is_empty() {
        let help = "say what the skill does and when to use it";
        return Err(problem(Code::DescriptionBlank, at, "the description is blank", help));
    }
    let chars = text.chars().count();
    if chars > DESCRIPTION_MAX_CHARS {
        let message =
            format!("the description has {chars} characters, and hosts take at most {DESCRIPTION_MAX_CHARS}");
        let help = format!(
            "shorten it by {} characters, and move the details below the closing `---`",
            chars - DESCRIPTION_MAX_CHARS
        );
        return Err(problem(Code::DescriptionTooLong, at, message, help));
    }
    Ok(())
}

/// That a required field is missing, and whether it stands there in another spelling.
fn misspelt(frontmatter: &Frontmatter, field: &str) -> String {
    let similar = |key: &&String| key.trim().eq_ignore_ascii_case(field);
    match frontmatter.fields.keys().find(similar) {
        Some(key) => format!("there is no `{field}`, only `{}`", shorten(key)),
        None => format!("there is no `{field}`"),
    }
}

/// The name that a text was meant to be: `Agent Development` is `agent-development`.
fn slug(text: &str) -> Option<String> {
    let mut slug = String::new();
    for c in text.chars().take(4 * NAME_MAX_CHARS) {
        match c {
            c if c.is_ascii_alphanumeric() => slug.push(c.to_ascii_lowercase()),
            c if c.is_alphanumeric() => return None,
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    slug.truncate(NAME_MAX_CHARS);
    SkillName::parse(slug.trim_end_matches('-')).ok().map(|name| name.as_str().to_owned())
}

/// The bytes of a field's value, or of its key where it has none; the file's first byte where the field is missing.
fn value_span(frontmatter: &Frontmatter, field: &str) -> Range<usize> {
    frontmatter
        .spans
        .get(field)
        .map_or(0..0, |at| if at.value.is_empty() { at.key.clone() } else { at.value.clone() })
}

#[cfg(test)]
mod tests;
