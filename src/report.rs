//! Findings and catalogs for people and for programs: a marked source line in `check`, or JSON, SARIF and GitHub's
//! annotations; a table in `list`.
//!
//! What comes from a skill is untrusted, so every text here goes through [`escape`] before it is shown.

mod annotate;
mod artifact;
pub mod escape;
mod github;
mod json;
mod names;
mod sarif;
mod summary;
mod table;

use crate::catalog::Totals;
use crate::finding::Finding;

pub use annotate::text;
pub use github::github;
pub use json::{Summary, item as finding_item, json};
pub use names::Names;
pub use sarif::sarif;
pub use summary::{Skipped, count, left_out, serving, size, skipped_skills};
pub use table::table;

/// All that `check` says.
#[derive(Debug)]
pub struct Report<'a> {
    /// What is wrong, those about one skill together.
    pub findings: &'a [Finding],
    /// What would be served.
    pub totals: Totals,
    /// What would not.
    pub skipped: Skipped,
    /// What was passed over, one sentence each, escaped.
    pub notes: Vec<String>,
}

impl Report<'_> {
    /// The sum, in one line.
    pub fn summary(&self) -> String {
        summary::checked(self.totals, self.skipped)
    }
}
