//! `skillserve list`: says what would be served.

use std::io::Write as _;
use std::time::Duration;

use crate::cli::Source;
use crate::{mcp, report};

use super::Exit;
use super::look::{look, open};
use super::output::Output;

/// The width of the table where no terminal tells its own.
const TABLE_COLUMNS: usize = 120;

/// Prints a table, or the entries as `skills/list` gives them if `json` is set. Findings go to stderr,
/// and are no failure: what is served was listed, and `check` is the one that fails.
///
/// # Errors
/// A root that cannot be opened, or a standard output that cannot be written to.
pub fn list(source: &Source, json: bool) -> anyhow::Result<Exit> {
    let looked = look(&open(source, Duration::ZERO)?, &source.catalog);
    looked.tell();
    let snapshot = looked.snapshot();
    let text = if json {
        let entries: Vec<_> = snapshot.skills().map(|skill| mcp::entry_json(snapshot, skill)).collect();
        report::escape::json(&serde_json::to_string_pretty(&entries)?) + "\n"
    } else {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        report::table(snapshot, columns.unwrap_or(TABLE_COLUMNS))
    };
    Output::new().write_all(text.as_bytes())?;
    Ok(Exit::Clean)
}
