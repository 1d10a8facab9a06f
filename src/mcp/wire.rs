//! From bytes to a message, and what is said of bytes that are none.
//!
//! rmcp takes what it can make sense of and passes over the rest. Here every faulty message has an answer, the same one
//! over every transport, and no fault ends a session.

use std::borrow::Cow;

use rmcp::ErrorData;
use rmcp::model::{
    CancelledNotification, ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode,
    GetExtensions as _, GetMeta as _, JsonRpcMessage, JsonRpcRequest, JsonRpcResponse, RequestId,
    ServerJsonRpcMessage, ServerResult, SubscriptionsListenRequest,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::failure::{Failure, TOO_MANY};
use super::filter;

/// A message from a client.
pub(crate) type Incoming = ClientJsonRpcMessage;
/// A message to a client.
pub(crate) type Outgoing = ServerJsonRpcMessage;

/// The key under which a request since 2026-07-28 says which revision it keeps to.
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The methods that take a cursor.
const PAGED: [&str; 6] = [
    "prompts/list",
    "resources/directory/read",
    "resources/list",
    "resources/templates/list",
    "skills/list",
    "tools/list",
];

/// The error that answers bytes which no handler gets to see.
#[derive(Debug, PartialEq)]
pub(crate) struct Refusal {
    /// Of the request that is refused, if it can be seen.
    pub(crate) id: Option<RequestId>,
    /// What is wrong.
    pub(crate) error: ErrorData,
}

impl Refusal {
    /// Refuses what is no request of this protocol.
    pub(crate) fn invalid(id: Option<RequestId>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { id, error: ErrorData::invalid_request(message, None) }
    }

    /// Refuses what there is no room for right now.
    pub(crate) fn busy(message: &'static str) -> Self {
        Self { id: None, error: ErrorData::internal_error(message, None) }
    }

    /// Refuses one subscription more.
    pub(crate) fn too_many(id: Option<&RequestId>) -> Box<Self> {
        Self::boxed(id.cloned(), Failure::TooManySubscriptions.into())
    }

    /// Refuses a message that comes with a header which says something else.
    pub(crate) fn mismatch(message: &Incoming, why: &'static str) -> Box<Self> {
        Self::boxed(request_id(message).cloned(), ErrorData::new(ErrorCode::HEADER_MISMATCH, why, None))
    }

    fn boxed(id: Option<RequestId>, error: ErrorData) -> Box<Self> {
        Box::new(Self { id, error })
    }

    /// Whether what is refused is a request of the protocol, which asks for what cannot be given.
    pub(crate) fn is_of_request(&self) -> bool {
        [ErrorCode::INVALID_PARAMS, TOO_MANY].contains(&self.error.code)
    }

    /// The answer as JSON. Where no id can be seen it is `null`, as JSON-RPC has it.
    pub(crate) fn to_json(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": self.error })
    }
}

/// Reads one message. The filter of a subscription is cut down to what may be subscribed to.
///
/// # Errors
/// The answer to give, if `bytes` are no JSON, no message, or a request with a cursor that is no text.
pub(crate) fn parse(bytes: &[u8]) -> Result<Incoming, Box<Refusal>> {
    let value: Value = serde_json::from_slice(without_mark(bytes)).map_err(|error| {
        Refusal::boxed(None, ErrorData::parse_error(format!("the message is not JSON: {error}"), None))
    })?;
    let invalid = |id, message| Box::new(Refusal::invalid(id, message));
    let Value::Object(message) = &value else {
        let is_batch = value.is_array();
        let message =
            if is_batch { "batches of messages are not supported" } else { "a message is an object" };
        return Err(invalid(None, message));
    };
    // An id stands for a request only beside a method; beside a result or an error it is one of ours.
    let method = message.get("method").and_then(Value::as_str);
    let id =
        method.and(message.get("id")).and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    if let Some(key) = key_said_twice(without_mark(bytes)) {
        // Which of two ids is meant, nobody knows.
        let id = id.filter(|_| key != "id");
        return Err(Box::new(Refusal::invalid(id, format!("a message says `{key}` once"))));
    }
    let params = message.get("params");
    let cursor = params.and_then(|params| params.get("cursor"));
    // rmcp passes over such a cursor. An older peer then has the first page, as it always had.
    let is_modern = params.and_then(|params| params.get("_meta")?.get(PROTOCOL_VERSION)).is_some();
    if is_modern
        && method.is_some_and(|method| PAGED.contains(&method))
        && cursor.is_some_and(|cursor| !cursor.is_string() && !cursor.is_null())
    {
        return Err(Refusal::boxed(id, ErrorData::invalid_params("a cursor is a text", None)));
    }
    let mut message =
        serde_json::from_value(value).map_err(|_| invalid(id, "this is no JSON-RPC 2.0 message of MCP"))?;
    if let Some(listen) = listen_request(&mut message) {
        filter::cut(&mut listen.params.notifications);
    }
    Ok(message)
}

/// The keys of a message of which two readers that meet one twice could each take another.
#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read is only whether each is there once")]
struct Once {
    jsonrpc: Option<IgnoredAny>,
    id: Option<IgnoredAny>,
    method: Option<IgnoredAny>,
    params: Option<ParamsOnce>,
}

/// The same of the `params`.
#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read is only whether each is there once")]
struct ParamsOnce {
    #[serde(rename = "_meta")]
    meta: Option<IgnoredAny>,
    uri: Option<IgnoredAny>,
}

/// The key that stands twice in a message, if one does that must not.
fn key_said_twice(bytes: &[u8]) -> Option<&'static str> {
    let error = serde_json::from_slice::<Once>(bytes).err()?.to_string();
    let key = error.strip_prefix("duplicate field `")?.split('`').next()?;
    ["jsonrpc", "id", "method", "params", "_meta", "uri"].into_iter().find(|known| *known == key)
}

