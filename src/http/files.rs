//! How many files this process may open, and so how many connections there may be: each takes one.

use anyhow::bail;

/// The most connections that are open at once, where the system allows as many. For one more, the one that has been waiting
/// longest for its client is closed. One that waits takes some 30 to 50 KiB, and one that has sent half a head up to 64 KiB more:
/// at most 230 MiB for all.
const CONNECTIONS_MAX: usize = 2048;
/// The files that are left to read skills with, to watch them and to write messages.
const FILES: usize = 256;
/// The least that it takes to serve: a dozen files are open before anybody has asked, a look at the skills opens some more,
/// and half of all are left for connections.
const FILES_MIN: usize = 64;

/// Makes sure that there can be connections at all.
///
/// # Errors
/// A sentence if there can not.
pub fn check_files() -> anyhow::Result<()> {
    let files = files_max();
    if files < FILES_MIN {
        bail!("this process may open only {files} files and needs {FILES_MIN} to serve: raise `ulimit -n`");
    }
    Ok(())
}

/// How many connections there may be.
pub(super) fn connections_max() -> usize {
    let (files, max) = (files_max(), connections_of(files_max()));
    if max < CONNECTIONS_MAX {
        tracing::warn!(
            "at most {max} connections are kept, because this process may open only {files} files"
        );
    }
    max
}

fn connections_of(files: usize) -> usize {
    files.saturating_sub(FILES).max(files / 2).min(CONNECTIONS_MAX)
}

/// As many as the system lets this process have.
#[cfg(unix)]
fn files_max() -> usize {
    let files = rlimit::increase_nofile_limit(u64::MAX).ok();
    files.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX)
}

/// Connections are no files there.
#[cfg(not(unix))]
fn files_max() -> usize {
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_are_shared_between_connections_and_skills() {
        let check = |files, connections| assert_eq!(connections_of(files), connections, "{files}");
        check(usize::MAX, CONNECTIONS_MAX);
        check(CONNECTIONS_MAX + FILES, CONNECTIONS_MAX);
        check(1024, 768);
        check(256, 128);
        check(FILES_MIN, 32);
    }
}
