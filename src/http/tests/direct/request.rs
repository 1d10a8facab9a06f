//! Requests in all states between plain and broken.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;

use super::world::{World, world};

/// A request as it is sent.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
    /// Whether nothing is odd about it.
    pub(crate) is_plain: bool,
}

impl std::fmt::Debug for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {}", value.escape_ascii())?;
        }
        write!(f, "\n{}", String::from_utf8_lossy(&self.body))
    }
}

/// A request in parts, each as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    top: Vec<(String, String)>,
    params: Vec<(String, String)>,
    meta: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    around: (Vec<u8>, Vec<u8>),
    space: &'static str,
}

fn object(fields: &[(String, String)], space: &str) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(key, value)| format!("{space}{key}{space}:{space}{value}")).collect();
    format!("{{{}{space}}}", fields.join(","))
}

impl Parts {
    pub(crate) fn new(method: &str, uri: Option<&str>, cursor: Option<&str>) -> Self {
        let owned = |fields: &[(&str, &str)]| {
            fields.iter().map(|(key, value)| (format!("\"{key}\""), (*value).to_owned())).collect::<Vec<_>>()
        };
        let meta = owned(&[
            ("io.modelcontextprotocol/protocolVersion", "\"2026-07-28\""),
            ("io.modelcontextprotocol/clientInfo", r#"{"name":"test","version":"1"}"#),
            ("io.modelcontextprotocol/clientCapabilities", "{}"),
        ]);
        let mut params = Vec::new();
        for (key, value) in [("uri", uri), ("cursor", cursor)] {
            params.extend(value.map(|value| (format!("\"{key}\""), json!(value).to_string())));
        }
        let mut headers: Vec<(String, Vec<u8>)> = [
            ("Host", "localhost"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ]
        .map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()))
        .into();
        if let Some(uri) = uri.filter(|_| method == "resources/read") {
            headers.push(("Mcp-Name".to_owned(), uri.as_bytes().to_vec()));
        }
        let top = owned(&[("jsonrpc", "\"2.0\""), ("id", "1"), ("method", &json!(method).to_string())]);
        Self { top, params, meta, headers, around: Default::default(), space: "" }
    }

    pub(crate) fn sent(&self, is_plain: bool) -> Sent {
        let mut params = self.params.clone();
        params.push(("\"_meta\"".to_owned(), object(&self.meta, self.space)));
        let mut top = self.top.clone();
        top.push(("\"params\"".to_owned(), object(&params, self.space)));
        let body = [&*self.around.0, object(&top, self.space).as_bytes(), &self.around.1].concat();
        Sent { headers: self.headers.clone(), body, is_plain }
    }
}

