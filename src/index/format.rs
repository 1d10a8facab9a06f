//! The bytes of an index. Any bytes can be decoded: they give an index or a [`Flaw`], in time and memory that are
//! proportional to their length.
//!
//! An index is a head and a body; the body is what it was made by, and then records in ascending order of their keys, to the
//! end. The layout of each part is its type here, [`Head`], [`preface`] and [`RawRecord`]. Numbers are little-endian.

use std::collections::HashMap;

use crate::skill::{Content, Digest};

use super::{Index, Key, Kind, Record};

/// Parts of so many bytes each, one after the other.
macro_rules! layout {
    ($(#[$about:meta])* struct $name:ident { $($(#[$said:meta])* $part:ident: $bytes:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        struct $name {
            $($(#[$said])* $part: [u8; $bytes],)+
        }

        impl $name {
            const BYTES: usize = 0 $(+ $bytes)+;

            fn to_bytes(self) -> [u8; Self::BYTES] {
                let mut bytes = [0; Self::BYTES];
                let rest = &mut bytes[..];
                $(let (part, rest) = rest.split_at_mut($bytes); part.copy_from_slice(&self.$part);)+
                debug_assert!(rest.is_empty());
                bytes
            }

            fn of(bytes: &[u8; Self::BYTES]) -> Self {
                let rest = &bytes[..];
                let mut whole = Self { $($part: [0; $bytes],)+ };
                $(let (part, rest) = rest.split_at($bytes); whole.$part.copy_from_slice(part);)+
                debug_assert!(rest.is_empty());
                whole
            }
        }
    };
}

/// What every index begins with, whatever its version.
pub(super) const MAGIC: &[u8; 16] = b"skillserve index";

/// The version of this layout.
const VERSION: u32 = 2;

/// The program's version. What a read gives is a matter of the program, so only its own index serves it.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

layout! {
    /// What an index begins with.
    struct Head {
        magic: 16,
        version: 4,
        /// Of the body, in bytes.
        length: 8,
        /// The SHA-256 of the body.
        checksum: 32,
    }
}

layout! {
    /// What is said of one file.
    struct RawRecord {
        key: 16,
        digest: 32,
        size: 8,
        /// The bytes of a message that carries it.
        wire_bytes: 8,
        is_text: 1,
    }
}

const HEAD_BYTES: usize = Head::BYTES;
const RECORD_BYTES: usize = RawRecord::BYTES;

/// What keeps bytes from being an index. Completes "the index is ignored: it …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// They do not begin as one.
    #[error("is no index")]
    NotAnIndex,
    /// Another layout, or another version of the program.
    #[error("was made by another version of skillserve")]
    OtherVersion,
    /// They are not as long as they say.
    #[error("is cut short, or has more behind its end")]
    Length,
    /// They are not what was written.
    #[error("is damaged")]
    Checksum,
    /// What was written is no index.
    #[error("does not hold what an index holds")]
    Malformed,
}

/// The head of an encoded index, which is another one for every other body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal([u8; HEAD_BYTES]);

impl Seal {
    /// The seal of encoded bytes; `None` for fewer than an index has.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().copied().map(Self)
    }
}

/// What the body of an index of this kind begins with.
fn preface(kind: Kind) -> Vec<u8> {
    let kind = match kind {
        Kind::SameDisk => 0,
        Kind::AnyCopy => 1,
    };
    // A version has few characters.
    [&[PROGRAM.len() as u8], PROGRAM.as_bytes(), &[kind]].concat()
}

/// The bytes of an index.
pub fn encode(index: &Index) -> Vec<u8> {
    let mut records: Vec<_> = index.records.iter().collect();
    records.sort_unstable_by_key(|(key, _)| **key);
    let mut bytes = vec![0; HEAD_BYTES];
    bytes.extend(preface(index.kind));
    bytes.reserve_exact(records.len() * RECORD_BYTES);
    for (key, record) in records {
        bytes.extend(RawRecord::new(key, record).to_bytes());
    }
    let (head, body) = bytes.split_at_mut(HEAD_BYTES);
    head.copy_from_slice(&Head::new(body).to_bytes());
    bytes
}

impl Head {
    /// The head of an index with this body.
    fn new(body: &[u8]) -> Self {
        Self {
            magic: *MAGIC,
            version: VERSION.to_le_bytes(),
            length: (body.len() as u64).to_le_bytes(),
            checksum: Digest::of(body).to_bytes(),
        }
    }
}

impl RawRecord {
    fn new(key: &Key, record: &Record) -> Self {
        Self {
            key: key.0,
            digest: record.digest.to_bytes(),
            size: record.size.to_le_bytes(),
            wire_bytes: record.wire_bytes.to_le_bytes(),
            is_text: [(record.content == Content::Text).into()],
        }
    }

    /// What it says, if it says something.
    fn read(&self) -> Option<(Key, Record)> {
        let content = match self.is_text {
            [0] => Content::Binary,
            [1] => Content::Text,
            _ => return None,
        };
        let (size, wire_bytes) = (u64::from_le_bytes(self.size), u64::from_le_bytes(self.wire_bytes));
        Some((Key(self.key), Record { digest: Digest::from_bytes(self.digest), size, content, wire_bytes }))
    }
}

