//! Which messages are plain requests, and what they ask for.
//!
//! Only what every reader of JSON would read the same way is taken: one line, no escape, no key twice, nothing nested
//! deeply, no long number, and no dollar sign, with which the keys begin that mean something to serde_json alone. Hosts
//! hardly write anything else, and whatever is left out here is read by rmcp instead.

use memchr::memchr2;
use rmcp::model::{ClientCapabilities, RequestId};

use super::reader::Reader;

/// The revision of the protocol whose requests are taken.
pub(crate) const VERSION: &str = "2026-07-28";

/// A method that is answered in front of rmcp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// `skills/list`.
    ListSkills,
    /// `skills/get`.
    GetSkill,
    /// `resources/list`.
    ListResources,
    /// `resources/read`.
    ReadResource,
    /// `resources/directory/read`.
    ReadDirectory,
}

impl Method {
    const ALL: [Self; 5] =
        [Self::ListSkills, Self::GetSkill, Self::ListResources, Self::ReadResource, Self::ReadDirectory];

    /// As it is written.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ListSkills => "skills/list",
            Self::GetSkill => "skills/get",
            Self::ListResources => "resources/list",
            Self::ReadResource => "resources/read",
            Self::ReadDirectory => "resources/directory/read",
        }
    }
}

/// A plain request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// Of the request, and of its answer.
    pub(crate) id: RequestId,
    /// What is asked.
    pub(crate) method: Method,
    /// Of what.
    pub(crate) uri: Option<String>,
    /// The W3C trace context that it says it was made in.
    pub(crate) trace: Option<String>,
    /// Where the page begins.
    pub(super) cursor: Option<String>,
}

impl Request {
    /// Reads a message. `None` if it is no plain request.
    pub(crate) fn read(message: &[u8]) -> Option<Self> {
        let message = message.trim_ascii_end();
        let is_on_one_line = message.iter().fold(true, |all, byte| all & (*byte >= b' '));
        if !is_on_one_line || memchr2(b'\\', b'$', message).is_some() {
            return None;
        }
        let mut reader = Reader::new(std::str::from_utf8(message).ok()?);
        let (mut version, mut id, mut method, mut params) = (None, None, None, None);
        reader.object(|reader, key| match key {
            "jsonrpc" => once(&mut version, reader.text()?),
            "id" => once(&mut id, read_id(reader)?),
            "method" => once(&mut method, reader.text()?),
            "params" => once(&mut params, Params::read(reader)?),
            _ => None,
        })?;
        if reader.next().is_some() || version != Some("2.0") {
            return None;
        }
        let Params { uri, cursor, trace } = params?;
        Some(Self {
            id: id?,
            method: Method::ALL.into_iter().find(|known| Some(known.as_str()) == method)?,
            uri: uri.map(str::to_owned),
            cursor: cursor.map(str::to_owned),
            trace: trace.map(str::to_owned),
        })
    }
}

/// The parameters of a plain request.
struct Params<'a> {
    uri: Option<&'a str>,
    cursor: Option<&'a str>,
    trace: Option<&'a str>,
}

impl<'a> Params<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let (mut uri, mut cursor, mut meta) = (None, None, None);
        reader.object(|reader, key| match key {
            "uri" => once(&mut uri, reader.text_or_null()?),
            "cursor" => once(&mut cursor, reader.text_or_null()?),
            "_meta" => once(&mut meta, read_meta(reader)?),
            _ => None,
        })?;
        Some(Self { uri: uri.flatten(), cursor: cursor.flatten(), trace: meta? })
    }
}

/// Reads what a client says of itself, of which only the trace makes a difference to an answer.
fn read_meta<'a>(reader: &mut Reader<'a>) -> Option<Option<&'a str>> {
    let (mut version, mut capabilities, mut client, mut trace) = (None, None, None, None);
    reader.object(|reader, key| match key {
        "io.modelcontextprotocol/protocolVersion" => once(&mut version, reader.text()?),
        "io.modelcontextprotocol/clientCapabilities" => once(&mut capabilities, read_capabilities(reader)?),
        "io.modelcontextprotocol/clientInfo" => once(&mut client, reader.pass_over()?),
        "traceparent" => once(&mut trace, reader.text_or_null()?),
        _ => reader.pass_over().map(drop),
    })?;
    capabilities?;
    (version? == VERSION).then(|| trace.flatten())
}

fn read_capabilities(reader: &mut Reader<'_>) -> Option<()> {
    let json = reader.pass_over()?;
    // An array could be read as them too.
    let are_read = || json.starts_with('{') && serde_json::from_str::<ClientCapabilities>(json).is_ok();
    (json == "{}" || are_read()).then_some(())
}

fn read_id(reader: &mut Reader<'_>) -> Option<RequestId> {
    match reader.next()? {
        b'"' => reader.text().map(|id| RequestId::String(id.into())),
        _ => reader.integer().map(RequestId::Number),
    }
}

/// Takes what a key says, which it may say once.
fn once<T>(said: &mut Option<T>, value: T) -> Option<()> {
    said.replace(value).is_none().then_some(())
}
