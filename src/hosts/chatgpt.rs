//! The limits of ChatGPT's import of plugins, from its public documents. One that is passed costs the whole import.

use crate::finding::{Code, Elsewhere, Host, Loss};
use crate::skill::SKILL_MD;

use super::{Fault, Held};

/// The most skills.
const SKILLS_MAX: usize = 5;
/// The most files of a skill.
const FILES_MAX: usize = 100;
/// The most bytes of a `SKILL.md`: 256 KiB.
const SKILL_MD_MAX_BYTES: u64 = 256 * 1024;
/// The most bytes of any other file: 1 MiB.
const FILE_MAX_BYTES: u64 = 1024 * 1024;
/// The most bytes of a skill: 5 MiB.
const SKILL_MAX_BYTES: u64 = 5 * 1024 * 1024;

/// What of a skill is over the limits.
pub(super) fn over(held: &[Held]) -> Vec<Fault> {
    let files = || held.iter().filter_map(|held| Some((held.path.as_str(), held.file?.0)));
    let mut faults = Vec::new();
    let count = files().count();
    if count > FILES_MAX {
        faults.push(fault(
            SKILL_MD,
            format!("the skill has {count} files, and ChatGPT imports at most {FILES_MAX}"),
        ));
    }
    let bytes: u64 = files().map(|(_, bytes)| bytes).sum();
    if bytes > SKILL_MAX_BYTES {
        faults.push(fault(
            SKILL_MD,
            format!("the skill has {bytes} bytes, and ChatGPT imports at most {SKILL_MAX_BYTES}"),
        ));
    }
    let limit = |path: &str| if path == SKILL_MD { SKILL_MD_MAX_BYTES } else { FILE_MAX_BYTES };
    let large = files().find(|(path, bytes)| *bytes > limit(path));
    faults.extend(large.map(|(path, bytes)| {
        fault(path, format!("the file has {bytes} bytes, and ChatGPT imports at most {}", limit(path)))
    }));
    faults
}

/// What is said of more skills than are imported.
pub(crate) fn too_many(skills: usize) -> Option<(String, Vec<Elsewhere>)> {
    (skills > SKILLS_MAX).then(|| {
        (format!("there are {skills} skills, and ChatGPT imports at most {SKILLS_MAX}"), everything())
    })
}

fn everything() -> Vec<Elsewhere> {
    Elsewhere::each(Loss::Listing, &[Host::ChatGpt])
}

fn fault(path: &str, message: String) -> Fault {
    Fault {
        path: path.to_owned(),
        code: Code::ChatgptLimits,
        message,
        help: "serve fewer or smaller files to ChatGPT".to_owned(),
        elsewhere: everything(),
    }
}
