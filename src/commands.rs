//! What the commands do: from a checked configuration to an exit code.

mod check;
mod explain;
mod index;
mod keeper;
mod list;
mod list_watch;
mod look;
mod looker;
mod output;
mod serve;

pub use check::check;
pub use explain::explain;
pub use index::index;
pub use list::list;
pub use list_watch::list_watch;
pub use serve::{http, stdio};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It did what it was asked. What `list` and `index` leave out is told, and no failure.
    Clean = 0,
    /// `check` found errors, or warnings that were denied; `stdio` could not get rid of its answers.
    Errors = 1,
    /// It could not run.
    CouldNotRun = 2,
}
