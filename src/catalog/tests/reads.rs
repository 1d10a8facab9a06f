//! What reading files gives, and how many are read at once.

use std::sync::mpsc::channel;

use tokio::sync::oneshot;

use crate::finding::Code;
use crate::skill::{Content, Digest};
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

#[test]
fn a_file_is_described_by_its_bytes_however_many_there_are() {
    // Around the sizes at which a file is read in one piece, in two, and in more; no character ends where a piece does.
    let sizes = [0, 1, 262_143, 262_144, 262_145, 800_000];
    let text = |size: usize| format!("{}{}", "x".repeat(size % 2), "é".repeat(size / 2));
    let hidden = format!("{}\nab\u{200b}c\n{}", text(300_001), text(300_000));
    let mut files: Vec<_> = sizes.map(|size| (format!("a/{size}.txt"), text(size))).into();
    files.extend([("a/SKILL.md".to_owned(), skill("a")), ("a/hidden.txt".to_owned(), hidden)]);
    let given: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let dir = directory(&given);
    let tree = Roots::open(&[mount("", dir.path())], &tree::Options::default()).unwrap().walk().0;
    let built = build(&tree, vec![], &Options::default(), None);
    for (path, text) in &given {
        let file = built.snapshot.file(path).unwrap();
        assert_eq!((file.digest(), file.size()), (Digest::of(text.as_bytes()), text.len() as u64), "{path}");
        assert_eq!(file.content(), Content::of(text.as_bytes()), "{path}");
    }
    let told: Vec<_> = built.findings.iter().map(|finding| (finding.code, finding.place.as_ref())).collect();
    let [(Code::HiddenUnicode, Some(place))] = told[..] else { panic!("{told:?}") };
    assert_eq!((place.line, place.column, place.excerpt.as_str()), (2, 3, "ab\u{200b}c"));
}
