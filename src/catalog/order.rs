//! The order of served paths: a directory, then all that is in it, then what comes after it.

use std::cmp::Ordering;

/// Orders paths as a walk meets them: a slash sorts before every other character, so nothing stands between a directory
/// and what is in it.
pub(super) fn in_tree_order(a: &str, b: &str) -> Ordering {
    let differing = a.bytes().zip(b.bytes()).find(|(a, b)| a != b);
    match differing {
        Some((b'/', _)) => Ordering::Less,
        Some((_, b'/')) => Ordering::Greater,
        Some((a, b)) => a.cmp(&b),
        None => a.len().cmp(&b.len()),
    }
}

/// Whether `path` is `dir` or lies in it.
pub(super) fn is_within(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || dir.is_empty())
}

/// Whether `path` comes no later than `dir` and all that is in it.
pub(super) fn is_at_or_before(path: &str, dir: &str) -> bool {
    is_within(path, dir) || in_tree_order(path, dir) == Ordering::Less
}
