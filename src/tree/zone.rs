//! Opened directories, and the only ways down from them: one component at a time, never through a link.
//!
//! No handle but those of the zones is kept. Whoever needs a directory opens it from its zone, component by component,
//! and closes it again, so a walk holds a few descriptors whatever the depth, and no path is ever longer for the system
//! than one name.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{DirExt as _, MetadataExt as _};
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::limits::ROOT_OPEN_ATTEMPTS;

/// A directory that reads may not leave: a root, or one of `--follow-links-to`.
#[derive(Debug)]
pub(super) struct Zone {
    dir: Dir,
    /// Its absolute path without links.
    pub(super) real: PathBuf,
    /// Its path as it was given, made absolute, if that says a place without asking the disk.
    given: Option<PathBuf>,
}

/// A directory's place in a zone, every link resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The index of its zone.
    pub(super) zone: usize,
    /// Its path in the zone: names only, empty for the zone itself.
    pub(super) path: PathBuf,
}

/// What tells two directories apart whatever their paths: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inode(u64, u64);

impl Inode {
    pub(super) fn of(dir: &Dir) -> io::Result<Self> {
        let metadata = dir.dir_metadata()?;
        Ok(Self(metadata.dev(), metadata.ino()))
    }
}

impl Zone {
    /// Opens the directory at `path`, which may be reached through links, and makes sure that it can be listed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let given = std::path::absolute(path)?;
        let mut attempts = 0;
        let (real, dir) = loop {
            attempts += 1;
            let real = path.canonicalize()?;
            match Dir::open_ambient_dir(&real, ambient_authority()) {
                // Whoever swaps a link at the root may have removed its old target in between.
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < ROOT_OPEN_ATTEMPTS => {}
                opened => break (real, opened?),
            }
        };
        dir.entries()?;
        let plain = given.components().all(|c| c != Component::ParentDir);
        Ok(Self { dir, real, given: plain.then_some(given) })
    }

    /// The last name of its real path; empty when there is none or when it is not UTF-8.
    pub(super) fn name(&self) -> String {
        self.real.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned()
    }

    /// Opens the directory at `path`, which consists of names only.
    pub(super) fn open_dir(&self, path: &Path) -> io::Result<Dir> {
        let mut names = path.components();
        let Some(first) = names.next() else { return self.dir.try_clone() };
        let mut dir = self.dir.open_dir_nofollow(first)?;
        for name in names {
            dir = dir.open_dir_nofollow(name)?;
        }
        Ok(dir)
    }

    /// What of the absolute path `path` remains below this zone, judged by the path alone.
    fn rest_of<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let by_given = || path.strip_prefix(self.given.as_ref()?).ok();
        path.strip_prefix(&self.real).ok().or_else(by_given)
    }
}

/// All zones of one walk.
#[derive(Clone, Debug, Default)]
pub(super) struct Zones(Arc<[Zone]>);

impl Zones {
    pub(super) fn new(zones: Vec<Zone>) -> Self {
        Self(zones.into())
    }

    pub(super) fn get(&self, index: usize) -> Option<&Zone> {
        self.0.get(index)
    }

    /// Opens a directory without following any link.
    pub(super) fn open(&self, place: &Place) -> io::Result<Dir> {
        self.get(place.zone).ok_or(io::ErrorKind::NotFound)?.open_dir(&place.path)
    }

    /// The zone that the absolute path `path` is in, the innermost if there are several, and the rest of the path.
    pub(super) fn containing<'a>(&self, path: &'a Path) -> Option<(usize, &'a Path)> {
        let candidates = self.0.iter().enumerate().filter_map(|(at, zone)| Some((at, zone.rest_of(path)?)));
        candidates.min_by_key(|(_, rest)| rest.components().count())
    }

    /// `place` as seen from the innermost zone that it is in.
    pub(super) fn innermost(&self, place: &Place) -> Place {
        let absolute = self.get(place.zone).map(|zone| zone.real.join(&place.path));
        let inner = absolute.as_deref().and_then(|path| self.containing(path));
        inner.map_or_else(|| place.clone(), |(zone, rest)| Place { zone, path: rest.to_owned() })
    }
}
