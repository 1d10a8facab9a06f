//! What is left out by pattern: `--exclude`, the `.skillignore` files, and `--allow-secret`, all in gitignore syntax.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::limits::BAD_LINES_TOLD_MAX;

/// The name of the files of patterns.
pub(super) const IGNORE_FILE: &str = ".skillignore";

/// The longest pattern in which the place of a fault is looked for: each of its beginnings is read for that, so that it takes
/// quadratic time. Nobody types a longer one, and in a file it would be made to take long.
const PLACED_MAX_BYTES: usize = 256;

/// Compiles patterns that were given as options. Where an ignore file goes on without a line that means nothing, as git does,
/// whoever types such a pattern wants something kept back, or let out, that would not be.
///
/// # Errors
/// The first that is no pattern, and why.
pub(super) fn compile(patterns: &[String]) -> Result<Gitignore, (String, String)> {
    let mut builder = GitignoreBuilder::new("");
    for pattern in patterns {
        check(pattern).map_err(|fault| (pattern.clone(), fault.reason))?;
        builder.add_line(None, pattern).map_err(|error| (pattern.clone(), reason(error)))?;
    }
    builder.build().map_err(|error| (patterns.join(" "), reason(error)))
}

/// What is wrong with a pattern, and the cure.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    reason: String,
    help: &'static str,
}

impl Fault {
    /// That it is not written as git reads it.
    fn of_syntax(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), help: "write it in gitignore syntax" }
    }
}

/// Whether a pattern is whole and names something.
fn check(pattern: &str) -> Result<(), Fault> {
    let patterns = strictly(pattern).map_err(|reason| {
        if pattern.len() > PLACED_MAX_BYTES {
            return Fault::of_syntax(reason);
        }
        // The fault is where the longest beginning that is a pattern ends.
        let mut beginnings = pattern.char_indices().rev().map(|(end, _)| &pattern[..end]);
        let whole = beginnings.find(|beginning| strictly(beginning).is_ok()).unwrap_or_default();
        Fault::of_syntax(format!("{reason}, at character {}", whole.chars().count() + 1))
    })?;
    let path = pattern.strip_prefix('!').unwrap_or(pattern).trim_end();
    match (patterns.is_empty(), pattern.starts_with('#')) {
        (false, _) if has_dots(path) => Err(Fault {
            reason: "it matches nothing, because no path has `.` or `..` in it".to_owned(),
            help: match path.strip_prefix("./") {
                Some(rest) if !has_dots(rest) => "begin it with `/` in place of `./`",
                _ => "leave `.` and `..` out of it",
            },
        }),
        (false, _) => Ok(()),
        (true, true) => Err(Fault::of_syntax("it is a comment; \\# begins a name with that character")),
        (true, false) => Err(Fault::of_syntax("it names nothing")),
    }
}

/// Whether a path names a directory itself or the one around it, as those that are typed do. Git takes these for names, which
/// nothing has.
fn has_dots(path: &str) -> bool {
    path.split('/').any(|name| matches!(name, "." | ".."))
}

/// The pattern, in which a `[` without its `]` is a fault and not a name's character.
fn strictly(pattern: &str) -> Result<Gitignore, String> {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false).add_line(None, pattern).map_err(reason)?;
    builder.build().map_err(reason)
}

/// A line of an ignore file that is no pattern.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLine {
    pub(super) span: Range<usize>,
    pub(super) reason: String,
    pub(super) help: &'static str,
}

impl BadLine {
    fn new(span: Range<usize>, Fault { reason, help }: Fault) -> Self {
        Self { span, reason, help }
    }
}

/// An ignore file, compiled.
#[derive(Debug)]
pub(super) struct IgnoreFile {
    /// What it was made from, which tells whether another is the same.
    pub(super) text: Box<[u8]>,
    pub(super) patterns: Gitignore,
    /// The first lines that are no patterns.
    pub(super) bad: Vec<BadLine>,
}

impl IgnoreFile {
    /// How many patterns it has.
    pub(super) fn len(&self) -> u64 {
        self.patterns.num_ignores() + self.patterns.num_whitelists()
    }
}