fn listen_request(message: &mut Incoming) -> Option<&mut SubscriptionsListenRequest> {
    match message {
        JsonRpcMessage::Request(JsonRpcRequest {
            request: ClientRequest::SubscriptionsListenRequest(listen),
            ..
        }) => Some(listen),
        _ => None,
    }
}

/// The id of the request that a message is, if it is one.
pub(crate) fn request_id(message: &Incoming) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    }
}

/// The id of the subscription that a message asks for, if it asks for one.
pub(crate) fn subscribes(message: &Incoming) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => {
            matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)).then_some(&request.id)
        }
        _ => None,
    }
}

/// The URI of the file that a message asks for, if for one. It is the one kind of answer of which it is known beforehand how large it can be.
pub(crate) fn file_asked_for(message: &Incoming) -> Option<&str> {
    match message {
        JsonRpcMessage::Request(JsonRpcRequest {
            request: ClientRequest::ReadResourceRequest(read), ..
        }) => Some(&read.params.uri),
        _ => None,
    }
}

/// Whether a message begins a session.
pub(crate) fn initializes(message: &Incoming) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

/// The W3C trace context that a request says it was made in.
pub(crate) fn traceparent(message: &Incoming) -> Option<&str> {
    match message {
        JsonRpcMessage::Request(request) => request.request.get_meta().0.0.get("traceparent")?.as_str(),
        _ => None,
    }
}

/// A message as JSON again.
///
/// # Errors
/// None that a message which was read can cause.
pub(crate) fn to_bytes(message: &Incoming) -> Result<Vec<u8>, Box<Refusal>> {
    serde_json::to_vec(message)
        .map_err(|error| Refusal::boxed(None, ErrorData::internal_error(error.to_string(), None)))
}

/// Attaches to a request what its handler is to find there.
pub(crate) fn attach<T: Clone + Send + Sync + 'static>(message: &mut Incoming, attachment: T) {
    if let JsonRpcMessage::Request(request) = message {
        request.request.extensions_mut().insert(attachment);
    }
}

/// Whether bytes that [`parse`] refuses are a notification all the same, which JSON-RPC never has answered: an object with a
/// method and without an id, whatever is wrong with the rest.
pub(crate) fn is_notification(bytes: &[u8]) -> bool {
    let value: Option<Value> = serde_json::from_slice(without_mark(bytes)).ok();
    value.is_some_and(|value| {
        value["jsonrpc"] == "2.0" && value["method"].is_string() && value.get("id").is_none()
    })
}

/// The bytes without the byte order mark that some clients begin with.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// The same, to be changed.
pub(crate) fn request_id_mut(message: &mut Incoming) -> Option<&mut RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&mut request.id),
        _ => None,
    }
}

/// The id of the request that a message answers, if it answers one.
pub(crate) fn answers(message: &mut Outgoing) -> Option<&mut RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&mut response.id),
        JsonRpcMessage::Error(error) => error.id.as_mut(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

/// The id of the subscription that a message belongs to, if it belongs to one.
pub(crate) fn tells(message: &Outgoing) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Notification(notification) => notification.notification.get_meta().subscription_id(),
        _ => None,
    }
}

/// Says to which subscription a message belongs, be it one that tells of a change or the last.
pub(crate) fn set_subscription(message: &mut Outgoing, id: RequestId) {
    match message {
        JsonRpcMessage::Notification(notification) => {
            notification.notification.get_meta_mut().set_subscription_id(id);
        }
        JsonRpcMessage::Response(JsonRpcResponse {
            result: ServerResult::SubscriptionsListenResult(result),
            ..
        }) => result.meta.set_subscription_id(id),
        _ => {}
    }
}

