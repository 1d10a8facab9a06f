//! Paths as people may see them. Where a root lies on the machine is nobody's business.

use std::path::Path;

use crate::catalog::Standing;
use crate::report::{Names, escape};

/// The served path of what a finding is about, if that is served as a file. A name that is not UTF-8 never is.
pub(super) fn served(standing: &Standing, path: &Path) -> Option<String> {
    let served = standing.roots.iter().filter_map(|mounted| {
        let rest = path.strip_prefix(&mounted.shown).ok()?;
        let names = rest.iter().map(|name| name.to_str()).collect::<Option<Vec<_>>>()?;
        let prefix = Some(&*mounted.prefix).filter(|prefix| !prefix.is_empty());
        Some(prefix.into_iter().chain(names).collect::<Vec<_>>().join("/"))
    });
    let is_file = |path: &String| standing.snapshot.node(path).is_some_and(|node| node.file.is_some());
    served.into_iter().find(is_file)
}

/// A path of a finding, as the directories are called. What is not plainly visible is escaped.
pub(super) fn path(names: &Names, path: &Path) -> String {
    let below = names.below(path);
    below.iter().map(|name| escape::path(Path::new(name))).collect::<Vec<_>>().join("/")
}

/// A finding's sentence, in which an absolute path in quotes, such as a link's target, is cut to its last name.
pub(super) fn message(message: &str) -> String {
    let mut shown = String::with_capacity(message.len());
    for (nth, part) in message.split('"').enumerate() {
        if nth > 0 {
            shown.push('"');
        }
        let is_absolute = part.starts_with('/') || part.get(1..3).is_some_and(|drive| drive == ":\\");
        match part.trim_end_matches('/').rsplit(['/', '\\']).next() {
            Some(last) if nth > 0 && is_absolute => {
                shown.push_str("…/");
                shown.push_str(last);
            }
            _ => shown.push_str(part),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::catalog::Mounted;

    use super::*;

    #[test]
    fn a_path_says_nothing_of_what_lies_above_its_root() {
        let root = Mounted {
            prefix: String::new(),
            shown: PathBuf::from("/srv/team/skills"),
            is_lost: false,
            left_out: Default::default(),
        };
        let names = Names::of([root].iter());
        let check = |asked: &str, expected: &str| assert_eq!(path(&names, Path::new(asked)), expected);
        check("/srv/team/skills/pdf/SKILL.md", "skills/pdf/SKILL.md");
        check("/srv/team/skills", "skills");
        check("/srv/team/skills/a\u{202e}/b", "skills/a\\u{202e}/b");
        check("/home/me/other", "other");
    }

    #[test]
    fn a_message_names_no_absolute_path() {
        assert_eq!(message("the link to \"/home/me/x/\" leads out"), "the link to \"…/x\" leads out");
        assert_eq!(message("the link to \"../x\" leads out"), "the link to \"../x\" leads out");
        assert_eq!(message("to \"/a\\\"/home/x\" leads"), "to \"…/\"…/x\" leads");
        assert_eq!(message("plain / text"), "plain / text");
    }
}
