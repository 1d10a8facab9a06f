//! What is served from real directories, and what is said of the rest.

mod again;
mod known;
mod live;
mod reads;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::tree::{self, Mount, Roots};

use super::*;

/// Writes files below a new directory; one whose content is empty and whose name ends in a slash is a directory.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = dir.path().join(path);
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }
    dir
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: d\n---\n")
}

fn mount(prefix: &str, dir: &Path) -> Mount {
    Mount { prefix: prefix.to_owned(), dir: dir.to_owned() }
}

/// The skills with their files, then the findings with paths below `shown_below`.
fn render(mounts: &[Mount], options: &Options, shown_below: &Path) -> String {
    let roots = Roots::open(mounts, &tree::Options::default()).unwrap();
    let (tree, walked) = roots.walk();
    let Built { snapshot, findings, .. } = build(&tree, walked, options, None);
    let mut text = String::new();
    for skill in snapshot.skills() {
        writeln!(text, "{}", skill.path).unwrap();
        for (path, _) in snapshot.files(skill) {
            writeln!(text, "  {}", &path[skill.path.len() + 1..]).unwrap();
        }
    }
    for finding in findings.iter() {
        let path = finding.path.strip_prefix(shown_below).unwrap_or(&finding.path);
        writeln!(text, "{}[{}] {}", finding.severity.as_str(), finding.code.as_str(), path.display())
            .unwrap();
    }
    text
}

/// Serves one directory without a prefix.
#[track_caller]
fn check(files: &[(&str, &str)], options: &Options, expected: &str) {
    let dir = directory(files);
    assert_eq!(render(&[mount("", dir.path())], options, dir.path()), expected);
}

#[test]
fn nested_skills_are_files_of_the_skill_around_them_and_skills_of_their_own() {
    check(
        &[
            ("outer/SKILL.md", &skill("outer")),
            ("outer/a.md", "a"),
            ("outer/parts/inner/SKILL.md", &skill("inner")),
            ("outer/parts/inner/b.md", "b"),
            ("outer-other/SKILL.md", &skill("outer-other")),
        ],
        &Options::default(),
        "outer\n  SKILL.md\n  a.md\n  parts/inner/SKILL.md\n  parts/inner/b.md\nouter/parts/inner\n  SKILL.md\n  b.md\n\
         outer-other\n  SKILL.md\n",
    );
}

#[test]
fn a_nested_skill_md_that_is_no_skill_is_a_file_all_the_same() {
    check(
        &[("outer/SKILL.md", &skill("outer")), ("outer/example/SKILL.md", "# a template\n")],
        &Options::default(),
        "outer\n  SKILL.md\n  example/SKILL.md\nerror[no-frontmatter] outer/example/SKILL.md\n",
    );
}

#[test]
fn a_good_skill_inside_a_bad_one_is_served() {
    check(
        &[("outer/SKILL.md", "# broken\n"), ("outer/a.md", "a"), ("outer/inner/SKILL.md", &skill("inner"))],
        &Options::default(),
        "outer/inner\n  SKILL.md\nerror[no-frontmatter] outer/SKILL.md\n",
    );
}

#[test]
fn vercel_labs_agent_skills_330_a_name_that_is_not_the_directorys_is_told() {
    let files = [("acme-react/SKILL.md", skill("react")), ("b/SKILL.md", skill("b"))];
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    check(&files, &Options::default(), "b\n  SKILL.md\nerror[name-mismatch] acme-react/SKILL.md\n");
    let moved = Options { on_name_mismatch: OnNameMismatch::UseName, ..Options::default() };
    check(&files, &moved, "b\n  SKILL.md\nreact\n  SKILL.md\n");
}

#[test]
fn a_skill_is_not_moved_onto_another_or_inside_one() {
    let moved = Options { on_name_mismatch: OnNameMismatch::UseName, ..Options::default() };
    check(
        &[
            ("a-react/SKILL.md", &skill("react")),
            ("react/SKILL.md", &skill("react")),
            ("x1/SKILL.md", &skill("x")),
            ("x2/SKILL.md", &skill("x")),
            ("outer/SKILL.md", &skill("outer")),
            ("outer/in/SKILL.md", &skill("inner")),
        ],
        &moved,
        "outer\n  SKILL.md\n  in/SKILL.md\nreact\n  SKILL.md\nx\n  SKILL.md\nerror[uri-taken] a-react/SKILL.md\n\
         error[name-mismatch] outer/in/SKILL.md\nerror[uri-taken] x2/SKILL.md\n",
    );
}

