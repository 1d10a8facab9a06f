//! The order of served paths: a directory, then all that is in it, then what comes after it.

use std::cmp::Ordering;

/// Orders paths as a walk meets them: a slash sorts before every other character, so nothing stands between a directory
/// and what is in it.
pub(super) fn in_tree_order(a: &str, b: &str) -> Ordering {
    // Neighbours begin alike, so what is the same is passed over word by word.
    let (words, others) = (a.as_bytes().as_chunks::<8>().0, b.as_bytes().as_chunks::<8>().0);
    let same = 8 * words.iter().zip(others).take_while(|(a, b)| a == b).count();
    let differing = a.bytes().zip(b.bytes()).skip(same).find(|(a, b)| a != b);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_slash_sorts_before_every_other_character(a in "[a-c/ ]{0,20}", b in "[a-c/ ]{0,20}", start in "[a/]{0,20}") {
            let (a, b) = (format!("{start}{a}"), format!("{start}{b}"));
            let ranks = |path: &str| path.bytes().map(|byte| if byte == b'/' { 0 } else { byte }).collect::<Vec<_>>();
            prop_assert_eq!(in_tree_order(&a, &b), ranks(&a).cmp(&ranks(&b)));
        }
    }
}
