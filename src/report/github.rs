//! Findings as annotations of GitHub's workflows: commands on standard output.

use crate::finding::Finding;

use super::{Report, artifact, escape};

/// A command a finding, then the notes and the sum for people.
pub fn github(report: &Report<'_>) -> String {
    let mut text: String = report.findings.iter().map(command).collect();
    text.extend(report.notes.iter().map(|note| format!("note: {note}\n")));
    text + &report.summary() + "\n"
}

fn command(finding: &Finding) -> String {
    let mut properties = vec![("file", artifact::tidy(&finding.path).to_string_lossy().into_owned())];
    if let Some(place) = &finding.place {
        properties.push(("line", place.line.to_string()));
        properties.push(("endLine", place.end_line.to_string()));
        // Columns are only taken within one line.
        if place.line == place.end_line {
            properties.push(("col", place.column.to_string()));
            properties.push(("endColumn", place.end_column.max(place.column).to_string()));
        }
    }
    properties.push(("title", format!("skillserve: {}", finding.code.as_str())));
    let properties: Vec<_> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    let mut message = format!("{}\nhelp: {}", escape::text(&finding.message), escape::text(&finding.help));
    for elsewhere in &finding.elsewhere {
        message.push_str("\nnote: ");
        message.push_str(&elsewhere.sentence());
    }
    format!("::{} {}::{}\n", finding.severity.as_str(), properties.join(","), data(&message))
}

/// A command ends with its line, so line ends in it are escaped.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Colons and commas part properties.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
