use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::finding::Place;

fn check(file: impl AsRef<[u8]>, expected: Result<Value, Code>) {
    let read = parse(file.as_ref());
    let spans = read.as_ref().map(|read| read.spans.clone()).unwrap_or_default();
    for span in spans.values() {
        assert!(span.key.end <= file.as_ref().len() && span.value.end <= file.as_ref().len(), "{span:?}");
    }
    let read = read.map(|read| Value::Object(read.fields)).map_err(|problem| problem.code);
    assert_eq!(read, expected, "{:?}", String::from_utf8_lossy(file.as_ref()));
}

/// A refusal as an author is told of it.
fn told(file: impl AsRef<[u8]>) -> String {
    let problem = parse(file.as_ref()).expect_err("it is refused");
    let place = Place::of(file.as_ref(), &problem.span);
    let (code, line, column) = (problem.code.as_str(), place.line, place.column);
    format!("{code} {line}:{column}: {}; {}", problem.message, problem.help)
}

#[test]
fn fences_are_as_real_files_have_them() {
    let fields = json!({ "name": "x", "description": "d" });
    for file in [
        "---\nname: x\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---",
        "---\nname: x\ndescription: d\n---\n\n# Body\n\n---\n\nmore: [\n",
        "\u{feff}---\nname: x\ndescription: d\n---\n",
        "---\r\nname: x\r\ndescription: d\r\n---\r\nbody\r\n",
        "---\nname: x\r\ndescription: d\n---\r\n",
        "--- \nname: x\ndescription: d\n---\t\n",
        "--- \t\r\nname: x\r\ndescription: d\r\n--- \t",
        "---\n\n# a comment\nname: x\n\ndescription: d\n\n---\n",
    ] {
        check(file, Ok(fields.clone()));
    }
}

#[test]
fn agent_almanac_208_dashes_in_a_value_close_nothing() {
    check("---\na: b --- c\nd: |\n  ---\n  x\n ---\n---\n", Err(Code::YamlSyntax));
    check("---\na: b --- c\nd: |\n  ---\n  x\n---\n---\n", Ok(json!({ "a": "b --- c", "d": "---\nx\n" })));
    check("---\na: x\n----\n---\n", Err(Code::YamlSyntax));
    check("---\na: ---x\n---\n", Ok(json!({ "a": "---x" })));
}

#[test]
fn jido_ai_352_an_envelope_may_be_all_there_is() {
    check("---\n---", Ok(json!({})));
    check("---\n---\n", Ok(json!({})));
    check("---\n# nothing\n---\n", Ok(json!({})));
    check("---\n\n\n---\n", Ok(json!({})));
}

#[test]
fn the_last_line_end_belongs_to_the_fence() {
    check("---\na: |+\n  x\n---\n", Ok(json!({ "a": "x\n" })));
    check("---\na: |+\n  x\n\n---\n", Ok(json!({ "a": "x\n" })));
    check("---\na: |+\n  x\n\n\n---\n", Ok(json!({ "a": "x\n\n" })));
    check("---\na: |\r\n  x\r\n---\r\n", Ok(json!({ "a": "x\n" })));
}

#[test]
fn name_and_description_come_first() {
    let read = parse(b"---\nz: 1\ndescription: d\na: 2\nname: x\n---\n").unwrap();
    let keys: Vec<_> = read.fields.keys().map(String::as_str).collect();
    assert_eq!(keys, ["name", "description", "z", "a"]);
}

#[test]
fn fields_know_where_they_stand() {
    let file = "\u{feff}---\r\nname: x\r\nmetadata:\r\n  a: [b,\r\n  ]\r\nl: \r\nm: {é: \"d\"} # c\r\ntools: [\r\n  x\r\n]\r\n---\r\n";
    let read = parse(file.as_bytes()).unwrap();
    let text = |key: &str| {
        let at = &read.spans[key];
        (&file[at.key.clone()], &file[at.value.clone()])
    };
    assert_eq!(text("name"), ("name", "x"));
    assert_eq!(text("metadata"), ("metadata", "a: [b,\r\n  ]"));
    assert_eq!(text("l"), ("l", ""));
    assert_eq!(text("m"), ("m", "{é: \"d\"}"));
    assert_eq!(text("tools"), ("tools", "[\r\n  x\r\n]"));
}

