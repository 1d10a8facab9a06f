//! `skillserve check`: says what would not be served.

use std::io::{IsTerminal as _, Write as _, stdout};
use std::time::Duration;

use crate::cli::Source;
use crate::report;

use super::Exit;
use super::look::{look, open};
use super::output::Output;

/// Prints every finding with its source line, and the sum.
///
/// # Errors
/// A root that cannot be opened, or a standard output that cannot be written to.
pub fn check(source: &Source) -> anyhow::Result<Exit> {
    let looked = look(&open(source, Duration::ZERO)?, &source.catalog);
    let is_coloured =
        stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut out = Output::new();
    for finding in looked.findings() {
        writeln!(out, "{}\n", report::annotated(finding, is_coloured))?;
    }
    for note in looked.notes() {
        writeln!(out, "note: {note}")?;
    }
    let skipped = looked.skipped();
    writeln!(out, "{}", report::checked(looked.snapshot().totals(), skipped))?;
    Ok(if skipped.skills == 0 { Exit::Clean } else { Exit::Errors })
}
