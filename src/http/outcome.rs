//! How a request ended, in one word.

use std::fmt;

use axum::http::StatusCode;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was given what it asked for.
    Ok,
    /// With a JSON-RPC error of this code.
    Error(i32),
    /// With a status that is no success and no message of the protocol.
    Status(StatusCode),
    /// Its client was gone before it had all of an answer.
    Aborted,
}

/// The codes that are told apart where outcomes are counted: those of JSON-RPC, of this protocol, and the one of this
/// server's own.
const CODES: [(i32, &str); 10] = [
    (-32700, "-32700"),
    (-32603, "-32603"),
    (-32602, "-32602"),
    (-32601, "-32601"),
    (-32600, "-32600"),
    (-32022, "-32022"),
    (-32021, "-32021"),
    (-32020, "-32020"),
    (-32002, "-32002"),
    (-32000, "-32000"),
];
/// What is told apart besides, ahead of the codes.
const OTHERS: [&str; 6] = ["ok", "error", "aborted", "3xx", "4xx", "5xx"];

impl Outcome {
    /// How many kinds are told apart.
    pub(super) const KINDS: usize = OTHERS.len() + CODES.len();

    /// What a status and the code of an error come to.
    pub(super) fn of(status: StatusCode, error: Option<i32>) -> Self {
        match error {
            Some(code) => Self::Error(code),
            None if status.is_success() => Self::Ok,
            None => Self::Status(status),
        }
    }

    /// The place of its kind among all of them.
    pub(super) fn kind(self) -> usize {
        match self {
            Self::Ok => 0,
            Self::Error(code) => {
                CODES.iter().position(|(known, _)| *known == code).map_or(1, |at| OTHERS.len() + at)
            }
            Self::Aborted => 2,
            Self::Status(status) if status.is_server_error() => 5,
            Self::Status(status) if status.is_client_error() => 4,
            Self::Status(_) => 3,
        }
    }

    /// The names of all kinds, in the order of their places.
    pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
        OTHERS.into_iter().chain(CODES.into_iter().map(|(_, name)| name))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Error(code) => code.fmt(f),
            Self::Status(status) => f.write_str(status.as_str()),
            Self::Aborted => f.write_str("aborted"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_of_a_kind() {
        let check = |outcome: Outcome, kind: &str, told: &str| {
            assert_eq!((Outcome::kinds().nth(outcome.kind()), &*outcome.to_string()), (Some(kind), told));
        };
        check(Outcome::of(StatusCode::OK, None), "ok", "ok");
        check(Outcome::of(StatusCode::ACCEPTED, None), "ok", "ok");
        check(Outcome::of(StatusCode::OK, Some(-32602)), "-32602", "-32602");
        check(Outcome::of(StatusCode::OK, Some(-32700)), "-32700", "-32700");
        check(Outcome::of(StatusCode::OK, Some(-32000)), "-32000", "-32000");
        check(Outcome::of(StatusCode::OK, Some(7)), "error", "7");
        check(Outcome::of(StatusCode::NOT_FOUND, None), "4xx", "404");
        check(Outcome::of(StatusCode::BAD_GATEWAY, None), "5xx", "502");
        check(Outcome::of(StatusCode::NOT_MODIFIED, None), "3xx", "304");
        check(Outcome::Aborted, "aborted", "aborted");
        assert_eq!(Outcome::kinds().count(), Outcome::KINDS);
    }
}