/// Compiles an ignore file. Lines that are no pattern are passed over and reported, as are those that name nothing.
///
/// # Errors
/// Why the patterns together are too much.
pub(super) fn parse(text: Vec<u8>) -> Result<IgnoreFile, String> {
    let mut builder = GitignoreBuilder::new("");
    let mut bad = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let trimmed = without_end(line);
        let span = start..start + trimmed.len();
        start += line.len();
        let pattern = match std::str::from_utf8(trimmed) {
            Ok(pattern) => pattern.strip_prefix('\u{feff}').filter(|_| span.start == 0).unwrap_or(pattern),
            Err(_) => {
                bad.push(BadLine::new(span, Fault::of_syntax("it is not UTF-8")));
                continue;
            }
        };
        let says_nothing = pattern.trim().is_empty() || pattern.starts_with('#');
        let fault = if says_nothing { None } else { check(pattern).err() };
        // What git reads otherwise than it was meant holds all the same.
        let added = builder.add_line(None, pattern).map_err(reason).err().map(Fault::of_syntax);
        bad.extend(fault.or(added).map(|fault| BadLine::new(span, fault)));
    }
    bad.truncate(BAD_LINES_TOLD_MAX);
    Ok(IgnoreFile { patterns: builder.build().map_err(reason)?, bad, text: text.into() })
}

