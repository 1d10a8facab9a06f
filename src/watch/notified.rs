//! The system's word where it is not Linux, through a library that knows how each gives it.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{
    Config, Error, ErrorKind, Event, EventKind, EventKindMask, PathOp, RecommendedWatcher, RecursiveMode,
    WatchPathConfig, Watcher as _,
};

use super::event::{Failure, How, Said};
use super::known::{Interest, Known, Order, Orders};
use super::lock;

/// The library knows its watches by their paths.
pub(super) type Mark = ();

/// What is asked for of directories beside roots: the library asks for the same of all.
pub(super) const BESIDE: Interest = Interest::All;

/// The kinds of events that are asked for: no opening and reading, for our own would come back to us for ever.
const KINDS: EventKindMask = EventKindMask::CORE.union(EventKindMask::ACCESS_CLOSE);
/// How many watches are changed at a time, which bounds what is held for it.
const OPERATIONS_MAX: usize = 1_000;

/// Watches directories as long as it lives.
#[derive(Debug)]
pub(super) struct Watcher(RecommendedWatcher);

impl Watcher {
    /// Lets `hear` hear what is said.
    pub(super) fn new(hear: impl Fn(Result<Said, Failure>) + Send + 'static) -> Result<Self, Failure> {
        let config = Config::default().with_event_kinds(KINDS).with_follow_symlinks(false);
        let hear = move |event: notify::Result<Event>| {
            hear(match event.map_err(failure) {
                Ok(event) => Ok(said(event)),
                Err(failure) if failure.is_fatal() => Err(failure),
                Err(_) => Ok(Said::Lost),
            });
        };
        Ok(Self(RecommendedWatcher::new(hear, config).map_err(failure)?))
    }

    /// Follows orders, and tells `known` what came of them.
    ///
    /// # Errors
    /// No more directories can be watched.
    pub(super) fn follow(&mut self, orders: Orders, known: &Mutex<Known>) -> Result<(), Failure> {
        let config = WatchPathConfig::new(RecursiveMode::NonRecursive).with_dereference_symlinks(false);
        let unwatch = orders.unwatch.into_iter().filter(|order| order.before.is_some());
        let unwatch = unwatch.map(|order| PathOp::Unwatch(order.dir.to_path_buf()));
        let watch = orders.watch.into_iter().map(|Order { dir, .. }| {
            // That one cannot be watched is told of afterwards.
            lock(known).watched(&dir, ());
            PathOp::Watch(dir.to_path_buf(), config.clone())
        });
        let mut ops = unwatch.chain(watch);
        loop {
            let some: Vec<_> = ops.by_ref().take(OPERATIONS_MAX).collect();
            if some.is_empty() {
                return Ok(());
            }
            for dir in self.update(some)? {
                lock(known).not_watched(&dir);
            }
        }
    }

    /// Sets and removes watches, and says which directories cannot be watched.
    fn update(&mut self, mut ops: Vec<PathOp>) -> Result<Vec<PathBuf>, Failure> {
        let mut not_watched = Vec::new();
        while let Err(error) = self.0.update_paths(std::mem::take(&mut ops)) {
            let failure = failure(error.source);
            match error.origin {
                _ if failure.is_fatal() => return Err(failure),
                Some(PathOp::Watch(dir, _)) => not_watched.push(dir),
                // What is gone cannot be unwatched.
                Some(PathOp::Unwatch(_)) => {}
                None => return Err(failure),
            }
            ops = error.remaining;
        }
        Ok(not_watched)
    }
}

fn failure(error: Error) -> Failure {
    match error.kind {
        ErrorKind::MaxFilesWatch => Failure::Full,
        ErrorKind::Io(error) => Failure::Io(error),
        other => Failure::Io(io::Error::other(format!("{other:?}"))),
    }
}

fn said(event: Event) -> Said {
    let how = match event.kind {
        _ if event.need_rescan() => return Said::Lost,
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => How::Closed,
        EventKind::Access(_) => return Said::Nothing,
        EventKind::Remove(_) | EventKind::Any | EventKind::Other => How::Gone,
        EventKind::Modify(ModifyKind::Name(RenameMode::To)) => How::Other,
        EventKind::Modify(ModifyKind::Name(_)) => How::Gone,
        EventKind::Create(_) | EventKind::Modify(_) => How::Other,
    };
    if event.paths.is_empty() { Said::Lost } else { Said::Changed { entries: event.paths, how } }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, Flag, MetadataKind, RemoveKind};

    use super::*;

    fn check(kind: EventKind, expected: Option<How>) {
        let event = Event::new(kind).add_path("/a/b".into());
        let changed = |how| Said::Changed { entries: vec!["/a/b".into()], how };
        assert_eq!(said(event), expected.map_or(Said::Nothing, changed), "{kind:?}");
    }

    #[test]
    fn reading_says_nothing_and_every_change_something() {
        check(EventKind::Access(AccessKind::Read), None);
        check(EventKind::Access(AccessKind::Open(AccessMode::Any)), None);
        check(EventKind::Access(AccessKind::Close(AccessMode::Read)), None);
        check(EventKind::Access(AccessKind::Close(AccessMode::Write)), Some(How::Closed));
        check(EventKind::Create(CreateKind::Folder), Some(How::Other));
        check(EventKind::Modify(ModifyKind::Data(DataChange::Any)), Some(How::Other));
        check(EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)), Some(How::Other));
        check(EventKind::Modify(ModifyKind::Name(RenameMode::To)), Some(How::Other));
        check(EventKind::Modify(ModifyKind::Name(RenameMode::From)), Some(How::Gone));
        check(EventKind::Modify(ModifyKind::Name(RenameMode::Both)), Some(How::Gone));
        check(EventKind::Remove(RemoveKind::Any), Some(How::Gone));
        check(EventKind::Any, Some(How::Gone));
    }

    #[test]
    fn events_of_reading_are_not_even_asked_for() {
        assert!(!KINDS.intersects(EventKindMask::ACCESS_OPEN | EventKindMask::ACCESS_CLOSE_NOWRITE));
    }

    #[test]
    fn lost_events_may_have_said_anything() {
        assert_eq!(said(Event::new(EventKind::Other).set_flag(Flag::Rescan)), Said::Lost);
        let event =
            Event::new(EventKind::Create(CreateKind::Any)).add_path("/a".into()).set_flag(Flag::Rescan);
        assert_eq!(said(event), Said::Lost);
        assert_eq!(said(Event::new(EventKind::Any)), Said::Lost);
    }
}