#[test]
fn oh_my_codex_844_what_stands_before_the_fence_is_told() {
    assert_snapshot!(told(""), @"no-frontmatter 1:1: the file is empty; begin it with `---`, then `name:` and `description:`, then `---`");
    assert_snapshot!(told("# Title\n\ntext\n"), @"no-frontmatter 1:1: the file does not begin with a frontmatter; begin it with `---`, then `name:` and `description:`, then `---`");
    assert_snapshot!(told("# Title\n---\nname: x\n---\n"), @"no-frontmatter 1:1: text stands before the opening `---`; make `---` the first line, and move the text below the closing one");
    assert_snapshot!(told("<!-- c -->\n---\nname: x\n---\n"), @"no-frontmatter 1:1: text stands before the opening `---`; make `---` the first line, and move the text below the closing one");
    assert_snapshot!(told("\n---\nname: x\n---\n"), @"no-frontmatter 1:1: a blank line stands before the opening `---`; make `---` the first line");
    assert_snapshot!(told(" ---\nname: x\n---\n"), @"no-frontmatter 1:1: the opening `---` is indented; begin the first line with `---`, without a blank before it");
    assert_snapshot!(told("```yaml\n---\nname: x\n---\n```\n"), @"no-frontmatter 1:1: the file begins with a fenced code block; remove the lines of the fence, so that `---` is the first line");
    assert_snapshot!(told("+++\nname = 'x'\n+++\n"), @"no-frontmatter 1:1: the frontmatter is TOML; write it as YAML between two lines `---`");
    assert_snapshot!(told("----\nname: x\n----\n"), @"no-frontmatter 1:1: the opening fence has more than three dashes; make the first line `---`");
    assert_snapshot!(told("--- name: x\n---\n"), @"no-frontmatter 1:1: text stands on the line of the opening `---`; make the first line `---` and nothing else");
    assert_snapshot!(told("name: x\ndescription: d\n"), @"no-frontmatter 1:1: the fields do not stand between two lines `---`; put a line `---` before them, and one after them");
    assert_snapshot!(told("---\rname: x\r---\r"), @"no-frontmatter 1:1: the lines end with a carriage return alone; save the file with LF or CRLF line ends");
}

#[test]
fn an_open_envelope_is_told() {
    assert_snapshot!(told("---\nname: x\n"), @"unclosed-frontmatter 1:1: the frontmatter is opened by `---` and no later line closes it; put a line `---` after the last field");
    assert_snapshot!(told("---\nname: x\n...\nbody\n"), @"unclosed-frontmatter 3:1: the frontmatter is opened by `---` and no later line closes it; close the frontmatter with exactly `---`");
    assert_snapshot!(told("---\nname: x\n ---\nbody\n"), @"unclosed-frontmatter 3:1: the frontmatter is opened by `---` and no later line closes it; remove what stands before or after this `---`, if it is to close the frontmatter");
    assert_snapshot!(told("---\nname: x\n----\nbody\n"), @"unclosed-frontmatter 3:1: the frontmatter is opened by `---` and no later line closes it; close the frontmatter with exactly `---`");
}

#[test]
fn openhanako_2225_other_encodings_are_told() {
    let utf16 = |big: bool, mark: bool| {
        let units = "---\nname: x\n---\n".encode_utf16();
        let bytes = units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
        let mark: &[u8] = if !mark {
            &[]
        } else if big {
            &[0xFE, 0xFF]
        } else {
            &[0xFF, 0xFE]
        };
        mark.iter().copied().chain(bytes).collect::<Vec<u8>>()
    };
    assert_snapshot!(told(utf16(false, true)), @"not-utf8 1:1: the file is UTF-16 (little endian), not UTF-8; save the file as UTF-8");
    assert_snapshot!(told(utf16(true, true)), @"not-utf8 1:1: the file is UTF-16 (big endian), not UTF-8; save the file as UTF-8");
    assert_snapshot!(told(utf16(false, false)), @"not-utf8 1:1: the file is UTF-16 (little endian), not UTF-8; save the file as UTF-8");
    assert_snapshot!(told(b"---\nname: x\ndescription: caf\xE9\n---\n"), @"not-utf8 3:17: the byte 0xE9 is not UTF-8; save the file as UTF-8");
    assert_snapshot!(told(b"---\nname: x\n---\n\nbody \xFF\n"), @"not-utf8 5:6: the byte 0xFF is not UTF-8; save the file as UTF-8");
    assert_snapshot!(told(b"---\nname: x\0\n---\n"), @"not-utf8 2:8: a NUL stands in the file, so it is no text; remove it, and keep binary data in a file of its own");
}

#[test]
fn what_is_no_mapping_is_told() {
    assert_snapshot!(told("---\n~\n---\n"), @"not-a-mapping 2:1: the frontmatter is null, not a mapping of fields; write one `key: value` a line, with a space after the colon");
    assert_snapshot!(told("---\n- a\n- b\n---\n"), @"not-a-mapping 2:1: the frontmatter is a list, not a mapping of fields; write one `key: value` a line, with a space after the colon");
    assert_snapshot!(told("---\nname:x\n---\n"), @"not-a-mapping 2:1: the frontmatter is a text, not a mapping of fields; write one `key: value` a line, with a space after the colon");
}

#[test]
fn a_frontmatter_has_a_size() {
    let description = |bytes: usize| format!("---\ndescription: {}\n---\n", "x".repeat(bytes));
    let text = "x".repeat(FRONTMATTER_MAX_BYTES - "description: ".len());
    check(description(text.len()), Ok(json!({ "description": text })));
    check(description(text.len() + 1), Err(Code::FrontmatterTooLarge));
    check(description(1024 * 1024), Err(Code::FrontmatterTooLarge));
    assert_snapshot!(told(description(1024 * 1024)), @"frontmatter-too-large 2:1: the frontmatter has 1048589 bytes, and at most 262144 are parsed; move the text below the closing `---`, or to a file of its own");
}
