use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::finding::{Code, Place};

fn check(text: &str, expected: Result<Value, Code>) {
    let read = match load(text) {
        Ok(Root::Mapping(fields, _)) => Ok(Value::Object(fields)),
        Ok(Root::Other(value, _)) => Ok(value),
        Ok(Root::Empty) => Ok(Value::Null),
        Err(problem) => {
            assert!(problem.span.start <= problem.span.end && problem.span.end <= text.len(), "{problem:?}");
            Err(problem.code)
        }
    };
    assert_eq!(read, expected, "{:?}", text.chars().take(200).collect::<String>());
}

/// A refusal as an author is told of it.
fn told(text: &str) -> String {
    let problem = load(text).expect_err("it is refused");
    let place = Place::of(text.as_bytes(), &problem.span);
    let marked = place.excerpt.get(place.mark.clone()).unwrap_or("");
    format!("{}:{} {marked:?}: {}; {}", place.line, place.column, problem.message, problem.help)
}

#[test]
fn vercel_labs_skills_1525_unquoted_colon() {
    assert_snapshot!(told("name: x\ndescription: Use when: the user asks\n"), @r#"2:22 ":": the value of `description` has a second `: ` and is not quoted; put the value in quotes, or write it on the next line below `description: >-`"#);
    assert_snapshot!(told("description: Reads PDFs. Use when\n  the user asks: for forms\n"), @r#"2:16 ":": the value of `description` has a second `: ` and is not quoted; put the value in quotes, or write it on the next line below `description: >-`"#);
    assert_snapshot!(told("description: Triggers:\n"), @r#"1:22 ":": the value of `description` has a `:` at the end of a line and is not quoted; put the value in quotes, or write it on the next line below `description: >-`"#);
    assert_snapshot!(told("a: 1\n  b: 2\n"), @r#"2:3 "b": a key is indented below a key that already has a value; give both keys the same indentation, or put the value above in quotes"#);
}

#[test]
fn codewhale_1907_text_on_the_line_of_a_block_sign() {
    check(
        "description: >\n  one\n  two\nx: |-\n  a\n  b\n",
        Ok(json!({ "description": "one two\n", "x": "a\nb" })),
    );
    assert_snapshot!(told("description: > Extract text\n  and more\n"), @r#"1:14 "> Extract text": text stands on the line of `>`; leave `description: >-` alone on its line and indent the text below it"#);
    assert_snapshot!(told("description: |Extract\n"), @r#"1:14 "|Extract": text stands on the line of `|`; leave `description: |-` alone on its line and indent the text below it"#);
    assert_snapshot!(told("description: >- Extract\n"), @r#"1:14 ">- Extract": text stands on the line of `>`; leave `description: >-` alone on its line and indent the text below it"#);
}

#[test]
fn aws_well_architected_109_text_after_a_quote() {
    assert_snapshot!(told("description: \"Learn then Build\" - more\n"), @r#"1:33 "- more": text goes on after the closing quote; put the whole value in quotes, of the other kind than those inside it"#);
    assert_snapshot!(told("description: 'it's'\n"), @r#"1:18 "s'": text goes on after the closing quote; put the whole value in quotes, of the other kind than those inside it"#);
    assert_snapshot!(told("description: \"a\" and \"b: c\"\n"), @r#"1:18 "and \"b: c\"": text goes on after the closing quote; put the whole value in quotes, of the other kind than those inside it"#);
}

#[test]
fn signs_that_begin_no_value_are_told() {
    assert_snapshot!(told("description: **bold** text\n"), @r#"1:14 "**bold** text": a value that begins with `*` is an alias, and no anchor has its name; put the value in quotes"#);
    assert_snapshot!(told("globs: *.md\n"), @r#"1:8 "*.md": a value that begins with `*` is an alias, and no anchor has its name; put the value in quotes"#);
    assert_snapshot!(told("description: @user does\n"), @r#"1:14 "@": a value cannot begin with `@`; put the value in quotes"#);
    assert_snapshot!(told("description: `code` does\n"), @r#"1:14 "`": a value cannot begin with a backtick; put the value in quotes"#);
    assert_snapshot!(told("description: %PATH%\n"), @r#"1:14 "%": a value cannot begin with `%`; put the value in quotes"#);
    assert_snapshot!(told("description: - item\n"), @r#"1:14 "- item": a value that begins with `- ` is a list, which cannot begin on the line of its key; put the value in quotes, or begin the list on the next line"#);
    assert_snapshot!(told("description: {{ name }}\n"), @r#"1:14 "{{": a value that begins with `{{` is read as a mapping within a mapping; put the value in quotes"#);
    assert_snapshot!(told("argument-hint: [a] [b]\n"), @r#"1:20 "[b]": text goes on after the closing bracket; put the whole value in quotes"#);
    assert_snapshot!(told("a: ]\n"), @r#"1:4 "]": a closing bracket stands where none is open; remove it, or quote the value"#);
    assert_snapshot!(told("%YAML 1.2\n"), @r#"1:1 "%": a line begins with `%`, which is a YAML directive; remove the line"#);
    assert_snapshot!(told("a: x\u{7}y\n"), @r#"1:5 "\u{7}": the character U+0007 cannot stand in YAML; remove it, or write it as an escape in double quotes"#);
}

#[test]
fn indentation_is_told() {
    assert_snapshot!(told("metadata:\n\ta: b\n"), @r#"2:1 "\t": a tab is used as indentation; indent with spaces"#);
    assert_snapshot!(told("\tname: x\n"), @r#"1:1 "\t": a tab is used as indentation; indent with spaces"#);
    assert_snapshot!(told("name: x\n\tdescription: y\n"), @r#"2:1 "\t": a tab is used as indentation; indent with spaces"#);
    assert_snapshot!(told("a:\n    b: 1\n  c: 2\n"), @r#"3:3 "c": this line does not fit the lines before it; give all keys of one mapping, and all `-` of one list, the same indentation"#);
    assert_snapshot!(told("description: one\ntwo three\nname: x\n"), @r#"2:1 "t": this line is no `key: value` and does not belong to the value before it; write `key: value`, or indent the line to make it go on with the value before"#);
    assert_snapshot!(told("description: \"one\ntwo\"\n"), @r#"2:1 "t": a quote is still open in this line, which is not indented by spaces; close the quote, or indent each further line of the value by two spaces"#);
    assert_snapshot!(told("tools: [a,\nb]\n"), @r#"2:1 "b": a bracket is still open in this line, which is not indented; close the bracket, or indent each further line by two spaces"#);
    assert_snapshot!(told("a:\n- b\nc\n"), @r#"3:1 "c": this line is no `key: value` and does not belong to the value before it; write `key: value`, or indent the line to make it go on with the value before"#);
}

#[test]
fn what_is_open_is_told() {
    assert_snapshot!(told("description: \"open\n"), @r#"2:1 "": a quote is still open in this line, which is not indented by spaces; close the quote, or indent each further line of the value by two spaces"#);
    assert_snapshot!(told("description: 'open\nname: x\n"), @r#"2:1 "n": a quote is still open in this line, which is not indented by spaces; close the quote, or indent each further line of the value by two spaces"#);
    assert_snapshot!(told("tools: [a, b\nname: x\n"), @r#"2:1 "n": a bracket is still open in this line, which is not indented; close the bracket, or indent each further line by two spaces"#);
    assert_snapshot!(told("tools: [a, b\n"), @r#"1:8 "[": the bracket `[` is not closed by its counterpart; close the bracket, or quote the value if it is text"#);
    assert_snapshot!(told("metadata: {a: 1 b: 2}\n"), @r#"1:18 ":": two entries between brackets are not separated by a comma; put a comma between them, or quote the value if it is text"#);
    assert_snapshot!(told("regex: \"\\d+\"\n"), @r#"1:9 "\\": a backslash in double quotes begins no escape that YAML knows; write the backslash twice, or use single quotes"#);
    assert_snapshot!(told("a: \"\\ud83d\"\n"), @r#"1:4 "\"\\ud83d\"": an escape names half of a surrogate pair, which is no character; write the character itself, or both halves of the pair"#);
}

#[test]
fn what_json_does_not_have_is_told() {
    assert_snapshot!(told("a: .inf\n"), @r#"1:4 ".inf": this number is infinite, no number, or too large for JSON; put it in quotes to make it text"#);
    assert_snapshot!(told("a: !!binary aGVsbG8=\n"), @r#"1:4 "!!binary": this tag gives the value a type that JSON does not have or that hosts read differently; remove the tag, or put the whole value in quotes if it is text"#);
    assert_snapshot!(told("a: !!python/object/apply:os.system [id]\n"), @r#"1:4 "!!python/object/apply:os.system": this tag gives the value a type that JSON does not have or that hosts read differently; remove the tag, or put the whole value in quotes if it is text"#);
    assert_snapshot!(told("[a]: b\n"), @r#"1:1 "[": a list or a mapping is used as a key, which JSON cannot hold; put the key in quotes if it is text"#);
    assert_snapshot!(told("a: 1\nb: 2\n\"a\": 3\n"), @r#"3:1 "\"a\"": the key `a` stands twice in the same mapping; keep one of the two"#);
    assert_snapshot!(told("a: &a [*a]\n"), @r#"1:8 "*a": an alias stands within the value that it refers to; write the value out instead of using `*`"#);
    assert_snapshot!(told("a: 1\n---\nb: 2\n"), @r#"2:1 "---": a second YAML document begins within the frontmatter; remove the `...` or `---` before it"#);
    assert_snapshot!(told("a: 1\n...\nb: 2\n"), @r#"2:1 "...": a line `...` ends the YAML document within the frontmatter; remove the line"#);
}

#[test]
fn hermes_agent_82812_dates_are_texts() {
    check(
        "d: 2024-01-02\nt: 12:30\ny: yes\nn: null\nv: 1.0\n",
        Ok(json!({
            "d": "2024-01-02", "t": "12:30", "y": "yes", "n": null, "v": serde_json::from_str::<Value>("1.0").unwrap()
        })),
    );
}

#[test]
fn brackets_may_close_in_the_column_of_their_key() {
    check("a: [\n  1,\n]\nb: {\n  c: [\n    2\n  ]\n}\n", Ok(json!({ "a": [1], "b": { "c": [2] } })));
    check("a:\n  b: [\n    1\n  ] # c\n  d: 2\n", Ok(json!({ "a": { "b": [1], "d": 2 } })));
    check("a:\n  b: [\n    1\n]\n", Err(Code::YamlSyntax));
    check("a: [\n[\n  1\n]\n]\n", Err(Code::YamlSyntax));
    check("m: {a:{b:[1],\"c\":{d: e}}}\n", Ok(json!({ "m": { "a": { "b": [1], "c": { "d": "e" } } } })));
}

#[test]
fn depth_has_a_bound() {
    let lists = |depth: usize| format!("a: {}{}", "[".repeat(depth), "]".repeat(depth));
    let maps = |depth: usize| (0..depth).map(|at| format!("{}k:\n", " ".repeat(at))).collect::<String>();
    assert!(load(&lists(DEPTH_MAX - 1)).is_ok());
    check(&lists(DEPTH_MAX), Err(Code::YamlDepth));
    assert!(load(&maps(DEPTH_MAX)).is_ok());
    check(&maps(DEPTH_MAX + 1), Err(Code::YamlDepth));
    check(&"- ".repeat(DEPTH_MAX + 1), Err(Code::YamlDepth));

    let nested = |depth: usize, inner: &str| format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth));
    let aliased = |outer, inner| format!("a: &a {}\nb: {}\n", nested(inner, "x"), nested(outer, "*a"));
    assert!(load(&aliased(23, 40)).is_ok());
    check(&aliased(24, 40), Err(Code::YamlDepth));
    let chain = |at: usize| format!("a{at}: &a{at} {}\n", nested(20, &format!("*a{}", at - 1)));
    let chains = |links: usize| "a0: &a0 x\n".to_owned() + &(1..=links).map(chain).collect::<String>();
    assert!(load(&chains(3)).is_ok());
    check(&chains(4), Err(Code::YamlDepth));
    check(&format!("a: &a {}\n? *a\n: b\n", nested(DEPTH_MAX - 1, "x")), Err(Code::YamlNotJson));
}

#[test]
fn aliases_are_counted_as_hosts_count_them() {
    let uses = |count: usize| format!("a: &a x\nb: [{}]", vec!["*a"; count].join(", "));
    assert!(load(&uses(99)).is_ok());
    check(&uses(100), Err(Code::YamlAlias));
    let chain =
        |depth: usize| (1..=depth).map(|at| format!("a{at}: &a{at} [*a{}]\n", at - 1)).collect::<String>();
    assert!(load(&format!("a0: &a0 x\n{}", chain(6))).is_ok());
    check(&format!("a0: &a0 x\n{}", chain(7)), Err(Code::YamlAlias));
    check("a: &x 1\nb: &x 2\nc: *x\n*x : d\n", Ok(json!({ "a": 1, "b": 2, "c": 2, "2": "d" })));
}

#[test]
fn librefang_3456_bombs_cost_little() {
    let laughs = |at: usize| format!("a{at}: &a{at} [{}]\n", vec![format!("*a{}", at - 1); 9].join(","));
    let anchored = |depth: usize| (0..depth).map(|at| format!("&a{at} [")).collect::<String>();
    let bombs = [
        ("[".repeat(100_000), Code::YamlDepth),
        ("[".repeat(50_000) + &"]".repeat(50_000), Code::YamlDepth),
        ("{a: ".repeat(50_000), Code::YamlDepth),
        ("- ".repeat(100_000), Code::YamlDepth),
        ((0..600).map(|at| format!("{}k:\n", " ".repeat(at))).collect(), Code::YamlDepth),
        ("a0: &a0 x\n".to_owned() + &(1..12).map(laughs).collect::<String>(), Code::YamlAlias),
        (format!("a: &a \"{}\"\nb: [{}]", "x".repeat(200_000), vec!["*a"; 4000].join(",")), Code::YamlAlias),
        (format!("a: [{}]", "x,".repeat(100_000)), Code::FrontmatterTooLarge),
        (format!("a: {}{}{}", anchored(60), "x,".repeat(18_000), "]".repeat(60)), Code::FrontmatterTooLarge),
        (format!("a: {}\"{}\"{}", anchored(60), "x".repeat(200_000), "]".repeat(60)), Code::YamlAlias),
        (format!("{}: b", "k".repeat(200_000)), Code::YamlSyntax),
        ("a: [\n]\n".repeat(30_000), Code::YamlDuplicateKey),
    ];
    for (bomb, code) in bombs {
        let start = Instant::now();
        check(&bomb, Err(code));
        // Unoptimized, on a busy machine; anything quadratic would take minutes.
        assert!(start.elapsed() < Duration::from_secs(5), "{code:?} took {:?}", start.elapsed());
    }
}
