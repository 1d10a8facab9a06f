//! Looks at times, and on a signal.

use std::collections::HashSet;
use std::time::Duration;

use super::bed::Bed;
use super::child;
use crate::tree::Hint;
use crate::watch::event::{How, Said};
use crate::watch::{QUIET, WRITTEN_MAX, Watch, When};

#[tokio::test(start_paused = true)]
async fn polling_looks_at_everything_every_so_often() {
    let watch = Watch::start(When::Every(Duration::from_secs(5)));
    for _ in 0..3 {
        let start = tokio::time::Instant::now();
        assert_eq!(watch.until_next(), Some(Duration::from_secs(5)));
        assert_eq!(watch.next().await, Hint::Everything);
        assert_eq!(start.elapsed().as_secs(), 5);
    }
}

#[tokio::test]
async fn a_time_that_never_comes_is_no_trouble() {
    let watch = Watch::start(When::Every(Duration::MAX));
    assert!(watch.until_next().is_some());
}

#[test]
fn a_hangup_looks_at_once_in_every_mode() {
    child::run("watch::tests::times::a_hangup_looks_at_once_in_every_mode", "exec \"$0\" \"$@\"", async {
        for when in [When::Never, When::Every(Duration::from_secs(3_600)), When::Changed] {
            let bed = Bed::unwatched(&["root/a/x.md"], &[], when);
            child::signal("HUP");
            assert_eq!(bed.next().await, Hint::Everything);
        }
    });
}

#[tokio::test(start_paused = true)]
async fn what_goes_on_and_on_is_gathered_for_a_bounded_time() {
    let watch = Watch::start(When::Never);
    let add = |name: &str| watch.pending.add(Hint::Directories(HashSet::from([name.into()])));
    add("first");
    let start = tokio::time::Instant::now();
    let writer = async {
        loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            add("more");
        }
    };
    let hint = tokio::select! {
        hint = watch.next() => hint,
        () = writer => unreachable!(),
    };
    assert_eq!(hint, Hint::Directories(HashSet::from(["first".into(), "more".into()])));
    assert!(start.elapsed() <= Duration::from_millis(100), "{:?}", start.elapsed());
    // A call that is given up loses nothing.
    add("last");
    assert!(tokio::time::timeout(Duration::from_millis(1), watch.next()).await.is_err());
    assert!(watch.next().await != Hint::Directories(HashSet::new()));
}

#[tokio::test(start_paused = true)]
async fn one_change_waits_for_others_and_for_who_writes_but_not_for_long() {
    let watch = Watch::start(When::Never);
    let say = |how| {
        let said = Said::Changed { entries: vec!["x".into()], how };
        watch.pending.add_said(Hint::Everything, said);
    };
    let told_after = || async {
        let start = tokio::time::Instant::now();
        assert_eq!(watch.next().await, Hint::Everything);
        start.elapsed()
    };
    say(How::Other);
    assert_eq!(told_after().await, QUIET);
    say(How::Written);
    assert_eq!(told_after().await, WRITTEN_MAX);
    say(How::Written);
    let write_for = Duration::from_millis(200);
    let write = async {
        tokio::time::sleep(write_for).await;
        say(How::Closed);
    };
    let (told_after, ()) = tokio::join!(told_after(), write);
    assert_eq!(told_after, write_for);
}
