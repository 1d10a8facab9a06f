//! Opened directories, and the only ways down from them: one component at a time, never through a link.
//!
//! No handle but those of the zones is kept. Whoever needs a directory opens it from its zone and closes it again, so a walk
//! holds a few descriptors whatever the depth.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::dirs;
use super::identity::Identity;
use super::limits::ROOT_OPEN_ATTEMPTS;

/// A directory that reads may not leave: a root, or one of `--follow-links-to`.
#[derive(Debug)]
pub(super) struct Zone {
    pub(super) id: ZoneId,
    dir: Dir,
    identity: Identity,
    /// Its absolute path without links.
    pub(super) real: PathBuf,
    /// Its path as it was given, made absolute, if that says a place without asking the disk.
    given: Option<PathBuf>,
}

/// A zone's own number, which no other ever gets: so what was found in one zone is never looked for in another.
/// The default is that of no zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ZoneId(u64);

impl ZoneId {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A directory's place in a zone, every link resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) zone: ZoneId,
    /// Its path in the zone: names only, empty for the zone itself.
    pub(super) path: PathBuf,
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
        let identity = Identity::of_dir(&dir)?;
        Ok(Self { id: ZoneId::next(), dir, identity, real, given: plain.then_some(given) })
    }

    /// Whether `other` is the same directory under the same paths. As long as its handle is open, no other directory
    /// gets its inode.
    fn is(&self, other: &Self) -> bool {
        self.identity.is_same_inode(&other.identity) && self.real == other.real && self.given == other.given
    }

    /// The last name of its real path; empty when there is none or when it is not UTF-8.
    pub(super) fn name(&self) -> String {
        self.real.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned()
    }

    /// Opens the directory at `path`, which consists of names only.
    pub(super) fn open_dir(&self, path: &Path) -> io::Result<Dir> {
        dirs::open(&self.dir, path)
    }

    /// What of the absolute path `path` remains below this zone, judged by the path alone.
    fn rest_of<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let by_given = || path.strip_prefix(self.given.as_ref()?).ok();
        path.strip_prefix(&self.real).ok().or_else(by_given)
    }
}

/// All zones of one walk; none in the place of one that could not be opened.
#[derive(Clone, Debug, Default)]
pub(super) struct Zones(Arc<[Option<Arc<Zone>>]>);

impl Zones {
    /// Opens the directories at `paths`. Those that are still what they were in `before` stay what they are there.
    pub(super) fn open_all(
        paths: impl Iterator<Item = impl AsRef<Path>>,
        before: Option<&Self>,
    ) -> (Self, Vec<Option<io::Error>>) {
        let open = |(at, path): (usize, _)| match Zone::open(AsRef::as_ref(&path)) {
            Ok(zone) => {
                let old = before.and_then(|before| before.0.get(at)?.as_ref());
                let zone = old.filter(|old| old.is(&zone)).map_or_else(|| Arc::new(zone), Arc::clone);
                (Some(zone), None)
            }
            Err(error) => (None, Some(error)),
        };
        let (zones, errors): (Vec<_>, _) = paths.enumerate().map(open).unzip();
        let zones = Self(zones.into());
        (before.filter(|before| before.are(&zones)).cloned().unwrap_or(zones), errors)
    }

    /// Whether these are the very same zones.
    pub(super) fn are(&self, other: &Self) -> bool {
        let ids = |zones: &Self| zones.0.iter().map(|zone| Some(zone.as_ref()?.id)).collect::<Vec<_>>();
        ids(self) == ids(other)
    }

    /// The zone that was opened as the `index`th, if it could be.
    pub(super) fn nth(&self, index: usize) -> Option<&Zone> {
        self.0.get(index)?.as_deref()
    }

    fn all(&self) -> impl Iterator<Item = &Zone> {
        self.0.iter().flatten().map(|zone| &**zone)
    }

    pub(super) fn get(&self, id: ZoneId) -> Option<&Zone> {
        self.all().find(|zone| zone.id == id)
    }

    /// Opens a directory without following any link.
    pub(super) fn open(&self, place: &Place) -> io::Result<Dir> {
        self.get(place.zone).ok_or(io::ErrorKind::NotFound)?.open_dir(&place.path)
    }

    /// The absolute path of a place.
    pub(super) fn real(&self, place: &Place) -> Option<PathBuf> {
        let zone = self.get(place.zone)?;
        Some(if place.path.as_os_str().is_empty() { zone.real.clone() } else { zone.real.join(&place.path) })
    }

    /// The zone that the absolute path `path` is in, the innermost if there are several, and the rest of the path.
    pub(super) fn containing<'a>(&self, path: &'a Path) -> Option<(ZoneId, &'a Path)> {
        let candidates = self.all().filter_map(|zone| Some((zone.id, zone.rest_of(path)?)));
        candidates.min_by_key(|(_, rest)| rest.components().count())
    }

    /// `place` as seen from the innermost zone that it is in.
    pub(super) fn innermost(&self, place: &Place) -> Place {
        let absolute = self.real(place);
        let inner = absolute.as_deref().and_then(|path| self.containing(path));
        inner.map_or_else(|| place.clone(), |(zone, rest)| Place { zone, path: rest.to_owned() })
    }
}
