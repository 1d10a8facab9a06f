//! What `check` was told to look at: directories are roots, and a file stands for the skill that holds it.

use std::path::{Component, Path, PathBuf};

use crate::skill::SKILL_MD;
use crate::tree::Mount;

/// What the words come to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Directories, as typed.
    pub roots: Vec<PathBuf>,
    /// The skills that hold the files, each once, and none that lies in another one or in a root. Each has a prefix of
    /// its own, so that two skills of one name do not seem to have one URI.
    pub skills: Vec<Mount>,
    /// Files that no skill holds.
    pub passed_over: Vec<PathBuf>,
}

impl Named {
    /// Whether no word was given.
    pub(super) fn is_nothing(&self) -> bool {
        self.roots.is_empty() && self.skills.is_empty() && self.passed_over.is_empty()
    }
}

/// Sorts the words. What is not there is taken for a directory, and told when it is opened.
pub(super) fn sort(words: Vec<PathBuf>) -> Named {
    let mut named = Named::default();
    let mut skills = Vec::new();
    for word in words {
        if !word.is_file() {
            named.roots.push(word);
        } else if let Some(skill) = skill_of(&word) {
            skills.push(skill);
        } else {
            named.passed_over.push(word);
        }
    }
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let mut taken: Vec<PathBuf> = named.roots.iter().map(real).collect();
    let mut skills: Vec<(PathBuf, PathBuf)> = skills.into_iter().map(|dir| (real(&dir), dir)).collect();
    // One that encloses another comes before it.
    skills.sort_by(|a, b| a.0.cmp(&b.0));
    for (real, dir) in skills {
        if !taken.iter().any(|around| real.starts_with(around)) {
            named.skills.push(Mount { prefix: prefix(&real), dir });
            taken.push(real);
        }
    }
    named
}

/// The nearest directory around the file that has a `SKILL.md`, or one by a name that is almost that.
fn skill_of(file: &Path) -> Option<PathBuf> {
    let is_misnamed = |name: &std::ffi::OsStr| name.eq_ignore_ascii_case(SKILL_MD);
    let is_skill = |dir: &&Path| dir.join(SKILL_MD).symlink_metadata().is_ok();
    let typed = |dir: &Path| if dir.as_os_str().is_empty() { PathBuf::from(".") } else { dir.to_owned() };
    let mut around = file.ancestors().skip(1);
    if file.file_name().is_some_and(is_misnamed) {
        return around.next().map(typed);
    }
    // As far as it was typed, the directory is shown as it was typed.
    if let Some(dir) = around.find(is_skill) {
        return Some(typed(dir));
    }
    let absolute = std::path::absolute(file).ok()?;
    absolute.ancestors().skip(1).find(is_skill).map(Path::to_owned)
}

/// The directories around a skill, as a prefix.
fn prefix(skill: &Path) -> String {
    let names =
        skill.parent().into_iter().flat_map(Path::components).filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        });
    names.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_for_the_skill_that_holds_it() {
        let bed = tempfile::tempdir().unwrap();
        let at = |path: &str| bed.path().join(path);
        for file in ["a/SKILL.md", "a/x/y.md", "a/in/SKILL.md", "b/SKILL.md", "c/skill.md", "README.md"] {
            std::fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            std::fs::write(at(file), "").unwrap();
        }
        let check = |words: &[&str], roots: &[&str], skills: &[&str], passed_over: &[&str]| {
            let named = sort(words.iter().map(|word| at(word)).collect());
            let all = |paths: &[&str]| paths.iter().map(|path| at(path)).collect::<Vec<_>>();
            let dirs: Vec<_> = named.skills.iter().map(|mount| mount.dir.clone()).collect();
            assert_eq!(
                (named.roots, dirs, named.passed_over),
                (all(roots), all(skills), all(passed_over)),
                "{words:?}"
            );
        };
        check(&["a/SKILL.md"], &[], &["a"], &[]);
        check(&["a/x/y.md", "a/SKILL.md"], &[], &["a"], &[]);
        check(&["a/in/SKILL.md"], &[], &["a/in"], &[]);
        check(&["a/in/SKILL.md", "b/SKILL.md", "a/x/y.md"], &[], &["a", "b"], &[]);
        check(&["c/skill.md", "README.md"], &[], &["c"], &["README.md"]);
        check(&["a", "a/x/y.md", "b/SKILL.md"], &["a"], &["b"], &[]);
        check(&["gone"], &["gone"], &[], &[]);
    }
}
