//! `skillserve check`: says what would not be served, and what would not load somewhere.

use std::io::{IsTerminal as _, Write as _, stdout};
use std::time::Duration;

use anyhow::anyhow;

use crate::cli::{Checking, Format, Source};
use crate::finding::Severity;
use crate::report::{self, Report, escape};
use crate::tree::RootError;

use super::Exit;
use super::look::{look, open};
use super::output::Output;

/// Prints every finding, and the sum.
///
/// # Errors
/// A root that cannot be opened, or a standard output that cannot be written to.
pub fn check(source: &Source, checking: &Checking) -> anyhow::Result<Exit> {
    let roots = open(source, Duration::ZERO).map_err(missing)?;
    let looked = look(&roots, &source.catalog);
    let ignored =
        checking.passed_over.iter().map(|path| format!("{}: no skill holds it", escape::path(path)));
    let report = Report {
        findings: looked.findings(),
        totals: looked.snapshot().totals(),
        skipped: looked.skipped(),
        notes: looked.notes().chain(ignored).collect(),
    };
    let text = match checking.format {
        Format::Text => report::text(&report, is_coloured()),
        Format::Json => report::json(&report)?,
        Format::Sarif => report::sarif(&report)?,
        Format::Github => report::github(&report),
    };
    Output::new().write_all(text.as_bytes())?;
    if matches!(checking.format, Format::Json | Format::Sarif) {
        // Standard output holds one object and nothing else.
        tracing::info!("{}", report.summary());
    }
    let worst = looked.findings().iter().map(|finding| finding.severity).max();
    Ok(match worst {
        Some(Severity::Error) => Exit::Errors,
        Some(Severity::Warning) if checking.deny_warnings => Exit::Errors,
        _ => Exit::Clean,
    })
}

/// The error for a root, which here might have been a file too.
fn missing(error: RootError) -> anyhow::Error {
    match error {
        RootError::Missing(path) => anyhow!("there is no file or directory {path:?}: check the path"),
        error => error.into(),
    }
}

fn is_coloured() -> bool {
    stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
