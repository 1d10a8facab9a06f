//! The requests that are sent, and how an answer is told from an error.

use anyhow::ensure;
use serde_json::Value;

/// How far into an answer its `result` begins, at the latest.
const RESULT_WITHIN_BYTES: usize = 256;

/// Reads a file of messages, one a line.
pub fn read(path: &str) -> anyhow::Result<Vec<Value>> {
    let text = std::fs::read_to_string(path)?;
    let messages = text.lines().map(serde_json::from_str).collect::<Result<Vec<_>, _>>()?;
    ensure!(!messages.is_empty(), "{path} holds no message");
    Ok(messages)
}

/// A message as a line, but for its first bytes: an id of its own must stand before it, because no two requests in flight
/// may have the same.
pub fn line_after_id(message: &Value) -> Vec<u8> {
    let mut message = message.clone();
    if let Some(members) = message.as_object_mut() {
        members.remove("id");
    }
    format!(",{}\n", &message.to_string()[1..]).into_bytes()
}

/// A message as a request over HTTP, with the headers that say again what it says.
pub fn request(address: &str, message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let method = message["method"].as_str().unwrap_or_default();
    let name = match (method, message["params"]["uri"].as_str()) {
        ("resources/read", Some(uri)) => format!("Mcp-Name: {uri}\r\n"),
        _ => String::new(),
    };
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
}

/// Fails for an answer that is no result. To parse it would cost more than to make it.
pub fn check(answer: &[u8]) -> anyhow::Result<()> {
    let begin = &answer[..answer.len().min(RESULT_WITHIN_BYTES)];
    let is_result = memchr::memmem::find(begin, br#""result":"#).is_some();
    ensure!(is_result, "no result: {}", String::from_utf8_lossy(begin));
    Ok(())
}
