//! Properties of messages, of what is written into them, and of cursors.

use rmcp::model::JsonRpcMessage;
use serde_json::{Value, json};

use crate::mcp::cursor::Listing;
use crate::mcp::wire;

use super::answer::escape;
use super::{Method, Request};

/// A plain request is to serde_json and to rmcp what it is here.
pub fn request(message: &[u8]) {
    let Some(plain) = Request::read(message) else { return };
    let fields = |message: &Value| {
        let (params, text) = (&message["params"], |value: &Value| value.as_str().map(str::to_owned));
        let meta = &params["_meta"];
        [&message["jsonrpc"], &message["method"], &params["uri"], &params["cursor"], &meta["traceparent"]]
            .map(text)
    };
    let method = plain.method.as_str();
    let texts =
        [Some("2.0"), Some(method), plain.uri.as_deref(), plain.cursor.as_deref(), plain.trace.as_deref()];
    let texts = texts.map(|text| text.map(str::to_owned));
    let value: Value = serde_json::from_slice(message).expect("JSON");
    assert_eq!(fields(&value), texts);
    // What asks for nothing, or for two things, is left to rmcp all the same.
    let is_whole = match plain.method {
        Method::GetSkill | Method::ReadResource => plain.uri.is_some() && plain.cursor.is_none(),
        Method::ListSkills | Method::ListResources => plain.uri.is_none(),
        Method::ReadDirectory => plain.uri.is_some(),
    };
    if !is_whole {
        return;
    }
    let read = wire::parse(message).expect("a message");
    assert_eq!(fields(&json!(read)), texts);
    let JsonRpcMessage::Request(read) = read else { panic!("no request") };
    assert_eq!(read.id, plain.id);
    assert_eq!(read.request.method(), method);
}

/// Any bytes are a message or refused, and a message is the same when it is written and read again.
pub fn message(bytes: &[u8]) {
    let Ok(read) = wire::parse(bytes) else { return };
    let written = wire::to_bytes(&read).expect("bytes");
    let again = wire::parse(&written).expect("the same");
    assert_eq!(wire::to_bytes(&again).expect("bytes"), written);
}

/// A text is escaped as serde_json does it.
pub fn escape(text: &str) {
    let expected = json!(text).to_string();
    let mut escaped = Vec::new();
    escape::append(&mut escaped, text.as_bytes());
    assert_eq!(escaped, &expected.as_bytes()[1..expected.len() - 1]);
    assert_eq!(escaped.len(), escape::len(text.as_bytes()));
}

/// A text that is a cursor is the one cursor of its page.
pub fn cursor(text: &str) {
    for listing in [Listing::Skills, Listing::Resources, Listing::Directory(""), Listing::Directory("a/b")] {
        if let Ok(path) = listing.after(text) {
            assert_eq!(listing.cursor(&path), text);
        }
        assert_eq!(Listing::Skills.after(&Listing::Skills.cursor(text)).as_deref(), Ok(text));
    }
}
