//! How many files this process may open, and so how many connections there may be: each takes one.

use anyhow::bail;

/// The most connections that are open at once, where the system allows as many. For one more, the one that has been waiting
/// longest for its client is closed. One that waits takes some 30 to 50 KiB, and one that has sent half a head up to 64 KiB
/// more: at most 230 MiB for all.
const CONNECTIONS_MAX: usize = 2048;
/// The most that are open at once of those who look after this server, where they have a listener of their own: a few
/// people and what collects metrics. They are taken from the others.
const ADMIN_CONNECTIONS_MAX: usize = 32;
/// The files that are left to read skills with, to watch them and to write messages.
const FILES_KEPT: usize = 256;
/// The least that it takes to serve: a dozen files are open before anybody has asked, a look at the skills opens some more,
/// and half of all are left for connections.
const FILES_MIN: usize = 64;

/// How many connections may be open at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionsMax {
    /// At the listener of the endpoint.
    pub(super) main: usize,
    /// At that of those who look after this server.
    pub(super) admin: usize,
}

/// Makes sure that there can be connections at all.
///
/// # Errors
/// A sentence if there can not.
pub fn check_files() -> anyhow::Result<()> {
    let files = raise_files_max();
    if files < FILES_MIN {
        bail!("this process may open only {files} files and needs {FILES_MIN} to serve: raise `ulimit -n`");
    }
    Ok(())
}

/// How many connections there may be, also for those who look after this server if that `has_admin`.
pub(super) fn connections_max(has_admin: bool) -> ConnectionsMax {
    let files = raise_files_max();
    let all = connections_of(files);
    if all < CONNECTIONS_MAX {
        tracing::warn!(
            "at most {all} connections are kept, because this process may open only {files} files"
        );
    }
    let admin = if has_admin { ADMIN_CONNECTIONS_MAX.min(all / 4) } else { 0 };
    ConnectionsMax { main: all - admin, admin }
}

fn connections_of(files: usize) -> usize {
    files.saturating_sub(FILES_KEPT).max(files / 2).min(CONNECTIONS_MAX)
}

/// As many files as the system lets this process have, which may have them from here on.
#[cfg(unix)]
fn raise_files_max() -> usize {
    let files = rlimit::increase_nofile_limit(u64::MAX).ok();
    files.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX)
}

/// Connections are no files there.
#[cfg(not(unix))]
fn raise_files_max() -> usize {
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_are_shared_between_connections_and_skills() {
        let check = |files, connections| assert_eq!(connections_of(files), connections, "{files}");
        check(usize::MAX, CONNECTIONS_MAX);
        check(CONNECTIONS_MAX + FILES_KEPT, CONNECTIONS_MAX);
        check(1024, 768);
        check(256, 128);
        check(FILES_MIN, 32);
    }

    #[test]
    fn who_looks_after_a_server_takes_from_the_others() {
        let (alone, both) = (connections_max(false), connections_max(true));
        assert_eq!((alone.main, alone.admin), (both.main + both.admin, 0));
        assert!(both.main > both.admin && both.admin > 0);
    }
}
