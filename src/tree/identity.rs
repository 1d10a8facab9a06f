//! What tells that a file is still the one that it was, without reading it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_fs_ext::MetadataExt as _;
use cap_std::fs::{Dir, Metadata};

/// How close a change may be to the moment of a look to be mistaken for one that the look still saw: the step of the
/// coarsest times that file systems keep.
const RACY_WINDOW: Duration = Duration::from_secs(2);

/// When a file's content last changed: since 1970, in nanoseconds; the least number where the file system does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Modified(i64);

impl Modified {
    const UNKNOWN: Self = Self(i64::MIN);

    /// The time, if it is known and within some three hundred years of 1970.
    pub fn time(self) -> Option<SystemTime> {
        if self == Self::UNKNOWN || self.0 == i64::MAX {
            return None;
        }
        let distance = Duration::from_nanos(self.0.unsigned_abs());
        if self.0 < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
    }
}

/// A file as its directory's file system tells it apart from others and from what it was before: device, inode, size in
/// bytes, and when content and state last changed.
///
/// An equal identity means equal bytes only if it [is settled](Self::is_settled): times go forward in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    device: u64,
    version: Version,
}

/// An identity without its device, which is the same for most files of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Version {
    inode: u64,
    size: u64,
    modified: Modified,
    /// When anything about the file last changed, since 1970 in nanoseconds, which programs cannot set back; elsewhere than
    /// on Unix, 0.
    changed_ns: i64,
}

impl Identity {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
        Self {
            device: metadata.dev(),
            version: Version {
                inode: metadata.ino(),
                size: metadata.len(),
                modified: modified.map_or(Modified::UNKNOWN, |time| Modified(since_1970_ns(time))),
                changed_ns: changed_ns(metadata),
            },
        }
    }

    /// The device, and the rest.
    pub(super) fn split(self) -> (u64, Version) {
        (self.device, self.version)
    }

    /// What was split.
    pub(super) fn join(device: u64, version: Version) -> Self {
        Self { device, version }
    }

    /// The identity of an open directory.
    pub(super) fn of_dir(dir: &Dir) -> std::io::Result<Self> {
        dir.dir_metadata().map(|metadata| Self::of(&metadata))
    }

    /// Whether both are the same file or directory, changed or not.
    pub(super) fn is_same_inode(&self, other: &Self) -> bool {
        (self.device, self.version.inode) == (other.device, other.version.inode)
    }

    /// The number of bytes.
    pub(super) fn size(&self) -> u64 {
        self.version.size
    }

    /// When the content last changed.
    pub(super) fn modified(&self) -> Modified {
        self.version.modified
    }

    /// All of it, to be digested.
    pub(crate) fn to_bytes(self) -> [u8; 40] {
        let Self { device, version: Version { inode, size, modified, changed_ns } } = self;
        let mut bytes = [0; 40];
        let parts = [device, inode, size, modified.0.cast_unsigned(), changed_ns.cast_unsigned()];
        for (bytes, part) in bytes.chunks_exact_mut(8).zip(parts) {
            bytes.copy_from_slice(&part.to_le_bytes());
        }
        bytes
    }

    /// What of it a copy of the file has too: the size, and the second of its time, because images keep no parts of one.
    pub(crate) fn to_bytes_of_copy(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let (size, second) = bytes.split_at_mut(8);
        size.copy_from_slice(&self.version.size.to_le_bytes());
        second.copy_from_slice(&self.version.modified.0.div_euclid(1_000_000_000).to_le_bytes());
        bytes
    }

    /// Whether every change after `looked_at`, at which the file's bytes were read or about to be, shows in another
    /// identity. It does not while the last change is less than two seconds before that moment, or after it: then
    /// another change may get the same time.
    pub fn is_settled(&self, looked_at: SystemTime) -> bool {
        let last_ns = self.version.modified.0.max(self.version.changed_ns);
        let racy_from = looked_at.checked_sub(RACY_WINDOW).unwrap_or(UNIX_EPOCH);
        last_ns < since_1970_ns(racy_from)
    }
}

fn since_1970_ns(time: SystemTime) -> i64 {
    let ns = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => ns(after),
        Err(before) => -ns(before.duration()),
    }
}

#[cfg(unix)]
fn changed_ns(metadata: &Metadata) -> i64 {
    use cap_std::fs::MetadataExt;
    MetadataExt::ctime(metadata)
        .saturating_mul(1_000_000_000)
        .saturating_add(MetadataExt::ctime_nsec(metadata))
}

#[cfg(not(unix))]
fn changed_ns(_: &Metadata) -> i64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_settled(modified_ms: i64, changed_ms: i64, looked_at_ms: u64) -> bool {
        let (modified_ns, changed_ns) = (modified_ms * 1_000_000, changed_ms * 1_000_000);
        let version = Version { inode: 1, size: 1, modified: Modified(modified_ns), changed_ns };
        Identity { device: 1, version }.is_settled(UNIX_EPOCH + Duration::from_millis(looked_at_ms))
    }

    #[test]
    fn a_time_comes_back_as_it_was() {
        let check = |time: Option<SystemTime>, expected| {
            let modified = time.map_or(Modified::UNKNOWN, |time| Modified(since_1970_ns(time)));
            assert_eq!(modified.time(), expected);
        };
        let second = Duration::from_secs(1);
        for time in [UNIX_EPOCH, UNIX_EPOCH + second, UNIX_EPOCH - second / 8] {
            check(Some(time), Some(time));
        }
        check(None, None);
        check(Some(UNIX_EPOCH + second * u32::MAX * 4), None);
    }

    #[test]
    fn a_change_shortly_before_the_look_or_after_it_is_not_settled() {
        assert!(is_settled(7_999, 7_999, 10_000));
        assert!(!is_settled(8_000, 1, 10_000));
        assert!(!is_settled(1, 8_000, 10_000));
        assert!(!is_settled(60_000, 1, 10_000));
        assert!(is_settled(-1, -1, 10_000));
    }
}
