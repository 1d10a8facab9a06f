//! The page for people: what is served, what is not and why, as HTML.
//!
//! Everything here is a pure function of a [`Standing`], and of a file's bytes where one is shown. What comes from a skill is
//! untrusted: the templates escape it, [`visible`] marks what nobody would see, and [`markdown`] lets no HTML through. No
//! page has a script or a style of its own, so that a browser can be told to run none.
//!
//! Links are relative, and all pages lie side by side, so that a proxy can put them below any path: what is shown stands in
//! the query, which no proxy rewrites.

pub mod asset;
mod explain;
mod file;
mod finding;
mod frame;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod href;
mod markdown;
mod pager;
mod place;
mod problems;
mod search;
mod skill;
mod skills;
mod text;
mod visible;
mod when;

use crate::catalog::Standing;
use crate::report::Names;

pub use explain::explain;
pub use file::{Shown, file};
pub use frame::{nothing, starting};
pub use problems::problems;
pub use search::Search;
pub use skill::skill;
pub use skills::skills;

/// What every page is made from.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The server's name.
    pub name: &'a str,
    /// What is served and what is not.
    pub standing: &'a Standing,
    /// What the directories are called.
    pub names: &'a Names,
}

#[cfg(test)]
mod tests;
