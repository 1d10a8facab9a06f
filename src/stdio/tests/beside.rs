//! What is answered beside rmcp.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::TestRunner;
use proptest::{prop_assert, prop_assert_eq};
use tokio::io::AsyncReadExt as _;

use crate::http::tests::direct::request::sent;
use crate::http::tests::direct::world::world;
use crate::testing::Skills;

use super::*;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// All that is answered to these lines by a session over `catalog`, where `direct` answers what is plain.
async fn answers(catalog: &Catalog, direct: &Catalog, lines: &[&[u8]]) -> Vec<String> {
    let (ours, theirs) = tokio::io::duplex(REQUEST_MAX_BYTES);
    let ((mut output, mut input), (theirs_in, theirs_out)) = (split(ours), split(theirs));
    let direct = Direct::new(handler(direct), "\n");
    let never = std::future::pending();
    tokio::spawn(run(handler(catalog), direct, catalog.clone(), theirs_in, theirs_out, never));
    let input = async {
        input.write_all(&lines.join(&b'\n')).await.unwrap();
        input.shutdown().await.unwrap();
    };
    let mut answers = String::new();
    let (read, ()) = tokio::join!(output.read_to_string(&mut answers), input);
    read.unwrap();
    let mut answers: Vec<String> = answers.lines().map(str::to_owned).collect();
    answers.sort_unstable();
    answers
}

/// How many lines are made up.
const CASES: u32 = 1_000;

#[test]
fn both_ways_answer_alike() {
    let world = world();
    let catalog = &world.skills.catalog;
    let (_, never, _build) = world.runtime.block_on(async { pending() });
    let plain = format!(
        r#"{{"jsonrpc":"2.0","id":"first","method":"skills/get","params":{{"uri":"skill://outer/SKILL.md",{META}}}}}"#
    );
    let initialize = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"test","version":"1"},"capabilities":{}}}"#;
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    let answered = std::cell::Cell::new(0);
    let outcome = TestRunner::new(config).run(&sent(), |sent| {
        for before in [&[][..], &[initialize.as_bytes()]] {
            let lines = [before, &[plain.as_bytes(), &sent.body]].concat();
            let given = world.runtime.block_on(answers(catalog, catalog, &lines));
            let expected = world.runtime.block_on(answers(catalog, &never, &lines));
            prop_assert_eq!(&given, &expected);
            prop_assert!(expected.len() > before.len());
            answered.set(
                answered.get()
                    + u32::from(
                        expected.iter().filter(|line| line.contains("\"result\"")).count() > before.len() + 1,
                    ),
            );
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    assert!((CASES / 2..CASES * 2).contains(&answered.get()), "{} of {}", answered.get(), CASES * 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn rmcp_hears_of_the_first_plain_request_alone() {
    let skills = Skills::new().await;
    // rmcp has nobody here who could answer.
    let mut client = Client::of(Panicking, skills.catalog.clone());
    let read = json!({"uri": "skill://a/notes.txt"});
    client.request(1, "resources/read", read.clone()).await;
    assert_eq!(client.receive().await["error"]["code"], -32601);
    client.request(2, "resources/read", read).await;
    assert_eq!(client.receive().await["result"]["contents"][0]["text"], "1");
    client.send(2, "skills/list").await;
    assert_eq!(client.receive().await["result"]["skills"][1]["uri"], "skill://b/SKILL.md");
    client.request(3, "skills/get", json!({"uri": "skill://c/SKILL.md"})).await;
    assert_eq!(client.receive().await["error"]["code"], -32601);
    client.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_wait_for_a_client_that_does_not_read() {
    let skills = Skills::new().await;
    let mut client = Client::with_buffer(handler(&skills.catalog), skills.catalog.clone(), 64);
    let mut sent = 0;
    let line = |id| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"skills/list\",\"params\":{{{META}}}}}\n")
    };
    // A session that goes on to read takes any number.
    while let Ok(written) =
        tokio::time::timeout(Duration::from_millis(500), client.input.write_all(line(sent).as_bytes())).await
    {
        written.unwrap();
        sent += 1;
        assert!(sent < 10_000, "nothing holds the client up");
    }
    let mut ids: Vec<u64> = Vec::new();
    for _ in 0..sent {
        ids.push(client.receive().await["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..sent).collect::<Vec<_>>());
}
