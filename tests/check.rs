//! `skillserve check` as somebody types it: exit codes, formats over the same findings, rules, hosts, files, pages.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::path::Path;
use std::process::Output;

use common::{skill_md, skillserve, write};
use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

/// Skills with an error, a warning of the format, one of the disk and one about other hosts, and one without a fault.
fn bed() -> TempDir {
    let bed = tempfile::tempdir().unwrap();
    write(
        bed.path(),
        &[
            ("skills/good/SKILL.md", &skill_md("good", "")),
            ("skills/broken/SKILL.md", b"---\nname: broken\ndescription: Use this: now\n---\n"),
            (
                "skills/typed/SKILL.md",
                &skill_md("typed", "metadata:\n  version: 1.0\n  beta: yes\nlicense: MIT\n"),
            ),
            ("skills/keys/SKILL.md", &skill_md("keys", "")),
            ("skills/keys/a, b/server.key", b"secret\n"),
            ("README.md", b"no skill\n"),
        ],
    );
    bed
}

/// Runs `check` in a directory.
fn run(dir: &Path, args: &[&str]) -> Output {
    skillserve().arg("check").args(args).current_dir(dir).output().unwrap()
}

/// What it prints, of which it is known how it ends.
#[track_caller]
fn printed(dir: &Path, args: &[&str], code: i32) -> String {
    let output = run(dir, args);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_exit_code_says_how_bad_it_is() {
    let bed = bed();
    printed(bed.path(), &["skills/good"], 0);
    printed(bed.path(), &["skills/keys"], 0);
    printed(bed.path(), &["--deny-warnings", "skills/keys"], 1);
    printed(bed.path(), &["--deny-warnings", "skills/good"], 0);
    printed(bed.path(), &["skills"], 1);
    printed(bed.path(), &["--rule", "yaml-syntax=off", "skills"], 2);
    printed(bed.path(), &["--rule", "nothing=off", "skills"], 2);
    printed(bed.path(), &["--hosts", "nobody", "skills"], 2);
    printed(bed.path(), &["gone"], 2);
    let denied = skillserve()
        .args(["check", "skills/keys"])
        .env("SKILLSERVE_DENY_WARNINGS", "1")
        .current_dir(bed.path())
        .status();
    assert_eq!(denied.unwrap().code(), Some(1));
}

#[test]
fn a_rule_changes_what_a_finding_costs() {
    let bed = bed();
    let last = |args: &[&str], code| printed(bed.path(), args, code).lines().last().unwrap().to_owned();
    assert_snapshot!(last(&["skills/keys"], 0), @"1 skill (1 file, 56 B) would be served, 0 skipped, 1 warning");
    assert_snapshot!(last(&["--rule", "secret=off", "skills/keys"], 0), @"1 skill (1 file, 56 B) would be served, 0 skipped, 0 warnings");
    assert_snapshot!(last(&["--rule", "secret=error", "skills/keys"], 1), @"0 skills (0 files, 0 B) would be served, 1 skipped, 0 warnings");
    assert_snapshot!(last(&["skills/typed"], 0), @"1 skill (1 file, 109 B) would be served, 0 skipped, 2 warnings");
    assert_snapshot!(last(&["--hosts", "rmcp", "skills/typed"], 0), @"1 skill (1 file, 109 B) would be served, 0 skipped, 1 warning");
    assert_snapshot!(last(&["--portable", "skills/typed"], 1), @"0 skills (0 files, 0 B) would be served, 1 skipped, 1 warning");
    assert_snapshot!(last(&["--portable", "--hosts", "fastmcp", "skills/typed"], 0), @"1 skill (1 file, 109 B) would be served, 0 skipped, 2 warnings");
    assert_snapshot!(last(&["--portable", "--rule", "field-type=warn", "skills/typed"], 0), @"1 skill (1 file, 109 B) would be served, 0 skipped, 2 warnings");
}

#[test]
fn what_a_rule_refuses_is_not_served() {
    let bed = bed();
    let listed = |args: &[&str]| {
        let output =
            skillserve().arg("list").args(args).arg("skills").current_dir(bed.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().skip(1).map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&[]), ["good", "keys", "typed"]);
    assert_eq!(listed(&["--rule", "secret=error"]), ["good", "typed"]);
    assert_eq!(listed(&["--portable"]), ["good", "keys"]);
    assert_eq!(listed(&["--hosts", "typescript"]), ["good", "keys", "typed"]);
    assert_eq!(listed(&["--rule", "yaml-versions=error"]), ["good", "keys"]);
}

#[test]
fn text_is_for_people() {
    let bed = bed();
    assert_snapshot!(printed(bed.path(), &["./skills"], 1), @r#"
    error[yaml-syntax]: the value of `description` has a second `: ` and is not quoted
     --> ./skills/broken/SKILL.md:3:22
      |
    3 | description: Use this: now
      |                      ^
      |
      = help: put the value in quotes, or write it on the next line below `description: >-`

    warning[secret]: the name says that it holds a secret, so it is withheld
    --> ./skills/keys/a, b/server.key
     = help: move it out of the served directory, or pass `--allow-secret GLOB` if it may be read

    warning[field-type]: `metadata` has values that are no texts: `version`
     --> ./skills/typed/SKILL.md:5:3
      |
    5 |   version: 1.0
      |   ^^^^^^^^^^^^
      |
      = help: put each of these values in quotes
      = note: TypeScript client 2.4 loads no skill of this server at all

    warning[yaml-versions]: the value `yes` is the boolean true for readers of YAML 1.1
     --> ./skills/typed/SKILL.md:6:9
      |
    6 |   beta: yes
      |         ^^^
      |
      = help: put it in quotes
      = note: FastMCP 4.2 does not load this skill
      = note: fast-agent 0.10 does not load this skill

    3 skills (3 files, 221 B) would be served, 1 skipped, 3 warnings
    "#);
}

#[test]
fn github_gets_annotations() {
    let bed = bed();
    assert_snapshot!(printed(bed.path(), &["--format", "github", "./skills"], 1), @r#"
    ::error file=skills/broken/SKILL.md,line=3,endLine=3,col=22,endColumn=23,title=skillserve%3A yaml-syntax::the value of `description` has a second `: ` and is not quoted%0Ahelp: put the value in quotes, or write it on the next line below `description: >-`
    ::warning file=skills/keys/a%2C b/server.key,title=skillserve%3A secret::the name says that it holds a secret, so it is withheld%0Ahelp: move it out of the served directory, or pass `--allow-secret GLOB` if it may be read
    ::warning file=skills/typed/SKILL.md,line=5,endLine=6,title=skillserve%3A field-type::`metadata` has values that are no texts: `version`%0Ahelp: put each of these values in quotes%0Anote: TypeScript client 2.4 loads no skill of this server at all
    ::warning file=skills/typed/SKILL.md,line=6,endLine=6,col=9,endColumn=12,title=skillserve%3A yaml-versions::the value `yes` is the boolean true for readers of YAML 1.1%0Ahelp: put it in quotes%0Anote: FastMCP 4.2 does not load this skill%0Anote: fast-agent 0.10 does not load this skill
    3 skills (3 files, 221 B) would be served, 1 skipped, 3 warnings
    "#);
}

#[test]
fn json_is_one_object() {
    let bed = bed();
    assert_snapshot!(printed(bed.path(), &["--format", "json", "skills"], 1), @r#"
    {
      "version": 1,
      "summary": {
        "skills": 3,
        "files": 3,
        "bytes": 221,
        "skipped": 1,
        "errors": 1,
        "warnings": 3
      },
      "notes": [],
      "findings": [
        {
          "code": "yaml-syntax",
          "severity": "error",
          "path": "skills/broken/SKILL.md",
          "line": 3,
          "column": 22,
          "endLine": 3,
          "endColumn": 23,
          "message": "the value of `description` has a second `: ` and is not quoted",
          "help": "put the value in quotes, or write it on the next line below `description: >-`",
          "hosts": []
        },
        {
          "code": "secret",
          "severity": "warning",
          "path": "skills/keys/a, b/server.key",
          "message": "the name says that it holds a secret, so it is withheld",
          "help": "move it out of the served directory, or pass `--allow-secret GLOB` if it may be read",
          "hosts": []
        },
        {
          "code": "field-type",
          "severity": "warning",
          "path": "skills/typed/SKILL.md",
          "line": 5,
          "column": 3,
          "endLine": 6,
          "endColumn": 12,
          "message": "`metadata` has values that are no texts: `version`",
          "help": "put each of these values in quotes",
          "hosts": [
            {
              "name": "typescript",
              "loses": "listing"
            }
          ]
        },
        {
          "code": "yaml-versions",
          "severity": "warning",
          "path": "skills/typed/SKILL.md",
          "line": 6,
          "column": 9,
          "endLine": 6,
          "endColumn": 12,
          "message": "the value `yes` is the boolean true for readers of YAML 1.1",
          "help": "put it in quotes",
          "hosts": [
            {
              "name": "fastmcp",
              "loses": "skill"
            },
            {
              "name": "fast-agent",
              "loses": "skill"
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn sarif_has_a_result_for_each_finding() {
    let bed = bed();
    let log: Value =
        serde_json::from_str(&printed(bed.path(), &["--format", "sarif", "./skills"], 1)).unwrap();
    let run = &log["runs"][0];
    assert_snapshot!(serde_json::to_string_pretty(&run["results"]).unwrap(), @r#"
    [
      {
        "ruleId": "yaml-syntax",
        "ruleIndex": 4,
        "level": "error",
        "message": {
          "text": "the value of `description` has a second `: ` and is not quoted. Put the value in quotes, or write it on the next line below `description: >-`."
        },
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "skills/broken/SKILL.md"
              },
              "region": {
                "startLine": 3,
                "startColumn": 22,
                "endLine": 3,
                "endColumn": 23
              }
            }
          }
        ]
      },
      {
        "ruleId": "secret",
        "ruleIndex": 34,
        "level": "warning",
        "message": {
          "text": "the name says that it holds a secret, so it is withheld. Move it out of the served directory, or pass `--allow-secret GLOB` if it may be read."
        },
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "skills/keys/a%2C%20b/server.key"
              }
            }
          }
        ]
      },
      {
        "ruleId": "field-type",
        "ruleIndex": 19,
        "level": "warning",
        "message": {
          "text": "`metadata` has values that are no texts: `version`. Put each of these values in quotes."
        },
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "skills/typed/SKILL.md"
              },
              "region": {
                "startLine": 5,
                "startColumn": 3,
                "endLine": 6,
                "endColumn": 12
              }
            }
          }
        ],
        "properties": {
          "hosts": [
            {
              "name": "typescript",
              "loses": "listing"
            }
          ]
        }
      },
      {
        "ruleId": "yaml-versions",
        "ruleIndex": 46,
        "level": "warning",
        "message": {
          "text": "the value `yes` is the boolean true for readers of YAML 1.1. Put it in quotes."
        },
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "skills/typed/SKILL.md"
              },
              "region": {
                "startLine": 6,
                "startColumn": 9,
                "endLine": 6,
                "endColumn": 12
              }
            }
          }
        ],
        "properties": {
          "hosts": [
            {
              "name": "fastmcp",
              "loses": "skill"
            },
            {
              "name": "fast-agent",
              "loses": "skill"
            }
          ]
        }
      }
    ]
    "#);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == "secret").unwrap();
    assert_eq!(rule["shortDescription"]["text"], "A file's name says that it holds a secret");
    assert_eq!(rule["defaultConfiguration"]["level"], "warning");
    for result in run["results"].as_array().unwrap() {
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
    }
}

