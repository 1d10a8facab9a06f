//! Which messages are plain requests, and what they ask for.
//!
//! Only what every reader of JSON would read the same way is taken: no escape, no key twice, nothing nested deeply, no long
//! number, and no dollar sign, with which the keys begin that mean something to serde_json alone. Hosts hardly write anything
//! else, and whatever is left out here is read by rmcp instead.

use std::marker::PhantomData;

use memchr::memchr2;
use rmcp::model::{ClientCapabilities, RequestId};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The revision of the protocol whose requests are taken.
pub(crate) const VERSION: &str = "2026-07-28";
/// The most objects and arrays of a message that is taken, and so how deep they can be nested: less than half of what rmcp
/// reads. Hosts send about ten.
const NESTED_MAX: usize = 60;

/// The most digits in a row. rmcp refuses a message with an integer beyond 64 bits, also where it means nothing.
const DIGITS_MAX: usize = 18;

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
        if memchr2(b'\\', b'$', message).is_some() || opens(message) > NESTED_MAX || has_long_number(message)
        {
            return None;
        }
        // What is passed over below is not looked at otherwise.
        let message = std::str::from_utf8(message).ok()?;
        let Object(message) = serde_json::from_str::<Object<Message<'_>>>(message).ok()?;
        let Object(Params { uri, cursor, meta: Object(meta) }) = message.params;
        if message.jsonrpc != "2.0" || meta.version != VERSION {
            return None;
        }
        Some(Self {
            id: message.id,
            method: Method::ALL.into_iter().find(|method| method.as_str() == message.method)?,
            uri: uri.map(str::to_owned),
            cursor: cursor.map(str::to_owned),
            trace: meta.traceparent.map(str::to_owned),
        })
    }
}

/// How many objects and arrays are opened, also in texts. Many bytes are looked at at a time.
fn opens(message: &[u8]) -> usize {
    let count = |part: &[u8]| usize::from(part.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum::<u8>());
    let (parts, rest) = message.as_chunks::<64>();
    parts.iter().map(|part| count(part)).sum::<usize>() + count(rest)
}

/// Whether there are too many digits in a row, be it in a number or in a text. As many fill eight bytes, wherever they
/// stand, and hardly anything else does.
fn has_long_number(message: &[u8]) -> bool {
    let every = |byte: u8| u64::from_le_bytes([byte; 8]);
    let are_digits = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        let high = |word: u64| word & every(0xf0) == every(0x30);
        // Where the first holds, nothing is carried into the next byte.
        high(word) && high(word.wrapping_add(every(6)))
    };
    let is_long = |digits: &[u8]| digits.len() > DIGITS_MAX;
    message.as_chunks().0.iter().any(are_digits) && message.split(|byte| !byte.is_ascii_digit()).any(is_long)
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'a> {
    jsonrpc: &'a str,
    id: RequestId,
    method: &'a str,
    #[serde(borrow)]
    params: Object<Params<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Params<'a> {
    uri: Option<&'a str>,
    cursor: Option<&'a str>,
    #[serde(borrow, rename = "_meta")]
    meta: Object<Meta<'a>>,
}

/// What else a client says of itself makes no difference to an answer.
#[derive(serde::Deserialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: &'a str,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    _capabilities: Object<ClientCapabilities>,
    #[serde(default, rename = "io.modelcontextprotocol/clientInfo")]
    _client: IgnoredAny,
    traceparent: Option<&'a str>,
}

/// What is written as an object. Most types can be read from an array too.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfMap<T> {
            type Value = Object<T>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(OfMap(PhantomData))
    }
}