/// Values for any place, as JSON.
const VALUES: &[&str] = &[
    "1",
    "0",
    "-1",
    "-0",
    "1.0",
    "1e2",
    "1.5",
    "1e400",
    "1E19",
    "-1.25e-7",
    "-9999999999999999999",
    "9999999999999999999",
    "999999999999999999",
    "01",
    "+1",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "123456789012345678901234567890",
    "null",
    "true",
    "\"\"",
    "\"a b\"",
    "\"1\"",
    "\"\u{e9}\u{1f600}\"",
    r#""\u00e9\ud83d\ude00""#,
    r#""\ud800""#,
    r#""\/""#,
    r#""\n""#,
    "\"\n\"",
    "\"\u{7f}\"",
    "\"a",
    "[]",
    "{}",
    "[[]]",
    r#"{"a":1,"a":2}"#,
    "\"2.0\"",
    "\"1.0\"",
    r#""2.\u0030""#,
    "\"2026-07-28\"",
    "\"2025-11-25\"",
    "\"2026-07-29\"",
    "\"skills/get\"",
    r#""skills\/get""#,
    "\"skills/list\"",
    "\"resources/read\"",
    "\"tools/list\"",
    "\"server/discover\"",
    "\"Skills/List\"",
    "\"ping\"",
    "\"a/b\"",
    r#"{"roots":{}}"#,
    r#"{"roots":{"listChanged":true}}"#,
    r#"{"roots":{"listChanged":1}}"#,
    r#"{"roots":[true]}"#,
    r#"{"roots":null}"#,
    r#"{"roots":{},"roots":{}}"#,
    r#"{"sampling":{"tools":{},"x":[1e5]},"elicitation":{"form":{"schemaValidation":true},"url":{}}}"#,
    r#"{"elicitation":{"form":[]}}"#,
    r#"{"experimental":{"x":{"y":[1.5,-0]}}}"#,
    r#"{"experimental":{"x":1}}"#,
    r#"{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}}"#,
    r#"{"extensions":[]}"#,
    r#"{"unknown":[{}]}"#,
    r#"{"name":"x"}"#,
    r#"{"name":"x","version":"1","title":null,"icons":[{"src":"a"}],"x":1}"#,
    r#"{"name":1,"version":"1"}"#,
    "\"skill://hard\"",
    "\"skill://hard/every.txt\"",
    "\"SKILL://hard/%65very.txt\"",
    "\"skill://odd/d/caf\u{e9}.txt\"",
    r#""skill://odd/d/a\\b""#,
    "\"skill://hard/SKILL.md\"",
    "\"skill://hard/\"",
    "\"skill://hard/../hard\"",
    "\"skill://no/such\"",
    "\"skill://outer/inner/SKILL.md?x\"",
    "\"skill://outer/inner/%53KILL.md\"",
    "\"http://hard/SKILL.md\"",
    "\"c2E\"",
    "\"cmE=\"",
    "\"zz\"",
];
const KEYS: &[&str] = &[
    "\"jsonrpc\"",
    "\"id\"",
    "\"method\"",
    "\"params\"",
    "\"result\"",
    "\"error\"",
    "\"uri\"",
    "\"cursor\"",
    "\"_meta\"",
    "\"x\"",
    "\"\"",
    r#""ur\u0069""#,
    "\"name\"",
    "\"inputResponses\"",
    "\"requestState\"",
    "\"progressToken\"",
    "\"traceparent\"",
    "\"io.modelcontextprotocol/protocolVersion\"",
    "\"io.modelcontextprotocol/clientCapabilities\"",
    "\"io.modelcontextprotocol/clientInfo\"",
    "\"io.modelcontextprotocol/logLevel\"",
    "uri",
    "1",
];
const HEADERS: &[(&str, &[&[u8]])] = &[
    ("MCP-Protocol-Version", &[b"2026-07-28", b"2025-11-25", b"2026-07-29", b"", b" 2026-07-28", b"\xff"]),
    ("Mcp-Method", &[b"skills/get", b"skills/list", b"resources/read", b"SKILLS/GET", b"", b"\xc3\xa9"]),
    (
        "Mcp-Name",
        &[
            b"skill://hard/every.txt",
            b"skill://hard",
            b"=?base64?c2tpbGw6Ly9oYXJk?=",
            b"=?base64?c2tpbGw6Ly9oYXJkL2V2ZXJ5LnR4dA==?=",
            b"=?base64?!?=",
            b"",
            b"skill://odd/d/caf\xc3\xa9.txt",
        ],
    ),
    (
        "Accept",
        &[
            b"*/*",
            b"application/json",
            b"text/event-stream",
            b"text/event-stream,application/json",
            b"APPLICATION/JSON , Text/Event-Stream",
            b"application/json;q=0, text/event-stream",
            b"application/json;q=0.5, text/event-stream;q=1",
            b"*/*;q=0",
            b"application/*, text/*",
            b"",
            b"a;x=\",\", application/json, text/event-stream",
            b"\xff",
            b"text/html, */*",
        ],
    ),
    (
        "Content-Type",
        &[
            b"application/json; charset=utf-8",
            b"APPLICATION/JSON",
            b"text/plain",
            b"application/json-rpc",
            b"",
            b" application/json ",
        ],
    ),
    ("Mcp-Session-Id", &[b"x", b""]),
    ("Origin", &[b"http://localhost:80", b"http://evil.example"]),
    ("Mcp-Param-X", &[b"1"]),
    ("Last-Event-ID", &[b"1"]),
];

const AROUND: &[(&[u8], &[u8])] = &[
    (b"\xef\xbb\xbf", b""),
    (b"\xef\xbb\xbf\xef\xbb\xbf", b""),
    (b" \n", b"\r\n"),
    (b"[", b"]"),
    (b"", b"x"),
    (b"", b"{}"),
    (b"", b"\0"),
    (b"\xff", b""),
    (b"", b"\xff"),
    (b"\"", b"\""),
];

