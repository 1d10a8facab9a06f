//! The findings of one build, settled by the rules, and the skills that they cost.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::finding::{Code, Finding, Severity};
use crate::rules::Rules;
use crate::skill::SKILL_MD;

/// Collects findings.
#[derive(Debug)]
pub(super) struct Verdicts<'a> {
    rules: &'a Rules,
    findings: Vec<Finding>,
    /// Where a rule made an error of what was none.
    raised: BTreeSet<PathBuf>,
    /// Whether something could not be read, told or not.
    has_unread: bool,
    /// Whether something changed between the walk and its reading, told or not.
    has_changing: bool,
}

impl<'a> Verdicts<'a> {
    pub(super) fn new(rules: &'a Rules) -> Self {
        Self { rules, findings: Vec::new(), raised: BTreeSet::new(), has_unread: false, has_changing: false }
    }

    /// Takes findings as they were made.
    pub(super) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            self.has_changing |= finding.code == Code::Changing;
            self.has_unread |= matches!(finding.code, Code::Unreadable | Code::Changing);
            let Some(finding) = self.rules.settle(finding) else { continue };
            if finding.is_by_rule {
                self.raised.insert(finding.path.clone());
            }
            self.findings.push(finding);
        }
    }

    /// Whether a raised finding costs the skill whose `SKILL.md` is `shown`: one about that file itself, or about any
    /// other file in its directory. A nested skill's `SKILL.md` costs only the nested skill.
    pub(super) fn cost(&mut self, shown: &Path) -> bool {
        if self.raised.is_empty() || self.raised.contains(shown) {
            return !self.raised.is_empty();
        }
        let Some(dir) = shown.parent() else { return false };
        let mut inside = self.raised.range(dir.to_owned()..).take_while(|path| path.starts_with(dir));
        let Some(why) = inside.find(|path| path.file_name().is_none_or(|name| name != SKILL_MD)) else {
            return false;
        };
        let what = why.strip_prefix(dir).unwrap_or(why).display();
        let message = format!("the skill is not served because of an error in {what}");
        let help = "cure that error, or take back what made it one";
        self.findings.push(Finding::new(Code::Refused, Severity::Error, shown, message, help));
        true
    }

    /// Whether a skill whose findings were once these would be refused with them, or is now.
    pub(super) fn would_cost<'f>(&self, shown: &Path, once: impl IntoIterator<Item = &'f Finding>) -> bool {
        let mut then = Self::new(self.rules);
        then.raised.clone_from(&self.raised);
        then.extend(once.into_iter().cloned());
        then.cost(shown)
    }

    /// Whether something could not be read for a reason that may pass.
    pub(super) fn has_unread(&self) -> bool {
        self.has_unread
    }

    pub(super) fn has_changing(&self) -> bool {
        self.has_changing
    }

    /// Whether a rule made an error of what was none, so that it may cost a skill.
    pub(super) fn has_raised(&self) -> bool {
        !self.raised.is_empty()
    }

    /// All findings, those about one skill together.
    pub(super) fn into_findings(mut self) -> Vec<Finding> {
        self.findings.sort_by(|a, b| a.path.cmp(&b.path));
        self.findings
    }
}
