//! A property of patterns.

use std::path::Path;

use super::rules::{IgnoreFile, compile, parse};

/// Any file of patterns is read or refused. What is wrong stands where it is said to, and each line of which nothing is
/// said is a pattern as an option too.
pub fn patterns(file: &[u8]) {
    let Ok(IgnoreFile { patterns, bad, .. }) = parse(file.to_vec()) else { return };
    assert!(bad.iter().all(|line| line.span.start <= line.span.end && line.span.end <= file.len()));
    assert!(bad.is_sorted_by(|a, b| a.span.end < b.span.start));
    for path in ["a", "a/b.md", "SKILL.md", "é/[/\\"] {
        patterns.matched(Path::new(path), false);
    }
    let line = file.split(|byte| *byte == b'\n').next().unwrap_or(file);
    let Ok(pattern) = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)) else { return };
    let is_told = bad.first().is_some_and(|line| line.span.start == 0);
    let says_nothing = pattern.trim().is_empty() || pattern.starts_with('#');
    if !pattern.starts_with('\u{feff}') && !says_nothing {
        assert_eq!(compile(&[pattern.to_owned()]).is_ok(), !is_told);
    }
}
