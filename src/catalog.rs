//! The catalog: what is served right now, as one immutable [`Snapshot`], and the cell that holds the current one.

mod branch;
mod build;
mod cache;
mod changes;
mod claims;
mod complain;
mod count;
mod doubts;
mod fields;
mod find;
mod flights;
mod judge;
mod keep;
mod known;
mod limits;
mod links;
mod live;
mod looks;
mod lost;
mod order;
mod place;
mod placed;
mod proof;
mod read;
mod scan;
mod shard;
mod snapshot;
mod standing;
#[cfg(test)]
mod tests;
mod unit;
mod verdicts;
mod whole;

pub use build::{Built, OnNameMismatch, Options, build, build_first};
pub use cache::{Cache, CacheCounts, Held};
pub use changes::Changes;
pub use count::Count;
pub use fields::Fields;
pub use limits::Limits;
pub use live::{Catalog, ReadError};
pub use looks::LookCounts;
pub use shard::{File, Node, Skill, Stated, Totals};
pub use snapshot::{Listed, Snapshot};
pub use standing::{Look, Mounted, Standing, innermost};
