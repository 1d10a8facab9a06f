//! Fields that a skill may have: what of them some hosts refuse (N4, N5, E8). All of it is served as it stands.

use serde_json::{Map, Value};

use super::{kind, value_span};
use crate::finding::{Code, Problem};
use crate::frontmatter::Frontmatter;
use crate::hosts;
use crate::problem::{problem, shorten};
use crate::skill::COMPATIBILITY_MAX_CHARS;

/// The fields that the format defines.
const KNOWN: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
/// The prefix of reserved `metadata` keys (E8).
const RESERVED_PREFIX: &str = "io.modelcontextprotocol/";
/// The most unknown fields that one warning lists.
const LISTED_MAX: usize = 8;

/// What is wrong with the optional fields, one problem for each, and one for all that are unknown.
pub(super) fn warnings(frontmatter: &Frontmatter) -> Vec<Problem> {
    let mut warnings = Vec::new();
    for field in ["license", "compatibility", "allowed-tools"] {
        warnings.extend(text_field(frontmatter, field));
    }
    match frontmatter.fields.get("metadata") {
        None => {}
        Some(Value::Object(metadata)) => warnings.extend(in_metadata(frontmatter, metadata)),
        Some(value) => warnings.push(field_type(
            frontmatter,
            "metadata",
            format!("`metadata` is {}, not a mapping of texts", kind(value)),
            "write one `key: value` a line, indented below `metadata:`",
        )),
    }
    warnings.extend(unknown(frontmatter));
    warnings
}

/// A field that is to be a text.
fn text_field(frontmatter: &Frontmatter, field: &str) -> Option<Problem> {
    let value = frontmatter.fields.get(field)?;
    let Value::String(text) = value else {
        let help = match (field, value) {
            (_, Value::Null) => "remove the field, or give it a value".to_owned(),
            ("allowed-tools", Value::Array(_)) => {
                "write the tools in one line with blanks between: `allowed-tools: Read Grep`".to_owned()
            }
            (_, Value::Array(_) | Value::Object(_)) => "write it as one text".to_owned(),
            _ => "put it in quotes".to_owned(),
        };
        return Some(field_type(
            frontmatter,
            field,
            format!("`{field}` is {}, not a text", kind(value)),
            help,
        ));
    };
    let chars = text.chars().count();
    if field == "compatibility" && (chars == 0 || chars > COMPATIBILITY_MAX_CHARS) {
        let message =
            format!("`compatibility` has {chars} characters, and hosts take 1 to {COMPATIBILITY_MAX_CHARS}");
        let help = if chars == 0 { "remove the field" } else { "shorten it" };
        return Some(field_type(frontmatter, field, message, help));
    }
    None
}

/// The keys and values of `metadata`: its values are to be texts, and some of its keys are reserved.
fn in_metadata(frontmatter: &Frontmatter, metadata: &Map<String, Value>) -> Vec<Problem> {
    let mut warnings = Vec::new();
    let not_text: Vec<_> =
        metadata.iter().filter(|(_, value)| !value.is_string()).map(|(key, _)| key).collect();
    if !not_text.is_empty() {
        warnings.push(field_type(
            frontmatter,
            "metadata",
            format!("`metadata` has values that are no texts: {}", list(&not_text)),
            "put each of these values in quotes",
        ));
    }
    let reserved: Vec<_> = metadata.keys().filter(|key| key.starts_with(RESERVED_PREFIX)).collect();
    if !reserved.is_empty() {
        warnings.push(problem(
            Code::ReservedKey,
            value_span(frontmatter, "metadata"),
            format!("`metadata` has keys that are reserved: {}", list(&reserved)),
            format!("use another prefix than `{RESERVED_PREFIX}`"),
        ));
    }
    warnings
}

/// The fields that the format does not define, in one problem.
fn unknown(frontmatter: &Frontmatter) -> Option<Problem> {
    let unknown: Vec<_> = frontmatter.fields.keys().filter(|key| !KNOWN.contains(&key.as_str())).collect();
    let first = unknown.first()?;
    let at = frontmatter.spans.get(first.as_str()).map_or(0..0, |at| at.key.clone());
    let message = match unknown.len() {
        1 => format!("the format does not define the field {}", list(&unknown)),
        _ => format!("the format does not define the fields {}", list(&unknown)),
    };
    Some(problem(
        Code::UnknownField,
        at,
        message,
        "move it below `metadata:`, if no host needs it where it is",
    ))
}

fn field_type(frontmatter: &Frontmatter, field: &str, message: String, help: impl Into<String>) -> Problem {
    let elsewhere = frontmatter.fields.get(field).map(|value| hosts::of_field(field, value));
    let problem = problem(Code::FieldType, value_span(frontmatter, field), message, help);
    Problem { elsewhere: elsewhere.unwrap_or_default(), ..problem }
}

/// Some keys in words.
fn list(keys: &[&String]) -> String {
    let named: Vec<_> = keys.iter().take(LISTED_MAX).map(|key| format!("`{}`", shorten(key))).collect();
    match keys.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
