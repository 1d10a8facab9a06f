use insta::assert_snapshot;

use super::*;
use crate::frontmatter;

/// Every problem of a frontmatter, a line each: code, marked text, message, cure.
fn told(yaml: &str) -> String {
    let file = format!("---\n{yaml}\n---\n");
    let (name, problems) = judge(&frontmatter::parse(file.as_bytes()).expect("it is YAML"));
    let served = if name.is_some() { "served" } else { "not served" };
    let told = problems.iter().map(|found| {
        let marked = file.get(found.span.clone()).expect("the span is in the file");
        let marked: String = marked.lines().next().unwrap_or("").chars().take(40).collect();
        format!("\n{} at {marked:?}: {}; {}", found.code.as_str(), found.message, found.help)
    });
    format!("{served}{}", told.collect::<String>())
}

fn check(yaml: &str, served: bool, expected: &[Code]) {
    let file = format!("---\n{yaml}\n---\n");
    let (name, problems) = judge(&frontmatter::parse(file.as_bytes()).expect("it is YAML"));
    let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!((name.is_some(), codes.as_slice()), (served, expected), "{yaml}");
    for problem in &problems {
        assert!(
            problem.span.end <= file.len() && problem.message.len() < 1000 && problem.help.len() < 300,
            "{problem:?}"
        );
        assert!(!problem.message.ends_with('.') && !problem.help.ends_with('.'), "{problem:?}");
    }
}

#[test]
fn a_skill_needs_a_name_and_a_description() {
    check("name: pdf\ndescription: d", true, &[]);
    check("", false, &[Code::NameMissing, Code::DescriptionMissing]);
    check("name: pdf", false, &[Code::DescriptionMissing]);
    check("description: d", false, &[Code::NameMissing]);
    check("name: A\ndescription: [d]", false, &[Code::NameInvalid, Code::DescriptionNotString]);
    check("name: pdf\ndescription: ' '", false, &[Code::DescriptionBlank]);
    check("name: pdf\ndescription: \"\\u3000\"", false, &[Code::DescriptionBlank]);
    check("name: pdf\ndescription: ''", false, &[Code::DescriptionBlank]);
    check("name: pdf\ndescription: 2024-01-02", true, &[]);
    check("name: pdf\ndescription: 12", false, &[Code::DescriptionNotString]);
    check("name: ''\ndescription: d", false, &[Code::NameInvalid]);
}

#[test]
fn lengths_count_code_points() {
    check(&format!("name: pdf\ndescription: {}", "😀".repeat(1024)), true, &[]);
    check(&format!("name: pdf\ndescription: {}", "😀".repeat(1025)), false, &[Code::DescriptionTooLong]);
    check(&format!("name: pdf\ndescription: d\ncompatibility: {}", "é".repeat(500)), true, &[]);
    check(
        &format!("name: pdf\ndescription: d\ncompatibility: {}", "é".repeat(501)),
        true,
        &[Code::FieldType],
    );
    check("name: pdf\ndescription: d\ncompatibility: ''", true, &[Code::FieldType]);
}

#[test]
fn other_fields_only_warn() {
    check("name: pdf\ndescription: d\nlicense: MIT\nallowed-tools: Read Grep\nmetadata: {a: b}", true, &[]);
    check("name: pdf\ndescription: d\nargument-hint: [query]\nmodel: x", true, &[Code::UnknownField]);
    check("name: pdf\ndescription: d\nallowed-tools: [Read, Grep]", true, &[Code::FieldType]);
    check("name: pdf\ndescription: d\nlicense:\nmetadata:", true, &[Code::FieldType, Code::FieldType]);
    check("name: pdf\ndescription: d\nmetadata: {version: 1.0}", true, &[Code::FieldType]);
    check("name: pdf\ndescription: d\nmetadata: {io.modelcontextprotocol/x: a}", true, &[Code::ReservedKey]);
}

