//! Findings as SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use crate::finding::{Code, Finding};

use super::{Report, artifact};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// One log with one run, with a line end.
///
/// # Errors
/// None that is known: every member has a JSON form.
pub fn sarif(report: &Report<'_>) -> serde_json::Result<String> {
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "skillserve",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": Code::ALL.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": report.notes.iter().map(|note| notification(note)).collect::<Vec<_>>(),
            }],
            "results": report.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    Ok(serde_json::to_string_pretty(&log)? + "\n")
}

fn rule(code: Code) -> Value {
    let level = match code.kind().as_str() {
        "off" => "none",
        level => level,
    };
    json!({
        "id": code.as_str(),
        "shortDescription": {"text": code.title()},
        "fullDescription": {"text": section(code.page(), "What")},
        "help": {"text": section(code.page(), "Cure"), "markdown": code.page()},
        "defaultConfiguration": {"level": level},
    })
}

/// The text below a heading of a page, its paragraphs in one line each.
fn section(page: &str, heading: &str) -> String {
    let section = page.split("\n## ").find_map(|section| section.strip_prefix(heading)).unwrap_or_default();
    section
        .trim()
        .split("\n\n")
        .map(|paragraph| paragraph.replace('\n', " "))
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn notification(note: &str) -> Value {
    json!({"level": "note", "message": {"text": note}})
}

fn result(finding: &Finding) -> Value {
    let index = Code::ALL.iter().position(|code| *code == finding.code);
    let mut location = json!({"artifactLocation": {"uri": artifact::uri(&finding.path)}});
    if let Some(place) = &finding.place {
        location["region"] = json!({
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        });
    }
    let mut result = json!({
        "ruleId": finding.code.as_str(),
        "ruleIndex": index,
        "level": finding.severity.as_str(),
        "message": {"text": format!("{}. {}.", finding.message, capitalized(&finding.help))},
        "locations": [{"physicalLocation": location}],
    });
    if !finding.elsewhere.is_empty() {
        let hosts =
            finding.elsewhere.iter().map(|at| json!({"name": at.host.as_str(), "loses": at.loss.as_str()}));
        result["properties"] = json!({"hosts": hosts.collect::<Vec<_>>()});
    }
    result
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
