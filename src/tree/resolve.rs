//! Where a link leads: our own resolution, component by component over handles, because the zones are several and a
//! target may be absolute.
//!
//! Inside a zone every component is looked at; outside, a path is only compared with the zones' own paths. So nothing
//! outside is opened, read or even asked about, and what cannot be seen there counts as leading out.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata};

use super::limits::{LINK_MAX_HOPS, LINK_MAX_OPENS};
use super::zone::{Place, Zones};

/// What a link leads to.
pub(super) struct Resolved {
    /// The directory, or the directory around what is none.
    pub(super) place: Place,
    /// That directory, open.
    pub(super) dir: Dir,
    /// The name of what is no directory, and what it is, perhaps something special.
    pub(super) other: Option<(OsString, Metadata)>,
    /// The names of the further links on the way.
    pub(super) hops: Vec<OsString>,
}

/// Why a link leads nowhere.
#[derive(Debug)]
pub(super) enum Broken {
    /// Out of every zone.
    Leaves,
    /// To nothing.
    Dangles,
    /// Through more links than [`LINK_MAX_HOPS`], which is what a circle looks like.
    Loops,
    /// Through more directories than [`LINK_MAX_OPENS`].
    TooLong,
    /// The system refused.
    Io(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Dangles,
            _ => Self::Io(error),
        }
    }
}

/// Follows the link `name` in the directory `dir`, which is at `place`. Every directory on the way in which a name
/// decides where it leads is added to `via`, also when it leads nowhere.
pub(super) fn resolve(
    zones: &Zones,
    dir: &Dir,
    place: &Place,
    name: &OsStr,
    via: &mut Vec<Place>,
) -> Result<Resolved, Broken> {
    let mut way = Way {
        zones,
        via,
        at: At::Inside(place.clone(), dir.try_clone()?),
        ahead: VecDeque::new(),
        hops: Vec::new(),
        opens: 0,
    };
    way.follow(name)?;
    way.run()
}

/// Where a resolution stands.
enum At {
    /// In this directory.
    Inside(Place, Dir),
    /// At this absolute path, of which only the text is known.
    Outside(PathBuf),
}

struct Way<'a> {
    zones: &'a Zones,
    via: &'a mut Vec<Place>,
    at: At,
    /// The components that are still to be gone.
    ahead: VecDeque<OsString>,
    hops: Vec<OsString>,
    opens: u32,
}

impl Way<'_> {
    fn run(mut self) -> Result<Resolved, Broken> {
        while let Some(step) = self.ahead.pop_front() {
            match Path::new(&step).components().next() {
                Some(Component::ParentDir) => self.up()?,
                Some(Component::Normal(name)) => {
                    if let Some(metadata) = self.down(name)? {
                        // More after a file, as in `file/more`, is as dangling for us as for the system.
                        let is_last = self.ahead.is_empty();
                        let other = Some((name.to_owned(), metadata));
                        return if is_last { self.done(other) } else { Err(Broken::Dangles) };
                    }
                }
                Some(Component::RootDir | Component::Prefix(_)) => self.restart(&step)?,
                Some(Component::CurDir) | None => {}
            }
        }
        self.done(None)
    }

    fn done(self, other: Option<(OsString, Metadata)>) -> Result<Resolved, Broken> {
        let At::Inside(place, dir) = self.at else { return Err(Broken::Leaves) };
        // The name of the link that was asked about is its caller's business, so it is no hop.
        Ok(Resolved { place, dir, other, hops: self.hops.into_iter().skip(1).collect() })
    }

    /// Goes to `name`, unless that is no directory but something else: then says what.
    fn down(&mut self, name: &OsStr) -> Result<Option<Metadata>, Broken> {
        match &mut self.at {
            At::Outside(path) => {
                let path = path.join(name);
                self.go_outside(path)?;
            }
            At::Inside(place, dir) => {
                if self.via.last() != Some(place) {
                    self.via.push(place.clone());
                }
                let metadata = dir.symlink_metadata(name)?;
                if metadata.is_symlink() {
                    self.follow(name)?;
                } else if metadata.is_dir() {
                    *dir = dir.open_dir_nofollow(name)?;
                    place.path.push(name);
                    self.count_opens(1)?;
                } else {
                    return Ok(Some(metadata));
                }
            }
        }
        Ok(None)
    }

    /// Begins an absolute path, or goes on with it where the system's begin with more than a root.
    fn restart(&mut self, step: &OsStr) -> Result<(), Broken> {
        let path = match &self.at {
            At::Outside(path) => path.join(step),
            At::Inside(..) => PathBuf::from(step),
        };
        self.go_outside(path)
    }

    fn up(&mut self) -> Result<(), Broken> {
        match &mut self.at {
            At::Outside(path) => {
                let mut path = std::mem::take(path);
                path.pop();
                self.go_outside(path)
            }
            At::Inside(place, dir) => {
                if place.path.pop() {
                    let levels = place.path.components().count();
                    *dir = self.zones.open(place)?;
                    return self.count_opens(levels);
                }
                let mut path = self.zones.get(place.zone).map(|zone| zone.real.clone()).unwrap_or_default();
                path.pop();
                self.go_outside(path)
            }
        }
    }

    /// Puts the target of the link `name` of the current directory before what is ahead.
    fn follow(&mut self, name: &OsStr) -> Result<(), Broken> {
        let At::Inside(_, dir) = &self.at else { return Err(Broken::Leaves) };
        if self.hops.len() >= LINK_MAX_HOPS as usize {
            return Err(Broken::Loops);
        }
        let target = dir.read_link_contents(name)?;
        if target.as_os_str().is_empty() {
            return Err(Broken::Dangles);
        }
        self.hops.push(name.to_owned());
        for component in target.components().rev() {
            self.ahead.push_front(component.as_os_str().to_owned());
        }
        Ok(())
    }

    /// Goes to an absolute path, which may well be in a zone. What of it is below the zone is gone component by
    /// component like everything else, for only the zone's own path is known to be free of links.
    fn go_outside(&mut self, path: PathBuf) -> Result<(), Broken> {
        let Some((zone, rest)) = self.zones.containing(&path) else {
            self.at = At::Outside(path);
            return Ok(());
        };
        for component in rest.components().rev() {
            self.ahead.push_front(component.as_os_str().to_owned());
        }
        let place = Place { zone, path: PathBuf::new() };
        let dir = self.zones.open(&place)?;
        self.at = At::Inside(place, dir);
        Ok(())
    }

    fn count_opens(&mut self, more: usize) -> Result<(), Broken> {
        self.opens = self.opens.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        if self.opens > LINK_MAX_OPENS { Err(Broken::TooLong) } else { Ok(()) }
    }
}