#[test]
fn names_are_told_with_their_cure() {
    assert_snapshot!(told("name: 12306\ndescription: d"), @r#"
    not served
    name-not-string at "12306": the name is a number, not a text; put it in quotes, as it is written
    "#);
    assert_snapshot!(told("name: yes\ndescription: d\nname-x: y"), @r#"
    served
    unknown-field at "name-x": the format does not define the field `name-x`; move it below `metadata:`, if no host needs it where it is
    "#);
    assert_snapshot!(told("name: true\ndescription: d"), @r#"
    not served
    name-not-string at "true": the name is a boolean, not a text; put it in quotes: `name: "true"`
    "#);
    assert_snapshot!(told("name: null\ndescription: d"), @r#"
    not served
    name-not-string at "null": the name is null, not a text; put it in quotes: `name: "null"`
    "#);
    assert_snapshot!(told("name:\ndescription: d"), @r#"
    not served
    name-not-string at "name": the name is null, not a text; write the name of the directory after `name: `
    "#);
    assert_snapshot!(told("Name: pdf\ndescription: d"), @r#"
    not served
    name-missing at "": there is no `name`, only `Name`; add a line `name: ` with the name of the directory
    "#);
    assert_snapshot!(told("name: Agent Development\ndescription: d"), @r#"
    not served
    name-invalid at "Agent Development": the name "Agent Development" has the character 'A', which a name cannot have; name the skill and its directory `agent-development`
    "#);
    assert_snapshot!(told("name: my_skill\ndescription: d"), @r#"
    not served
    name-invalid at "my_skill": the name "my_skill" has the character '_', which a name cannot have; name the skill and its directory `my-skill`
    "#);
    assert_snapshot!(told("name: plugin:nn:slug\ndescription: d"), @r#"
    not served
    name-invalid at "plugin:nn:slug": the name "plugin:nn:slug" has the character ':', which a name cannot have; name the skill and its directory `plugin-nn-slug`
    "#);
    assert_snapshot!(told("name: größe\ndescription: d"), @r#"
    not served
    name-invalid at "größe": the name "größe" has the character 'ö', which a name cannot have; use lowercase letters a–z, digits and single hyphens between them
    "#);
    assert_snapshot!(told(&format!("name: {}\ndescription: d", "a".repeat(100))), @r#"
    not served
    name-invalid at "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": the name "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" is longer than 64 characters; name the skill and its directory `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`
    "#);
}

#[test]
fn other_fields_are_told_with_their_cure() {
    assert_snapshot!(told("name: pdf\ndescription:\n- a"), @r#"
    not served
    description-not-string at "a": the description is a list, not a text; write it as one text, in quotes or below `>-`
    "#);
    assert_snapshot!(told(&format!("name: pdf\ndescription: {}", "a".repeat(1030))), @r#"
    not served
    description-too-long at "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": the description has 1030 characters, and hosts take at most 1024; shorten it by 6 characters, and move the details below the closing `---`
    "#);
    assert_snapshot!(told("name: pdf\ndescription: d\nallowed-tools:\n  - Read\n  - Grep"), @r#"
    served
    field-type at "- Read": `allowed-tools` is a list, not a text; write the tools in one line with blanks between: `allowed-tools: Read Grep`
    "#);
    assert_snapshot!(told("name: pdf\ndescription: d\nlicense: 2"), @r#"
    served
    field-type at "2": `license` is a number, not a text; put it in quotes
    "#);
    assert_snapshot!(told("name: pdf\ndescription: d\nmetadata:\n  version: 1.0\n  tags: [a]"), @r#"
    served
    field-type at "version: 1.0": `metadata` has values that are no texts: `version`, `tags`; put each of these values in quotes
    "#);
    assert_snapshot!(told("name: pdf\ndescription: d\nmetadata: x"), @r#"
    served
    field-type at "x": `metadata` is a text, not a mapping of texts; write one `key: value` a line, indented below `metadata:`
    "#);
    assert_snapshot!(told("name: pdf\ndescription: d\nmetadata: {io.modelcontextprotocol/x: a}"), @r#"
    served
    reserved-key at "{io.modelcontextprotocol/x: a}": `metadata` has keys that are reserved: `io.modelcontextprotocol/x`; use another prefix than `io.modelcontextprotocol/`
    "#);
    assert_snapshot!(told("name: pdf\ndescription: d\nversion: 1"), @r#"
    served
    unknown-field at "version": the format does not define the field `version`; move it below `metadata:`, if no host needs it where it is
    "#);
    assert_snapshot!(told("name: pdf\ndescription: d\na: 1\nb: 1\nc: 1\nd: 1\ne: 1\nf: 1\ng: 1\nh: 1\ni: 1\nj: 1"), @r#"
    served
    unknown-field at "a": the format does not define the fields `a`, `b`, `c`, `d`, `e`, `f`, `g`, `h` and 2 more; move it below `metadata:`, if no host needs it where it is
    "#);
}
