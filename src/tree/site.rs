//! Where a directory is, together with the name that it is served under. There are many of them, and most are served under
//! the name that they have, so that is not kept twice.

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

    /// Its name under its parent; empty for the top.
    pub(super) fn name(&self) -> &str {
        self.alias.as_ref().map_or_else(|| last_name(&self.place), |alias| alias)
    }
}

/// The last name of a place's path; empty if that is, or not UTF-8.
fn last_name(place: &Place) -> &str {
    // Asked for often, and a path of names only needs none of the care that is taken of others.
    let path = place.path.as_os_str().as_encoded_bytes();
    let name = path.rsplit(|byte| is_separator(char::from(*byte))).next();
    name.and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_given_one_wherever_the_directory_is() {
        for (name, path) in
            [("", ""), ("a", "a"), ("b", "a/b"), ("b", "a/é"), ("é", "a/é"), ("b", ""), ("", "a")]
        {
            let place = Place { path: path.split('/').collect(), ..Place::default() };
            let site = Site::new(name, place);
            assert_eq!(site.name(), name);
            assert_eq!(site.alias.is_some(), path.rsplit('/').next() != Some(name), "{name} {path}");
        }
    }
}
