//! The file that says who holds which token: one a line, as `NAME:TOKEN` or `NAME:sha256:DIGEST`.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use super::token::{TOKEN_MAX_BYTES, Token, is_token};

/// The largest file of tokens: as many as may be, of a common length, with room for comments.
const FILE_MAX_BYTES: usize = 256 * 1024;
/// The most tokens. Each request is compared with all of them, which takes some 20 µs for so many.
const TOKENS_MAX: usize = 1000;
/// The shortest token. One of 16 random letters and digits cannot be guessed; what is shorter was thought up by somebody.
const TOKEN_MIN_BYTES: usize = 16;
/// The longest name, so that a line of a log stays readable.
const NAME_MAX_BYTES: usize = 64;

/// A token and what its holder is called.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Arc<str>,
    pub(super) token: Token,
}

/// What is wrong with a file of tokens, and the cure. It does not repeat what stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Absent if it is wrong as a whole.
    pub(super) line: Option<usize>,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum What {
    #[error("is no text in UTF-8: write it anew")]
    NotText,
    #[error("is larger than 256 KiB: give fewer tokens")]
    TooLarge,
    #[error("holds more than 1000 tokens: give fewer")]
    TooMany,
    #[error("has a digest without a name: write NAME:sha256:DIGEST")]
    NoName,
    #[error("has no colon: write NAME:TOKEN")]
    NoColon,
    #[error("has a name that is not 1 to 64 letters, digits or any of . _ - @: write NAME:TOKEN")]
    BadName,
    #[error(
        "has a token with a character that is no letter, no digit and none of - . _ ~ + / =: make one with `openssl rand -hex 32`"
    )]
    BadToken,
    #[error(
        "has a token of fewer than 16 characters, which could be guessed: make one with `openssl rand -hex 32`"
    )]
    ShortToken,
    #[error("has a token of more than 4096 characters: make one with `openssl rand -hex 32`")]
    LongToken,
    #[error(
        "has a digest that is not 64 hexadecimal digits: write NAME:sha256: and what `printf %s TOKEN | sha256sum` prints"
    )]
    BadDigest,
    #[error("has the name of line {0}: give each holder another name")]
    SameName(usize),
    #[error("has the token of line {0}: give each holder another token")]
    SameToken(usize),
}

/// Reads a file within bounds.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    // Opening a pipe could wait for ever.
    if !std::fs::metadata(path).map_err(|error| error.to_string())?.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_MAX_BYTES as u64 + 1).read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| error.to_string())
}

