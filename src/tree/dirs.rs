//! Opening directories and listing them, in as few calls of the system as that takes: there are more of them than of all
//! else that a start does.

use cap_std::fs::FileType;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Dir,
    File,
    Link,
    /// Something else, or what its directory does not tell. Not all file systems do.
    Special,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            kind if kind.is_dir() => Self::Dir,
            kind if kind.is_file() => Self::File,
            kind if kind.is_symlink() => Self::Link,
            _ => Self::Special,
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{list, open};
#[cfg(target_os = "linux")]
pub(super) use linux::{list, open};

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsStr;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::{Component, Path};

    use cap_std::fs::Dir;
    use rustix::fs::{FileType, Mode, OFlags, RawDir, ResolveFlags, openat, openat2};
    use rustix::io::Errno;

    use super::Kind;

    const LISTED: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    const PASSED: OFlags =
        OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    /// Room for some hundred entries at a time, and for more than the longest of any file system.
    const ENTRIES_BYTES: usize = 16 * 1024;

    /// Opens the directory at `path`, which consists of names only, below `dir`, so that it can be listed and its entries be
    /// reached. None of the names may be a link.
    pub(in super::super) fn open(dir: &Dir, path: &Path) -> io::Result<Dir> {
        // Where this fails, one name at a time finds out why. It is also of help where the path is longer than the system
        // takes, or the system older than this call.
        let opened = open_at_once(dir, path).or_else(|_| open_by_name(dir, path));
        Ok(Dir::from_std_file(opened?.into()))
    }

    pub(super) fn open_at_once(dir: &Dir, path: &Path) -> rustix::io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        // With the dot it fails for a directory whose entries may not be reached.
        openat2(dir, path.join("."), LISTED, Mode::empty(), resolve)
    }

    pub(super) fn open_by_name(dir: &Dir, path: &Path) -> rustix::io::Result<OwnedFd> {
        let mut last: Option<OwnedFd> = None;
        for component in path.components() {
            // As the other way: what leads up or begins anew may lead out.
            let Component::Normal(name) = component else { return Err(Errno::XDEV) };
            let around = last.as_ref().map_or(dir.as_fd(), AsFd::as_fd);
            last = Some(openat(around, name, PASSED, Mode::empty())?);
        }
        openat(last.as_ref().map_or(dir.as_fd(), AsFd::as_fd), ".", LISTED, Mode::empty())
    }

    /// Shows the entries of a directory that was just opened, in any order.
    ///
    /// # Errors
    /// The first of the system, or of `see`.
    pub(in super::super) fn list<E: From<io::Error>>(
        dir: &Dir,
        mut see: impl FnMut(&OsStr, Kind) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut room = [MaybeUninit::uninit(); ENTRIES_BYTES];
        let mut entries = RawDir::new(dir, &mut room);
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(io::Error::from)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let kind = match entry.file_type() {
                FileType::Directory => Kind::Dir,
                FileType::RegularFile => Kind::File,
                FileType::Symlink => Kind::Link,
                _ => Kind::Special,
            };
            if name != "." && name != ".." {
                see(name, kind)?;
            }
        }
        Ok(())
    }
}

/// The same where the system has no such calls.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::ffi::OsStr;
    use std::io;
    use std::path::Path;

    use cap_fs_ext::DirExt as _;
    use cap_std::fs::Dir;

    use super::Kind;

    pub(in super::super) fn open(dir: &Dir, path: &Path) -> io::Result<Dir> {
        let mut names = path.components();
        let Some(first) = names.next() else { return dir.try_clone() };
        let mut dir = dir.open_dir_nofollow(first)?;
        for name in names {
            dir = dir.open_dir_nofollow(name)?;
        }
        Ok(dir)
    }

    pub(in super::super) fn list<E: From<io::Error>>(
        dir: &Dir,
        mut see: impl FnMut(&OsStr, Kind) -> Result<(), E>,
    ) -> Result<(), E> {
        for entry in dir.entries()? {
            let entry = entry?;
            see(&entry.file_name(), entry.file_type()?.into())?;
        }
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::{fs, io};

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::linux::{open_at_once, open_by_name};
    use super::*;

    /// The entries of the directory at `path` below `top`, whichever way it is opened.
    fn check(top: &Path, path: &str, expected: Option<&[(&str, Kind)]>) {
        let top = Dir::open_ambient_dir(top, ambient_authority()).unwrap();
        for open in [open_at_once, open_by_name] {
            let entries = open(&top, path.as_ref()).ok().map(|opened| {
                let dir = Dir::from_std_file(opened.into());
                let mut entries = Vec::new();
                list(&dir, |name, kind| {
                    entries.push((name.to_str().unwrap().to_owned(), kind));
                    Ok::<_, io::Error>(())
                })
                .unwrap();
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                entries
            });
            let entries = entries
                .as_ref()
                .map(|all| all.iter().map(|(name, kind)| (name.as_str(), *kind)).collect::<Vec<_>>());
            assert_eq!(entries.as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn both_ways_of_opening_lead_to_the_same_and_through_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::write(top.join("a/b/file"), "").unwrap();
        symlink("b", top.join("a/link")).unwrap();
        symlink("/", top.join("out")).unwrap();
        check(top, "", Some(&[("a", Kind::Dir), ("out", Kind::Link)]));
        check(top, "a", Some(&[("b", Kind::Dir), ("link", Kind::Link)]));
        check(top, "a/b", Some(&[("file", Kind::File)]));
        for other in ["a/link", "a/link/b", "out", "out/etc", "a/b/file", "a/none", "..", "a/../..", "/"] {
            check(top, other, None);
        }
    }

    #[test]
    fn all_entries_of_a_large_directory_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..1_000).map(|number| format!("{number:0>200}")).collect();
        names.iter().for_each(|name| fs::write(dir.path().join(name), "").unwrap());
        let expected: Vec<_> = names.iter().map(|name| (name.as_str(), Kind::File)).collect();
        check(dir.path(), "", Some(&expected));
    }
}
