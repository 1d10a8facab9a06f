//! What a message asked for and how it was answered, in the words of JSON-RPC. Whoever answers knows it; who counts and logs
//! would have to read bodies again.

use std::convert::Infallible;
use std::fmt;

use axum::body::{Bytes, HttpBody as _};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};

use crate::mcp::direct as plain;
use crate::mcp::method::Method;
use crate::mcp::wire::{self, Incoming};

use super::trace_context::TraceContext;

/// What a message asked for, as far as that could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// The method.
    pub(super) method: Method,
    /// The trace that the message itself says it belongs to.
    pub(super) trace: Option<TraceContext>,
}

impl Asked {
    /// What a message asks for.
    pub(super) fn by(message: &Incoming) -> Self {
        let trace = wire::traceparent(message).and_then(TraceContext::parse);
        Self { method: Method::of(message), trace }
    }

    /// What a plain request asks for.
    pub(super) fn plainly(request: &plain::Request) -> Self {
        let trace = request.trace.as_deref().and_then(TraceContext::parse);
        Self { method: Method::named(request.method.as_str()), trace }
    }
}

/// The code of the error that a response is. It stands in the extensions of such a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ErrorCode(pub(super) i32);

/// An answer that takes note in its head of the error that it is, if it is one. What has a size is there as a whole already.
pub(super) async fn noting(
    answer: axum::http::Response<BoxBody<Bytes, Infallible>>,
) -> axum::http::Response<BoxBody<Bytes, Infallible>> {
    if answer.body().size_hint().exact().is_none() {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    let Ok(body) = body.collect().await;
    let body = body.to_bytes();
    if let Some(code) = error_code(&body) {
        head.extensions.insert(ErrorCode(code));
    }
    axum::http::Response::from_parts(head, Full::new(body).boxed())
}

/// The code of the error that a JSON-RPC message holds. A result is not read.
fn error_code(message: &[u8]) -> Option<i32> {
    let mut code = None;
    // What comes after the member that says it is not read, which the deserializer calls an error.
    let _ = serde_json::Deserializer::from_slice(message).deserialize_map(Head(&mut code));
    code
}

/// Reads the members of a message up to the one that says what it is.
struct Head<'a>(&'a mut Option<i32>);

/// What is looked for in an error.
#[derive(serde::Deserialize)]
struct Error {
    code: i32,
}

impl<'de> Visitor<'de> for Head<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<std::borrow::Cow<'_, str>>()? {
            match &*name {
                "result" => break,
                "error" => {
                    *self.0 = Some(members.next_value::<Error>()?.code);
                    break;
                }
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: Option<i32>) {
        assert_eq!(error_code(message.as_bytes()), expected, "{message}");
    }

    #[test]
    fn an_error_is_seen_and_a_result_is_not_read() {
        check(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x"}}"#, Some(-32602));
        check(r#"{"jsonrpc":"2.0","id":"\"error\":{","error":{"message":"x","code":-1}}"#, Some(-1));
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"error":{"code":-32602}}}"#, None);
        check(r#"{"jsonrpc":"2.0","id":1,"result":and whatever comes then"#, None);
        check(r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#, None);
        check("Not Acceptable", None);
        check("", None);
    }

    #[test]
    fn a_message_says_what_it_asks_for() {
        let message = r#"{"jsonrpc":"2.0","id":1,"method":"skills/list","params":{"_meta":{
            "traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}"#;
        let asked = Asked::by(&wire::parse(message.as_bytes()).unwrap());
        assert_eq!(asked.method.as_str(), "skills/list");
        assert!(asked.trace.is_some());
    }
}