#[test]
fn the_first_root_keeps_a_uri_and_roots_do_not_nest() {
    let dir = directory(&[
        ("1/foo/SKILL.md", &skill("foo")),
        ("1/bar/SKILL.md", &skill("bar")),
        ("2/foo/SKILL.md", &skill("foo")),
        ("2/bar/baz/SKILL.md", &skill("baz")),
        ("3/deep/SKILL.md", &skill("deep")),
    ]);
    let mounts = ["", "", "foo/x"].iter().zip(["1", "2", "3"]);
    let mounts: Vec<_> = mounts.map(|(prefix, at)| mount(prefix, &dir.path().join(at))).collect();
    assert_eq!(
        render(&mounts, &Options::default(), dir.path()),
        "bar\n  SKILL.md\nfoo\n  SKILL.md\nerror[inside-another-skill] 2/bar/baz/SKILL.md\n\
         error[uri-taken] 2/foo/SKILL.md\nerror[inside-another-skill] 3/deep/SKILL.md\n"
    );
}

#[test]
fn one_name_under_two_prefixes_is_two_skills() {
    let dir = directory(&[("refunds/SKILL.md", &skill("refunds"))]);
    let mounts = [mount("acme/billing", dir.path()), mount("support", dir.path())];
    assert_eq!(
        render(&mounts, &Options::default(), dir.path()),
        "acme/billing/refunds\n  SKILL.md\nsupport/refunds\n  SKILL.md\n"
    );
}

#[test]
fn getsentry_dotagents_69_a_root_that_is_a_skill_is_served_under_its_name() {
    let dir = directory(&[("pdf/SKILL.md", &skill("pdf")), ("pdf/more/SKILL.md", &skill("more"))]);
    let mounts = [mount("", &dir.path().join("pdf"))];
    assert_eq!(
        render(&mounts, &Options::default(), dir.path()),
        "pdf\n  SKILL.md\n  more/SKILL.md\npdf/more\n  SKILL.md\n"
    );
    let dir = directory(&[("other/SKILL.md", &skill("pdf"))]);
    let mounts = [mount("acme", &dir.path().join("other"))];
    assert_eq!(render(&mounts, &Options::default(), dir.path()), "error[name-mismatch] other/SKILL.md\n");
    let moved = Options { on_name_mismatch: OnNameMismatch::UseName, ..Options::default() };
    assert_eq!(render(&mounts, &moved, dir.path()), "acme/pdf\n  SKILL.md\n");
}

#[test]
fn limits_cost_the_skill_that_passes_them_and_not_those_inside() {
    let options = Options { limits: Limits { max_files: 3, max_bytes: 100 }, ..Options::default() };
    check(
        &[
            ("many/SKILL.md", &skill("many")),
            ("many/1", ""),
            ("many/in/SKILL.md", &skill("in")),
            ("many/in/2", ""),
            ("large/SKILL.md", &skill("large")),
            ("large/x", &"x".repeat(100)),
            ("three/SKILL.md", &skill("three")),
            ("three/1", ""),
            ("three/2", ""),
        ],
        &options,
        "many/in\n  2\n  SKILL.md\nthree\n  1\n  2\n  SKILL.md\nerror[too-large] large/SKILL.md\n\
         error[too-many-files] many/SKILL.md\n",
    );
}

#[test]
fn files_that_grew_after_the_walk_count_as_they_are_read() {
    let dir = directory(&[("a/SKILL.md", &skill("a")), ("a/x", ""), ("a/in/SKILL.md", &skill("in"))]);
    let roots = Roots::open(&[mount("", dir.path())], &tree::Options::default()).unwrap();
    let (tree, _) = roots.walk();
    fs::write(dir.path().join("a/x"), "x".repeat(90)).unwrap();
    let options = Options { limits: Limits { max_files: 9, max_bytes: 100 }, ..Options::default() };
    let Built { snapshot, findings, .. } = build(&tree, vec![], &options, None);
    let served: Vec<_> = snapshot.skills().map(|skill| &*skill.path).collect();
    assert_eq!(served, ["a/in"]);
    assert!(snapshot.node("a/x").is_none());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, crate::finding::Code::TooLarge);
}

