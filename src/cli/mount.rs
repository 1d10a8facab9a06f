//! Which directory is served under which prefix.

use std::path::PathBuf;

use crate::tree::Mount;

/// The mounts of plain directories and of `PREFIX=DIR` words, in this order.
///
/// # Errors
/// A sentence for an empty directory, or for a word that is no mount.
pub(super) fn all(dirs: Vec<PathBuf>, mounts: Vec<String>) -> Result<Vec<Mount>, String> {
    if dirs.iter().any(|dir| dir.as_os_str().is_empty()) {
        return Err("a DIR is empty: name a directory of skills, for example ./skills".to_owned());
    }
    let plain = dirs.into_iter().map(|dir| Ok(Mount { prefix: String::new(), dir }));
    plain.chain(mounts.iter().map(|word| parse(word))).collect()
}

fn parse(word: &str) -> Result<Mount, String> {
    let Some((prefix, dir)) = word.split_once('=') else {
        return Err(format!("--mount takes PREFIX=DIR, for example acme/billing=./skills, and not {word:?}"));
    };
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    let is_segment =
        |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains(char::is_control);
    if dir.is_empty() || !prefix.split('/').all(is_segment) {
        return Err(format!(
            "--mount {word:?} has no directory, or its prefix is not made of names with single slashes between them"
        ));
    }
    Ok(Mount { prefix: prefix.to_owned(), dir: PathBuf::from(dir) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: Option<(&str, &str)>) {
        let mount = expected.map(|(prefix, dir)| Mount { prefix: prefix.to_owned(), dir: dir.into() });
        assert_eq!(parse(word).ok(), mount, "{word}");
    }

    #[test]
    fn a_mount_is_a_prefix_and_a_directory() {
        check("acme=./skills", Some(("acme", "./skills")));
        check("acme/billing/=/srv/a=b", Some(("acme/billing", "/srv/a=b")));
        check("größe 1=x", Some(("größe 1", "x")));
        for bad in ["./skills", "=x", "a=", "a//b=x", "/a=x", "../a=x", "a/./b=x", "a\0=x", "a\n=x"] {
            check(bad, None);
        }
    }
}