/// A change to a request.
#[derive(Clone, Debug)]
enum Oddity {
    Value(Index, &'static str),
    Key(Index, &'static str),
    Add(Index, &'static str, &'static str),
    Drop(Index),
    Twice(Index),
    Swap(Index, Index),
    Nest(Index, usize, bool),
    Space(&'static str),
    Around(&'static [u8], &'static [u8]),
    Header(Index, Index, bool),
    NoHeader(Index),
    Byte(Index, u8),
    Cut(Index),
}

fn oddity() -> impl Strategy<Value = Oddity> {
    let at = any::<Index>;
    let value = || select(VALUES);
    prop_oneof![
        6 => (at(), value()).prop_map(|(at, value)| Oddity::Value(at, value)),
        2 => (at(), select(KEYS)).prop_map(|(at, key)| Oddity::Key(at, key)),
        4 => (at(), select(KEYS), value()).prop_map(|(at, key, value)| Oddity::Add(at, key, value)),
        2 => at().prop_map(Oddity::Drop),
        2 => at().prop_map(Oddity::Twice),
        2 => (at(), at()).prop_map(|(a, b)| Oddity::Swap(a, b)),
        2 => (at(), select(&[1usize, 20, 55, 58, 100, 123, 124, 125, 126, 127, 128, 200][..]), any::<bool>())
            .prop_map(|(at, depth, array)| Oddity::Nest(at, depth, array)),
        1 => select(&[" ", "\n", "\t \r\n"][..]).prop_map(Oddity::Space),
        2 => select(AROUND).prop_map(|(before, after)| Oddity::Around(before, after)),
        6 => (at(), at(), any::<bool>()).prop_map(|(at, value, twice)| Oddity::Header(at, value, twice)),
        2 => at().prop_map(Oddity::NoHeader),
        1 => (at(), any::<u8>()).prop_map(|(at, byte)| Oddity::Byte(at, byte)),
        1 => at().prop_map(Oddity::Cut),
    ]
}

impl Oddity {
    fn apply(&self, parts: &mut Parts) {
        // Everything that has a key and a value, wherever it stands.
        let counts = [parts.top.len(), parts.params.len(), parts.meta.len()];
        let all = counts.iter().sum::<usize>();
        let find = |at: &Index| {
            let mut at = at.index(all.max(1));
            let place = counts
                .iter()
                .position(|count| {
                    at < *count || {
                        at -= count;
                        false
                    }
                })
                .unwrap_or(0);
            (place, at)
        };
        let places = [&mut parts.top, &mut parts.params, &mut parts.meta];
        match self {
            _ if all == 0 => {}
            Self::Value(at, value) => {
                let (place, at) = find(at);
                places[place][at].1 = (*value).to_owned();
            }
            Self::Key(at, key) => {
                let (place, at) = find(at);
                places[place][at].0 = (*key).to_owned();
            }
            Self::Add(at, key, value) => places[at.index(3)].push(((*key).to_owned(), (*value).to_owned())),
            Self::Drop(at) => {
                let (place, at) = find(at);
                places[place].remove(at);
            }
            Self::Twice(at) => {
                let (place, at) = find(at);
                let field = places[place][at].clone();
                places[place].push(field);
            }
            Self::Swap(a, b) => {
                let (place, a) = find(a);
                let b = b.index(counts[place]);
                places[place].swap(a, b);
            }
            Self::Nest(at, depth, array) => {
                let (open, close) = if *array { ("[", "]") } else { ("{\"a\":", "}") };
                let value = format!("{}1{}", open.repeat(*depth), close.repeat(*depth));
                places[at.index(3)].push(("\"deep\"".to_owned(), value));
            }
            Self::Space(space) => parts.space = space,
            Self::Around(before, after) => parts.around = (before.to_vec(), after.to_vec()),
            Self::Header(at, value, twice) => {
                let (name, values) = HEADERS[at.index(HEADERS.len())];
                if !twice {
                    parts.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
                }
                parts.headers.push((name.to_owned(), value.get(values).to_vec()));
            }
            Self::NoHeader(at) => {
                if !parts.headers.is_empty() {
                    parts.headers.remove(at.index(parts.headers.len()));
                }
            }
            Self::Byte(..) | Self::Cut(..) => {}
        }
    }

    fn apply_to_bytes(&self, body: &mut Vec<u8>) {
        match self {
            Self::Byte(at, byte) if !body.is_empty() => {
                let at = at.index(body.len());
                body[at] = *byte;
            }
            Self::Cut(at) => body.truncate(at.index(body.len() + 1)),
            _ => {}
        }
    }
}

fn plain() -> impl Strategy<Value = Parts> {
    let World { uris, cursors, .. } = world();
    let cursor = prop_oneof![4 => Just(None), 1 => select(&cursors[..]).prop_map(Some)];
    let methods = prop_oneof![
        1 => Just("skills/list"), 1 => Just("resources/list"), 5 => Just("skills/get"), 8 => Just("resources/read"),
        5 => Just("resources/directory/read"),
    ];
    (methods, select(&uris[..]), cursor).prop_map(|(method, uri, cursor)| match method {
        "skills/list" | "resources/list" => Parts::new(method, None, cursor.as_deref()),
        "resources/directory/read" => Parts::new(method, Some(&uri), cursor.as_deref()),
        "skills/get" if !uri.ends_with("/SKILL.md") => Parts::new(method, Some(&(uri + "/SKILL.md")), None),
        _ => Parts::new(method, Some(&uri), None),
    })
}

pub(crate) fn sent() -> impl Strategy<Value = Sent> {
    (plain(), prop::collection::vec(oddity(), 0..4)).prop_map(|(mut parts, odd)| {
        odd.iter().for_each(|oddity| oddity.apply(&mut parts));
        let mut sent = parts.sent(odd.is_empty());
        odd.iter().for_each(|oddity| oddity.apply_to_bytes(&mut sent.body));
        sent
    })
}
