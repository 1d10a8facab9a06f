//! The one line that says how much is served.

use std::collections::HashMap;
use std::path::Path;

use crate::catalog::Totals;
use crate::finding::{Code, Finding, Severity};
use crate::skill::SKILL_MD;
use crate::tree::LeftOut;

/// How much the findings say is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Skills that are not served.
    pub skills: usize,
    /// Findings that cost no skill.
    pub warnings: usize,
}

impl Skipped {
    /// Counts; a skill with several errors counts once.
    pub fn of(findings: &[Finding]) -> Self {
        let warnings = findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
        Self { skills: skipped_skills(findings).len(), warnings }
    }
}

/// The skills that are not served, each with the code of the first error that says why.
pub fn skipped_skills(findings: &[Finding]) -> HashMap<&Path, Code> {
    let mut skipped = HashMap::new();
    for finding in findings {
        if finding.severity == Severity::Error && costs_a_skill(finding) {
            skipped.entry(lost(&finding.path)).or_insert(finding.code);
        }
    }
    skipped
}

/// What a rule made an error costs a skill where another finding says so, unless it is about a `SKILL.md` itself.
fn costs_a_skill(finding: &Finding) -> bool {
    !finding.is_by_rule || is_skill_md(&finding.path)
}

/// The directory that is lost as a skill: that of a `SKILL.md`, or what the finding names.
fn lost(path: &Path) -> &Path {
    if is_skill_md(path) { path.parent().unwrap_or(path) } else { path }
}

/// Whether the file has this name, however it is spelled.
fn is_skill_md(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(SKILL_MD))
}

/// What a serving command says once its catalog is built: `serving 14 skills (93 files, 1.2 MB), 2 skipped`.
pub fn serving(totals: Totals, skipped: Skipped) -> String {
    format!("serving {}, {} skipped", amount(totals), skipped.skills)
}

/// What `check` says at the end.
pub(super) fn checked(totals: Totals, skipped: Skipped) -> String {
    format!(
        "{} would be served, {} skipped, {}",
        amount(totals),
        skipped.skills,
        count(skipped.warnings, "warning")
    )
}

/// What a root passed over on purpose, or nothing if it passed over nothing.
pub fn left_out(left_out: LeftOut) -> Option<String> {
    let parts = [
        (left_out.hidden, "hidden"),
        (left_out.junk, "left behind by tools"),
        (left_out.ignored, "excluded"),
    ];
    let parts: Vec<_> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    (!parts.is_empty()).then(|| format!("left out {}", parts.join(", ")))
}

fn amount(totals: Totals) -> String {
    let Totals { skills, files, bytes } = totals;
    format!("{} ({}, {})", count(skills, "skill"), count(files, "file"), size(bytes))
}

/// A number of things: `1 skill`, `2 skills`.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A number of bytes for people, in decimal units with one digit after the point.
pub fn size(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes / 100;
    for unit in units {
        if tenths < 10_000 || unit == "TB" {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
        tenths /= 1000;
    }
    unreachable!("the last unit takes everything")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        let check = |bytes, expected| assert_eq!(size(bytes), expected);
        check(0, "0 B");
        check(999, "999 B");
        check(1000, "1.0 kB");
        check(1_234_567, "1.2 MB");
        check(999_999, "999.9 kB");
        check(16_777_216, "16.7 MB");
        check(u64::MAX, "18446744.0 TB");
    }

    #[test]
    fn the_summary_is_one_line() {
        let totals = Totals { skills: 14, files: 93, bytes: 1_234_567 };
        let skipped = Skipped { skills: 2, warnings: 1 };
        assert_eq!(serving(totals, skipped), "serving 14 skills (93 files, 1.2 MB), 2 skipped");
        assert_eq!(
            checked(Totals { skills: 1, files: 1, bytes: 5 }, skipped),
            "1 skill (1 file, 5 B) would be served, 2 skipped, 1 warning"
        );
        assert_eq!(
            left_out(LeftOut { hidden: 2, junk: 0, ignored: 1 }).as_deref(),
            Some("left out 2 hidden, 1 excluded")
        );
        assert_eq!(left_out(LeftOut::default()), None);
    }
}
