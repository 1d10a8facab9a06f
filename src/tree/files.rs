//! The files of one directory. There are more files than anything else, so what is kept of each is small: all names are
//! one text, and what a file has in common with its directory is not repeated.

use std::ffi::OsStr;

use super::Directory;
use super::identity::{Identity, Modified, Version};
use super::read::Source;

/// The files of a directory, sorted by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Files {
    /// One after the other.
    names: Box<str>,
    entries: Box<[Entry]>,
    origins: Origins,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    version: Version,
    /// Where its name ends. The names of a root's entries together are far from 4 GiB.
    name_end: u32,
    /// Which of the origins is its own.
    origin: u32,
}

/// What the entries have that most share with the one before them.
#[derive(Clone, Debug, PartialEq)]
enum Origins {
    /// All are in the directory itself, on this device.
    Here(u64),
    /// What their entries say.
    Various(Box<[Origin]>),
}

/// Where files come from.
#[derive(Clone, Debug, PartialEq)]
struct Origin {
    device: u64,
    /// Where the bytes are, if they are not in the directory itself under the file's own name.
    elsewhere: Option<Box<Source>>,
}

/// A regular file as it is found.
pub(super) struct Listed {
    /// Its name under its parent.
    pub(super) name: String,
    pub(super) identity: Identity,
    /// As for an [`Origin`].
    pub(super) elsewhere: Option<Box<Source>>,
}

/// A regular file as it will be served.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    dir: &'a Directory,
    at: usize,
}

impl Files {
    /// Takes files that are sorted by name.
    pub(super) fn new(listed: Vec<Listed>) -> Self {
        let mut names = String::with_capacity(listed.iter().map(|file| file.name.len()).sum());
        let mut origins: Vec<Origin> = Vec::with_capacity(1);
        let entry = |Listed { name, identity, elsewhere }: Listed| {
            names.push_str(&name);
            let (device, version) = identity.split();
            let origin = Origin { device, elsewhere };
            if origins.last() != Some(&origin) {
                origins.push(origin);
            }
            Entry { version, name_end: to_u32(names.len()), origin: to_u32(origins.len() - 1) }
        };
        let entries = listed.into_iter().map(entry).collect();
        Self { names: names.into(), entries, origins: origins.into() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn name(&self, at: usize) -> &str {
        let end = |at: usize| self.entries.get(at).map_or(0, |entry| entry.name_end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        self.names.get(start..end(at)).unwrap_or_default()
    }
}

impl Default for Origins {
    fn default() -> Self {
        Self::Various(Box::default())
    }
}

impl From<Vec<Origin>> for Origins {
    fn from(origins: Vec<Origin>) -> Self {
        match &*origins {
            [Origin { device, elsewhere: None }] => Self::Here(*device),
            _ => Self::Various(origins.into()),
        }
    }
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Directory {
    /// The regular files in it, sorted by name.
    pub fn files(&self) -> impl ExactSizeIterator<Item = File<'_>> {
        (0..self.files.entries.len()).map(|at| File { dir: self, at })
    }

    /// The regular file of this name.
    pub fn file(&self, name: &str) -> Option<File<'_>> {
        let (mut from, mut to) = (0, self.files.entries.len());
        while from < to {
            let at = from.midpoint(to);
            match self.files.name(at).cmp(name) {
                std::cmp::Ordering::Equal => return Some(File { dir: self, at }),
                std::cmp::Ordering::Less => from = at + 1,
                std::cmp::Ordering::Greater => to = at,
            }
        }
        None
    }
}

impl<'a> File<'a> {
    /// Its name under its parent.
    pub fn name(self) -> &'a str {
        self.dir.files.name(self.at)
    }

    /// Tells whether it is still what it was.
    pub fn identity(self) -> Identity {
        Identity::join(self.origin().0, self.entry().version)
    }

    /// Its length in bytes when it was looked at. The catalog counts again when it reads.
    pub fn size(self) -> u64 {
        self.identity().size()
    }

    /// When it was last modified.
    pub fn modified(self) -> Modified {
        self.identity().modified()
    }

    /// Where its bytes are.
    pub fn source(self) -> Source {
        match self.origin().1 {
            Some(source) => source.clone(),
            None => Source::new(self.dir.site.clone(), OsStr::new(self.name()).to_owned()),
        }
    }

    fn entry(self) -> &'a Entry {
        &self.dir.files.entries[self.at]
    }

    /// Its device, and where it is if that is elsewhere.
    fn origin(self) -> (u64, Option<&'a Source>) {
        match &self.dir.files.origins {
            Origins::Here(device) => (*device, None),
            Origins::Various(origins) => {
                let Origin { device, elsewhere } = &origins[self.entry().origin as usize];
                (*device, elsewhere.as_deref())
            }
        }
    }
}
