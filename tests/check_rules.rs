//! A fixture for every code, and a snapshot of what `check` says of it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use common::{skill_md, skillserve, write};

/// What is written into the fixture's directory.
enum Part {
    /// A file.
    File(&'static str, Vec<u8>),
    /// A symbolic link: where, and to what.
    Link(&'static str, &'static str),
    /// Anything else.
    Other(fn(&Path)),
}

use Part::{File, Link, Other};

/// A `SKILL.md` of these bytes in a directory `a`.
fn raw(bytes: &[u8]) -> Vec<Part> {
    vec![File("skills/a/SKILL.md", bytes.to_vec())]
}

/// A skill `a` with these fields.
fn fields(yaml: &str) -> Vec<Part> {
    raw(format!("---\n{yaml}\n---\n\n# A\n").as_bytes())
}

/// A skill `a` without a fault, and more.
fn beside(more: Vec<Part>) -> Vec<Part> {
    let mut parts = raw(&skill_md("a", ""));
    parts.extend(more);
    parts
}

fn text(path: &'static str) -> Part {
    File(path, b"text\n".to_vec())
}

/// For each code its fixture, and the words after `check`.
fn fixtures() -> Vec<(&'static str, Vec<Part>, &'static [&'static str])> {
    const PLAIN: &[&str] = &["skills"];
    const HEAD: &str = "name: a\ndescription: d\n";
    let with = |more: &str| fields(&format!("{HEAD}{more}\nlicense: MIT"));

    vec![
        ("no-frontmatter", raw(b"# A\n"), PLAIN),
        ("unclosed-frontmatter", raw(b"---\nname: a\n"), PLAIN),
        ("not-utf8", raw(b"---\nname: a\ndescription: caf\xe9\n---\n"), PLAIN),
        ("frontmatter-too-large", fields(&format!("{HEAD}x: {}", "x".repeat(256 * 1024))), PLAIN),
        ("yaml-syntax", fields("name: a\ndescription: Use this: now"), PLAIN),
        ("yaml-duplicate-key", fields("name: a\nname: a\ndescription: d"), PLAIN),
        ("yaml-depth", fields(&format!("{HEAD}x: {}{}", "[".repeat(70), "]".repeat(70))), PLAIN),
        ("yaml-alias", fields(&format!("{HEAD}x: &x [1]\ny: [{}]", "*x, ".repeat(200))), PLAIN),
        ("yaml-not-json", with("x: .inf"), PLAIN),
        ("not-a-mapping", fields("- name: a"), PLAIN),
        ("name-missing", fields("description: d"), PLAIN),
        ("name-not-string", fields("name: 12\ndescription: d"), PLAIN),
        ("name-invalid", fields("name: Agent Development\ndescription: d"), PLAIN),
        ("name-mismatch", fields("name: b\ndescription: d"), PLAIN),
        ("description-missing", fields("name: a"), PLAIN),
        ("description-not-string", fields("name: a\ndescription: [d]"), PLAIN),
        ("description-blank", fields("name: a\ndescription: \"\""), PLAIN),
        ("description-too-long", fields(&format!("name: a\ndescription: {}", "x".repeat(1025))), PLAIN),
        ("unknown-field", with("version: \"1\""), PLAIN),
        ("field-type", with("allowed-tools: {a: b}"), PLAIN),
        ("reserved-key", with("metadata: {io.modelcontextprotocol/x: y}"), PLAIN),
        ("wrong-case", vec![File("skills/a/skill.md", skill_md("a", ""))], PLAIN),
        ("no-skills", vec![text("skills/a.md")], PLAIN),
        (
            "too-many-files",
            beside(vec![text("skills/a/x"), text("skills/a/y")]),
            &["--max-files", "2", "skills"],
        ),
        ("too-large", beside(vec![text("skills/a/x")]), &["--max-bytes", "50", "skills"]),
        ("uri-taken", beside(vec![File("more/a/SKILL.md", skill_md("a", ""))]), &["skills", "more"]),
        (
            "inside-another-skill",
            beside(vec![File("more/b/SKILL.md", skill_md("b", ""))]),
            &["skills", "--mount", "a=more"],
        ),
        ("link-leaves", beside(vec![text("far/x"), Link("skills/a/x", "../../far/x")]), PLAIN),
        ("link-dangles", beside(vec![Link("skills/a/x", "nowhere")]), PLAIN),
        ("link-loop", beside(vec![Link("skills/a/x", "x")]), PLAIN),
        (
            "link-refused",
            beside(vec![text("skills/a/y"), Link("skills/a/x", "y")]),
            &["--links", "refuse", "skills"],
        ),
        ("special-file", beside(vec![Other(socket)]), PLAIN),
        ("skill-md-directory", vec![text("skills/a/SKILL.md/README.md")], PLAIN),
        ("secret", beside(vec![text("skills/a/server.key")]), PLAIN),
        ("name-not-utf8", beside(vec![Other(not_utf8)]), PLAIN),
        ("too-deep", beside(vec![Other(deep)]), PLAIN),
        ("ignore-file", beside(vec![File("skills/.skillignore", b"{a\n".to_vec())]), PLAIN),
        ("refused", beside(vec![text("skills/a/server.key")]), &["--rule", "secret=error", "skills"]),
        ("junk", beside(vec![text("skills/a/.DS_Store")]), &["--rule", "junk=warn", "skills"]),
        ("hidden-unicode", fields("name: a\ndescription: Read it.\u{e0049}\u{e0067}"), PLAIN),
        ("link-not-served", raw(&[&*skill_md("a", ""), b"\nSee [it](references/x.md).\n"].concat()), PLAIN),
        ("yaml-versions", with("metadata: {beta: yes}"), PLAIN),
        ("yaml-date", with("metadata:\n  day: 2026-11-30"), &["--hosts", "fastmcp", "skills"]),
        ("yaml-block-end", fields("name: a\ndescription: >\n  d"), PLAIN),
        ("yaml-python", with("metadata: {a: \"\\ud83d\\ude80\"}"), PLAIN),
        ("yaml-typescript", fields("name: a\ndescription: \"d\n  e\""), PLAIN),
        ("byte-order-mark", raw("\u{feff}---\nname: a\ndescription: d\n---\n".as_bytes()), PLAIN),
        ("fence-blanks", raw(b"--- \nname: a\ndescription: d\n---\n"), PLAIN),
        ("file-name", beside(vec![text("skills/a/what?.md")]), PLAIN),
        ("file-name-collision", beside(vec![text("skills/a/README.md"), text("skills/a/Readme.md")]), PLAIN),
        ("message-too-large", beside(vec![File("skills/a/x", vec![0; 8 * 1024 * 1024])]), PLAIN),
        (
            "chatgpt-limits",
            beside(vec![File("skills/a/x", vec![0; 1024 * 1024 + 1])]),
            &["--hosts", "chatgpt", "skills"],
        ),
    ]
}

/// Codes without a fixture, and why.
const WITHOUT: &[(&str, &str)] = &[
    (
        "link-budget",
        "takes links to more entries than a test should make; the tree's own tests lower the budget",
    ),
    ("too-many-entries", "takes more entries than a test should make; the tree's own tests lower the budget"),
    (
        "unreadable",
        "cannot be made by the superuser, who may run the tests; the tree's own tests do so for others",
    ),
    ("changing", "is a race; the catalog's own tests make it between walk and read"),
    ("kept", "takes two looks; the catalog's own tests and those of live changes have it"),
];

fn socket(root: &Path) {
    drop(std::os::unix::net::UnixListener::bind(root.join("skills/a/socket")).unwrap());
}

fn not_utf8(root: &Path) {
    fs::write(root.join("skills/a").join(std::ffi::OsStr::from_bytes(b"caf\xe9.md")), "x").unwrap();
}

fn deep(root: &Path) {
    fs::create_dir_all(root.join("skills/a").join("d/".repeat(300))).unwrap();
}

fn make(root: &Path, parts: &[Part]) {
    for part in parts {
        match part {
            File(path, bytes) => write(root, &[(*path, &**bytes)]),
            Link(path, target) => symlink(target, root.join(path)).unwrap(),
            Other(make) => make(root),
        }
    }
}

#[test]
fn every_code_has_a_fixture() {
    let list = String::from_utf8(skillserve().arg("explain").output().unwrap().stdout).unwrap();
    let mut codes: Vec<&str> = list.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    let fixtures = fixtures();
    let mut had: Vec<&str> =
        fixtures.iter().map(|row| row.0).chain(WITHOUT.iter().map(|row| row.0)).collect();
    codes.sort_unstable();
    had.sort_unstable();
    assert_eq!(had, codes);
}

#[test]
fn every_fixture_is_told() {
    for (code, parts, words) in fixtures() {
        let bed = tempfile::tempdir().unwrap();
        make(bed.path(), &parts);
        let run = |more: &[&str]| {
            let output =
                skillserve().arg("check").args(more).args(words).current_dir(bed.path()).output().unwrap();
            assert!(matches!(output.status.code(), Some(0 | 1)), "{code}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let text = run(&[]);
        assert!(text.contains(&format!("[{code}]: ")), "{code}:\n{text}");
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!(code, text);
        });
        // Every other format says the same.
        let count = text.matches("\n = help: ").count()
            + text.matches("\n  = help: ").count()
            + text.matches("\n   = help: ").count();
        let json: serde_json::Value = serde_json::from_str(&run(&["--format", "json"])).unwrap();
        assert_eq!(json["findings"].as_array().unwrap().len(), count, "{code}:\n{text}\n{json}");
        let sarif: serde_json::Value = serde_json::from_str(&run(&["--format", "sarif"])).unwrap();
        assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), count, "{code}");
        let github = run(&["--format", "github"]);
        assert_eq!(github.lines().filter(|line| line.starts_with("::")).count(), count, "{code}: {github}");
    }
}