/// Whether everybody on this machine can read a file.
pub(in crate::http) fn is_open_to_all(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// The tokens of a file. There may be none.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Entry>, Fault> {
    let whole = |what| Fault { line: None, what };
    if bytes.len() > FILE_MAX_BYTES {
        return Err(whole(What::TooLarge));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| whole(What::NotText))?;
    let mut entries = Vec::new();
    let (mut names, mut tokens) = (HashMap::new(), HashMap::new());
    for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fault = |what| Fault { line: Some(number), what };
        let entry = entry(line).map_err(fault)?;
        if let Some(before) = names.insert(entry.name.clone(), number) {
            return Err(fault(What::SameName(before)));
        }
        if let Some(before) = tokens.insert(entry.token.digest(), number) {
            return Err(fault(What::SameToken(before)));
        }
        if entries.len() == TOKENS_MAX {
            return Err(whole(What::TooMany));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn entry(line: &str) -> Result<Entry, What> {
    let (name, token) = line.split_once(':').ok_or(What::NoColon)?;
    let (name, token) = (name.trim_end(), token.trim_start());
    // The digest would else be a token.
    if name == "sha256" {
        return Err(What::NoName);
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@".contains(&byte);
    if name.is_empty() || name.len() > NAME_MAX_BYTES || !name.bytes().all(is_allowed) {
        return Err(What::BadName);
    }
    let token = match token.strip_prefix("sha256:") {
        // `sha256sum` writes a dash where it has read from a pipe.
        Some(digest) => Token::of_digest(digest.trim_end_matches(" -").trim_end()).ok_or(What::BadDigest)?,
        None if token.len() > TOKEN_MAX_BYTES => return Err(What::LongToken),
        None if !token.is_empty() && !is_token(token) => return Err(What::BadToken),
        None if token.len() < TOKEN_MIN_BYTES => return Err(What::ShortToken),
        None => Token::of(token.as_bytes()),
    };
    Ok(Entry { name: name.into(), token })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&[&str], (Option<usize>, What)>) {
        let names = parse(text.as_bytes())
            .map(|entries| entries.iter().map(|entry| entry.name.to_string()).collect::<Vec<_>>());
        let names = names.map_err(|fault| (fault.line, fault.what));
        assert_eq!(
            names,
            expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
            "{text}"
        );
    }

    const TOKEN: &str = "0123456789abcdef";

    #[test]
    fn each_line_is_a_holder() {
        let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        check("", Ok(&[]));
        check("\u{feff}# tokens\n\n  \r\n", Ok(&[]));
        check(&format!("alice:{TOKEN}"), Ok(&["alice"]));
        check(&format!("alice:sha256:{digest}  -"), Ok(&["alice"]));
        check(
            &format!("  bob@ci.example : {TOKEN}+/==  \r\na-b_c:sha256:{digest}\n"),
            Ok(&["bob@ci.example", "a-b_c"]),
        );
        let entries = parse(format!("a:sha256:{digest}").as_bytes()).unwrap();
        assert!(entries[0].token.is(&Token::of(b"secret")));
    }

    #[test]
    fn a_fault_is_told_with_its_line() {
        let at = |line, what| Err((Some(line), what));
        check(TOKEN, at(1, What::NoColon));
        check(&format!("#\n\n{TOKEN}"), at(3, What::NoColon));
        for name in ["", "a b", "ä", &"a".repeat(65), "a/b"] {
            check(&format!("{name}:{TOKEN}"), at(1, What::BadName));
        }
        for token in [
            "0123456789 abcdef",
            "0123456789:abcdef",
            "0123=456789abcdef",
            "0123456789abcdeä",
            "sha1:0123456789abcdef",
        ] {
            check(&format!("a:{token}"), at(1, What::BadToken));
        }
        check("a:", at(1, What::ShortToken));
        check("a:0123456789abcde", at(1, What::ShortToken));
        check(&format!("a:{}", "a".repeat(4097)), at(1, What::LongToken));
        check(&format!("sha256:{}", "0".repeat(64)), at(1, What::NoName));
        check("a:sha256:", at(1, What::BadDigest));
        check("a:sha256:0123", at(1, What::BadDigest));
        check(&format!("a:{TOKEN}\nb:{TOKEN}x\na:{TOKEN}y"), at(3, What::SameName(1)));
        check(&format!("a:{TOKEN}\n#\nb:{TOKEN}"), at(3, What::SameToken(1)));
        let many: String = (0..=TOKENS_MAX).map(|number| format!("a{number}:{number:016}\n")).collect();
        check(&many, Err((None, What::TooMany)));
        check(&"#".repeat(FILE_MAX_BYTES + 1), Err((None, What::TooLarge)));
        assert_eq!(parse(b"\xff").unwrap_err().what, What::NotText);
    }

    #[test]
    fn a_message_says_the_bounds() {
        let all = [What::TooLarge, What::TooMany, What::BadName, What::ShortToken, What::LongToken]
            .map(|what| what.to_string());
        let bounds = [FILE_MAX_BYTES / 1024, TOKENS_MAX, NAME_MAX_BYTES, TOKEN_MIN_BYTES, TOKEN_MAX_BYTES];
        for (message, bound) in all.iter().zip(bounds) {
            assert!(message.contains(&bound.to_string()), "{message}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
