//! What of a walk's findings costs a skill.
//!
//! The walk knows files and directories, not skills: what it withholds costs one file of a skill, as far as it can tell.
//! Where it withholds something outside any skill that could be a skill's directory, a skill is lost.

use std::collections::HashSet;
use std::path::Path;

use crate::finding::{Code, Finding, Severity};
use crate::skill::SkillName;

/// Raises the findings of a walk that cost a skill to errors. `skills` are the directories of skills as findings show
/// them.
pub(super) fn raise(mut findings: Vec<Finding>, skills: &HashSet<&Path>) -> Vec<Finding> {
    for finding in &mut findings {
        if finding.severity == Severity::Warning && may_hide_a_skill(finding, skills) {
            finding.severity = Severity::Error;
        }
    }
    findings
}

fn may_hide_a_skill(finding: &Finding, skills: &HashSet<&Path>) -> bool {
    let withholds_directories = matches!(
        finding.code,
        Code::LinkLeaves
            | Code::LinkDangles
            | Code::LinkBudget
            | Code::LinkRefused
            | Code::Unreadable
            | Code::TooDeep
    );
    let name = finding.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    withholds_directories
        && SkillName::parse(name).is_ok()
        && !finding.path.ancestors().any(|around| skills.contains(around))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: Code, path: &str, expected: Severity) {
        let finding = Finding {
            code,
            severity: Severity::Warning,
            path: path.into(),
            place: None,
            message: String::new(),
            help: String::new(),
        };
        let skills = HashSet::from([Path::new("skills/pdf")]);
        assert_eq!(raise(vec![finding], &skills)[0].severity, expected, "{path}");
    }

    #[test]
    fn a_link_that_could_be_a_skill_costs_one_and_a_supporting_file_does_not() {
        check(Code::LinkLeaves, "skills/other", Severity::Error);
        check(Code::LinkDangles, "skills/category/other", Severity::Error);
        check(Code::LinkLeaves, "skills/pdf/references", Severity::Warning);
        check(Code::LinkLeaves, "skills/README.md", Severity::Warning);
        check(Code::LinkLoop, "skills/up", Severity::Warning);
        check(Code::Secret, "skills/credentials", Severity::Warning);
    }
}
