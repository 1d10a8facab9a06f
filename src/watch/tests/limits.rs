//! What happens where the system does not say what changes.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use super::bed::Bed;
use super::child;
use crate::tree::Hint;
use crate::watch::event::{Failure, Said};
use crate::watch::known::Known;
use crate::watch::system::BESIDE;
use crate::watch::{FALLBACK_POLL, Watch, When, lock};

#[tokio::test]
async fn a_failure_turns_into_polling() {
    let watch = Watch::start(When::Changed);
    watch.pending.fail(Failure::Full);
    assert_eq!(watch.next().await, Hint::Everything);
    assert!(watch.until_next().is_some_and(|wait| wait <= FALLBACK_POLL));
}

/// Where the limit of watches is 3, in a user namespace of its own.
#[test]
fn the_limit_of_watches_turns_into_polling() {
    let namespaces = Command::new("unshare").args(["--user", "--map-root-user", "true"]).status();
    if !child::is_child() && !namespaces.is_ok_and(|status| status.success()) {
        // Without such namespaces the limit is everybody's, so it is left alone.
        return;
    }
    let few = "exec unshare --user --map-root-user sh -c 'echo 3 >/proc/sys/user/max_inotify_watches && exec \"$0\" \"$@\"' \
               \"$0\" \"$@\"";
    child::run("watch::tests::limits::the_limit_of_watches_turns_into_polling", few, async {
        let mut bed = Bed::unwatched(&["root/a/x.md", "root/b/y.md", "root/c/z.md"], &[], When::Changed);
        assert_eq!(bed.watch.until_next(), None);
        bed.watch.follow(&bed.tree);
        assert!(bed.watch.until_next().is_some_and(|wait| wait <= FALLBACK_POLL));
        assert_eq!(bed.look_when_told().await, Hint::Everything);
    });
}

#[tokio::test]
async fn events_that_are_lost_are_everything() {
    let mut bed = Bed::new(&["root/a/x.md"]).await;
    bed.watch.pending.add(Known::new(BESIDE).hear(&Said::Lost));
    assert_eq!(bed.look_when_told().await, Hint::Everything);
}

/// More changes than the system's queue holds, while nobody listens.
#[tokio::test]
async fn a_queue_that_overflows_loses_nothing() {
    let mut bed = Bed::new(&["root/a/x.md", "root/a/y.md"]).await;
    let held = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap_or_default();
    let held: usize = held.trim().parse().unwrap_or(16_384);
    {
        let source = lock(&bed.watch.source);
        let _nobody_listens = lock(&source.as_ref().unwrap().known);
        // Events that are like the one before are told once, so the files take turns.
        let mut files = ["root/a/x.md", "root/a/y.md"].map(|path| fs::File::create(bed.path(path)).unwrap());
        for at in 0..held.min(100_000) + 1_000 {
            files[at % 2].write_all(b"x").unwrap();
        }
        bed.write("root/late/z.md", "");
    }
    while bed.look_when_told().await != Hint::Everything {}
    bed.catch_up().await;
    // All is watched as before.
    bed.write("root/a/x.md", "after that");
    bed.catch_up().await;
    bed.write("root/late/z.md", "after that");
    bed.catch_up().await;
}
