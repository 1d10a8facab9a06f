//! Patterns in gitignore syntax as people type them who think of paths.

/// The patterns that were given to `option`, in which `./drafts` is the `drafts` of each directory.
///
/// # Errors
/// A sentence for one that leads out of the directories, which nothing could match.
pub(super) fn all(option: &str, typed: Vec<String>) -> Result<Vec<String>, String> {
    typed.into_iter().map(|pattern| anchored(option, pattern)).collect()
}

fn anchored(option: &str, typed: String) -> Result<String, String> {
    let (not, path) = match typed.strip_prefix('!') {
        Some(path) => ("!", path),
        None => ("", &*typed),
    };
    if path == ".." || path.starts_with("../") {
        return Err(format!(
            "{option} `{typed}`: a pattern is relative to each DIR and leads nowhere else, so leave `../` out"
        ));
    }
    let mut rest = path;
    while let Some(inner) = rest.strip_prefix("./") {
        rest = inner.trim_start_matches('/');
    }
    match rest {
        _ if rest.len() == path.len() => Ok(typed),
        "" | "." => Err(format!(
            "{option} `{typed}` is a DIR as a whole: leave that DIR out, or write `*` for what is in it"
        )),
        rest => Ok(format!("{not}/{rest}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_pattern() {
        let check = |typed: &str, expected: Option<&str>| {
            assert_eq!(anchored("--exclude", typed.to_owned()).ok().as_deref(), expected, "{typed}");
        };
        check("drafts", Some("drafts"));
        check("./drafts", Some("/drafts"));
        check("././/drafts/", Some("/drafts/"));
        check("!./drafts/a", Some("!/drafts/a"));
        check("/drafts", Some("/drafts"));
        check(".drafts/./x", Some(".drafts/./x"));
        check("..x", Some("..x"));
        for typed in ["./", "./.", "..", "../x", "!../x"] {
            check(typed, None);
        }
    }
}
