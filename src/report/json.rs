//! Findings as one JSON object. `schemas/check.schema.json` in the repository describes it.

use std::path::Path;

use serde::Serialize;

use crate::catalog::Totals;
use crate::finding::Finding;

use super::{Report, Skipped, artifact};

/// Grows when something is taken away or gets another meaning; members may be added at any time.
const FORMAT_VERSION: u32 = 1;

#[derive(Serialize)]
struct Object<'a> {
    version: u32,
    summary: Summary,
    notes: &'a [String],
    findings: Vec<Item<'a>>,
}

/// How much is served, how much is not, and how much is wrong.
#[derive(Serialize)]
pub struct Summary {
    skills: usize,
    files: usize,
    bytes: u64,
    skipped: usize,
    errors: usize,
    warnings: usize,
}

/// A finding in its JSON form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item<'a> {
    code: &'static str,
    severity: &'static str,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    #[serde(flatten)]
    region: Option<Region>,
    message: &'a str,
    help: &'a str,
    hosts: Vec<At>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct At {
    name: &'static str,
    loses: &'static str,
}

impl Summary {
    /// The sum of what is served, what is not, and so many findings.
    pub fn of(totals: Totals, findings: usize, skipped: Skipped) -> Self {
        let Totals { skills, files, bytes } = totals;
        let Skipped { skills: skipped, warnings } = skipped;
        Self { skills, files, bytes, skipped, errors: findings - warnings, warnings }
    }
}

/// The object, with a line end.
///
/// # Errors
/// None that is known: every member has a JSON form.
pub fn json(report: &Report<'_>) -> serde_json::Result<String> {
    let summary = Summary::of(report.totals, report.findings.len(), report.skipped);
    let findings = report.findings.iter().map(|finding| item(finding, &finding.path)).collect();
    let object = Object { version: FORMAT_VERSION, summary, notes: &report.notes, findings };
    Ok(serde_json::to_string_pretty(&object)? + "\n")
}

/// A finding as the object has it, about the file or directory at `path`.
pub fn item<'a>(finding: &'a Finding, path: &Path) -> Item<'a> {
    let (path, path_bytes) = artifact::text(path);
    Item {
        code: finding.code.as_str(),
        severity: finding.severity.as_str(),
        path,
        path_bytes,
        region: finding.place.as_ref().map(|place| Region {
            line: place.line,
            column: place.column,
            end_line: place.end_line,
            end_column: place.end_column,
        }),
        message: &finding.message,
        help: &finding.help,
        hosts: finding
            .elsewhere
            .iter()
            .map(|at| At { name: at.host.as_str(), loses: at.loss.as_str() })
            .collect(),
    }
}
