//! What a scalar means in the YAML 1.2 core schema: `yes`, `12:30` and `2024-01-02` are texts, `0755` is 755.

use granit_parser::{ScalarStyle, Tag};
use serde_json::Value;

use super::number::{self, Read};

/// Why a scalar has no meaning that every host shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// `.inf`, `.nan`, or a number beyond the range of doubles.
    NotFinite,
    /// A tag that some hosts obey and others drop.
    Tag,
}

/// What an explicit tag asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No tag: the text and its style decide.
    Untagged,
    /// `!`, `!!str`, or a tag of the author's own, which hosts drop: it makes the scalar a text.
    Text,
    /// `!!map` or `!!seq`, which a scalar cannot be.
    Collection(&'static str),
    /// `!!null`, `!!bool`, `!!int` or `!!float`.
    Typed(&'static str),
}

/// The namespace of the tags that are written `!!name`.
const CORE: &str = "tag:yaml.org,2002:";

/// Reads a tag, or refuses one that constructs what JSON does not have (`!!binary`, `!!set`, `!!python/…`).
///
/// `source` is the tag as written. Escapes in it are refused, so that what is compared is what is meant.
pub(super) fn kind(tag: &Tag, source: &str) -> Result<Kind, Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "!<>-_./:,".contains(c);
    if !source.chars().all(plain) || source.trim_start_matches('!').contains('!') {
        return Err(Refusal::Tag);
    }
    let name = format!("{}{}", tag.handle(), tag.suffix());
    Ok(match name.strip_prefix(CORE) {
        None => Kind::Text,
        Some("str") => Kind::Text,
        Some("map") => Kind::Collection("map"),
        Some("seq") => Kind::Collection("seq"),
        Some("null") => Kind::Typed("null"),
        Some("bool") => Kind::Typed("bool"),
        Some("int") => Kind::Typed("int"),
        Some("float") => Kind::Typed("float"),
        Some(_) => return Err(Refusal::Tag),
    })
}

/// The value of a scalar.
pub(super) fn resolve(text: &str, style: ScalarStyle, kind: Kind) -> Result<Value, Refusal> {
    match kind {
        Kind::Untagged if style == ScalarStyle::Plain => plain(text),
        Kind::Untagged | Kind::Text => Ok(Value::String(text.to_owned())),
        Kind::Collection(_) => Err(Refusal::Tag),
        // A tag that its text does not fit (`!!int x`, `!!float 1`) is dropped by some hosts and obeyed by others.
        Kind::Typed(name) => match (name, plain(text)?) {
            ("null", value @ Value::Null) | ("bool", value @ Value::Bool(_)) => Ok(value),
            ("int", value @ Value::Number(_)) if !is_float(text) => Ok(value),
            ("float", value @ Value::Number(_)) if is_float(text) => Ok(value),
            _ => Err(Refusal::Tag),
        },
    }
}

fn plain(text: &str) -> Result<Value, Refusal> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Ok(Value::Null),
        "true" | "True" | "TRUE" => Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => Ok(Value::Bool(false)),
        _ => match number::read(text) {
            Read::Text => Ok(Value::String(text.to_owned())),
            Read::Number(number) => Ok(Value::Number(number)),
            Read::NotJson => Err(Refusal::NotFinite),
        },
    }
}

/// Whether a text that is a number is written as a float.
fn is_float(text: &str) -> bool {
    text.contains('.') || (!text.starts_with("0x") && text.contains(['e', 'E']))
}
