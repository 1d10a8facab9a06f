//! What is said of a skill's files: their names, what nobody sees in them, and what hosts make of them.

use std::path::{Path, PathBuf};

use crate::finding::{Code, Finding, Severity};
use crate::hidden;
use crate::hosts::{self, Held};
use crate::rules::Rules;

use super::nodes::{Entry, Nodes};

/// Judges the files of a skill that is served at `path`, shown as `shown`, and lies in no other.
pub(super) fn whole(path: &str, shown: &Path, nodes: &Nodes, rules: &Rules) -> Vec<Finding> {
    let below = |node: &Entry<'_>| node.path.get(path.len() + 1..).unwrap_or_default().to_owned();
    let mut findings = Vec::new();
    if rules.wants(Code::HiddenUnicode) {
        findings.extend(nodes.iter().flat_map(|node| hidden_in(node, || shown.join(below(&node)))));
    }
    if !rules.hosts().is_empty() {
        let held = nodes.iter().filter(|node| node.path.len() > path.len()).map(|node| Held {
            path: below(&node),
            file: node.file.map(|file| (file.size(), file.read.wire_bytes())),
        });
        let name = path.rsplit('/').next().unwrap_or_default();
        let faults = hosts::in_files(name, &held.collect::<Vec<_>>(), rules.hosts());
        findings.extend(faults.into_iter().map(|fault| {
            let path = shown.join(&fault.path);
            let finding = Finding::new(fault.code, Severity::Warning, path, fault.message, fault.help);
            Finding { elsewhere: fault.elsewhere, ..finding }
        }));
    }
    findings
}

fn hidden_in(node: Entry<'_>, shown: impl Fn() -> PathBuf) -> Vec<Finding> {
    let name = node.path.rsplit('/').next().unwrap_or_default();
    let in_name = hidden::in_name(name)
        .map(|message| Finding::new(Code::HiddenUnicode, Severity::Warning, shown(), message, "rename it"));
    let in_text = node.file.and_then(|file| file.read.hidden()).map(|hidden| {
        let (message, help) = (&hidden.problem.message, &hidden.problem.help);
        Finding::new(Code::HiddenUnicode, Severity::Warning, shown(), message, help).at(hidden.place.clone())
    });
    in_name.into_iter().chain(in_text).collect()
}
