//! Findings and catalogs for people: one line each in a log, a marked source line in `check`, a table in `list`.
//!
//! What comes from a skill is untrusted, so every text here goes through [`escape`] before it is shown.

mod annotate;
pub mod escape;
mod summary;
mod table;

pub use annotate::annotated;
pub use summary::{Skipped, checked, left_out, serving};
pub use table::table;
