//! What of a walk's findings costs a skill.
//!
//! The walk knows files and directories, not skills: what it withholds costs one file of a skill, as far as it can tell.
//! Where it withholds something outside any skill that could be a skill's directory, a skill is lost. Where it withholds a
//! secret there, nothing is: no file outside a skill is served.

use std::path::Path;

use crate::finding::{Code, Finding, Severity};
use crate::skill::SkillName;

/// The findings of a walk, those that cost a skill raised to errors, and without those that cost nothing. `is_in_skill`
/// tells of a path as findings show it whether it is that of a skill's directory or leads into one.
pub(super) fn weigh(mut findings: Vec<Finding>, is_in_skill: impl Fn(&Path) -> bool) -> Vec<Finding> {
    findings.retain_mut(|finding| {
        if is_in_skill(&finding.path) {
            return true;
        }
        if finding.severity == Severity::Warning && may_hide_a_skill(finding) {
            finding.severity = Severity::Error;
        }
        finding.code != Code::Secret
    });
    findings
}

/// Whether what a finding outside any skill withholds could be a skill's directory.
fn may_hide_a_skill(finding: &Finding) -> bool {
    let name = finding.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match finding.code {
        // Its own name could be a skill's.
        Code::LinkLeaves | Code::LinkDangles | Code::LinkBudget | Code::LinkRefused | Code::Unreadable => {
            SkillName::parse(name).is_ok()
        }
        // Its own name cannot, but there may be skills below it.
        Code::TooDeep | Code::NameNotUtf8 => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: Code, path: &str, expected: Option<Severity>) {
        let finding = Finding::new(code, Severity::Warning, path, "", "");
        let weighed = weigh(vec![finding], |path| path.starts_with("skills/pdf"));
        assert_eq!(weighed.first().map(|finding| finding.severity), expected, "{path}");
    }

    #[test]
    fn a_link_that_could_be_a_skill_costs_one_and_a_supporting_file_does_not() {
        check(Code::LinkLeaves, "skills/other", Some(Severity::Error));
        check(Code::LinkDangles, "skills/category/other", Some(Severity::Error));
        check(Code::LinkLeaves, "skills/pdf/references", Some(Severity::Warning));
        check(Code::LinkLeaves, "skills/README.md", Some(Severity::Warning));
        check(Code::LinkLoop, "skills/up", Some(Severity::Warning));
        check(Code::NameNotUtf8, "skills/?", Some(Severity::Error));
        check(Code::NameNotUtf8, "skills/pdf/?", Some(Severity::Warning));
        check(Code::Secret, "skills/pdf/credentials", Some(Severity::Warning));
        check(Code::Secret, "skills/credentials", None);
    }
}
