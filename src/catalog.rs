//! The catalog: what is served right now, as one immutable [`Snapshot`], and the cell that holds the current one.

mod build;
mod candidate;
mod claims;
mod complain;
mod limits;
mod live;
mod order;
mod read;
mod shard;
mod snapshot;
#[cfg(test)]
mod tests;

pub use build::{OnNameMismatch, Options, build};
pub use limits::Limits;
pub use live::{Catalog, ReadError};
pub use shard::{Content, File, Node, Skill};
pub use snapshot::{Snapshot, Totals};
