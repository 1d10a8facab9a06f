//! The directories that skills are served from: **the only room that touches the skills' disk**.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::finding::Finding;

/// What is looked at, and what is passed over.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Serve names that begin with a dot (never `.git`).
    pub include_hidden: bool,
    /// Patterns in gitignore syntax, relative to each root, of what is left out.
    pub exclude: Vec<String>,
    /// Which links are followed.
    pub links: Links,
    /// Directories outside the roots that links may lead into.
    pub follow_links_to: Vec<PathBuf>,
    /// Patterns in gitignore syntax, relative to each root, of names that look secret and are served all the same.
    pub allow_secret: Vec<String>,
}

/// Which links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Those that stay inside a root, or inside a directory of [`Options::follow_links_to`].
    #[default]
    Inside,
    /// None; each is a finding.
    Refuse,
}

/// One directory to serve, and under which prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The served path in front of everything in `dir`: `/`-separated segments, or empty.
    pub prefix: String,
    /// The directory, as typed.
    pub dir: PathBuf,
}

/// The opened roots. Cheap to clone; every read goes through handles on the roots, so that no change of links or names
/// can lead a read out of them.
#[derive(Clone, Debug)]
pub struct Roots {}

/// Why a root cannot be served. Each is one sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// There is nothing at that path.
    #[error("there is no directory {0:?}")]
    Missing(PathBuf),
    // … more variants: not a directory, unreadable, a bad pattern
}

/// What one look at the roots found.
#[derive(Debug)]
pub struct Tree {
    /// One for each mount, in the order of the mounts.
    pub roots: Vec<Root>,
    /// Reads the files of this tree.
    pub disk: Disk,
}

/// One walked root.
#[derive(Debug)]
pub struct Root {
    /// The mount's prefix.
    pub prefix: String,
    /// The root as it was typed, for messages.
    pub shown: PathBuf,
    /// The name of the real directory, links resolved; empty when it has none (`/`) or when it is not UTF-8.
    pub real_name: String,
    /// What is in it. The top directory's own name is empty.
    pub top: Directory,
    /// What was passed over on purpose.
    pub left_out: LeftOut,
}

/// How many entries were passed over without a finding each. A directory that is not walked counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Names that begin with a dot.
    pub hidden: u64,
    /// What tools leave behind: `node_modules`, `__pycache__`, `*~`, `.git`, …
    pub junk: u64,
    /// Matched by `--exclude` or a `.skillignore`.
    pub ignored: u64,
}

/// A directory as it will be served: links followed, what is left out left out, entries sorted by name.
#[derive(Debug, Default)]
pub struct Directory {
    /// Its name under its parent.
    pub name: Box<str>,
    /// The directories in it.
    pub dirs: Vec<Directory>,
    /// The regular files in it.
    pub files: Vec<File>,
}

/// A regular file as it will be served.
#[derive(Debug)]
pub struct File {
    /// Its name under its parent.
    pub name: Box<str>,
    /// Its length in bytes when it was looked at. The catalog counts again when it reads.
    pub size: u64,
    /// When it was last modified, where the file system says so.
    pub modified: Option<SystemTime>,
    /// Where its bytes are.
    pub source: Source,
}

/// Where the bytes of a file are: a place inside one of the opened directories, with every link already resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    zone: u16,
    path: Box<Path>,
}

/// Why a file's bytes could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is gone, or a part of its path is now a link, or it is no regular file any more.
    #[error("it is no longer the file that it was")]
    Gone,
    /// It is larger than the reader allows.
    #[error("it is larger than {max_bytes} bytes")]
    TooLarge {
        /// The bound that was given.
        max_bytes: u64,
    },
    /// The system refused.
    #[error("{0}")]
    Io(#[source] std::io::Error),
}

impl Roots {
    /// Opens the mounts' directories, and those of [`Options::follow_links_to`].
    ///
    /// # Errors
    /// The first directory that is missing, no directory or not readable, or the first pattern that is none.
    pub fn open(mounts: &[Mount], options: &Options) -> Result<Self, RootError> {
        let _ = (mounts, options);
        Ok(Self {})
    }

    /// Looks at everything once. A root that is a link is resolved anew, so a swapped link is followed.
    pub fn walk(&self) -> (Tree, Vec<Finding>) {
        (Tree { roots: Vec::new(), disk: Disk::default() }, Vec::new())
    }
}

/// Handles on everything that was walked. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Disk {}

impl Disk {
    /// Reads a whole file, without following any link and without ever waiting on a pipe or a device.
    ///
    /// # Errors
    /// See [`ReadError`]. Never more than `max_bytes` are held.
    pub fn read(&self, source: &Source, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
        let _ = (source, max_bytes);
        Err(ReadError::Gone)
    }
}
