//! What reading files gives, which reads reach the disk, and how many at once.

use std::fs;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::oneshot;

use crate::finding::Code;
use crate::skill::{Content, Digest};
use crate::tree::{self, Hint, Roots};

use super::*;

/// Enough for all files of these tests.
const CACHE_BYTES: u64 = 64 << 20;

/// A directory, and a catalog over it with room for `cache_bytes`.
async fn catalog(files: &[(&str, &str)], cache_bytes: u64) -> (TempDir, Catalog) {
    let dir = directory(files);
    let roots = Roots::open(&[mount("", dir.path())], &tree::Options::default()).unwrap();
    let options = Options { cache: Cache::new(cache_bytes), ..Options::default() };
    let cache = options.cache.clone();
    let look = move |_: &Hint| Ok(build(&roots.walk().0, vec![], &options, None).snapshot);
    let catalog = Catalog::start(cache, look);
    catalog.snapshot().await.unwrap();
    (dir, catalog)
}

/// A runtime with one thread for what blocks: while it is [taken](take_the_thread), no read can end.
fn slow() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap()
}

/// Takes the thread until the sender is dropped.
async fn take_the_thread() -> Sender<()> {
    let (release, released) = channel::<()>();
    let (taken, is_taken) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let _ = taken.send(());
        released.recv()
    });
    is_taken.await.unwrap();
    release
}

/// A read that has come as far as it can.
async fn begin(catalog: &Catalog, path: &str) -> tokio::task::JoinHandle<bool> {
    let (catalog, path) = (catalog.clone(), path.to_owned());
    let read = tokio::spawn(async move { catalog.read(&path).await.is_ok() });
    tokio::task::yield_now().await;
    read
}

#[test]
fn a_read_that_nobody_waits_for_counts_until_it_has_ended() {
    slow().block_on(async {
        let names: Vec<String> = (0..16).map(|number| format!("a/{number}")).collect();
        let skill = skill("a");
        let files = names.iter().map(|name| (name.as_str(), name.as_str()));
        let files: Vec<_> = files.chain([("a/SKILL.md", skill.as_str())]).collect();
        let (_dir, catalog) = catalog(&files, 0).await;
        let release = take_the_thread().await;
        let free = catalog.free_reads();
        for (at, name) in names.iter().enumerate() {
            let read = begin(&catalog, name).await;
            read.abort();
            assert!(read.await.is_err());
            assert_eq!(catalog.free_reads(), free.saturating_sub(at + 1));
        }
        drop(release);
        assert_eq!(catalog.read("a/15").await.unwrap().1, "a/15");
        assert_eq!(catalog.free_reads(), free);
        // Those that nobody waits for and that had not begun never do.
        assert_eq!(catalog.cache_counts().reads, free as u64 + 1);
    });
}

#[tokio::test]
async fn what_is_taken_into_memory_unasked_is_right_and_counts_for_nothing() {
    let (skill, notes) = (skill("a"), "n".repeat(2_000));
    let (dir, catalog) = catalog(&[("a/SKILL.md", &skill), ("a/notes.txt", &notes)], CACHE_BYTES).await;
    let before = catalog.cache_counts();
    assert_eq!(catalog.warm("a/none").await, Err(ReadError::NotServed));
    for _ in 0..2 {
        catalog.warm("a/notes.txt").await.unwrap();
        let held_bytes = before.held_bytes + 2_000 + 256;
        assert_eq!(catalog.cache_counts(), CacheCounts { held_bytes, ..before });
    }
    assert_eq!(catalog.held("a/notes.txt").unwrap().1, notes);
    // What is not wanted is not read either.
    fs::write(dir.path().join("a/notes.txt"), "other").unwrap();
    catalog.warm("a/notes.txt").await.unwrap();
    assert_eq!(catalog.held("a/notes.txt").unwrap().1, notes);
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

#[test]
fn many_who_ask_for_one_file_wait_for_one_read_whoever_gives_up() {
    slow().block_on(async {
        let large = "x".repeat(4 << 20);
        for cache_bytes in [0, CACHE_BYTES] {
            let files = [("a/SKILL.md", &*skill("a")), ("a/x", &large)];
            let (_dir, catalog) = catalog(&files, cache_bytes).await;
            let release = take_the_thread().await;
            let mut reads = Vec::new();
            for _ in 0..20 {
                reads.push(begin(&catalog, "a/x").await);
            }
            // Among them the one that began.
            for given_up in reads.drain(..5) {
                given_up.abort();
                assert!(given_up.await.is_err());
            }
            drop(release);
            for read in reads {
                assert!(read.await.unwrap());
            }
            let counts = catalog.cache_counts();
            assert_eq!((counts.reads, counts.misses), (1, 20));
        }
    });
}

#[tokio::test]
async fn what_was_read_is_held_for_its_digest_and_no_other() {
    let (dir, catalog) = catalog(
        &[
            ("a/SKILL.md", &skill("a")),
            ("a/x", "same"),
            ("a/y", "same"),
            ("b/SKILL.md", &skill("b")),
            ("b/z", "2"),
        ],
        CACHE_BYTES,
    )
    .await;
    assert_eq!(catalog.held("a/x"), None);
    assert_eq!(catalog.held("a/SKILL.md").unwrap().1, skill("a"));
    let (stated, bytes) = catalog.read("a/x").await.unwrap();
    assert_eq!((&*bytes, stated.size()), (&b"same"[..], 4));
    // The very same memory, also for the same bytes at another path, and also when the disk is gone.
    let held = catalog.read("a/y").await.unwrap().1;
    assert_eq!(held.as_ptr(), bytes.as_ptr());
    fs::remove_file(dir.path().join("a/x")).unwrap();
    assert_eq!(catalog.read("a/x").await.unwrap().1.as_ptr(), bytes.as_ptr());
    assert_eq!(catalog.cache_counts().reads, 1);
    // What the catalog has seen to be another is another.
    fs::write(dir.path().join("a/x"), "else").unwrap();
    fs::write(dir.path().join("b/SKILL.md"), format!("{}more\n", skill("b"))).unwrap();
    catalog.refresh(Hint::Everything).await;
    assert_eq!(catalog.held("a/x"), None);
    assert_eq!(catalog.read("a/x").await.unwrap().1, "else");
    assert_eq!(catalog.read("b/SKILL.md").await.unwrap().1, format!("{}more\n", skill("b")));
}

#[tokio::test]
async fn without_a_cache_each_read_is_one_of_the_disk() {
    let (_dir, catalog) = catalog(&[("a/SKILL.md", &skill("a"))], 0).await;
    for reads in 1..4 {
        assert_eq!(catalog.read("a/SKILL.md").await.unwrap().1, skill("a"));
        let counts = catalog.cache_counts();
        assert_eq!((counts.reads, counts.hits, counts.held_bytes), (reads, 0, 0));
    }
}
