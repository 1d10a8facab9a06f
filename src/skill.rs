//! The nouns of the field, the rule for a skill's name, and every limit by name.

use std::fmt;

/// The file that makes a directory a skill (N1). Matched to the letter, also on file systems that fold case.
pub const SKILL_MD: &str = "SKILL.md";

/// The most characters that a skill's name may have (N2).
pub const NAME_MAX_CHARS: usize = 64;
/// The most code points that a description may have (N3).
pub const DESCRIPTION_MAX_CHARS: usize = 1024;
/// The most code points that a `compatibility` field may have (N4).
pub const COMPATIBILITY_MAX_CHARS: usize = 500;
/// The most files of one skill, `SKILL.md` included, that every host must accept (E7).
pub const SKILL_MAX_FILES: usize = 512;
/// The most bytes of one skill, summed over its files, that every host must accept (E7): 16 MiB.
pub const SKILL_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A skill's name: 1–64 lowercase ASCII letters, digits and single hyphens, none first or last (N2).
///
/// The reference validator also takes lowercase letters of other scripts. The hosts that check names do not, and a
/// name that one host refuses can cost its whole listing, so the narrower rule is the one that holds here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(Box<str>);

/// Why a text is no [`SkillName`] (N2). The message completes "the name "x" …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The empty text.
    #[error("is empty")]
    Empty,
    /// More than [`NAME_MAX_CHARS`] characters.
    #[error("is longer than {NAME_MAX_CHARS} characters")]
    TooLong,
    /// A character that is neither a lowercase ASCII letter, nor a digit, nor a hyphen.
    #[error("has the character {0:?}, which a name cannot have")]
    Character(char),
    /// A hyphen at an end, or two in a row.
    #[error("has a hyphen at an end or next to another")]
    Hyphen,
}

impl SkillName {
    /// Takes `text` as a name if it keeps rule N2.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if let Some(bad) = text.chars().find(|c| !allowed(*c)) {
            return Err(NameError::Character(bad));
        }
        if text.len() > NAME_MAX_CHARS {
            return Err(NameError::TooLong);
        }
        if text.starts_with('-') || text.ends_with('-') || text.contains("--") {
            return Err(NameError::Hyphen);
        }
        Ok(Self(text.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The SHA-256 digest of a file's raw bytes. Displayed as the extension writes it (E5): `sha256:` and 64 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The 64 hex digits.
    pub fn to_hex(self) -> [u8; 64] {
        let mut digits = [0; 64];
        // In a form that is done for many bytes at a time.
        let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
        for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(self.0) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        digits
    }

    /// The digest with these bytes.
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub(crate) fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

/// The digest of all bytes that were hashed.
impl From<sha2::Sha256> for Digest {
    fn from(hash: sha2::Sha256) -> Self {
        use sha2::Digest as _;
        Self(hash.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(self.0))
    }
}

/// Whether a file's bytes go out as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// UTF-8 without NUL.
    Text,
    /// Anything else.
    Binary,
}

impl Content {
    /// Judges by the bytes alone, never by a name.
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.contains(&0) || std::str::from_utf8(bytes).is_err() { Self::Binary } else { Self::Text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(), NameError>) {
        assert_eq!(SkillName::parse(text).map(|_| ()), expected, "{text:?}");
    }

    #[test]
    fn a_name_keeps_rule_n2() {
        for good in ["a", "7", "pdf-processing", "2024-01-31", "yes", &"a".repeat(64)] {
            check(good, Ok(()));
        }
        check("", Err(NameError::Empty));
        check(&"a".repeat(65), Err(NameError::TooLong));
        check("-a", Err(NameError::Hyphen));
        check("a-", Err(NameError::Hyphen));
        check("a--b", Err(NameError::Hyphen));
        check("plugin:nn:slug", Err(NameError::Character(':')));
        check("Agent Development", Err(NameError::Character('A')));
        check("a/b", Err(NameError::Character('/')));
        check("under_score", Err(NameError::Character('_')));
        check("größe", Err(NameError::Character('ö')));
    }

    #[test]
    fn a_digest_is_written_as_the_extension_says() {
        assert_eq!(
            Digest::of(b"").to_string(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