/// The id of the request that a message cancels, if it cancels one.
pub(crate) fn cancels(message: &mut Incoming) -> Option<&mut RequestId> {
    match message {
        JsonRpcMessage::Notification(notification) => match &mut notification.notification {
            ClientNotification::CancelledNotification(CancelledNotification { params, .. }) => {
                params.request_id.as_mut()
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: impl AsRef<[u8]>, code: i32, id: Value) {
        let bytes = bytes.as_ref();
        let refusal = parse(bytes).map(|_| ()).map_err(|refusal| refusal.to_json());
        let shown = String::from_utf8_lossy(bytes);
        let refusal = refusal.expect_err(&shown);
        assert_eq!((&refusal["error"]["code"], &refusal["id"]), (&json!(code), &id), "{shown}");
    }

    #[test]
    fn what_is_not_json_is_a_parse_error() {
        check("", -32700, Value::Null);
        check("{", -32700, Value::Null);
        check("hello", -32700, Value::Null);
        check(b"\xff\xfe{\x00", -32700, Value::Null);
        check(b"{\"a\":\"\xff\"}", -32700, Value::Null);
        check("[".repeat(100_000), -32700, Value::Null);
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#, -32700, Value::Null);
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request() {
        check("1", -32600, Value::Null);
        check("null", -32600, Value::Null);
        check("{}", -32600, Value::Null);
        check(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null);
        check(r#"{"id":1,"method":"ping"}"#, -32600, json!(1));
        check(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, json!("a"));
        check(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null);
        check(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, Value::Null);
        check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, Value::Null);
        check(r#"{"jsonrpc":"2.0","id":1,"error":7}"#, -32600, Value::Null);
    }

    #[test]
    fn a_key_that_is_said_twice_is_refused() {
        let (head, tail) =
            (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"#, r#""uri":"skill://a"}"#);
        assert!(parse(format!("{head}{tail}}}").as_bytes()).is_ok());
        check(format!(r#"{head}{tail},"id":1}}"#), -32600, Value::Null);
        check(format!(r#"{head}{tail},"i\u0064":2}}"#), -32600, Value::Null);
        check(format!(r#"{head}{tail},"method":"ping"}}"#), -32600, json!(1));
        check(format!(r#"{head}{tail},"jsonrpc":"2.0"}}"#), -32600, json!(1));
        check(format!(r#"{head}{tail},"params":{{}}}}"#), -32600, json!(1));
        check(format!(r#"{head}"uri":"skill://b",{tail}}}"#), -32600, json!(1));
        check(format!(r#"{head}"_meta":{{}},"_meta":{{}},{tail}}}"#), -32600, json!(1));
        // Where it makes no difference to anybody it may be.
        assert!(parse(format!(r#"{head}"x":1,"x":2,{tail}}}"#).as_bytes()).is_ok());
    }

    #[test]
    fn a_cursor_that_is_no_text_is_refused() {
        for method in PAGED {
            let request = |meta, cursor| {
                let params = json!({"_meta": meta, "cursor": cursor});
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
            };
            let modern = json!({PROTOCOL_VERSION: "2026-07-28"});
            check(request(modern.clone(), json!(5)), -32602, json!(1));
            check(request(modern, json!({})), -32602, json!(1));
            assert!(parse(request(json!({}), json!(5)).as_bytes()).is_ok());
        }
    }

    #[test]
    fn a_message_is_taken_with_a_byte_order_mark_and_a_line_end() {
        let request = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"skills/list\",\"params\":{\"cursor\":null}}\r\n";
        assert!(matches!(parse(request.as_bytes()), Ok(JsonRpcMessage::Request(_))));
        let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}"#;
        let mut cancelled = parse(cancelled.as_bytes()).unwrap();
        assert_eq!(cancels(&mut cancelled), Some(&mut RequestId::String("x".into())));
    }

    #[test]
    fn a_notification_has_a_method_and_no_id() {
        let check =
            |bytes: &str, expected| assert_eq!(is_notification(bytes.as_bytes()), expected, "{bytes}");
        check(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#, true);
        check("\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":7,\"params\":8}", true);
        check(r#"{"jsonrpc":"2.0","method":"x","id":null}"#, false);
        check(r#"{"jsonrpc":"2.0","method":7}"#, false);
        check(r#"{"jsonrpc":"1.0","method":"x"}"#, false);
        check(r#"{"method":"x"}"#, false);
        check("[]", false);
        check("{", false);
    }

    proptest! {
        #[test]
        fn no_bytes_bring_it_down(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
