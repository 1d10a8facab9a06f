//! One entry of a directory: judged by its name, then by what it is, it becomes a file, a directory to list next, a
//! finding or a count.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata};

use super::Links;
use super::dirs::Kind;
use super::files::Listed;
use super::identity::Identity;
use super::limits::{DEPTH_MAX_LEVELS, PATH_MAX_BYTES};
use super::list::{Contents, Walk};
use super::memory::{self, Node, Own};
use super::names::{self, Withheld};
use super::read::Source;
use super::resolve::{self, Resolved};
use super::rules::IGNORE_FILE;
use super::site::Site;
use super::spot::{Spot, Task, Trail, Trust};
use super::zone::Place;
use crate::finding::Code;

/// Goes through the entries of one directory.
pub(super) struct Lister<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) spot: &'a Spot,
    /// The directory itself, open.
    pub(super) dir: Dir,
    /// The directory itself and those around it.
    pub(super) around: Trail,
    /// What is remembered of it.
    pub(super) memory: Option<&'a Node>,
    /// Whether the memory of what is in its directories may be used.
    pub(super) has_trust: bool,
    pub(super) own: &'a mut Own,
}

impl Lister<'_> {
    /// Compares the directory itself, and the rules that hold in it, with what is remembered.
    pub(super) fn recognise(&mut self, identity: Identity, may_trust: bool) {
        let Some(before) = self.memory.map(|node| &node.own) else { return };
        let has_same_rules = before.rules == self.own.rules;
        if has_same_rules {
            self.own.rules = before.rules.clone();
        }
        let is_same = before.identity.is_some_and(|before| before.is_same_inode(&identity));
        self.has_trust = may_trust && is_same && has_same_rules;
    }

    /// Judges the entry `name`, whose kind the directory told; not all file systems do.
    pub(super) fn entry(&mut self, name: &OsStr, kind: Kind, contents: &mut Contents) {
        let policy = self.walk.policy;
        if names::is_never(name) || names::is_junk(name) {
            self.own.rare().left_out.junk += 1;
            return self.junk(&self.served(&name.to_string_lossy()));
        }
        let served = self.served(&name.to_string_lossy());
        // A hidden name that also says it holds a secret is judged as a secret: told, and served where that is allowed.
        let is_hidden =
            names::is_hidden(name) && !policy.include_hidden && !names::is_secret(name, kind == Kind::Dir);
        if name == IGNORE_FILE || is_hidden {
            self.own.rare().left_out.hidden += 1;
            return;
        }
        let kind = match self.kind(name, kind) {
            Ok(kind) => kind,
            Err(error) => return self.unreadable(&served, &error),
        };
        let ignored = |is_dir| self.own.rules.ignore(&policy.exclude, &served, is_dir);
        // What a link leads to is not known yet, so only what would be ignored either way is ignored now.
        if ignored(kind == Kind::Dir) && (kind != Kind::Link || ignored(true)) {
            self.own.rare().left_out.ignored += 1;
            return;
        }
        if name.to_str().is_none() {
            return self.not_utf8(name);
        }
        if served.len() > PATH_MAX_BYTES {
            let message = format!("the path is longer than {PATH_MAX_BYTES} bytes");
            return self.find(&served, Code::TooDeep, message, "shorten its names, or exclude it");
        }
        match kind {
            Kind::Dir => contents.dirs.extend(self.dir(served, name)),
            Kind::File => contents.files.extend(self.file(&served, name)),
            Kind::Link => self.link(served, name, contents),
            Kind::Special => self.special(&served),
        }
    }

    fn dir(&mut self, served: String, name: &OsStr) -> Option<Task> {
        let around = &self.spot.site.place;
        let known = name.to_str().and_then(|name| self.memory?.child(name)).map(|known| &known.own.site);
        let site = known.filter(|known| known.is_in(around, name)).cloned().unwrap_or_else(|| {
            // There are as many of these as directories, so they have no room to spare.
            let mut path = PathBuf::with_capacity(around.path.as_os_str().len() + 1 + name.len());
            path.extend([&around.path, Path::new(name)]);
            Arc::new(Site::new(last_of(&served), Place { zone: around.zone, path }))
        });
        let spot = self.spot(served, site, self.spot.linked)?;
        Some(self.task(spot, || Ok(Identity::of(&self.dir.symlink_metadata(name)?))))
    }

    /// A task with what is remembered of it. That may be trusted if the directory is in the same place, and as a whole
    /// if it did not even change itself.
    fn task(&self, spot: Spot, identity: impl FnOnce() -> io::Result<Identity>) -> Task {
        let memory = self.memory.and_then(|node| node.child(spot.site.name())).cloned();
        let own = memory.as_ref().map(|node| &node.own).filter(|own| {
            self.has_trust && own.identity.is_some() && (&own.site, own.linked) == (&spot.site, spot.linked)
        });
        let trust = match own {
            None => Trust::Nothing,
            Some(own) if own.identity == identity().ok() => Trust::All,
            Some(_) => Trust::Below,
        };
        Task { spot, memory, trust }
    }

    fn file(&mut self, served: &str, name: &OsStr) -> Option<Listed> {
        match self.dir.symlink_metadata(name) {
            Ok(metadata) if metadata.is_file() => self.regular(served, &metadata, None),
            Ok(_) => {
                let message = "it became something else while it was looked at".to_owned();
                self.find(served, Code::Changing, message, "let the writer finish, then look again");
                None
            }
            Err(error) => {
                self.unreadable(served, &error);
                None
            }
        }
    }

    fn link(&mut self, served: String, name: &OsStr, contents: &mut Contents) {
        if self.walk.policy.links == Links::Refuse {
            let message = "it is a link, and links are not followed".to_owned();
            return self.find(
                &served,
                Code::LinkRefused,
                message,
                "replace it by what it points to, or drop `--links refuse`",
            );
        }
        self.own.rare().has_links = true;
        let via = &mut self.own.rare().via;
        let resolved = match resolve::resolve(self.walk.zones, &self.dir, &self.spot.site.place, name, via) {
            Ok(resolved) => resolved,
            Err(broken) => return self.broken(&served, name, broken),
        };
        if self.own.rules.ignore(&self.walk.policy.exclude, &served, resolved.other.is_none()) {
            self.own.rare().left_out.ignored += 1;
            return;
        }
        if let Some(why) = self.withheld(&resolved) {
            return self.withhold_target(&served, why);
        }
        match resolved.other {
            None => {
                let site = Arc::new(Site::new(last_of(&served), resolved.place));
                let spot = self.spot(served, site, true);
                let identity = || Identity::of_dir(&resolved.dir);
                contents.links.extend(spot.map(|spot| self.task(spot, identity)));
            }
            Some((name, metadata)) if metadata.is_file() => {
                let source = Source::new(Arc::new(Site::new("", resolved.place)), name);
                contents.files.extend(self.regular(&served, &metadata, Some(Box::new(source))));
            }
            Some(_) => self.special(&served),
        }
    }

    /// Why what a link leads to is not served, judged by its real path and by the names of the links on the way.
    fn withheld(&self, Resolved { place, other, hops, .. }: &Resolved) -> Option<Withheld> {
        let policy = self.walk.policy;
        let is_dir = other.is_none();
        let mut inner = self.walk.zones.innermost(place).path;
        inner.extend(other.iter().map(|(name, _)| name));
        let by_hop = |hop| policy.withholds_target(Path::new(hop), is_dir);
        policy.withholds_target(&inner, is_dir).or_else(|| hops.iter().find_map(by_hop))
    }

    fn spot(&mut self, served: String, site: Arc<Site>, linked: bool) -> Option<Spot> {
        let depth = self.spot.depth + 1;
        if depth > DEPTH_MAX_LEVELS {
            let message = format!("directories are nested more than {DEPTH_MAX_LEVELS} levels deep");
            self.find(&served, Code::TooDeep, message, "flatten the directories, or exclude it");
            return None;
        }
        if self.walk.policy.withholds(&served, true) {
            self.withhold(&served);
            return None;
        }
        let (rules, around) = (self.own.rules.clone(), self.around.clone());
        Some(Spot { served, site, depth, linked, rules, around })
    }

    fn regular(
        &mut self,
        served: &str,
        metadata: &Metadata,
        elsewhere: Option<Box<Source>>,
    ) -> Option<Listed> {
        if self.walk.policy.withholds(served, false) {
            self.withhold(served);
            return None;
        }
        Some(Listed { name: last_of(served).to_owned(), identity: Identity::of(metadata), elsewhere })
    }

    fn kind(&self, name: &OsStr, told: Kind) -> io::Result<Kind> {
        match told {
            Kind::Special => Ok(self.dir.symlink_metadata(name)?.file_type().into()),
            known => Ok(known),
        }
    }

    /// The served path of the entry `name`.
    pub(super) fn served(&self, name: &str) -> String {
        memory::below(&self.spot.served, name)
    }
}

/// The last name of a served path.
fn last_of(served: &str) -> &str {
    served.rsplit('/').next().unwrap_or_default()
}
