//! What a request says of who sends it: the header `Authorization`.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::token::{TOKEN_MAX_BYTES, Token, is_token};

/// What a request says of who sends it.
#[derive(Debug)]
pub(super) enum Credentials {
    /// Nothing, or nothing in a way that is understood here.
    Missing,
    /// Something that cannot be meant.
    Malformed,
    /// A token.
    Given(Token),
}

impl Credentials {
    /// Takes them out of the headers of a request, so that nobody behind can pass them on. A name and a password, which
    /// browsers ask their users for, are understood only if `with_password`; the password is then the token.
    pub(super) fn take(headers: &mut HeaderMap, with_password: bool) -> Self {
        let is_repeated = headers.get_all(AUTHORIZATION).iter().nth(1).is_some();
        match headers.remove(AUTHORIZATION) {
            None => Self::Missing,
            Some(_) if is_repeated => Self::Malformed,
            Some(value) => Self::read(&value, with_password),
        }
    }

    fn read(value: &HeaderValue, with_password: bool) -> Self {
        let Ok(text) = value.to_str() else { return Self::Malformed };
        let (scheme, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = rest.trim_matches(' ');
        if scheme.eq_ignore_ascii_case("Bearer") {
            return if is_token(rest) { Self::Given(Token::of(rest.as_bytes())) } else { Self::Malformed };
        }
        if with_password && scheme.eq_ignore_ascii_case("Basic") {
            return password(rest).map_or(Self::Malformed, Self::Given);
        }
        Self::Missing
    }
}

/// The password of `name:password` in base64. Whatever somebody has typed there is a token, if not the right one.
fn password(text: &str) -> Option<Token> {
    if text.len() > 2 * TOKEN_MAX_BYTES {
        return None;
    }
    let pair = STANDARD.decode(text).ok()?;
    let colon = pair.iter().position(|byte| *byte == b':')?;
    pair.get(colon + 1..).map(Token::of)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(credentials: &Credentials, token: &str) -> &'static str {
        match credentials {
            Credentials::Missing => "missing",
            Credentials::Malformed => "malformed",
            Credentials::Given(given) if given.is(&Token::of(token.as_bytes())) => "right",
            Credentials::Given(_) => "wrong",
        }
    }

    /// What a line says, with passwords and without, where the token is `abc`.
    #[track_caller]
    fn check(line: &str, with: &str, without: &str) {
        let value = HeaderValue::from_bytes(line.as_bytes()).unwrap();
        let said = |with_password| said(&Credentials::read(&value, with_password), "abc");
        assert_eq!((said(true), said(false)), (with, without), "{line}");
    }

    #[test]
    fn a_token_comes_as_such_or_as_a_password() {
        for line in ["Bearer abc", "bearer abc", "BEARER   abc  "] {
            check(line, "right", "right");
        }
        for line in ["Bearer abcd", "Bearer ABC", "Bearer abc="] {
            check(line, "wrong", "wrong");
        }
        for line in
            ["Bearer", "Bearer ", "Bearer a b", "Bearer abc, Bearer abc", "Bearer \"abc\"", "Bearer ä"]
        {
            check(line, "malformed", "malformed");
        }
        let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
        for pair in [":abc", "me:abc"] {
            check(&basic(pair), "right", "missing");
        }
        for pair in ["abc:", "me:abc:", "me:ab c", ":"] {
            check(&basic(pair), "wrong", "missing");
        }
        for line in ["Basic", "Basic :abc", "Basic !", &basic("abc"), &basic(&":a".repeat(10_000))] {
            check(line, "malformed", "missing");
        }
        for line in ["", "abc", "Digest abc", "Bearerabc", "Bearer\tabc"] {
            check(line, "missing", "missing");
        }
    }

    #[test]
    fn they_are_taken_out() {
        let mut headers = HeaderMap::new();
        headers.append(AUTHORIZATION, HeaderValue::from_static("Bearer abc"));
        headers.append(AUTHORIZATION, HeaderValue::from_static("Bearer abc"));
        assert!(matches!(Credentials::take(&mut headers, false), Credentials::Malformed));
        assert!(headers.is_empty());
        assert!(matches!(Credentials::take(&mut headers, false), Credentials::Missing));
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in "(Bearer |Basic |basic  )?[ -~\u{80}-\u{ff}]{0,60}", with_password: bool) {
            if let Ok(value) = HeaderValue::from_bytes(line.as_bytes()) {
                Credentials::read(&value, with_password);
            }
        }

        #[test]
        fn what_is_sent_is_read(token in "[A-Za-z0-9._~+/-]{1,80}={0,2}", name in "[^:]{0,20}") {
            let bearer = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
            prop_assert_eq!(said(&Credentials::read(&bearer, false), &token), "right");
            let basic = format!("Basic {}", STANDARD.encode(format!("{name}:{token}")));
            let basic = HeaderValue::from_str(&basic).unwrap();
            prop_assert_eq!(said(&Credentials::read(&basic, true), &token), "right");
        }
    }
}