/// The index with these bytes.
///
/// # Errors
/// What keeps them from being one.
pub fn decode(bytes: &[u8]) -> Result<Index, Flaw> {
    let (head, body) = bytes.split_first_chunk().ok_or(Flaw::NotAnIndex)?;
    let head = Head::of(head);
    if head.magic != *MAGIC {
        return Err(Flaw::NotAnIndex);
    }
    if head.version != VERSION.to_le_bytes() {
        return Err(Flaw::OtherVersion);
    }
    if head.length != (body.len() as u64).to_le_bytes() {
        return Err(Flaw::Length);
    }
    if head.checksum != Digest::of(body).to_bytes() {
        return Err(Flaw::Checksum);
    }
    let with = |kind| body.strip_prefix(&preface(kind)[..]).map(|records| (kind, records));
    let Some((kind, records)) = with(Kind::SameDisk).or_else(|| with(Kind::AnyCopy)) else {
        let is_ours = body.strip_prefix(&preface(Kind::SameDisk)[..=PROGRAM.len()]).is_some();
        return Err(if is_ours { Flaw::Malformed } else { Flaw::OtherVersion });
    };
    let (records, []) = records.as_chunks::<RECORD_BYTES>() else { return Err(Flaw::Malformed) };
    let mut index = Index { kind, records: HashMap::with_capacity(records.len()) };
    let mut last = None;
    for bytes in records {
        let (key, record) = RawRecord::of(bytes).read().ok_or(Flaw::Malformed)?;
        if last.replace(key) >= Some(key) {
            return Err(Flaw::Malformed);
        }
        index.records.insert(key, record);
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(number: u64) -> (Key, Record) {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
        let content = if number.is_multiple_of(2) { Content::Text } else { Content::Binary };
        let digest = Digest::of(&number.to_le_bytes());
        (Key(key), Record { digest, size: number, content, wire_bytes: number.wrapping_mul(3) })
    }

    fn index(kind: Kind, count: u64) -> Index {
        Index::new(kind, (0..count).map(record))
    }

    /// The same bytes with a checksum that is right, as somebody makes them who can write the file.
    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let (head, body) = bytes.split_at_mut(HEAD_BYTES);
        head.copy_from_slice(&Head::new(body).to_bytes());
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        for (kind, count) in [(Kind::SameDisk, 0), (Kind::AnyCopy, 1), (Kind::SameDisk, 1_000)] {
            let index = index(kind, count);
            assert_eq!(index.len() as u64, count);
            assert_eq!(decode(&encode(&index)), Ok(index));
        }
    }

    #[test]
    fn each_flaw_is_told_by_its_name() {
        let whole = encode(&index(Kind::SameDisk, 3));
        let changed = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            decode(&bytes).unwrap_err()
        };
        assert_eq!(decode(b""), Err(Flaw::NotAnIndex));
        assert_eq!(changed(0), Flaw::NotAnIndex);
        assert_eq!(changed(16), Flaw::OtherVersion);
        assert_eq!(changed(20), Flaw::Length);
        assert_eq!(decode(&whole[..whole.len() - 1]), Err(Flaw::Length));
        assert_eq!(decode(&[&whole[..], b"x"].concat()), Err(Flaw::Length));
        assert_eq!(changed(28), Flaw::Checksum);
        assert_eq!(changed(whole.len() - 1), Flaw::Checksum);
        assert_eq!(decode(&sealed([&whole[..], b"x"].concat())), Err(Flaw::Malformed));
        let mut other = whole.clone();
        other[HEAD_BYTES + 1] ^= 1;
        assert_eq!(decode(&sealed(other)), Err(Flaw::OtherVersion));
        let mut twice = encode(&index(Kind::SameDisk, 1));
        let entry = twice[HEAD_BYTES + 2 + PROGRAM.len()..].to_vec();
        twice.extend(entry);
        assert_eq!(decode(&sealed(twice)), Err(Flaw::Malformed));
    }

    #[test]
    fn no_flipped_bit_and_no_cut_gives_an_index() {
        let whole = encode(&index(Kind::AnyCopy, 2));
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bytes).is_err(), "bit {bit}");
        }
        for end in 0..whole.len() {
            assert!(decode(&whole[..end]).is_err(), "cut at {end}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_an_index_or_a_flaw(body in proptest::collection::vec(any::<u8>(), 0..400), good in 0..80usize) {
            let whole = encode(&index(Kind::SameDisk, 1));
            let _ = decode(&body);
            // With a good beginning and a good checksum.
            let start = &whole[..whole.len().min(HEAD_BYTES + good)];
            let bytes = sealed([start, &body].concat());
            if let Ok(index) = decode(&bytes) {
                // No more records than bytes could hold, and the same again when it is written.
                prop_assert!(index.len() * size_of::<Key>() <= bytes.len());
                prop_assert_eq!(decode(&encode(&index)), Ok(index));
            }
        }
    }
}
