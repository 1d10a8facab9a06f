//! The last good version of a skill that cannot be built right now: a save in progress, an edit that broke it, a root that
//! went away. It is served only while each of its bytes can still be produced, and not for long.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::finding::{Code, Finding, Severity};
use crate::skill::Digest;
use crate::tree::Directory;

use super::branch::Branch;
use super::build::Location;
use super::cache::{Cache, cost};
use super::file::File;
use super::place::descend;
use super::placed::Placed;
use super::shard::Shard;

/// A skill that is served though it cannot be built any more.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Where its directory was found.
    pub location: Location,
    /// What is served of it.
    pub shard: Arc<Shard>,
    /// Says that it is kept.
    pub finding: Finding,
    /// When it is withdrawn at the latest.
    pub until: Instant,
    /// Bytes of it that are held because the disk has others by now.
    pub held: Vec<(Digest, Bytes)>,
    placed: Arc<Placed>,
}

impl Kept {
    /// Its `SKILL.md` as findings show it.
    pub(super) fn skill_md(&self) -> &Path {
        &self.finding.path
    }

    /// What was wrong with it when it was good.
    pub(super) fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.placed.all_findings()
    }
}

/// What stands now in each root, and which roots could not be opened, by number.
pub(super) struct Now<'a> {
    pub branches: &'a [Branch],
    pub lost_roots: &'a [usize],
    pub at: Instant,
    pub cache: &'a Cache,
}

/// What to keep of the units that stood before and are others now or gone, and of what was kept then already, for `keep` at
/// most.
pub(super) fn keep<'a>(
    before: impl Iterator<Item = (Location, &'a Arc<Placed>)>,
    kept: &[Kept],
    now: &Now<'_>,
    keep: Duration,
) -> Vec<Kept> {
    let room = Room { cache: now.cache, free_bytes: Cell::new(now.cache.kept_max_bytes()) };
    let again = kept.iter().filter(|kept| kept.until > now.at).filter_map(|kept| {
        let whole = now.may_keep(&kept.location, &kept.placed)?;
        room.produced(&kept.shard, whole).map(|held| Kept { held, ..kept.clone() })
    });
    let newly = before.filter(|_| !keep.is_zero()).filter_map(|(location, before)| {
        let shard = outermost(before)?;
        let whole = now.may_keep(&location, before)?;
        room.produced(shard, whole).map(|held| Kept {
            held,
            location,
            shard: shard.clone(),
            finding: finding(before, keep),
            until: now.at + keep,
            placed: before.clone(),
        })
    });
    again.chain(newly).collect()
}

impl<'a> Now<'a> {
    fn unit(&self, root: usize, path: &str) -> Option<&'a Arc<Placed>> {
        self.branches.get(root)?.unit(path)
    }

    /// What stands where a skill cannot be built for a reason that may pass; `Some(None)` where its root is gone.
    fn may_keep(&self, location: &Location, before: &Placed) -> Option<Option<&'a Arc<Directory>>> {
        let Some(unit) = self.unit(location.0, &location.1) else {
            return self.lost_roots.contains(&location.0).then_some(None);
        };
        let skill_md = unit.unit.candidates.first().map(|candidate| unit.unit.skill_md(candidate))?;
        let mut errors = unit
            .all_findings()
            .filter(|finding| finding.severity == Severity::Error && finding.path == skill_md)
            .peekable();
        errors.peek()?;
        let is_where_it_was = unit.unit.shown == before.unit.shown;
        (is_where_it_was && errors.all(|finding| may_pass(finding.code))).then_some(Some(&unit.unit.dir))
    }
}

/// The shard of the unit's own skill, if that is served.
fn outermost(placed: &Placed) -> Option<&Arc<Shard>> {
    let path = placed.places.paths.first()?.as_ref()?;
    placed.shards.iter().find(|shard| shard.path() == &**path)
}

/// Bytes that are held, and room for those of them that must stay.
struct Room<'a> {
    cache: &'a Cache,
    free_bytes: Cell<u64>,
}

impl Room<'_> {
    /// If each byte of a shard is held, or stands unchanged in the directory that is there now: those that do not stand
    /// there.
    fn produced(&self, shard: &Shard, now: Option<&Arc<Directory>>) -> Option<Vec<(Digest, Bytes)>> {
        let stands = |path: &str, file: &File| {
            now.is_some_and(|dir| stands_in(dir, path, file, shard).unwrap_or(false))
        };
        let away = shard.all_files().filter(|(path, file)| !stands(path, file));
        away.map(|(_, file)| Some((file.digest(), self.take(file)?))).collect()
    }

    fn take(&self, file: &File) -> Option<Bytes> {
        let digest = Some(file.digest()).filter(|_| file.read.proof.is_given())?;
        let bytes = self.cache.peek(&digest)?;
        self.free_bytes.set(self.free_bytes.get().checked_sub(cost(&bytes))?);
        Some(bytes)
    }
}

fn stands_in(dir: &Arc<Directory>, path: &str, file: &File, shard: &Shard) -> Option<bool> {
    let below = path.strip_prefix(shard.path())?.strip_prefix('/')?;
    let (parent, name) = below.rsplit_once('/').unwrap_or(("", below));
    let (standing, found) = (descend(dir, parent)?.file(name)?, shard.found(path)?);
    if standing.identity() != found.identity() {
        return Some(false);
    }
    // The same identity is no proof while the file is as young as the clock of its file system is coarse.
    let has_same_bytes = || {
        let bytes = shard.disk().read(&found.source(), file.size());
        bytes.is_ok_and(|bytes| Digest::of(&bytes) == file.digest())
    };
    Some(file.read.is_settled || has_same_bytes())
}

/// Whether what a finding says may be a passing state of an edit. What is about safety is never kept.
fn may_pass(code: Code) -> bool {
    matches!(
        code,
        Code::NoFrontmatter
            | Code::UnclosedFrontmatter
            | Code::NotUtf8
            | Code::FrontmatterTooLarge
            | Code::YamlSyntax
            | Code::YamlDuplicateKey
            | Code::YamlDepth
            | Code::YamlAlias
            | Code::YamlNotJson
            | Code::NotAMapping
            | Code::NameMissing
            | Code::NameNotString
            | Code::NameInvalid
            | Code::NameMismatch
            | Code::DescriptionMissing
            | Code::DescriptionNotString
            | Code::DescriptionBlank
            | Code::DescriptionTooLong
            | Code::TooManyFiles
            | Code::TooLarge
            | Code::Unreadable
            | Code::Changing
    )
}

fn finding(before: &Placed, keep: Duration) -> Finding {
    let shown = before.unit.candidates.first().map(|candidate| before.unit.skill_md(candidate));
    let message = format!(
        "the skill cannot be built right now, so its last good version stays for at most {} s",
        keep.as_secs()
    );
    let help = "cure what is said of it, or set --keep-last-good 0 to withdraw such skills at once";
    let path = shown.unwrap_or_else(|| before.unit.shown.to_path_buf());
    Finding::new(Code::Kept, Severity::Warning, path, message, help)
}
