//! What the system's events say, whatever the system.

use std::path::PathBuf;

use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{Error, ErrorKind, Event, EventKind, EventKindMask};

use super::FALLBACK_POLL;

/// The kinds of events that are asked for: no opening and reading, for our own would fill the queue and come back to us
/// for ever.
pub(super) const KINDS: EventKindMask = EventKindMask::CORE.union(EventKindMask::ACCESS_CLOSE);

/// Whether the system says when a file that was written to is closed.
const TELLS_OF_CLOSING: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// What an event says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// That events were lost.
    Lost,
    /// That these entries changed.
    Changed { entries: Vec<PathBuf>, how: How },
    /// Nothing that makes a difference.
    Nothing,
}

/// How an entry changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It was written to, and whoever did may not be done.
    Written,
    /// Whoever wrote to it is done.
    Closed,
    /// It is no longer what it was, so watches on it are gone.
    Gone,
    /// Otherwise.
    Other,
}

pub(super) fn said(event: Event) -> Said {
    if event.need_rescan() {
        return Said::Lost;
    }
    let how = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => How::Closed,
        EventKind::Access(_) => return Said::Nothing,
        EventKind::Remove(_) | EventKind::Any | EventKind::Other => How::Gone,
        EventKind::Modify(ModifyKind::Name(RenameMode::To)) => How::Other,
        EventKind::Modify(ModifyKind::Name(_)) => How::Gone,
        EventKind::Modify(ModifyKind::Data(_)) if TELLS_OF_CLOSING => How::Written,
        EventKind::Create(_) | EventKind::Modify(_) => How::Other,
    };
    if event.paths.is_empty() { Said::Lost } else { Said::Changed { entries: event.paths, how } }
}

/// Whether after this error nothing more can be watched.
pub(super) fn is_fatal(error: &Error) -> bool {
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        // ENFILE, EMFILE and ENOSPC: the system, the process or the user has used up what there is.
        ErrorKind::Io(error) => matches!(error.raw_os_error(), Some(23 | 24 | 28)),
        _ => false,
    }
}

/// Says what becomes of watching after an error, and how to cure it.
pub(super) fn cure(error: &Error) -> String {
    let seconds = FALLBACK_POLL.as_secs();
    let cure = match &error.kind {
        ErrorKind::MaxFilesWatch => "raise the system's fs.inotify.max_user_watches",
        _ if is_fatal(error) => {
            "raise the system's fs.inotify.max_user_instances or the process's open files"
        }
        _ => "see to it that the system can watch files",
    };
    let reason = match &error.kind {
        ErrorKind::MaxFilesWatch => "no more directories can be watched".to_owned(),
        ErrorKind::Io(error) => error.to_string(),
        other => format!("{other:?}"),
    };
    format!(
        "changes cannot be watched ({reason}), so the directories are looked at every {seconds} s: {cure}, or choose the \
         time with --poll"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
        let written = if TELLS_OF_CLOSING { How::Written } else { How::Other };
        check(EventKind::Modify(ModifyKind::Data(DataChange::Any)), Some(written));
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

    #[test]
    fn limits_are_told_with_their_cure() {
        let full = Error::new(ErrorKind::MaxFilesWatch);
        assert!(is_fatal(&full) && cure(&full).contains("fs.inotify.max_user_watches, or"));
        let few = Error::io(std::io::Error::from_raw_os_error(24));
        assert!(is_fatal(&few) && cure(&few).contains("max_user_instances"));
        assert!(!is_fatal(&Error::path_not_found()));
    }
}
