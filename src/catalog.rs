//! The catalog: what is served right now, as one immutable [`Snapshot`], and the cell that holds the current one.

mod build;
mod candidate;
mod claims;
mod limits;
mod live;
mod snapshot;
#[cfg(test)]
mod tests;

pub use build::{OnNameMismatch, Options, build};
pub use limits::Limits;
pub use live::{Catalog, ReadError};
pub use snapshot::{Child, Content, File, Node, Skill, Snapshot, Totals};
