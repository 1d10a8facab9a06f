//! What the targets in `fuzz/` try to break: one property a function, which panics where it does not hold. They are of
//! parts that are private, and are compiled for fuzzing alone.

use std::fmt::Write as _;
use std::ops::Range;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::{frontmatter, hidden, hosts, uri};

pub use crate::http::fuzzing::{credentials, forwarded, host, tokens, trace};
pub use crate::mcp::direct::fuzzing::{cursor, escape, message, request};
pub use crate::page::fuzzing::markdown;
pub use crate::tree::fuzzing::patterns;

/// A path that is read from a URI has a URI of its own, from which it is read again, and is what a library makes of the
/// escapes.
pub fn uri(text: &str) {
    let Ok(path) = uri::to_path(text) else { return };
    let written = uri::from_path(&path);
    assert!(uri::is_of_path(&written, &path));
    assert_eq!(uri::to_path(&written).as_deref(), Ok(&*path));
    assert_eq!(percent_decode_str(&text[uri::SCHEME.len()..]).decode_utf8().as_deref(), Ok(&*path));
    assert!(path.split('/').all(|name| !["", ".", ".."].contains(&name)) && !path.contains('\0'));
}

/// What is read from a frontmatter is read again when it is written with brackets, quotes and escapes.
pub fn values(yaml: &str) {
    let Ok(read) = frontmatter::parse(format!("---\n{yaml}\n---\n").as_bytes()) else { return };
    let fields = Value::Object(read.fields);
    let mut written = "---\n".to_owned();
    write(&fields, &mut written);
    written.push_str("\n---\n");
    if written.len() > frontmatter::FRONTMATTER_MAX_BYTES {
        return;
    }
    match frontmatter::parse(written.as_bytes()) {
        Ok(again) => assert_eq!(Value::Object(again.fields), fields, "{written}"),
        Err(problem) => panic!("{problem:?}: {written}"),
    }
}

/// Writes a value in YAML that has no other reading.
fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            out.push('{');
            for (key, value) in fields {
                out.push_str("? ");
                quote(key, out);
                out.push_str(" : ");
                write(value, out);
                out.push_str(",\n ");
            }
            out.push('}');
        }
        Value::Array(values) => {
            out.push('[');
            for value in values {
                write(value, out);
                out.push_str(",\n ");
            }
            out.push(']');
        }
        Value::String(text) => quote(text, out),
        plain => out.push_str(&plain.to_string()),
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            ' '..='~' if !matches!(c, '"' | '\\') => out.push(c),
            // Writing to a String cannot fail.
            c => drop(write!(out, "\\U{:08X}", u32::from(c))),
        }
    }
    out.push('"');
}

/// Where the problems of a file stand that a frontmatter does not have of itself.
pub fn problems(file: &[u8]) -> Vec<Range<usize>> {
    let (Ok(text), Ok(read)) = (std::str::from_utf8(file), frontmatter::parse(file)) else {
        return Vec::new();
    };
    let problems = hosts::in_frontmatter(text, &read).into_iter().chain(hidden::in_text(text));
    problems.map(|problem| problem.span).collect()
}