#[test]
fn a_file_stands_for_the_skill_that_holds_it() {
    let bed = bed();
    let all = ["skills/typed/SKILL.md", "skills/keys/a, b/server.key", "README.md"];
    let text = printed(bed.path(), &all, 0);
    assert!(
        text.contains("skills/typed/SKILL.md:6:9") && text.contains("skills/keys/a, b/server.key"),
        "{text}"
    );
    assert!(text.contains("note: README.md: no skill holds it\n"), "{text}");
    assert!(text.ends_with("2 skills (2 files, 165 B) would be served, 0 skipped, 3 warnings\n"), "{text}");
    // The name is judged by the real directory.
    assert!(printed(&bed.path().join("skills/good"), &["SKILL.md"], 0).starts_with("1 skill "));
    std::fs::rename(bed.path().join("skills/good"), bed.path().join("skills/other")).unwrap();
    assert!(printed(&bed.path().join("skills/other"), &["SKILL.md"], 1).contains("error[name-mismatch]"));
    // Two skills of one name in different places do not take each other's URI.
    write(bed.path(), &[("more/keys/SKILL.md", &skill_md("keys", ""))]);
    printed(bed.path(), &["skills/keys/SKILL.md", "more/keys/SKILL.md"], 0);
}

#[test]
fn a_link_in_the_instructions_leads_to_a_served_file() {
    let bed = tempfile::tempdir().unwrap();
    let told = |links: &str| {
        let text = [&*skill_md("a", ""), links.as_bytes()].concat();
        write(
            bed.path(),
            &[("a/SKILL.md", &text), ("a/ref/My file.md", b""), ("a/.hidden/x", b""), ("a/x.key", b"")],
        );
        let text = printed(bed.path(), &["--format", "json", "a"], 0);
        let report: Value = serde_json::from_str(&text).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let links = findings.iter().filter(|finding| finding["code"] == "link-not-served");
        links
            .map(|finding| {
                format!("{}: {}\n", finding["message"].as_str().unwrap(), finding["help"].as_str().unwrap())
            })
            .collect::<String>()
    };
    for served in [
        "[a](ref/My%20file.md#top)",
        "![a](<ref/My file.md>)",
        "[a](ref)",
        "[a](./ref/)",
        "[a](https://x.example/y)",
        "[a](#b)",
        "`[a](gone)`",
        "[a](../a/SKILL.md)",
    ] {
        let expected = if served.contains("..") { "put a copy" } else { "" };
        assert!(
            told(served).contains(expected) && told(served).is_empty() == expected.is_empty(),
            "{served}"
        );
    }
    assert_snapshot!(told("[a](ref/my%20file.md) [b](gone.md)\n[c](.hidden/x) [d](x.key) [d](x.key) [e](../b)"), @r#"
    the link to `ref/my file.md` leads to no served file: write `My file.md`, as the name is spelt
    the link to `gone.md` leads to no served file: correct the link, or add the file; it may be excluded, or another finding may say why it is withheld
    the link to `.hidden/x` leads to no served file: correct the link; what begins with a dot is only served with --include-hidden
    the link to `x.key` leads to no served file: correct the link, or add the file; it may be excluded, or another finding may say why it is withheld
    the link to `../b` leaves the skill, whose own files are all that a host reads: put a copy of the file into the skill, and link to that
    "#);
}

#[test]
fn every_code_can_be_explained() {
    let explain = |args: &[&str]| skillserve().arg("explain").args(args).output().unwrap();
    let list = String::from_utf8(explain(&[]).stdout).unwrap();
    for line in list.lines() {
        let code = line.split_whitespace().next().unwrap();
        let output = explain(&[code]);
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && page.contains(&format!("\n{code}: ")), "{code}: {page}");
        for heading in ["## What", "## Why", "## Example", "## Cure"] {
            assert!(page.contains(heading), "{code}: {page}");
        }
    }
    assert!(list.lines().count() > 50, "{list}");
    assert_snapshot!(String::from_utf8(explain(&["yaml-block-end"]).stdout).unwrap(), @r#"
    # A block of text ends the frontmatter

    yaml-block-end: warning, told by `check` and with `--hosts`

    ## What

    The last field is a block (`|` or `>`, also `|+` and `>+`), whose value ends with a line end.

    ## Why

    FastMCP cuts the last line end off before it parses, so its value lacks it; with `+` readers count
    the empty lines before the closing `---` differently. Then the value is not the one that the server
    states, and the skill is not loaded.

    ## Example

    ```text
    ---
    name: pdf
    description: >
      Reads PDF files.
    ---
    ```

    ## Cure

    End the block with a dash, `>-` or `|-`, or put another field behind it.
    "#);
    assert_snapshot!(String::from_utf8(explain(&["nothing"]).stderr).unwrap().lines().next().unwrap(), @r#"error: there is no code "nothing": `skillserve explain` lists them"#);
}
