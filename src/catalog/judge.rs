//! What one `SKILL.md` says, without regard to where it stands.

use std::path::Path;

use crate::finding::{Code, Finding, Place, Problem, Severity};
use crate::rules::Rules;
use crate::skill::SkillName;
use crate::tree::{Directory, ReadError};
use crate::{format, frontmatter, hosts};

use super::fields::Fields;
use super::links;

/// A `SKILL.md` that is fit to be served, as far as it alone can say.
#[derive(Debug)]
pub(super) struct Judged {
    /// The name that it states.
    pub name: SkillName,
    /// All that its frontmatter says.
    pub frontmatter: Fields,
    /// Where it states a name that is not its directory's.
    pub name_place: Option<Box<Place>>,
}

/// Judges the bytes of the file that findings show as `shown`, in the directory `dir`, whose name to the skill is
/// `dir_name`.
pub(super) fn judge(
    bytes: &[u8],
    shown: &Path,
    dir: &Directory,
    dir_name: &str,
    rules: &Rules,
) -> (Option<Judged>, Vec<Finding>) {
    let told = |problem: Problem, severity| problem.found(severity, shown, bytes);
    let frontmatter = match frontmatter::parse(bytes) {
        Ok(frontmatter) => frontmatter,
        Err(problem) => return (None, vec![told(problem, Severity::Error)]),
    };
    let (name, mut problems) = format::judge(&frontmatter);
    let text = std::str::from_utf8(bytes).ok().filter(|_| name.is_some()).unwrap_or_default();
    if !rules.hosts().is_empty() {
        problems.extend(hosts::in_frontmatter(text, &frontmatter));
    }
    if rules.wants(Code::LinkNotServed) {
        problems.extend(links::not_served(text, frontmatter.fences.body, dir));
    }
    let severity = if name.is_some() { Severity::Warning } else { Severity::Error };
    let findings = problems.into_iter().map(|problem| told(problem, severity)).collect();
    let name_span = frontmatter.spans.get("name").map_or(0..0, |span| span.value.clone());
    let judged = name.map(|name| Judged {
        name_place: (name.as_str() != dir_name).then(|| Box::new(Place::of(bytes, &name_span))),
        name,
        frontmatter: Fields::new(&frontmatter.fields),
    });
    (judged, findings)
}

/// The finding for a file that could not be read.
pub(super) fn unread(path: &Path, error: &ReadError, severity: Severity) -> Finding {
    let (code, help) = match error {
        ReadError::TooLarge { .. } => {
            (Code::TooLarge, "make the file smaller, or raise --max-bytes for hosts that take larger skills")
        }
        ReadError::Gone => (Code::Changing, "let the writer finish, then look again"),
        ReadError::Io(_) => (Code::Unreadable, "give the server's user the right to read it, or exclude it"),
    };
    Finding::new(code, severity, path, format!("the file could not be read: {error}"), help)
}
