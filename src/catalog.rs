//! The catalog: what is served right now, as one immutable [`Snapshot`], and the cell that holds the current one.

mod build;
mod changes;
mod claims;
mod complain;
mod find;
mod judge;
mod keep;
mod limits;
mod links;
mod live;
mod looks;
mod lost;
mod order;
mod place;
mod placed;
mod read;
mod shard;
mod snapshot;
mod standing;
#[cfg(test)]
mod tests;
mod unit;
mod verdicts;
mod whole;

pub use build::{Built, OnNameMismatch, Options, build};
pub use changes::Changes;
pub use limits::Limits;
pub use live::{Catalog, ReadError};
pub use looks::LookCounts;
pub use shard::{File, Node, Skill, Totals};
pub use snapshot::Snapshot;
pub use standing::{Look, Mounted, Standing};
