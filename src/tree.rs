//! The directories that skills are served from: **the only room that touches the skills' disk**.
//!
//! ```text
//! Roots ─ zone: opened directories ─▶ walk, expand: levels and links ─▶ list, dirs, entry: one directory ─▶ draft: Tree
//!                                                                ├─ names, rules, policy: what is left out
//!                                                                └─ resolve: where a link leads
//! Tree::disk ─ read: one file ─▶ bytes
//!   look: Tree before, Hint ─▶ dirt: what is listed again; memory: what is taken over
//! ```
//!
//! Every look and every read goes through handles, one name at a time and never through a link, so that no change of
//! links or names, however well timed, leads out of the opened directories. A link is followed by `resolve`, which asks
//! the disk only inside those directories. Nothing is opened that could block: a pipe, a socket or a device.

mod chain;
mod complain;
mod dirs;
mod dirt;
mod draft;
mod entry;
mod expand;
mod files;
mod footprint;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod hint;
mod identity;
mod ignore_file;
mod limits;
mod list;
mod look;
mod memory;
mod names;
mod policy;
mod read;
mod resolve;
mod rules;
mod site;
mod spot;
mod walk;
mod zone;

#[cfg(all(test, unix))]
mod tests;

use std::io;
use std::ops::AddAssign;
use std::path::PathBuf;
use std::sync::Arc;

pub use files::File;
pub use footprint::{Footprint, Steps};
pub use hint::Hint;
pub use identity::{Identity, Modified};
pub use read::{Disk, ReadError, Reader, Source};

use files::Files;
use limits::Budgets;
use memory::Memory;
use policy::Policy;
use site::Site;
use zone::Zone;

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

impl Options {
    /// Makes sure that the patterns are patterns, before anything is looked at.
    ///
    /// # Errors
    /// The first that is none.
    pub fn check(&self) -> Result<(), RootError> {
        Policy::new(self).map(|_| ())
    }
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

/// The roots as they are to be walked. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Roots(Arc<Setup>);

#[derive(Debug)]
struct Setup {
    mounts: Vec<Mount>,
    /// Where to find the mounts' directories whatever becomes of the working directory.
    dirs: Vec<PathBuf>,
    /// The same for [`Options::follow_links_to`].
    follow: Vec<PathBuf>,
    policy: Policy,
    budgets: Budgets,
}

/// Why a root cannot be served. Each is one sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// There is nothing at that path.
    #[error("there is no directory {0:?}: check the path, or create it")]
    Missing(PathBuf),
    /// There is something else.
    #[error("{0:?} is not a directory: name the directory that holds it")]
    NotADirectory(PathBuf),
    /// The system refused.
    #[error("the directory {path:?} cannot be read: give the server's user the right to list it ({error})")]
    Unreadable {
        /// The directory, as typed.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A pattern that is none.
    #[error("the pattern {pattern:?} of {option} is not in gitignore syntax ({reason}): correct it")]
    Pattern {
        /// The option that it was given to.
        option: &'static str,
        /// The pattern, as typed.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl RootError {
    fn new(path: PathBuf, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing(path),
            io::ErrorKind::NotADirectory => Self::NotADirectory(path),
            _ => Self::Unreadable { path, error },
        }
    }
}

/// What one look at the roots found.
#[derive(Debug)]
pub struct Tree {
    /// One for each mount, in the order of the mounts.
    pub roots: Vec<Root>,
    /// Reads the files of this tree.
    pub disk: Disk,
    /// How many directories were listed for it; all others are as they were.
    pub listed: u64,
    /// One for each root, for the next look.
    memories: Vec<Arc<Memory>>,
    made_from: Roots,
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
    /// Whether it could not be opened any more. Then there is nothing in it.
    pub is_lost: bool,
    /// What is in it. The top directory's own name is empty.
    pub top: Arc<Directory>,
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

impl AddAssign for LeftOut {
    fn add_assign(&mut self, more: Self) {
        self.hidden += more.hidden;
        self.junk += more.junk;
        self.ignored += more.ignored;
    }
}

/// A directory as it will be served: links followed, what is left out left out, entries sorted by name.
#[derive(Debug, Default)]
pub struct Directory {
    /// The directories in it.
    pub dirs: Box<[Arc<Directory>]>,
    /// The regular files in it.
    files: Files,
    /// Where it is, and under which name.
    site: Arc<Site>,
}

impl Directory {
    /// Its name under its parent.
    pub fn name(&self) -> &str {
        self.site.name()
    }
}

impl Roots {
    /// Makes sure that the mounts' directories, and those of [`Options::follow_links_to`], can be opened and listed. A
    /// directory may itself be reached through links, wherever they lead.
    ///
    /// # Errors
    /// The first pattern that is none, or the first directory that is missing, no directory or not readable.
    pub fn open(mounts: &[Mount], options: &Options) -> Result<Self, RootError> {
        let policy = Policy::new(options)?;
        let check = |dir: &PathBuf| {
            let absolute = std::path::absolute(dir).and_then(|path| Zone::open(&path).map(|_| path));
            absolute.map_err(|error| RootError::new(dir.clone(), error))
        };
        let dirs = mounts.iter().map(|mount| check(&mount.dir)).collect::<Result<_, _>>()?;
        let follow = options.follow_links_to.iter().map(check).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Setup {
            mounts: mounts.to_vec(),
            dirs,
            follow,
            policy,
            budgets: Budgets::default(),
        })))
    }
}