fn reason(error: ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err,
        other => other.to_string(),
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The ignore files that hold in a directory: its own and those of the directories around it, as they are served.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules(Option<Arc<Level>>);

impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => {
                Arc::ptr_eq(a, b) || (a.base, &a.file.text, &a.outer) == (b.base, &b.file.text, &b.outer)
            }
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

#[derive(Debug)]
struct Level {
    /// How many bytes of a served path lead to the file's own directory, its slash included.
    base: usize,
    file: Arc<IgnoreFile>,
    outer: Rules,
}

impl Rules {
    /// Adds the patterns of the ignore file in the directory with this served path.
    pub(super) fn with(&self, dir: &str, file: Arc<IgnoreFile>) -> Self {
        let base = if dir.is_empty() { 0 } else { dir.len() + 1 };
        Self(Some(Arc::new(Level { base, file, outer: self.clone() })))
    }

    /// The innermost ignore file.
    pub(super) fn file(&self) -> Option<&Arc<IgnoreFile>> {
        self.0.as_ref().map(|level| &level.file)
    }

    /// Whether the entry with this served path is left out. What `exclude` says holds whatever the files say; among
    /// the files the innermost that says anything decides.
    pub(super) fn ignore(&self, exclude: &Gitignore, path: &str, is_dir: bool) -> bool {
        let mut verdict = exclude.matched(Path::new(path), is_dir).map(|_| ());
        let mut rules = self;
        while let (Match::None, Some(level)) = (&verdict, &rules.0) {
            let relative = path.get(level.base..).unwrap_or(path);
            verdict = level.file.patterns.matched(Path::new(relative), is_dir).map(|_| ());
            rules = &level.outer;
        }
        verdict.is_ignore()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(exclude: &[&str], files: &[(&str, &str)], path: &str, ignored: bool) {
        let exclude = compile(&exclude.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>()).unwrap();
        let mut rules = Rules::default();
        for (dir, text) in files {
            rules = rules.with(dir, Arc::new(parse(text.as_bytes().into()).unwrap()));
        }
        let (path, is_dir) = path.strip_suffix('/').map_or((path, false), |path| (path, true));
        assert_eq!(rules.ignore(&exclude, path, is_dir), ignored, "{path}");
    }

    #[test]
    fn an_anchored_pattern_holds_for_its_own_directory_only() {
        check(&[], &[("a/b", "/x\ny/z\n")], "a/b/x", true);
        check(&[], &[("a/b", "/x\n")], "a/b/c/x", false);
        check(&[], &[("a/b", "y/z\n")], "a/b/y/z", true);
        check(&["/x"], &[], "a/x", false);
        check(&["x"], &[], "a/x", true);
        check(&["x/"], &[], "a/x", false);
        check(&["x/"], &[], "a/x/", true);
    }

    #[test]
    fn the_innermost_file_that_says_anything_decides() {
        check(&[], &[("", "*.tmp\n"), ("a", "!keep.tmp\n")], "a/keep.tmp", false);
        check(&[], &[("", "*.tmp\n"), ("a", "!keep.tmp\n")], "a/other.tmp", true);
        check(&[], &[("", "*.tmp\n!keep.tmp\n")], "keep.tmp", false);
        check(&[], &[("", "!keep.tmp\n"), ("a", "*.tmp\n")], "a/keep.tmp", true);
    }

    #[test]
    fn an_exclude_option_holds_whatever_the_files_say() {
        check(&["*.tmp"], &[("", "!*.tmp\n")], "a.tmp", true);
        check(&["*.tmp", "!keep.tmp"], &[("", "keep.tmp\n")], "keep.tmp", false);
    }

    #[test]
    fn an_option_that_is_no_pattern_is_refused_with_the_place() {
        let refused = |pattern: &str| compile(&["ok".to_owned(), pattern.to_owned()]).unwrap_err();
        let check = |pattern: &str, place: usize| {
            let (named, reason) = refused(pattern);
            assert_eq!(named, pattern);
            assert!(reason.ends_with(&format!(", at character {place}")), "{pattern}: {reason}");
        };
        check("priv[", 5);
        check("[a]é[b", 5);
        check("x[z-a]y", 2);
        check("{a,b", 1);
        check("a{b}c}", 6);
        check("a\\", 2);
        for (pattern, reason) in
            [("", "it names nothing"), ("  ", "it names nothing"), ("!", "it names nothing")]
        {
            assert_eq!(refused(pattern).1, reason);
        }
        for pattern in [".", "..", "a/./b", "!a/..", "../a", "./"] {
            assert!(refused(pattern).1.starts_with("it matches nothing"), "{pattern}");
        }
        assert_eq!(refused("#a").1, "it is a comment; \\# begins a name with that character");
        for pattern in ["\\#a", "\\[", "[[]", "[]a]", "!a", "/a", "**/b/", "{a,b}", ".a/..b/c."] {
            assert!(compile(&[pattern.to_owned()]).is_ok(), "{pattern}");
        }
    }

    /// In such a line every beginning is faulty, and there are as many as it has characters.
    #[test]
    fn the_place_of_a_fault_is_not_looked_for_in_a_line_that_fills_a_file() {
        let reasons = |length: usize| {
            let IgnoreFile { bad, .. } = parse(format!("{{{}", "a".repeat(length - 1)).into()).unwrap();
            bad.into_iter().map(|line| line.reason.contains(", at character 1")).collect::<Vec<_>>()
        };
        assert_eq!(reasons(PLACED_MAX_BYTES), [true]);
        assert_eq!(reasons(PLACED_MAX_BYTES + 1), [false]);
        assert_eq!(reasons(64 * 1024), [false]);
    }

    #[test]
    fn line_ends_comments_and_a_byte_order_mark_are_no_part_of_a_pattern() {
        check(&[], &[("", "\u{feff}a.md\r\n# b.md\r\n\r\n")], "a.md", true);
        check(&[], &[("", "\u{feff}a.md\r\n# b.md\r\n")], "b.md", false);
    }

    #[test]
    fn bad_lines_are_told_with_their_place() {
        let IgnoreFile { bad, .. } = parse(b"ok\n{a\n\xff\nlast\n\n# x\n a[\n!\n".to_vec()).unwrap();
        let spans: Vec<_> = bad.iter().map(|line| line.span.clone()).collect();
        assert_eq!(spans, [3..5, 6..7, 18..21, 22..23]);
    }

    #[test]
    fn a_line_that_begins_as_a_path_does_is_told_with_its_cure() {
        let help = |line: &str| parse(line.into()).unwrap().bad.first().map(|line| line.help);
        assert_eq!(help("./x"), Some("begin it with `/` in place of `./`"));
        assert_eq!(help("!./x/"), Some("begin it with `/` in place of `./`"));
        assert_eq!(help("../x"), Some("leave `.` and `..` out of it"));
        assert_eq!(help("./../x"), Some("leave `.` and `..` out of it"));
        assert_eq!(help("{a"), Some("write it in gitignore syntax"));
        assert_eq!(help("./a["), Some("write it in gitignore syntax"));
        assert_eq!(help("!!."), None);
        assert_eq!(help("/x"), None);
        // As in git, it matches nothing all the same.
        check(&[], &[("", "./x\n")], "x", false);
    }
}
