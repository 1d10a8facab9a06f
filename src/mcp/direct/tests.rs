//! What is recognised, and that what is written is what serde writes of rmcp's types.

use proptest::prelude::*;
use rmcp::model::Resource;
use serde::Serialize;
use serde_json::json;

use crate::catalog::{Part, Snapshot};
use crate::http::tests::direct::world::world;
use crate::mcp::entry;
use crate::mcp::page::{self, SKILLS_MAX};
use crate::skill::Content;
use crate::testing::Skills;
use crate::timestamp::Seconds;

use super::*;

const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A trace that some messages say they belong to.
const TRACE: &str = "00-1";

/// Whether a message with these parameters beside `_meta` is plain.
#[track_caller]
fn check(method: &str, params: &str, meta: &str, expected: Option<(Method, Option<&str>, Option<&str>)>) {
    let message =
        format!(r#" {{"method":"{method}","params":{{{params}"_meta":{meta}}},"id":"a","jsonrpc":"2.0"}}"#);
    let expected = expected.map(|(method, uri, cursor)| Request {
        id: RequestId::String("a".into()),
        method,
        uri: uri.map(str::to_owned),
        cursor: cursor.map(str::to_owned),
        trace: meta.contains(TRACE).then(|| TRACE.to_owned()),
    });
    assert_eq!(Request::read(message.as_bytes()), expected, "{message}");
}

#[test]
fn plain_requests_are_recognised() {
    check("skills/list", "", META, Some((Method::ListSkills, None, None)));
    check("resources/list", r#""cursor":"x","#, META, Some((Method::ListResources, None, Some("x"))));
    check("skills/get", r#""uri":"é","#, META, Some((Method::GetSkill, Some("é"), None)));
    check(
        "resources/read",
        r#""cursor":null,"uri":"a","#,
        META,
        Some((Method::ReadResource, Some("a"), None)),
    );
    check(
        "resources/directory/read",
        r#""uri":"","cursor":"","#,
        META,
        Some((Method::ReadDirectory, Some(""), Some(""))),
    );
    let long = META.replacen(
        '{',
        r#"{"a":123456789012345678,"b":-0.123456789012345678,"/09:":"//0123456789/::","#,
        1,
    );
    check("skills/list", "", &long, Some((Method::ListSkills, None, None)));
    let more = META.replacen(
        '{',
        r#"{"progressToken":[1.5],"traceparent":"00-1","io.modelcontextprotocol/clientInfo":7,"#,
        1,
    );
    check("skills/list", "", &more, Some((Method::ListSkills, None, None)));
}

#[test]
fn other_messages_are_not() {
    check("tools/list", "", META, None);
    check("Skills/list", "", META, None);
    check("skills/list", r#""x":1,"#, META, None);
    check("skills/list", r#""cursor":1,"#, META, None);
    check("skills/get", r#""uri":"a","uri":"a","#, META, None);
    check("skills/get", r#""uri":"\u0061","#, META, None);
    check("skills/get", r#""uri":["a"],"#, META, None);
    check("skills/list", "", "{}", None);
    check("skills/list", "", "null", None);
    check("skills/list", "", r#"["2026-07-28",{}]"#, None);
    check("skills/list", "", &META.replace("07-28", "07-29"), None);
    check("skills/list", "", &META.replace(":{}", ":[]"), None);
    check("skills/list", "", &META.replace(":{}", r#":{"roots":1}"#), None);
    check("skills/list", "", &META.replacen('{', r#"{"x":1234567890123456789,"#, 1), None);
    for at in 0..16 {
        let key = format!(r#"{{"{}":{},"#, "x".repeat(at), "9".repeat(19));
        check("skills/list", "", &META.replacen('{', &key, 1), None);
    }
    // rmcp's reading takes it for a number, and refuses the message.
    let number = r#"{"x":{"$serde_json::private::Number":{}},"#;
    check("skills/list", "", &META.replacen('{', number, 1), None);
    let deep = format!(r#"{{"x":{}{},"#, "[".repeat(60), "]".repeat(60));
    check("skills/list", "", &META.replacen('{', &deep, 1), None);
    for message in ["", "{}", "[]", r#"["2.0",1,"skills/list",{}]"#, "\u{feff}{}"] {
        assert_eq!(Request::read(message.as_bytes()), None, "{message}");
    }
}

/// Whether a message is plain that has `written` in the place of `usual`.
#[track_caller]
fn check_spelling(usual: &str, written: &str, expected: bool) {
    let message = r#"{"jsonrpc":"2.0","id":7,"method":"skills/get","params":{"uri":"skill://a","_meta":M}}"#;
    let message = message.replace('M', META);
    assert!(Request::read(message.as_bytes()).is_some() && message.contains(usual));
    let message = message.replacen(usual, written, 1);
    assert_eq!(Request::read(message.as_bytes()).is_some(), expected, "{message}");
}

#[test]
fn only_what_has_one_meaning_is_plain() {
    for (usual, written, expected) in [
        ("7", " 7 ", true),
        ("7", "-7", true),
        ("7", "-0", false),
        ("7", "7.0", false),
        ("7", "7e0", false),
        ("7", "07", false),
        ("7", "-07", false),
        ("7", "+7", false),
        ("7", "--7", false),
        ("7", "-", false),
        ("7", "7-", false),
        ("7", "0", true),
        ("7", "7 7", false),
        ("7", "123456789012345678", true),
        ("7", "-123456789012345678", true),
        ("7", "1234567890123456789", false),
        ("7", "null", false),
        ("7", "[7]", false),
        ("7", r#""7""#, true),
        (r#""id":7,"#, "", false),
        (r#""id":7,"#, r#""id":7,"id":7,"#, false),
        (r#""id":7,"#, r#""id":7,,"#, false),
        (r#""id":7,"#, r#""id":7"#, false),
        (r#""jsonrpc":"2.0","#, "", false),
        ("2.0", "1.0", false),
        ("{", " { ", true),
        ("{", "\t{", false),
        ("{", "{\n", false),
        ("{", "\u{b}{", false),
        ("}}}}", "}}}}\r\n", true),
        ("}}}}", "}}}}}", false),
        ("}}}}", "}}},}", false),
        ("}}}}", "}}}", false),
        ("skill://a", "skill://\u{7f}é", true),
        ("skill://a", "skill://\n", false),
        (r#""skill://a""#, "null", true),
        (r#""skill://a""#, "nul", false),
        (r#""skill://a""#, "7", false),
        (r#""uri":"#, r#""uri":null,"uri":"#, false),
        (r#""uri":"#, r#""cursor":null,"cursor":null,"uri":"#, false),
        (r#""_meta":"#, r#""_meta":{},"_meta":"#, false),
        (r#"Capabilities":{}"#, r#"Capabilities":{ }"#, true),
        (r#"Capabilities":{}"#, r#"Capabilities":{"sampling":{}}"#, true),
        (r#"Capabilities":{}"#, r#"Capabilities":7"#, false),
        (r#"Capabilities":{}"#, r#"Capabilities":{},"x":{"y":[1,{"z":null}]}"#, true),
        (r#"Capabilities":{}"#, r#"Capabilities":{},"x":1,"x":1"#, true),
        (r#"Capabilities":{}"#, r#"Capabilities":{},"x":01"#, false),
        (r#"Capabilities":{}"#, r#"Capabilities":{},"x":truely"#, false),
        (r#"Capabilities":{}"#, r#"Capabilities":{},"traceparent":null"#, true),
        (r#"Capabilities":{}"#, r#"Capabilities":{},"traceparent":7"#, false),
        (r#"Capabilities":{}"#, r#"Capabilities":{},"traceparent":"a","traceparent":"a""#, false),
    ] {
        check_spelling(usual, written, expected);
    }
}

fn snapshot() -> Arc<Snapshot> {
    world().skills.catalog.current().unwrap()
}

#[track_caller]
fn check_written(write: impl FnOnce(&mut Vec<u8>), expected: &impl Serialize) {
    let mut written = Vec::new();
    write(&mut written);
    assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(expected).unwrap());
}

#[test]
fn entries_are_written_as_serde_writes_them() {
    let snapshot = snapshot();
    for listed in snapshot.listed_after(None) {
        let skill = listed.skill;
        check_written(|out| json::skill(out, listed), &entry::entry(&snapshot, skill));
        let path = entry::skill_md_path(skill);
        let about = resource::of_skill(listed, &path);
        check_written(
            |out| json::resource(out, &about, &mut Seconds::default()),
            &Resource::from(about.clone()),
        );
        for (path, _) in snapshot.files(skill) {
            let about = resource::of_node(snapshot.node(path).unwrap());
            check_written(
                |out| json::resource(out, &about, &mut Seconds::default()),
                &Resource::from(about.clone()),
            );
        }
    }
}

#[test]
fn pages_end_where_the_handlers_do() {
    let snapshot = snapshot();
    let mut after: Option<String> = None;
    let mut pages = 0;
    loop {
        let skills = || snapshot.listed_after(after.as_deref());
        let written = listing::fill(skills(), SKILLS_MAX, |out, listed| json::skill(out, *listed));
        let filled = page::fill(skills(), SKILLS_MAX, |listed| entry::entry(&snapshot, listed.skill));
        check_written(|out| out.extend([&b"["[..], &written.json, b"]"].concat()), &filled.entries);
        assert_eq!(written.last.map(|last| &last.skill.path), filled.last.map(|last| &last.skill.path));
        pages += 1;
        match filled.last {
            Some(last) => after = Some(last.skill.path.to_string()),
            None => break,
        }
    }
    assert!(pages > 1, "{pages}");
}

/// A file's answer in pieces is the one that serde would write.
fn check_pieces(bytes: Vec<u8>, content: Content) {
    let text = String::from_utf8(bytes.clone()).ok().filter(|_| content == Content::Text);
    use base64::Engine as _;
    let value = text.unwrap_or_else(|| base64::engine::general_purpose::STANDARD.encode(&bytes));
    let form = Form::of(content, &bytes);
    let expected = json!(value).to_string();
    let mut whole = b"\"".to_vec();
    form.append(&mut whole, &bytes);
    whole.push(b'"');
    assert_eq!(String::from_utf8(whole).unwrap(), expected);
    let mut answer = Answer::of_file(b"\"".to_vec(), bytes.into(), form, b"\"".to_vec());
    let mut written = Vec::new();
    let whole = answer.len();
    while let Some(piece) = answer.next() {
        assert!(piece.len() <= 112 * 1024);
        written.extend_from_slice(&piece);
        assert_eq!(answer.len() + written.len() as u64, whole);
    }
    assert_eq!(String::from_utf8(written).unwrap(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn files_come_in_pieces(part in "[\\x00-\\x7f\u{e9}\u{1f600}]{1,40}", times in 0..6_000usize, odd in any::<bool>()) {
        let text = part.repeat(times).into_bytes();
        check_pieces(text.clone(), Content::Text);
        check_pieces(text.clone(), Content::Binary);
        // A text that is none after all.
        let more: &[u8] = if odd { b"\xff" } else { b"" };
        check_pieces([&text, more].concat(), Content::Text);
    }
}

/// An answerer over these skills.
fn direct_over(skills: &Skills) -> Direct {
    let options =
        crate::mcp::Options { name: "test".into(), ttl: None, cache_scope: crate::mcp::CacheScope::Private };
    Direct::new(Handler::new(skills.catalog.clone(), options), "\n")
}

/// A plain request.
fn plain(method: Method, uri: &str) -> Request {
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"{}","params":{{"uri":"{uri}","_meta":{META}}}}}"#,
        method.as_str()
    );
    Request::read(message.as_bytes()).unwrap()
}

/// What is prepared of this part of the skills, and what is answered to `method`.
async fn prepared_and_answered(
    skills: &Skills,
    direct: &Direct,
    (method, part): (Method, Part),
    uri: &str,
) -> (Option<String>, String) {
    let reply = direct.begin(plain(method, uri)).unwrap();
    let answer = String::from_utf8(direct.finish(reply).await.flatten().collect()).unwrap();
    let snapshot = skills.catalog.current().unwrap();
    let prepared = skills.catalog.prepared(&snapshot, part, uri);
    (prepared.map(|bytes| String::from_utf8(bytes.into()).unwrap()), answer)
}

#[tokio::test]
async fn what_is_prepared_is_answered_until_something_changes() {
    let skills = Skills::new().await;
    let direct = direct_over(&skills);
    let asked = [
        (Method::GetSkill, Part::Skill, "skill://a/SKILL.md"),
        (Method::ReadResource, Part::File, "skill://a/notes.txt"),
        (Method::ReadDirectory, Part::Children, "skill://a"),
    ];
    for (method, part, uri) in asked {
        let ask = || prepared_and_answered(&skills, &direct, (method, part), uri);
        // The first one reads a file.
        let (_, first) = ask().await;
        let (prepared, second) = ask().await;
        assert!(prepared.is_some_and(|prepared| second.contains(&prepared)), "{second}");
        assert_eq!((&second, &ask().await.1), (&first, &first));
        // It is this that is answered.
        let snapshot = skills.catalog.current().unwrap();
        skills.catalog.prepare(&snapshot, part, uri, b",\"as\":\"prepared\"");
        assert!(ask().await.1.contains("prepared"));
        skills.write("a/notes.txt", &format!("{}{first}", first.len())).await;
        let (_, changed) = ask().await;
        assert!(!changed.contains("prepared") && changed != first, "{changed}");
    }
}

#[tokio::test]
async fn what_is_prepared_outlasts_changes_elsewhere() {
    let skills = Skills::new().await;
    let direct = direct_over(&skills);
    let asked = (Method::GetSkill, Part::Skill);
    // A skill is read again at each look until its files are old enough to be trusted.
    let begin = std::time::Instant::now();
    for number in 0.. {
        let before = skills.catalog.current().unwrap();
        skills.catalog.prepare(&before, asked.1, "skill://a/SKILL.md", b",\"as\":\"prepared\"");
        skills.write("b/notes.txt", &number.to_string()).await;
        assert!(!Arc::ptr_eq(&before, &skills.catalog.current().unwrap()));
        let (prepared, answer) = prepared_and_answered(&skills, &direct, asked, "skill://a/SKILL.md").await;
        if prepared.is_some_and(|prepared| prepared.contains("prepared")) && answer.contains("prepared") {
            break;
        }
        assert!(begin.elapsed().as_secs() < 30, "{answer}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn only_the_usual_spelling_is_prepared() {
    let skills = Skills::new().await;
    let direct = direct_over(&skills);
    for uri in ["skill://a/%6eotes.txt", "SKILL://a/notes.txt"] {
        for _ in 0..3 {
            let asked = (Method::ReadResource, Part::File);
            assert_eq!(prepared_and_answered(&skills, &direct, asked, uri).await.0, None);
        }
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_an_error() {
    let skills = Skills::new().await;
    let direct = direct_over(&skills);
    let reply = direct.begin(plain(Method::ReadResource, "skill://a/notes.txt")).unwrap();
    // It goes between the two.
    skills.remove("a/notes.txt").await;
    let answer: Vec<u8> = direct.finish(reply).await.flatten().collect();
    let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
    let error = json!({"code": -32602, "message": "no resource is served at skill://a/notes.txt", "data": {"uri": "skill://a/notes.txt"}});
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 7, "error": error}));
}
