//! Generated requests, good and bad, each answered twice: in front of rmcp where that is done, and by rmcp alone. Both
//! answers are the same to the byte.

pub(crate) mod request;
pub(crate) mod world;

use axum::http::{HeaderName, HeaderValue, Method};
use http_body_util::BodyExt as _;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq};
use proptest::test_runner::TestRunner;

use crate::http::direct::{Directly, respond};
use crate::http::request_id::REQUEST_ID;
use crate::http::turns::{Turn, Turns};
use crate::mcp::direct::{Direct, Request as Plain};

use super::*;

use request::{Parts, Sent, sent};
use world::world;

/// What came back, and whether it came from in front of rmcp.
#[derive(Debug, PartialEq)]
struct Answered {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

async fn send(router: &Front, sent: &Sent) -> (Answered, bool) {
    let mut request = Request::new(axum::body::Body::from(sent.body.clone()));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = "/mcp".parse().unwrap();
    for (name, value) in &sent.headers {
        let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_bytes(value)) else {
            continue;
        };
        request.headers_mut().append(name, value);
    }
    let response = router.answer(&mut request, Asker::default()).await;
    let is_direct = response.extensions().get::<Directly>().is_some();
    let status = response.status().as_u16();
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    // Each request has an id of its own.
    let headers = response.headers().iter().filter(|(name, _)| *name != REQUEST_ID);
    let headers = headers.map(|(name, value)| (name.to_string(), text(value))).collect();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (Answered { status, headers, body: String::from_utf8(body.into()).unwrap() }, is_direct)
}

/// How many requests are made up.
const CASES: u32 = 4_000;

#[test]
fn both_ways_answer_alike() {
    let world = world();
    let (mut direct, mut well, mut plain_well) = (0, 0, 0);
    let count = std::cell::RefCell::new((&mut direct, &mut well, &mut plain_well));
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) });
    let outcome = runner.run(&sent(), |sent| {
        let (answered, is_direct) = world.runtime.block_on(send(&world.direct, &sent));
        let (expected, never) = world.runtime.block_on(send(&world.rmcp, &sent));
        prop_assert!(!never);
        prop_assert_eq!(&answered, &expected);
        // Of what it has given it holds some: first a file's bytes, then what is prepared.
        for _ in 0..2 {
            let (again, is_as_direct) = world.runtime.block_on(send(&world.direct, &sent));
            prop_assert_eq!((&again, is_as_direct), (&expected, is_direct));
        }
        let is_well = expected.status == 200 && expected.body.contains("\"result\":");
        // Whatever is plain and succeeds takes the short way.
        prop_assert!(is_direct || !(sent.is_plain && is_well), "{:?}", expected);
        let mut count = count.borrow_mut();
        *count.0 += u32::from(is_direct);
        *count.1 += u32::from(is_well);
        *count.2 += u32::from(is_well && sent.is_plain);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    // Enough of both kinds has been seen.
    assert!(
        plain_well > CASES / 8 && direct > well / 2 && well < CASES * 3 / 4,
        "{direct} of {well} of {CASES}, {plain_well} plain"
    );
}

#[test]
fn a_turn_lasts_as_long_as_the_last_piece_of_its_answer() {
    let direct = Direct::new(handler(&world().skills), "");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(keep_a_turn(direct));
}

async fn keep_a_turn(direct: Direct) {
    let large = Parts::new("resources/read", Some("skill://hard/200000.txt"), None).sent(true);
    let reply = direct.begin(Plain::read(&large.body).unwrap()).unwrap();
    let answer = direct.finish(reply).await;
    let (turns, bytes) = (Turns::default(), answer.len());
    let next = async || turns.next(&Asker::default(), bytes).await.ok();
    let mut taken: Vec<Turn> = Vec::new();
    while let Some(turn) = next().await {
        taken.push(turn);
    }
    let turn = taken.pop().unwrap();
    let mut body = respond(answer, turn).into_body();
    let mut last = None;
    let mut pieces = 0;
    while let Some(frame) = body.frame().await {
        (last, pieces) = (frame.unwrap().into_data().ok(), pieces + 1);
        assert!(next().await.is_none());
    }
    drop(body);
    assert!(pieces > 3 && next().await.is_none());
    drop(last);
    assert!(next().await.is_some());
}
