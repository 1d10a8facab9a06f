//! How many files are read at once.

use std::sync::mpsc::channel;

use tokio::sync::oneshot;

use crate::tree::{self, Roots};

use super::*;

/// The size of a file that is not held, so that each read of it is one of the disk.
const LARGE: usize = 4 << 20;

#[test]
fn a_read_that_nobody_waits_for_counts_until_it_has_ended() {
    // One thread for what blocks: while it is taken, reads that have been handed over cannot end.
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let dir = directory(&[("a/SKILL.md", &skill("a")), ("a/large.txt", &"x".repeat(LARGE))]);
        let roots = Roots::open(&[mount("", dir.path())], &tree::Options::default()).unwrap();
        let catalog =
            Catalog::start(move |_| Ok(build(&roots.walk().0, vec![], &Options::default(), None).snapshot));
        catalog.snapshot().await.unwrap();

        let (release, released) = channel::<()>();
        let (taken, is_taken) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let _ = taken.send(());
            released.recv()
        });
        is_taken.await.unwrap();
        let free = catalog.free_reads();
        for given_up in 1..=2 * free {
            let read = catalog.clone();
            let read = tokio::spawn(async move { read.read("a/large.txt").await.is_ok() });
            tokio::task::yield_now().await;
            read.abort();
            assert!(read.await.is_err());
            assert_eq!(catalog.free_reads(), free.saturating_sub(given_up));
        }
        drop(release);
        assert_eq!(catalog.read("a/large.txt").await.unwrap().1.len(), LARGE);
        assert_eq!(catalog.free_reads(), free);
    });
}
