//! A token, of which only the digest is kept.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The longest token. Tokens of other systems, such as signed ones, are longer than those that are made for this one.
pub(in crate::http) const TOKEN_MAX_BYTES: usize = 4096;

/// A token, given or expected. It cannot be printed: nothing that is held of it leads back to it, and not even that is shown.
#[derive(Clone)]
pub(in crate::http) struct Token(Sha256Words);

/// A digest in words: they are compared six times as fast as bytes.
type Sha256Words = [u64; 4];

impl Token {
    pub(super) fn of(text: &[u8]) -> Self {
        Self::new(Sha256::digest(text).into())
    }

    /// The token whose SHA-256 digest this is, in hexadecimal digits.
    pub(super) fn of_digest(hex: &str) -> Option<Self> {
        let mut digest = [0; 32];
        hex::decode_to_slice(hex, &mut digest).ok()?;
        Some(Self::new(digest))
    }

    fn new(digest: [u8; 32]) -> Self {
        let (words, _) = digest.as_chunks();
        Self(std::array::from_fn(|at| words.get(at).map_or(0, |word| u64::from_ne_bytes(*word))))
    }

    /// What two tokens of a file have in common only if they are the same.
    pub(super) fn digest(&self) -> Sha256Words {
        self.0
    }

    /// Whether both are the same. It takes as long for those that are nearly the same as for those that are not.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Whether it has the form of a token in RFC 6750 (`b64token`).
pub(super) fn is_token(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !body.is_empty() && text.len() <= TOKEN_MAX_BYTES && body.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_printed() {
        let token = Token::of(b"secret");
        assert_eq!(format!("{token:?}"), "Token");
        let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        assert!(token.is(&Token::of_digest(digest).unwrap()));
        assert!(token.is(&Token::of_digest(&digest.to_uppercase()).unwrap()));
        assert!(!token.is(&Token::of(b"secret2")));
        assert!(Token::of_digest("2bb8").is_none() && Token::of_digest(&"x".repeat(64)).is_none());
    }

    #[test]
    fn a_token_has_the_form_of_the_standard() {
        for text in ["a", "aZ09-._~+/", "a=", "a=="] {
            assert!(is_token(text), "{text}");
        }
        let long = "a".repeat(TOKEN_MAX_BYTES + 1);
        for text in ["", "=", "a=b", "a b", "a:b", "a\"", "ä", &long] {
            assert!(!is_token(text), "{text}");
        }
    }
}