#[test]
fn anthropics_claude_code_16983_a_wrong_case_is_told() {
    check(
        &[
            ("a/skill.md", &skill("a")),
            ("b/SKILL.MD", ""),
            ("c/SKILL.md", &skill("c")),
            ("c/ref/skill.md", ""),
        ],
        &Options::default(),
        "c\n  SKILL.md\n  ref/skill.md\nerror[wrong-case] a/skill.md\nerror[wrong-case] b/SKILL.MD\n",
    );
}

#[test]
fn github_copilot_cli_1773_a_directory_without_skills_is_told() {
    check(&[], &Options::default(), "warning[no-skills] \n");
    let dir = directory(&[("foo.md", &skill("foo"))]);
    let roots = Roots::open(&[mount("", dir.path())], &tree::Options::default()).unwrap();
    let Built { findings, .. } = build(&roots.walk().0, vec![], &Options::default(), None);
    assert_eq!(findings[0].help, "a skill is a directory: turn foo.md into foo/SKILL.md");
}

#[test]
fn children_are_direct_and_continue_after_a_name() {
    let dir = directory(&[
        ("a/SKILL.md", &skill("a")),
        ("a/b/1", ""),
        ("a/b/c/2", ""),
        ("a/b-c", ""),
        ("a/b.md", ""),
        ("a/empty/", ""),
    ]);
    let roots = Roots::open(&[mount("", dir.path())], &tree::Options::default()).unwrap();
    let Built { snapshot, .. } = build(&roots.walk().0, vec![], &Options::default(), None);
    let children = |path: &str, after: Option<&str>| {
        let children = snapshot.children(path, after);
        children.map(|children| children.map(|child| child.path.to_string()).collect::<Vec<_>>())
    };
    let all = ["a/SKILL.md", "a/b", "a/b-c", "a/b.md", "a/empty"].map(str::to_owned);
    assert_eq!(children("a", None), Some(all.to_vec()));
    for at in 0..all.len() {
        assert_eq!(children("a", Some(&all[at])), Some(all[at + 1..].to_vec()), "after {}", all[at]);
    }
    assert_eq!(children("a", Some("a/b/c")), Some(all[2..].to_vec()));
    assert_eq!(children("a/empty", None), Some(vec![]));
    assert_eq!(children("a/SKILL.md", None), None);
    assert_eq!(children("a/nothing", None), None);
    assert_eq!(children("", None), None);
}

#[test]
fn what_a_rule_makes_an_error_costs_the_skills_that_hold_it() {
    let typed = |name: &str| format!("---\nname: {name}\ndescription: d\nlicense: 2\n---\n");
    let with = |rule: &str| {
        let mut options = Options::default();
        options.rules.set(rule).unwrap();
        options
    };
    // About a SKILL.md: its own skill, and no other.
    let files = [
        ("a/SKILL.md", &*typed("a")),
        ("a/x", ""),
        ("a/in/SKILL.md", &skill("in")),
        ("b/SKILL.md", &skill("b")),
    ];
    check(
        &files,
        &with("field-type=error"),
        "a/in\n  SKILL.md\nb\n  SKILL.md\nerror[field-type] a/SKILL.md\n",
    );
    let files = [("a/SKILL.md", &*skill("a")), ("a/in/SKILL.md", &typed("in"))];
    check(
        &files,
        &with("field-type=error"),
        "a\n  SKILL.md\n  in/SKILL.md\nerror[field-type] a/in/SKILL.md\n",
    );
    // About any other file: every skill around it.
    let files = [
        ("a/SKILL.md", &*skill("a")),
        ("a/in/SKILL.md", &skill("in")),
        ("a/in/x.key", ""),
        ("b/SKILL.md", &skill("b")),
    ];
    check(
        &files,
        &with("secret=error"),
        "b\n  SKILL.md\nerror[refused] a/SKILL.md\nerror[refused] a/in/SKILL.md\nerror[secret] a/in/x.key\n",
    );
    check(&files[..3], &with("secret=off"), "a\n  SKILL.md\n  in/SKILL.md\na/in\n  SKILL.md\n");
}
