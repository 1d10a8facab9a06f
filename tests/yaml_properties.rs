//! What holds for every file: nothing panics, places lie in the file, and what is written in any style is read back.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};
use skillserve::finding::Place;
use skillserve::{format, frontmatter};

/// Reads a file and judges it; whatever it is, every place that is told lies in it.
fn check(file: &[u8]) -> Option<Map<String, Value>> {
    let in_file =
        |span: &std::ops::Range<usize>| assert!(span.start <= span.end && span.end <= file.len(), "{span:?}");
    match frontmatter::parse(file) {
        Ok(read) => {
            assert_eq!(read.fields.len(), read.spans.len());
            for span in read.spans.values() {
                in_file(&span.key);
                in_file(&span.value);
            }
            for problem in format::judge(&read).1 {
                in_file(&problem.span);
                assert!(problem.message.len() < 4096 && problem.help.len() < 4096, "{problem:?}");
            }
            Some(read.fields)
        }
        Err(problem) => {
            in_file(&problem.span);
            let place = Place::of(file, &problem.span);
            assert!(place.excerpt.get(place.mark).is_some());
            assert!(problem.message.len() < 4096 && problem.help.len() < 4096, "{problem:?}");
            None
        }
    }
}

/// Texts made of what means something in YAML.
fn yaml_like() -> impl Strategy<Value = String> {
    let pieces = [
        "a", "b: ", "c:", "- ", "? ", ": ", "\n", "\n  ", "\n    ", "\r\n", "\t", " ", "#", " # c", "'",
        "\"", "\\", "\\u00e9", "\\ud83d", "[", "]", "{", "}", ",", "&x ", "*x", "!", "!!str ", "!<x> ", "|",
        ">", "|2", ">-", "\n...", "\n--- ", "%", "@", "`", "~", "1.0", "0x1f", ".nan", "é", "😀", "\u{feff}",
        "\u{2028}", "\u{85}", "\u{7}", ":{", "{{",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..40)
        .prop_map(|pieces| pieces.concat())
}

/// Any JSON value that is not too deep.
fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u128>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:?}")),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(|digits| serde_json::from_str::<Number>(&digits).unwrap().into()),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{1,6}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Texts that YAML can hold in every style that is tried.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~\u{a0}-\u{2fff}\n]{0,30}",
        "(yes|no|null|true|1e3|0x1f|~|- a|a: b|#a|\\*a|1\\.0|2024-01-02| a |:|)"
    ]
}

/// Block style with double-quoted texts.
fn block(value: &Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, member) in members {
                out.push_str(&format!("\n{pad}{}:", quoted(key)));
                block(member, indent + 2, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                out.push_str(&format!("\n{pad}-"));
                block(item, indent + 2, out);
            }
        }
        Value::String(text) if literal(text) => {
            out.push_str(" |-");
            for line in text.split('\n') {
                out.push_str(&format!("\n{pad}{line}"));
            }
        }
        Value::String(text) => out.push_str(&format!(" {}", quoted(text))),
        other => out.push_str(&format!(" {other}")),
    }
}

/// JSON's quotes are YAML's double quotes, but for characters that YAML wants escaped and JSON does not.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    json.chars()
        .map(|c| if ('\u{7f}'..='\u{9f}').contains(&c) { format!("\\u{:04x}", c as u32) } else { c.into() })
        .collect()
}

/// Whether a text can stand below `|-` as it is.
fn literal(text: &str) -> bool {
    let plain = |c: char| c == '\n' || !(c.is_control() || c == '\u{feff}');
    text.chars().all(plain) && !text.ends_with('\n') && !text.starts_with([' ', '\n']) && !text.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
        check(&[b"---\n", bytes.as_slice(), b"\n---\n"].concat());
    }

    #[test]
    fn any_yaml_like_text_is_read_or_refused(text in yaml_like()) {
        check(text.as_bytes());
        check(format!("---\n{text}\n---\n").as_bytes());
        check(format!("---\r\na: {text}\r\n---").as_bytes());
    }

    #[test]
    fn json_is_read_back(value in value()) {
        let file = format!("---\na: {}\n---\n", flow(&value));
        prop_assert_eq!(check(file.as_bytes()).map(Value::Object), Some(json!({ "a": value })), "{}", file);
    }

    #[test]
    fn block_style_is_read_back(value in value(), crlf in any::<bool>()) {
        let mut text = String::new();
        block(&json!({ "a": value }), 0, &mut text);
        let file = format!("---{text}\n---\n");
        let file = if crlf { file.replace('\n', "\r\n") } else { file };
        prop_assert_eq!(check(file.as_bytes()).map(Value::Object), Some(json!({ "a": value })), "{}", file);
    }
}

/// JSON is YAML in flow style.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| format!("{}: {}", quoted(key), flow(member)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
