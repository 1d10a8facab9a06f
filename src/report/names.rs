//! What served directories are called where nobody is to learn where on the machine they lie: by their last name.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::catalog::{Mounted, innermost};

/// What a directory is called that was typed without a name, such as `.`, `..` or `/`.
const NAMELESS: &str = "root";

/// The names of directories.
#[derive(Debug)]
pub struct Names(Vec<(PathBuf, String)>);

impl Names {
    /// Gives each of `roots` a name that no other one has.
    pub fn of<'a>(roots: impl Iterator<Item = &'a Mounted>) -> Self {
        let mut given = HashSet::new();
        let named = roots.map(|root| {
            let name = root.shown.file_name().map(|name| name.to_string_lossy().into_owned());
            let name = name.unwrap_or_else(|| NAMELESS.to_owned());
            let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|name| !given.contains(name));
            let name = free.unwrap_or(name);
            given.insert(name.clone());
            (root.shown.clone(), name)
        });
        Self(named.collect())
    }

    /// All of them, in the order of the directories.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, name)| &**name)
    }

    /// A path of a finding, from the name of its directory on; of any other only the last name.
    pub fn below(&self, path: &Path) -> PathBuf {
        match innermost(self.0.iter().map(|(root, _)| root.as_path()), path) {
            // Joined with nothing, it would end with a slash.
            Some((number, rest)) if rest.as_os_str().is_empty() => PathBuf::from(&self.0[number].1),
            Some((number, rest)) => Path::new(&self.0[number].1).join(rest),
            None => path.file_name().map_or_else(PathBuf::new, PathBuf::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_begins_with_its_directory() {
        let root = |shown: &str| Mounted {
            prefix: String::new(),
            shown: shown.into(),
            is_lost: false,
            left_out: crate::tree::LeftOut::default(),
        };
        let roots = ["/srv/a/skills", "./skills", "..", "/srv/a/skills/x/deep", "skills-2"].map(root);
        let names = Names::of(roots.iter());
        assert_eq!(names.all().collect::<Vec<_>>(), ["skills", "skills-2", "root", "deep", "skills-2-2"]);
        let check = |path: &str, expected: &str| {
            assert_eq!(names.below(Path::new(path)), Path::new(expected), "{path}");
        };
        check("/srv/a/skills/pdf/SKILL.md", "skills/pdf/SKILL.md");
        check("/srv/a/skills", "skills");
        check("/srv/a/skills/x/deep/SKILL.md", "deep/SKILL.md");
        check("./skills/pdf", "skills-2/pdf");
        check("../pdf", "root/pdf");
        check("/elsewhere/on/the/machine", "machine");
    }
}
