//! What finds room, and what makes room for it.

use super::entry::ENTRY_MAX_BYTES;
use super::*;
use crate::catalog::number::Number;

const MAX_BYTES: u64 = 1024 * 1024;

fn file(number: usize, size: usize) -> (Digest, Bytes) {
    let mut bytes = number.to_string().into_bytes();
    bytes.resize(size, b' ');
    let bytes = exactly(bytes);
    (Digest::of(&bytes), bytes)
}

#[test]
fn no_more_is_held_than_there_is_room_for() {
    let cache = Cache::new(MAX_BYTES);
    for number in 0..5_000 {
        let (digest, bytes) = file(number, 10 + number % 30_000);
        cache.put(digest, &bytes);
        assert_eq!(cache.peek(&digest), Some(bytes));
        assert!(cache.counts().held_bytes <= MAX_BYTES, "{cache:?}");
    }
    let counts = cache.counts();
    assert!(counts.held_bytes > MAX_BYTES / 2 && counts.evictions > 1_000, "{counts:?}");
}

#[test]
fn what_is_too_large_takes_nobodys_room() {
    let cache = Cache::new(MAX_BYTES);
    let (small, large) = (file(1, 1_000), file(2, 300_000));
    cache.put(small.0, &small.1);
    cache.put(large.0, &large.1);
    assert_eq!((cache.get(&large.0), cache.get(&small.0)), (None, Some(small.1)));
    assert_eq!(cache.counts().evictions, 0);
    // The largest that is held is held wherever its digest puts it.
    for number in 0..64 {
        let largest = (MAX_BYTES - MAX_BYTES / KEPT_SHARE) / LARGEST_SHARE - ENTRY_MAX_BYTES;
        let (digest, bytes) = file(number, largest as usize);
        cache.put(digest, &bytes);
        assert!(cache.get(&digest).is_some());
    }
}

#[test]
fn a_cache_of_nothing_holds_nothing() {
    let cache = Cache::default();
    let (digest, bytes) = file(1, 0);
    cache.put(digest, &bytes);
    cache.fill(digest, bytes);
    assert_eq!(cache.get(&digest), None);
    assert_eq!(cache.counts(), CacheCounts { reads: 1, ..CacheCounts::default() });
}

#[test]
fn half_is_filled_before_anybody_asks() {
    let cache = Cache::new(MAX_BYTES);
    for number in 0..1_000 {
        let (digest, bytes) = file(number, 2_000);
        cache.fill(digest, bytes);
    }
    let counts = cache.counts();
    assert!(counts.held_bytes <= MAX_BYTES / 2 && counts.held_bytes > MAX_BYTES / 3, "{counts:?}");
    assert_eq!(counts.evictions, 0);
}

#[test]
fn what_is_prepared_is_found_by_part_and_uri_and_takes_room() {
    let cache = Cache::new(MAX_BYTES);
    let basis = || Basis { snapshot: Number::next(), shard: Number::next() };
    let (first, second) = (basis(), basis());
    let check = |part, uri, expected: Option<(&'static str, Basis)>| {
        assert_eq!(cache.prepared(part, uri), expected.map(|(text, basis)| (Bytes::from(text), basis)));
    };
    cache.prepare(Part::File, "a", first, Bytes::from("first"));
    cache.prepare(Part::Skill, "a", first, Bytes::from("skill"));
    check(Part::File, "a", Some(("first", first)));
    check(Part::Skill, "a", Some(("skill", first)));
    check(Part::Children, "a", None);
    check(Part::File, "b", None);
    // A later one takes its place.
    cache.prepare(Part::File, "a", second, Bytes::from("second"));
    check(Part::File, "a", Some(("second", second)));
    // Room is taken for a URI too.
    let counts = cache.counts();
    assert_eq!(counts.held_bytes, 2 * (ENTRY_MAX_BYTES + 1) + "skillsecond".len() as u64);
    cache.prepare(Part::File, &"u".repeat(300_000), second, Bytes::new());
    assert_eq!(cache.counts(), counts);
}

#[test]
fn what_is_asked_for_again_outlives_what_is_asked_for_once() {
    let cache = Cache::new(MAX_BYTES);
    let hot: Vec<_> = (0..20).map(|number| file(number, 5_000)).collect();
    hot.iter().for_each(|(digest, bytes)| cache.put(*digest, bytes));
    let mut lost = 0;
    for number in 100..2_000 {
        let (digest, bytes) = file(number, 5_000);
        cache.put(digest, &bytes);
        lost += hot.iter().filter(|(digest, _)| cache.get(digest).is_none()).count();
    }
    assert_eq!(lost, 0);
}

#[test]
fn what_is_kept_stays_until_it_is_not() {
    let cache = Cache::new(MAX_BYTES);
    let (digest, bytes) = file(1, 5_000);
    cache.keep([(digest, bytes.clone())].into());
    assert_eq!((cache.get(&digest), cache.get_kept(&digest)), (None, Some(bytes)));
    cache.keep(HashMap::new());
    assert_eq!((cache.get_kept(&digest), cache.peek(&digest)), (None, None));
    let counts = cache.counts();
    assert_eq!((counts.hits, counts.misses, counts.held_bytes), (1, 1, 0));
}
