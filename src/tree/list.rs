//! What is in one directory, and whether it is looked at in the first place.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::dirs;
use super::entry::Lister;
use super::files::Listed;
use super::identity::Identity;
use super::limits::Budgets;
use super::memory::Own;
use super::names;
use super::policy::Policy;
use super::rules::IGNORE_FILE;
use super::spot::{Budget, OverBudget, Task, Trust};
use super::zone::Zones;
use crate::finding::{Code, Finding, Severity};
use crate::skill::SKILL_MD;

/// What the walk of a root goes by.
pub(super) struct Walk<'a> {
    pub(super) zones: &'a Zones,
    /// The root as it was typed.
    pub(super) shown: &'a Path,
    pub(super) policy: &'a Policy,
    pub(super) budgets: Budgets,
    /// Counts the directories that are listed.
    pub(super) listed: &'a AtomicU64,
}

/// What listing a directory gave.
pub(super) struct Listing {
    pub(super) own: Own,
    /// Absent when the directory is left out.
    pub(super) contents: Option<Contents>,
}

/// What is in a directory.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) files: Vec<Listed>,
    /// Its own directories.
    pub(super) dirs: Vec<Task>,
    /// What its links to directories lead to.
    pub(super) links: Vec<Task>,
}

/// Why a listing stops.
enum Failure {
    Budget,
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Walk<'_> {
    /// Lists the directory of `task`.
    ///
    /// # Errors
    /// The budget is used up; what was found so far is lost.
    pub(super) fn list(&self, task: &Task, budget: &Budget) -> Result<Listing, OverBudget> {
        let spot = &task.spot;
        let mut own = Own::new(Arc::clone(&spot.site), spot.linked, spot.rules.clone());
        let contents = match self.enter(task, budget, &mut own) {
            Ok(contents) => contents,
            Err(Failure::Budget) => return Err(OverBudget),
            Err(Failure::Io(error)) => {
                let message = format!("the directory could not be read: {error}");
                let help = "give the server's user the right to read it, or exclude it";
                own.rare().findings.push(self.finding(&spot.served, Code::Unreadable, message, help));
                None
            }
        };
        own.finish();
        Ok(Listing { own, contents })
    }

    fn enter(&self, task: &Task, budget: &Budget, own: &mut Own) -> Result<Option<Contents>, Failure> {
        let Task { spot, memory, trust } = task;
        self.listed.fetch_add(1, Ordering::Relaxed);
        let dir = self.zones.open(&spot.site.place)?;
        let identity = Identity::of_dir(&dir)?;
        own.identity = Some(identity);
        if spot.linked && spot.around.has(identity) {
            let message = "the link leads back to a directory that encloses it".to_owned();
            let help = "remove the link, or exclude it";
            own.rare().findings.push(self.finding(&spot.served, Code::LinkLoop, message, help));
            return Ok(None);
        }
        let mut entries = Vec::new();
        dirs::list(&dir, |name, kind| {
            budget.spend(1).map_err(|OverBudget| Failure::Budget)?;
            own.entries += 1;
            entries.push((name.to_owned(), kind));
            Ok::<_, Failure>(())
        })?;
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let has = |wanted: &str| entries.iter().any(|(name, _)| name == wanted);
        // Whoever puts a virtual environment into a skill's own directory still means the skill to be served.
        if spot.depth > 0 && has(names::VENV_MARKER) && !has(SKILL_MD) {
            own.rare().left_out.junk += 1;
            return Ok(None);
        }
        let around = spot.around.with(identity);
        let memory = memory.as_deref();
        let mut lister = Lister { walk: self, spot, dir, around, memory, has_trust: false, own };
        if has(IGNORE_FILE) {
            let listed = lister.own.entries;
            if !lister.read_rules() {
                return Ok(None);
            }
            budget.spend(lister.own.entries - listed).map_err(|OverBudget| Failure::Budget)?;
        }
        lister.recognise(identity, *trust != Trust::Nothing);
        let mut contents = Contents::default();
        for (name, kind) in entries {
            lister.entry(&name, kind, &mut contents);
        }
        if spot.site.name() == SKILL_MD {
            let message = "SKILL.md is a directory".to_owned();
            let help = "put the skill's text into a file of this name";
            own.rare().findings.push(self.finding(&spot.served, Code::SkillMdDirectory, message, help));
        }
        Ok(Some(contents))
    }

    /// A finding about the entry with this served path. It is an error exactly when it costs a skill its `SKILL.md`, or
    /// when it costs the whole root.
    pub(super) fn finding(&self, served: &str, code: Code, message: String, help: &str) -> Finding {
        let is_costly = served.is_empty() || served.rsplit('/').next() == Some(SKILL_MD);
        let severity = if is_costly { Severity::Error } else { Severity::Warning };
        let path = if served.is_empty() { self.shown.to_owned() } else { self.shown.join(served) };
        Finding::new(code, severity, path, message, help)
    }
}
