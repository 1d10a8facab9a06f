//! What is read as an index is the one way to write it. The bytes are a file, and the body of one with a right checksum.

#![no_main]

use sha2::{Digest, Sha256};
use skillserve::index::{Index, Kind, decode, encode};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    for kind in [Kind::SameDisk, Kind::AnyCopy] {
        let empty = encode(&Index::new(kind, []));
        let (before, body) = (&empty[..20], [&empty[60..], bytes].concat());
        check(&[before, &(body.len() as u64).to_le_bytes(), &Sha256::digest(&body), &body].concat());
    }
    let before = &encode(&Index::new(Kind::SameDisk, []))[..20];
    check(&[before, &(bytes.len() as u64).to_le_bytes(), &Sha256::digest(bytes), bytes].concat());
});

fn check(bytes: &[u8]) {
    if let Ok(index) = decode(bytes) {
        assert_eq!(encode(&index), bytes);
    }
}
