use insta::assert_snapshot;

use super::*;
use crate::frontmatter;

/// Every problem of a frontmatter, a line each: code, marked text, message, cure, who loses the skill.
fn told(yaml: &str) -> String {
    of_file(&format!("---\n{yaml}\n---\n"))
}

fn of_file(file: &str) -> String {
    let frontmatter = frontmatter::parse(file.as_bytes()).expect("it is YAML");
    let told = in_frontmatter(file, &frontmatter).into_iter().map(|found| {
        let marked = file.get(found.span.clone()).expect("the span is in the file");
        let hosts: Vec<_> = found.elsewhere.iter().map(|at| at.host.as_str()).collect();
        let (code, hosts) = (found.code.as_str(), hosts.join(" "));
        format!("{code} at {marked:?}: {}; {} [{hosts}]", found.message, found.help)
    });
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_every_host_reads_alike_is_passed_over() {
    for yaml in [
        "name: a\ndescription: d\nlicense: MIT\nmetadata:\n  version: \"1.0\"\n  n: 12\n  f: 1.5",
        "name: a\ndescription: >-\n  long\n  text",
        "name: a\ndescription: >\n  long\n  text\nlicense: MIT",
        "name: a\ndescription: |\n  text\n# comment",
        "name: a\ndescription: plain\n  over lines\nx: [a, \"b\", {c: d}]",
        "name: a\ndescription: 'it''s'\nx:\n- a\n- b: c\n  d: e",
        "name: a\ndescription: \"tab\there\" # and\ta comment\nx: |\n  a\tb\ny: z",
        "name: a\ndescription: Why? a, b:c? no\n".trim_end(),
    ] {
        assert_eq!(told(yaml), "", "{yaml}");
    }
}

#[test]
fn values_that_yaml_1_1_sees_differently_are_told() {
    assert_snapshot!(told("name: yes\ndescription: d"), @r#"yaml-versions at "yes": the value `yes` is the boolean true for readers of YAML 1.1; put it in quotes [fastmcp fast-agent]"#);
    assert_snapshot!(told("name: a\ndescription: d\nmetadata:\n  a: 017\n  b: 1_000\n  c: 12:30"), @r#"yaml-versions at "017": the value `017` is another number for readers of YAML 1.1, and 2 more like it; put it in quotes [fastmcp fast-agent]"#);
    assert_snapshot!(told("name: a\ndescription: d\non: x"), @r#"yaml-versions at "on": the key `on` is the boolean true for readers of YAML 1.1; put it in quotes [fastmcp fast-agent]"#);
    assert_snapshot!(told("name: a\ndescription: d\nmetadata:\n  day: 2026-11-30"), @r#"yaml-date at "2026-11-30": `2026-11-30` is a date for readers of YAML 1.1; put it in quotes [fastmcp]"#);
    assert_snapshot!(told("name: a\ndescription: d\nmetadata:\n  at: 2026-11-30 10:00:00"), @r#"yaml-date at "2026-11-30 10:00:00": `2026-11-30 10:00:00` is a date for readers of YAML 1.1; put it in quotes [fastmcp fast-agent]"#);
    assert_snapshot!(told("name: 2026-11-30\ndescription: d"), @r#"yaml-date at "2026-11-30": `2026-11-30` is a date for readers of YAML 1.1; put it in quotes [fastmcp fast-agent]"#);
}

#[test]
fn a_block_that_ends_the_frontmatter_is_told() {
    assert_snapshot!(told("name: a\ndescription: >\n  text"), @r#"yaml-block-end at "text": a block of text ends the frontmatter, and readers see another line end there; write `>-` or `|-`, or put another field behind it [fastmcp]"#);
    assert_snapshot!(told("name: a\ndescription: |+\n  text"), @r#"yaml-block-end at "text": a block of text ends the frontmatter, and readers see another line end there; put another field behind it, or write `-` for the `+` [fastmcp]"#);
    assert_snapshot!(told("name: a\ndescription: |+\n  text\n"), @r#"yaml-block-end at "text": a block of text ends the frontmatter, and readers see another line end there; put another field behind it, or remove the empty line [typescript fast-agent]"#);
}

#[test]
fn what_pyyaml_does_not_read_is_told() {
    assert_snapshot!(told("name: a\ndescription:\td"), @r#"yaml-python at "\t": a tab stands outside quotes, which PyYAML refuses; use spaces [fastmcp]"#);
    assert_snapshot!(told("name: a\ndescription: d\nargument-hint: [file?]"), @r#"yaml-python at "file?": a value between brackets has a `?`, which PyYAML reads as a mark; put it in quotes [fastmcp]"#);
    assert_snapshot!(told("name: a\ndescription: d\nx: [:a]"), @r#"yaml-python at ":a": a value between brackets begins with `?` or `:`, which PyYAML reads as a mark; put it in quotes [fastmcp fast-agent]"#);
    assert_snapshot!(told("name: a\ndescription: a\u{2028}b"), @r#"yaml-python at "\u{2028}": a line separator stands in the text, which PyYAML takes for a line end; remove it [fastmcp fast-agent]"#);
    assert_snapshot!(told("name: a\ndescription: \"\\ud83d\\ude80\""), @r#"yaml-python at "\\ud83d\\ude80": PyYAML does not put two surrogates together; write the character itself [fast-agent]"#);
    assert_snapshot!(told("name: a\ndescription: d\ncontent: x"), @r#"yaml-python at "content": a field has a name that the host keeps for itself; name it otherwise, or move it below `metadata:` [fast-agent]"#);
    assert_snapshot!(told("name: a\ndescription: d\nx: [&k v, &k w]"), @r#"
    yaml-python at "w": two values have the same anchor, which PyYAML refuses; name the anchors differently [fastmcp fast-agent]
    yaml-typescript at "v": an anchor or a tag is used, which the TypeScript client's reader does not take; remove it, and write the value out where it was used [typescript]
    "#);
    assert_snapshot!(told("name: a\ndescription: d\nx: !mine v"), @r#"
    yaml-python at "v": a value has a tag that PyYAML does not know; remove the tag [fastmcp fast-agent]
    yaml-typescript at "v": an anchor or a tag is used, which the TypeScript client's reader does not take; remove it, and write the value out where it was used [typescript]
    "#);
    assert_snapshot!(told("name: a\ndescription: d\nx:\n  -\tv"), @r#"yaml-python at "\t": a tab follows a dash, which PyYAML refuses; use spaces [fastmcp fast-agent]"#);
    assert_snapshot!(told("name: a\ndescription: d\nx: {a:[b]}"), @r#"
    yaml-python at "a": a bracket follows a colon without a blank between brackets; put a blank behind the colon [fast-agent]
    yaml-typescript at "a": no blank follows a colon between brackets, which the TypeScript client's reader does not take; put a blank behind the colon [typescript]
    "#);
    assert_snapshot!(told("name: a\ndescription: d\nx: !\ny: v"), @r#"
    yaml-python at "": the tag `!` stands before nothing; remove the tag [fastmcp]
    yaml-typescript at "": an anchor or a tag is used, which the TypeScript client's reader does not take; remove it, and write the value out where it was used [typescript]
    "#);
    assert_snapshot!(told("name: a\ndescription: d\nx: |\n  \tv\ny: v"), @r#"yaml-python at "\t": a tab begins a block of text, which PyYAML refuses; begin the text without it [fast-agent]"#);
    assert_snapshot!(told("name: a\ndescription: d\nx: &k v\ny: *k"), @r#"
    yaml-python at "*k": an alias is used; write the value out [fastmcp]
    yaml-typescript at "v": an anchor or a tag is used, which the TypeScript client's reader does not take; remove it, and write the value out where it was used [typescript]
    "#);
    assert_snapshot!(told("name: a\ndescription: d\n1: x"), @r#"
    yaml-python at "1": a key is no text; put it in quotes [fastmcp fast-agent]
    yaml-typescript at "1": a key is no text, which the TypeScript client's reader does not take; put it in quotes [typescript]
    "#);
}

#[test]
fn what_the_typescript_client_does_not_read_is_told() {
    assert_snapshot!(told("name: a\ndescription: \"over\n  lines\""), @r#"yaml-typescript at "\"over": a text in quotes goes on in the next line, which the TypeScript client's reader does not take; write it in one line, or below `>-` [typescript]"#);
    assert_snapshot!(told("name: a\ndescription: d\nx: [\n  a,\n]"), @r#"yaml-typescript at "[": brackets go on in the next line, which the TypeScript client's reader does not take; write one `- ` or one `key: value` a line, without brackets [typescript]"#);
    assert_snapshot!(told("name: a\ndescription: |2\n   text\nx: y"), @r#"yaml-typescript at " text": a block of text has an indentation indicator, which the TypeScript client's reader does not take; begin the text with a line that is not indented more [typescript]"#);
    assert_snapshot!(told("name: a\ndescription: d\n? k\n: v"), @r#"yaml-typescript at "k": a key is written with `?`, which the TypeScript client's reader does not take; write `key: value` [typescript]"#);
    assert_snapshot!(told("name: a\ndescription: d\nx: [a: b]"), @r#"yaml-typescript at "a: b": a pair stands in a list between brackets, which the TypeScript client's reader does not take; put it between braces, or in quotes [typescript]"#);
    assert_snapshot!(told("name: a\ndescription: d\nx: {a}"), @r#"yaml-typescript at "": nothing stands where a value is expected between brackets, which the TypeScript client's reader does not take; write the value, or `null` [typescript]"#);
    assert_snapshot!(told("name: a\ndescription: d\n..."), @r#"yaml-typescript at "...": a line `...` ends the document, which the TypeScript client's reader does not take; remove it [typescript]"#);
    assert_snapshot!(told("{name: a, description: d}"), @r#"yaml-typescript at "{name: a, description: d}": the fields stand between brackets, which the TypeScript client's reader does not take; write one `key: value` a line [typescript]"#);
    let deep = format!("name: a\ndescription: d\nx: {}1{}", "[".repeat(33), "]".repeat(33));
    assert!(told(&deep).starts_with("yaml-typescript at \"[1]\": collections are nested"), "{}", told(&deep));
    let deep = format!("name: a\ndescription: d\nx: {}1{}", "[".repeat(32), "]".repeat(32));
    assert_eq!(told(&deep), "");
}

#[test]
fn what_stands_around_the_frontmatter_is_told() {
    assert_snapshot!(of_file("\u{feff}---\nname: a\ndescription: d\n---\n"), @r#"byte-order-mark at "\u{feff}": a byte-order mark stands before the frontmatter; save the file as UTF-8 without a mark [fast-agent]"#);
    assert_snapshot!(of_file("--- \nname: a\ndescription: d\n---\n"), @r#"fence-blanks at "--- ": blanks follow the line `---`; remove the blanks [typescript fastmcp]"#);
    assert_snapshot!(of_file("---\nname: a\ndescription: d\n---\t\nbody"), @r#"fence-blanks at "---\t": blanks follow the line `---`; remove the blanks [fastmcp]"#);
    assert_eq!(of_file("---\r\nname: a\r\ndescription: d\r\n---\r\n"), "");
}

/// Every fault of a skill with these files, of 3 bytes each unless the path says more.
fn of_files(name: &str, files: &[(&str, u64)], hosts: &[Host]) -> String {
    let held: Vec<_> = files
        .iter()
        .map(|(path, size)| Held { path: (*path).to_owned(), file: Some((*size, *size)) })
        .collect();
    let told = in_files(name, &held, hosts).into_iter().map(|fault| {
        let hosts: Vec<_> = fault
            .elsewhere
            .iter()
            .map(|at| format!("{} loses {}", at.host.as_str(), at.loss.as_str()))
            .collect();
        let (code, path, hosts) = (fault.code.as_str(), fault.path, hosts.join(", "));
        format!("{code} {path:?}: {}; {} [{hosts}]", fault.message, fault.help)
    });
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn names_that_not_every_system_holds_are_told() {
    let portable =
        [("SKILL.md", 3), ("a b.md", 3), ("Ä.md", 3), ("console.md", 3), (".hidden", 3), ("com.md", 3)];
    assert_eq!(of_files("a", &portable, Host::DEFAULT), "");
    assert_snapshot!(of_files("aux", &[("SKILL.md", 3), ("a:b", 3), ("dot.", 3), ("NUL.txt", 3), ("a\\b", 3), ("com1", 3)], Host::DEFAULT), @r#"
    file-name "": the name is one that Windows keeps for a device; rename it [fast-agent loses listing, windows loses file]
    file-name "a:b": the name has a character that Windows does not allow; rename it [fastmcp loses skill, fast-agent loses listing, windows loses file]
    file-name "dot.": the name ends with a dot or a blank, which Windows cuts off; rename it [fast-agent loses listing, windows loses file]
    file-name "NUL.txt": the name is one that Windows keeps for a device; rename it [fast-agent loses listing, windows loses file]
    file-name "a\\b": the name has a character that Windows does not allow; rename it [fastmcp loses listing, fast-agent loses listing, windows loses file]
    file-name "com1": the name is one that Windows keeps for a device; rename it [fast-agent loses listing, windows loses file]
    "#);
    assert_snapshot!(of_files("a", &[("README.md", 3), ("Readme.md", 3), ("e\u{301}", 3), ("é", 3)], Host::DEFAULT), @r#"
    file-name-collision "Readme.md": the path is that of README.md where case does not count; rename it [fast-agent loses listing, windows loses file]
    file-name-collision "é": the path is that of é where case does not count; rename it [fast-agent loses listing, windows loses file]
    "#);
    assert!(of_files("a", &[(&"d/".repeat(600), 3)], Host::DEFAULT).contains("longer than 1024"));
}

#[test]
fn files_that_are_too_large_are_told() {
    let mib = 1024 * 1024;
    assert_eq!(of_files("a", &[("a", 10 * mib)], Host::DEFAULT), "");
    assert_snapshot!(of_files("a", &[("a", 10 * mib + 1), ("b", 17 * mib)], Host::DEFAULT), @r#"
    message-too-large "a": the message that carries the file has more than 10485761 bytes; make the file smaller, or split it [typescript loses file, inspector loses file]
    message-too-large "b": the message that carries the file has more than 17825792 bytes; make the file smaller, or split it [typescript loses file, inspector loses file, rmcp loses file]
    "#);
    assert_eq!(of_files("a", &[("SKILL.md", mib), ("b", 2 * mib)], Host::DEFAULT), "");
    assert_snapshot!(of_files("a", &[("SKILL.md", mib), ("b", 6 * mib)], &[Host::ChatGpt]), @r#"
    chatgpt-limits "SKILL.md": the skill has 7340032 bytes, and ChatGPT imports at most 5242880; serve fewer or smaller files to ChatGPT [chatgpt loses listing]
    chatgpt-limits "SKILL.md": the file has 1048576 bytes, and ChatGPT imports at most 262144; serve fewer or smaller files to ChatGPT [chatgpt loses listing]
    "#);
    assert_eq!(too_many_for_chatgpt(5), None);
    assert_eq!(
        too_many_for_chatgpt(6).map(|(message, _)| message).as_deref(),
        Some("there are 6 skills, and ChatGPT imports at most 5")
    );
}
