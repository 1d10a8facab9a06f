//! The options as the walk uses them.

use std::path::Path;

use ignore::gitignore::Gitignore;

use super::names::{self, Withheld};
use super::{Links, Options, RootError, rules};

/// The options, with their patterns compiled.
#[derive(Debug)]
pub(super) struct Policy {
    pub(super) include_hidden: bool,
    pub(super) links: Links,
    pub(super) exclude: Gitignore,
    allow_secret: Gitignore,
}

impl Policy {
    pub(super) fn new(options: &Options) -> Result<Self, RootError> {
        let compile = |option, patterns: &[String]| {
            rules::compile(patterns).map_err(|(pattern, reason)| RootError::Pattern {
                option,
                pattern,
                reason,
            })
        };
        Ok(Self {
            include_hidden: options.include_hidden,
            links: options.links,
            exclude: compile("--exclude", &options.exclude)?,
            allow_secret: compile("--allow-secret", &options.allow_secret)?,
        })
    }

    /// Whether an entry is withheld for what its served path says, the directories around it being served.
    pub(super) fn withholds(&self, served: &str, is_dir: bool) -> bool {
        let name = served.rsplit('/').next().unwrap_or_default().as_ref();
        names::is_secret(name, is_dir) && !self.allows(Path::new(served), is_dir)
    }

    /// Whether an entry is withheld for where a link really leads: a path below the innermost zone around it.
    pub(super) fn withholds_target(&self, path: &Path, is_dir: bool) -> Option<Withheld> {
        names::judge(path, !is_dir).filter(|why| *why == Withheld::Never || !self.allows(path, is_dir))
    }

    /// Whether `--allow-secret` names the path or a directory around it.
    fn allows(&self, path: &Path, is_dir: bool) -> bool {
        self.allow_secret.matched_path_or_any_parents(path, is_dir).is_ignore()
    }
}
