//! Reads against a directory that changes under them (invariant: what goes out has the digest that is stated).

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::skill::Digest;
use crate::tree::{self, Roots};

use super::*;

/// A catalog over a directory, and how often it was looked at.
fn catalog(dir: &TempDir) -> (Catalog, Arc<AtomicUsize>) {
    let roots = Roots::open(&[mount("", dir.path())], &tree::Options::default()).unwrap();
    let last = Mutex::new(None);
    let looks = Arc::new(AtomicUsize::new(0));
    let count = looks.clone();
    let catalog = Catalog::start(Cache::default(), move |hint| {
        count.fetch_add(1, Ordering::SeqCst);
        let mut last = last.lock().unwrap();
        let before = last.take();
        let tree = roots.look(before.as_ref().map(|(tree, _)| tree), hint).0;
        let built = build(&tree, vec![], &Options::default(), before.as_ref().map(|(_, built)| built));
        let snapshot = built.snapshot.clone();
        *last = Some((tree, built));
        Ok(snapshot)
    });
    (catalog, looks)
}

async fn stated(catalog: &Catalog, path: &str) -> Option<Digest> {
    let snapshot = catalog.snapshot().await.unwrap();
    Some(snapshot.node(path)?.file.as_ref()?.digest())
}

#[tokio::test]
async fn a_file_that_changed_is_looked_at_again_before_it_goes_out() {
    let dir = directory(&[("a/SKILL.md", &skill("a")), ("a/x", "1"), ("a/y", "1")]);
    let (catalog, looks) = catalog(&dir);
    assert_eq!(catalog.read("a/x").await.unwrap().1, "1");
    fs::write(dir.path().join("a/x"), "another").unwrap();
    assert_eq!(catalog.read("a/x").await.unwrap().1, "another");
    assert_eq!(stated(&catalog, "a/x").await, Some(Digest::of(b"another")));
    fs::remove_file(dir.path().join("a/y")).unwrap();
    assert_eq!(catalog.read("a/y").await.unwrap_err(), ReadError::NotServed);
    assert_eq!(looks.load(Ordering::SeqCst), 3);
    assert_eq!(catalog.read("a").await.unwrap_err(), ReadError::NotServed);
    assert_eq!(catalog.read("a/none").await.unwrap_err(), ReadError::NotServed);
}

#[tokio::test]
async fn a_read_that_is_cancelled_does_not_undo_its_look() {
    let dir = directory(&[("a/SKILL.md", &skill("a")), ("a/x", "1")]);
    let (catalog, _) = catalog(&dir);
    let seen = catalog.snapshot().await.unwrap();
    fs::write(dir.path().join("a/x"), "2").unwrap();
    let mut reads = Box::pin(async {
        loop {
            let _ = catalog.read("a/x").await;
        }
    });
    tokio::select! {
        _ = &mut reads => {}
        _ = tokio::task::yield_now() => {}
    }
    drop(reads);
    // Whether or not it had begun, one more read ends in the new bytes, and the snapshot says so.
    assert_eq!(catalog.read("a/x").await.unwrap().1, "2");
    assert!(!Arc::ptr_eq(&seen, &catalog.newer_than(&seen).await));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_under_fire_is_one_that_was_written() {
    const ROUNDS: usize = 300;
    let dir = directory(&[("a/SKILL.md", &skill("a")), ("a/x", "0")]);
    let (catalog, _) = catalog(&dir);
    let path = dir.path().to_owned();
    let content = |n: usize| format!("{n}-").repeat(1 + n % 700);
    let writer = std::thread::spawn(move || {
        for n in 1..=ROUNDS {
            let target = path.join("a/x");
            match n % 3 {
                0 => fs::write(&target, content(n)).unwrap(),
                1 => {
                    fs::write(path.join("new"), content(n)).unwrap();
                    fs::rename(path.join("new"), &target).unwrap();
                }
                _ => {
                    fs::remove_file(&target).unwrap();
                    fs::write(&target, content(n)).unwrap();
                }
            }
        }
    });
    while !writer.is_finished() {
        let before = stated(&catalog, "a/x").await;
        match catalog.read("a/x").await {
            Ok((file, bytes)) => {
                assert_eq!(Digest::of(&bytes), file.digest());
                assert_eq!(bytes.len() as u64, file.size());
                let after = stated(&catalog, "a/x").await;
                assert!([before, after].contains(&Some(file.digest())));
            }
            Err(error) => assert!(matches!(error, ReadError::Changing | ReadError::NotServed)),
        }
    }
    writer.join().unwrap();
    let last = tokio::time::timeout(Duration::from_secs(30), async {
        loop {
            catalog.refresh(tree::Hint::Everything).await;
            if let Ok((_, bytes)) = catalog.read("a/x").await {
                break bytes;
            }
        }
    });
    assert_eq!(last.await.unwrap(), content(ROUNDS));
}
