//! What the system's events say, whatever the system, and why it may have no more to say.

use std::io;
use std::path::PathBuf;

use super::FALLBACK_POLL;

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
    /// It was written to, and whoever did may not be done. Said only where the system tells when a file is closed.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Written,
    /// Whoever wrote to it is done.
    Closed,
    /// It is no longer what it was, so watches on it are gone.
    Gone,
    /// Otherwise.
    Other,
}

/// Why nothing more can be watched.
#[derive(Debug)]
pub(super) enum Failure {
    /// As many directories are watched as may be.
    Full,
    /// Anything else.
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Failure {
    /// Whether it is about more than one directory.
    pub(super) fn is_fatal(&self) -> bool {
        match self {
            Self::Full => true,
            Self::Io(error) => is_used_up(error),
        }
    }

    /// Says what becomes of watching, and how to cure it.
    pub(super) fn cure(&self) -> String {
        let seconds = FALLBACK_POLL.as_secs();
        let cure = match self {
            Self::Full => "raise the system's fs.inotify.max_user_watches",
            Self::Io(_) if self.is_fatal() => {
                "raise the system's fs.inotify.max_user_instances or the process's open files"
            }
            Self::Io(_) => "see to it that the system can watch files",
        };
        let reason = match self {
            Self::Full => "no more directories can be watched".to_owned(),
            Self::Io(error) => error.to_string(),
        };
        format!(
            "changes cannot be watched ({reason}), so the directories are looked at every {seconds} s: {cure}, or choose \
             the time with --poll"
        )
    }
}

/// Whether the system, the process or the user has used up what there is.
fn is_used_up(error: &io::Error) -> bool {
    // ENFILE, EMFILE and ENOSPC have these numbers on every Unix, and the first two have no kind.
    let has_number = cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24 | 28));
    has_number || error.kind() == io::ErrorKind::StorageFull
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_told_with_their_cure() {
        assert!(Failure::Full.is_fatal() && Failure::Full.cure().contains("fs.inotify.max_user_watches, or"));
        let few = Failure::Io(io::ErrorKind::StorageFull.into());
        assert!(few.is_fatal() && few.cure().contains("max_user_instances"));
        // A number means on each system what it means there.
        for number in [23, 24, 28] {
            assert_eq!(Failure::Io(io::Error::from_raw_os_error(number)).is_fatal(), cfg!(unix), "{number}");
        }
        assert!(!Failure::Io(io::ErrorKind::NotFound.into()).is_fatal());
    }
}
