//! On which entries it depends what directory a path names.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::limits::LINK_MAX_HOPS;

/// Every entry, as a path without links but perhaps its last name, that must be what it is for the absolute path `path`
/// to lead where it does. Where it leads nowhere, the last is the first that is missing.
pub(super) fn chain(path: &Path) -> Vec<PathBuf> {
    let parts = |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let mut ahead: VecDeque<OsString> = parts(path).into();
    let (mut at, mut entries, mut hops) = (PathBuf::new(), Vec::new(), 0);
    while let Some(part) = ahead.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                at.pop();
            }
            Some(Component::Normal(name)) => {
                let entry = at.join(name);
                entries.push(entry.clone());
                match fs::symlink_metadata(&entry) {
                    Ok(metadata) if metadata.is_symlink() => {
                        hops += 1;
                        let Ok(target) = fs::read_link(&entry) else { break };
                        if hops > LINK_MAX_HOPS {
                            break;
                        }
                        for part in parts(&target).into_iter().rev() {
                            ahead.push_front(part);
                        }
                    }
                    Ok(_) => at = entry,
                    Err(_) => break,
                }
            }
            Some(Component::RootDir | Component::Prefix(_)) => at.push(&part),
            Some(Component::CurDir) | None => {}
        }
    }
    entries
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_chain_goes_through_links_to_the_end_or_to_what_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("real/skills")).unwrap();
        let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, top.join(name)).unwrap();
        link("./current", "link");
        link("link/../real", "current");
        link("loop", "loop");
        let last = |path: &str, count: usize| {
            let chain = chain(&top.join(path));
            let entries = chain[chain.len() - count..].iter();
            entries.map(|entry| entry.strip_prefix(&top).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(last("real/skills", 2), ["real", "real/skills"]);
        assert_eq!(last("real/nothing/more", 2), ["real", "real/nothing"]);
        // Through more links than are followed.
        assert_eq!(last("loop", 2), ["loop", "loop"]);
        fs::remove_file(top.join("current")).unwrap();
        assert_eq!(last("link/skills", 2), ["link", "current"]);
        link("real", "current");
        assert_eq!(last("link/skills", 4), ["link", "current", "real", "real/skills"]);
    }
}
