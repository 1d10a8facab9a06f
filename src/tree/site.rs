//! Where a directory is, together with the name that it is served under. There are many of them, and most are served under
//! the name that they have, so that is not kept twice.

use std::ffi::OsStr;
use std::path::is_separator;

use super::zone::Place;

/// The place of a served directory, and its name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) place: Place,
    /// Its name under its parent, where that is not the last of its path.
    alias: Option<Box<Box<str>>>,
}

impl Site {
    pub(super) fn new(name: &str, place: Place) -> Self {
        let alias = (last_name(&place) != name).then(|| Box::new(name.into()));
        Self { place, alias }
    }

    /// Whether it is that of the directory `name` in `around`, served under that name.
    pub(super) fn is_in(&self, around: &Place, name: &OsStr) -> bool {
        let (path, around_path) = (bytes(&self.place), bytes(around));
        let below = match path.strip_prefix(around_path) {
            Some([separator, below @ ..])
                if !around_path.is_empty() && is_separator(char::from(*separator)) =>
            {
                below
            }
            Some(below) if around_path.is_empty() => below,
            _ => return false,
        };
        self.alias.is_none() && self.place.zone == around.zone && below == name.as_encoded_bytes()
    }

    /// Its name under its parent; empty for the top.
    pub(super) fn name(&self) -> &str {
        match &self.alias {
            Some(alias) => alias,
            None => last_name(&self.place),
        }
    }
}

/// The last name of a place's path; empty if that is, or not UTF-8.
fn last_name(place: &Place) -> &str {
    // Asked for often, and a path of names only needs none of the care that is taken of others.
    let name = bytes(place).rsplit(|byte| is_separator(char::from(*byte))).next();
    name.and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default()
}

fn bytes(place: &Place) -> &[u8] {
    place.path.as_os_str().as_encoded_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str) -> Place {
        Place { path: path.split('/').collect(), ..Place::default() }
    }

    #[test]
    fn the_name_is_the_given_one_wherever_the_directory_is() {
        for (name, path) in
            [("", ""), ("a", "a"), ("b", "a/b"), ("b", "a/é"), ("é", "a/é"), ("b", ""), ("", "a")]
        {
            let site = Site::new(name, place(path));
            assert_eq!(site.name(), name);
            assert_eq!(site.alias.is_some(), path.rsplit('/').next() != Some(name), "{name} {path}");
        }
    }
    #[test]
    fn a_directory_is_known_by_what_is_around_it() {
        let check = |path: &str, around: &str, name: &str, expected| {
            let site = Site::new(path.rsplit('/').next().unwrap_or_default(), place(path));
            assert_eq!(site.is_in(&place(around), OsStr::new(name)), expected, "{path} {around} {name}");
        };
        check("a", "", "a", true);
        check("x/a", "x", "a", true);
        check("x/y/a", "x/y", "a", true);
        for (around, name) in [("", "a"), ("x", "b"), ("y", "a"), ("x/a", ""), ("x/a", "a")] {
            check("x/a", around, name, false);
        }
        for path in ["xa", "xya", "x/a/a"] {
            check(path, "x", "a", false);
        }
        // Under another name it is a link to there.
        assert!(!Site::new("b", place("x/a")).is_in(&place("x"), OsStr::new("a")));
    }
}
