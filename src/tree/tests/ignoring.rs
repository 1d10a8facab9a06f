//! `--exclude` and `.skillignore`.

use std::sync::Arc;

use super::bed::{Bed, CANARY};
use crate::tree::limits::{BAD_LINES_TOLD_MAX, Budgets, IGNORE_FILE_MAX_BYTES, PATTERN_ENTRIES};
use crate::tree::{Hint, Mount, Options, Roots, Tree};

#[test]
fn patterns_leave_out_files_and_whole_directories() {
    let bed =
        Bed::new(&["root/s/SKILL.md", "root/s/draft.tmp", "root/s/old/x.md", "root/s/keep.tmp", "root/old"])
            .exclude("old/");
    bed.write("root/.skillignore", "*.tmp\n");
    bed.write("root/s/.skillignore", "!keep.tmp\n");
    bed.check(
        "old
         s/SKILL.md
         s/keep.tmp
         hidden: 2
         ignored: 2",
    );
}

#[test]
fn a_file_in_an_ignored_directory_does_not_come_back() {
    let bed = Bed::new(&["root/old/keep.md", "root/a.md"]);
    bed.write("root/.skillignore", "old/\n!old/keep.md\n");
    bed.check(
        "a.md
         hidden: 1
         ignored: 1",
    );
}

#[test]
fn an_ignored_link_is_no_finding() {
    let bed = Bed::new(&["root/dir/x.md"]).exclude("gone.md").exclude("alias/");
    bed.link("root/gone.md", "nowhere");
    bed.link("root/alias", "dir");
    bed.check(
        "dir/x.md
         ignored: 2",
    );
}

#[test]
fn an_ignore_file_may_be_a_link_in_the_zones_and_is_never_served() {
    let bed = Bed::new(&["root/a.tmp", "root/b.md", "root/shared/patterns"]).include_hidden();
    bed.write("root/shared/patterns", "*.tmp");
    bed.link("root/.skillignore", "shared/patterns");
    bed.check(
        "b.md
         shared/patterns = *.tmp
         hidden: 1
         ignored: 1",
    );
}

#[test]
fn a_line_that_is_no_pattern_is_told_with_its_place() {
    let bed = Bed::new(&["root/a.tmp", "root/b.md"]);
    bed.write("root/.skillignore", "*.tmp\n{a\n");
    bed.check(
        "b.md
         hidden: 1
         ignored: 1
         warning[ignore-file] root/.skillignore:2",
    );
}

#[test]
fn an_ignore_file_that_cannot_be_obeyed_closes_its_directory() {
    let bed = Bed::new(&["root/a/x.md", "root/b/x.md", "root/c/x.md", "root/d/x.md", "root/e.md"]);
    bed.write("patterns", "x.md");
    bed.write("root/a/.skillignore", &"#".repeat(usize::try_from(IGNORE_FILE_MAX_BYTES).unwrap() + 1));
    bed.write("root/b/.skillignore", &"#".repeat(usize::try_from(IGNORE_FILE_MAX_BYTES).unwrap()));
    bed.link("root/c/.skillignore", "../../patterns");
    bed.write("root/d/.skillignore/", "");
    bed.check(
        "e.md
         b/x.md
         hidden: 1
         error[ignore-file] root/a/.skillignore
         error[ignore-file] root/c/.skillignore
         error[ignore-file] root/d/.skillignore",
    );
}

#[test]
fn an_ignored_file_stays_ignored_below_a_link_to_its_directory() {
    let bed = Bed::new(&["root/real/x.md"]);
    bed.write("root/real/private.md", CANARY);
    bed.write("root/real/.skillignore", "private.md\n");
    bed.link("root/alias", "real");
    bed.check(
        "alias/x.md = root/real/x.md
         real/x.md
         hidden: 2
         ignored: 2",
    );
}

#[test]
fn a_bad_pattern_of_an_option_is_refused_at_once() {
    let bed = Bed::new(&[]);
    let mounts = [Mount { prefix: String::new(), dir: bed.path("root") }];
    let open = |options| Roots::open(&mounts, &options).unwrap_err().to_string();
    let exclude = open(Options { exclude: vec!["{a".to_owned()], ..Options::default() });
    assert!(exclude.starts_with("the pattern \"{a\" of --exclude is not in gitignore syntax"), "{exclude}");
    let allow = open(Options { allow_secret: vec!["{a".to_owned()], ..Options::default() });
    assert!(allow.starts_with("the pattern \"{a\" of --allow-secret is not in gitignore syntax"), "{allow}");
}

#[test]
fn an_ignore_file_is_not_compiled_again_as_long_as_it_says_the_same() {
    let bed = Bed::new(&["root/s/a.md"]);
    bed.write("root/.skillignore", "*.tmp\n");
    bed.write("root/s/.skillignore", "*.log\n{a\n");
    let files = |tree: &Tree| {
        let top = tree.memories[0].top.as_ref().unwrap();
        [&top.own, &top.children[0].own].map(|own| Arc::clone(own.rules.file().unwrap()))
    };
    let roots = bed.open();
    let (before, told) = roots.walk();
    bed.write("root/.skillignore", "*.bak\n");
    let (after, told_again) = roots.look(Some(&before), &Hint::Everything);
    let ([outer, inner], [new_outer, same_inner]) = (files(&before), files(&after));
    assert!(!Arc::ptr_eq(&outer, &new_outer) && Arc::ptr_eq(&inner, &same_inner));
    assert!(told.len() == 1 && told == told_again, "{told_again:?}");
}

#[test]
fn patterns_count_among_the_entries_of_a_root() {
    let budgets = Budgets { root: 3 + 2 * PATTERN_ENTRIES, ..Budgets::default() };
    let bed = Bed::new(&["root/s/a.md"]).budgets(budgets);
    bed.write("root/s/.skillignore", "# two\n*.tmp\n!x.tmp\n");
    bed.check(
        "s/a.md
         hidden: 1",
    );
    bed.write("root/s/.skillignore", "*.tmp\n!x.tmp\n*.log\n");
    bed.check("error[too-many-entries] root");
}

#[test]
fn only_the_first_bad_lines_of_a_file_are_told() {
    let bed = Bed::new(&["root/a.md"]);
    bed.write("root/.skillignore", &"{\n".repeat(1000));
    assert_eq!(bed.walk().matches("warning[ignore-file]").count(), BAD_LINES_TOLD_MAX);
}
