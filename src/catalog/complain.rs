//! What is said of a skill that is fit to be served but has no place.

use crate::finding::{Code, Finding, Severity};
use crate::uri;

use super::build::OnNameMismatch;
use super::claims::Conflict;
use super::judge::Judged;
use super::unit::{Candidate, Unit};

/// The finding for a name that is not the directory's.
pub(super) fn mismatch(
    unit: &Unit,
    candidate: &Candidate,
    judged: &Judged,
    policy: OnNameMismatch,
) -> Box<Finding> {
    let (name, dir_name) = (&judged.name, unit.dir_name(candidate));
    let help = match policy {
        OnNameMismatch::Skip => {
            format!("make the two equal, or serve it as {name} with --on-name-mismatch use-name")
        }
        OnNameMismatch::UseName => {
            format!("rename the directory to {name}; inside another skill nothing is moved")
        }
    };
    let message = format!("the name \"{name}\" is not that of its directory, \"{dir_name}\"");
    let finding = Finding::new(Code::NameMismatch, Severity::Error, unit.skill_md(candidate), message, help);
    Box::new(Finding { place: judged.name_place.as_deref().cloned(), ..finding })
}

/// The finding for a path that is not free.
pub(super) fn conflicting(
    unit: &Unit,
    candidate: &Candidate,
    path: &str,
    conflict: &Conflict,
    root: usize,
) -> Box<Finding> {
    let uri = uri::from_path(path);
    let (code, message) = match conflict {
        Conflict::Taken(other) => {
            let whose = if *other == root { "of the same directory" } else { "of a directory named before" };
            (Code::UriTaken, format!("another skill, {whose}, is already served at {uri}"))
        }
        Conflict::Inside(other) => (
            Code::InsideAnotherSkill,
            format!("{uri} would lie inside {}, a skill of another served directory", uri::from_path(other)),
        ),
        Conflict::Encloses(other) => (
            Code::InsideAnotherSkill,
            format!("{uri} would enclose {}, a skill of another served directory", uri::from_path(other)),
        ),
    };
    let help = match conflict {
        Conflict::Taken(other) if *other == root => "give one of the two skills another name",
        _ => "put one of the two directories under a prefix of its own with --mount PREFIX=DIR",
    };
    Box::new(Finding::new(code, Severity::Error, unit.skill_md(candidate), message, help))
}
