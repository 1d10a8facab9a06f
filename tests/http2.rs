//! What clients can do over HTTP/2 alone, and what it costs them or the server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::time::Duration;

use common::http::{Request, Server};
use common::http2::{Client, run};
use common::{Client as _, Era, PATIENCE, skill_md, skills, write};
use h2::{Reason, client::Builder};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

const MAKEFILE: &str = "skill://csv/Makefile";

fn list() -> Request {
    Request::modern("skills/list", json!({}))
}

fn read(uri: &str) -> Request {
    Request::modern("resources/read", json!({"uri": uri}))
}

/// A head that says a body will come.
fn head(server: &Server) -> axum::http::Request<()> {
    let head = axum::http::Request::post(format!("http://{}/mcp", server.address));
    head.header("Content-Type", "application/json").body(()).unwrap()
}

#[test]
fn so_many_streams_are_answered_at_once_and_no_more() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    run(async {
        let mut client = Client::connect(&server.address).await;
        assert_eq!(client.exchange(&list()).await.unwrap().status, 200);
        assert_eq!(client.send.current_max_send_streams(), 100);
        let all = (0..100).map(|_| {
            let (send, end) = (client.send.clone(), tokio::spawn(async { Ok(()) }));
            let mut client = Client { send, end, host: server.address.clone() };
            async move { client.exchange(&list()).await.unwrap().status }
        });
        assert!(futures::future::join_all(all).await.into_iter().all(|status| status == 200));
    });
}

#[test]
fn a_client_that_takes_its_requests_back_is_left() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    run(async {
        let mut client = Client::connect(&server.address).await;
        let mut reset = 0;
        while let Ok(mut send) = client.send.clone().ready().await
            && let Ok((_, mut stream)) = send.send_request(head(&server), false)
        {
            // The server has seen it, and waits for its body.
            tokio::task::yield_now().await;
            stream.send_reset(Reason::CANCEL);
            reset += 1;
            assert!(reset < 10_000, "it goes on and on");
        }
        assert!(timeout(PATIENCE, client.end).await.is_ok());
        // One that waits for its answers in between may take some back.
        client = Client::connect(&server.address).await;
        for _ in 0..150 {
            let (_, mut stream) = client.send.send_request(head(&server), false).unwrap();
            stream.send_reset(Reason::CANCEL);
            assert_eq!(client.exchange(&list()).await.unwrap().status, 200);
        }
    });
}

/// A refusal waits for the body that is on its way, so that no client loses it.
#[test]
fn a_refusal_comes_behind_the_body() {
    let root = skills();
    let tokens = root.path().join("tokens");
    std::fs::write(&tokens, "alice:alices-token-0123456789\n").unwrap();
    let server = Server::start(root.path(), &["--token-file", tokens.to_str().unwrap()]);
    let known = || list().with("Authorization", "Bearer alices-token-0123456789");
    run(async {
        let mut client = Client::connect(&server.address).await;
        for (request, status) in [
            (list(), 401),
            (known().with("Origin", "http://evil.example.com"), 403),
            (known().to("POST", "/x"), 404),
            (known().to("POST", "/metrics"), 405),
            (known().to("PUT", "/mcp"), 405),
            (known().with("Content-Type", "text/plain"), 415),
        ] {
            let mut head = axum::http::Request::builder()
                .method(request.method)
                .uri(format!("http://{}{}", server.address, request.path));
            for (name, value) in &request.headers {
                head = head.header(name, value);
            }
            let mut send = client.send.clone().ready().await.unwrap();
            let (response, mut body) = send.send_request(head.body(()).unwrap(), false).unwrap();
            body.send_data(request.body.clone().into(), false).unwrap();
            // One that comes after it is answered meanwhile.
            assert_eq!(client.exchange(&known()).await.unwrap().status, 200);
            body.send_data("x".into(), true).unwrap_or_else(|error| panic!("{status}: {error}"));
            let response = timeout(PATIENCE, response).await.unwrap().unwrap();
            assert_eq!(response.status(), status);
            let mut read = response.into_body();
            while let Some(part) = timeout(PATIENCE, read.data()).await.unwrap() {
                part.unwrap_or_else(|error| panic!("{status}: {error}"));
            }
        }
        // What is more than it reads is not waited for.
        let mut large = head(&server);
        large.headers_mut().insert("Content-Length", (1 << 20).into());
        let (response, _body) = client.send.send_request(large, false).unwrap();
        assert_eq!(timeout(PATIENCE, response).await.unwrap().unwrap().status(), 401);
    });
}

/// However much those without a token ask behind its address, and whatever they leave undone.
#[test]
fn a_client_with_a_token_is_answered_beside_many_that_are_refused() {
    let root = skills();
    let tokens = root.path().join("tokens");
    std::fs::write(&tokens, "alice:alices-token-0123456789\n").unwrap();
    let server = Server::start(root.path(), &["--token-file", tokens.to_str().unwrap()]);
    let known = list().with("Authorization", "Bearer alices-token-0123456789");
    // Bodies that never end, and answers that are never wanted.
    for is_whole in [false, true] {
        run(async {
            let (mut clients, mut streams) = (Vec::new(), Vec::new());
            // More requests than an address may have in hand at once.
            for round in 1..=11 {
                let stream = TcpStream::connect(&server.address).await.unwrap();
                let mut builder = Builder::new();
                builder.initial_window_size(if is_whole { 0 } else { 65_535 });
                let mut client = Client::over(stream, &server.address, &mut builder).await;
                for _ in 0..99 {
                    let mut send = client.send.clone().ready().await.unwrap();
                    streams.push(send.send_request(head(&server), is_whole).unwrap());
                }
                // They have been seen when what comes after them is answered.
                let status = client.ask(&known).await.unwrap().response.status;
                assert_eq!(status, 200, "after {} requests that are refused", round * 99);
                clients.push(client);
            }
        });
    }
}

/// However slowly it takes back more than it waits for.
#[test]
fn a_client_that_is_left_for_that_is_counted() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    run(async {
        let mut client = Client::connect(&server.address).await;
        for round in 0.. {
            assert!(round < 1_000, "it goes on and on");
            let mut streams = Vec::new();
            for _ in 0..2 {
                if let Ok(mut send) = client.send.clone().ready().await {
                    streams.extend(send.send_request(head(&server), false));
                }
            }
            // It has seen them when it answers what came after.
            let answered = client.exchange(&list()).await;
            for (_, stream) in &mut streams {
                stream.send_reset(Reason::CANCEL);
            }
            if answered.is_err() {
                break;
            }
        }
        let metrics = async || {
            let mut other = Client::connect(&server.address).await;
            let metrics = other.exchange(&Request::get("/metrics")).await.unwrap();
            String::from_utf8(metrics.body).unwrap()
        };
        let counted =
            async { while !metrics().await.contains("skillserve_connections_in_vain_total 1\n") {} };
        assert!(timeout(PATIENCE, counted).await.is_ok());
        assert!(metrics().await.contains("skillserve_connections_dismissed_total 0\n"));
    });
}

#[test]
fn a_head_that_is_too_long_is_refused() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    run(async {
        let mut client = Client::connect(&server.address).await;
        let long = list().with("X-Long", &"x".repeat(20_000));
        let refused = client.exchange(&long).await;
        assert!(refused.as_ref().map_or(true, |response| response.status == 431), "{refused:?}");
        let mut client = Client::connect(&server.address).await;
        let fair = list().with("X-Long", &"x".repeat(10_000));
        assert_eq!(client.exchange(&fair).await.unwrap().status, 200);
    });
}

#[test]
fn a_subscription_is_a_stream_among_others() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    server.client(Era::Modern).result("skills/list", json!({}));
    let params = json!({"notifications": {"resourceSubscriptions": [MAKEFILE]}});
    let listen = Request::message(Era::Modern, &Era::Modern.request(7, "subscriptions/listen", params));
    run(async {
        let mut client = Client::connect(&server.address).await;
        let mut events = client.ask(&listen).await.unwrap();
        assert_eq!(events.response.header("content-type"), Some("text/event-stream"));
        let mut text = String::new();
        let mut until = async |words: &str| {
            while !text.contains(words) {
                let part = timeout(PATIENCE, events.body.data()).await.expect(words).expect(words).unwrap();
                events.body.flow_control().release_capacity(part.len()).unwrap();
                text += std::str::from_utf8(&part).unwrap();
            }
        };
        until("notifications/subscriptions/acknowledged").await;
        write(root.path(), &[("csv/Makefile", b"changed:\n")]);
        let response = client.exchange(&read(MAKEFILE)).await.unwrap();
        assert_eq!(response.json()["result"]["contents"][0]["text"], "changed:\n");
        until("notifications/resources/updated").await;
        #[cfg(unix)]
        {
            common::signal(&server.child, "TERM");
            // The final result, and then the end of the stream.
            until("\"result\"").await;
            let end = timeout(PATIENCE, events.body.data()).await.expect("an end");
            assert!(end.is_none_or(|part| part.unwrap().is_empty()));
        }
    });
}

#[test]
fn clients_that_want_nothing_of_their_answers_leave_room_for_others() {
    const BYTES: usize = 8 << 20;
    let root = tempfile::tempdir().unwrap();
    let text = "x".repeat(BYTES);
    write(root.path(), &[("big/SKILL.md", &skill_md("big", "")), ("big/text.txt", text.as_bytes())]);
    let server = Server::start(root.path(), &[]);
    server.client(Era::Modern).result("skills/list", json!({}));
    let large = read("skill://big/text.txt");
    run(async {
        let mut clients = Vec::new();
        let mut statuses = Vec::new();
        for _ in 0..2 {
            let stream = TcpStream::connect(&server.address).await.unwrap();
            let mut builder = Builder::new();
            let mut client = Client::over(stream, &server.address, builder.initial_window_size(0)).await;
            for _ in 0..40 {
                let answer = client.ask(&large);
                // Those beyond its share wait for their turn in vain.
                let Ok(answer) = timeout(Duration::from_secs(3), answer).await else { break };
                let answer = answer.unwrap();
                statuses.push(answer.response.status);
                clients.push(answer);
            }
        }
        let held = statuses.iter().filter(|status| **status == 200).count();
        assert!((4..=16).contains(&held), "{statuses:?}");
    });
    // All of them came from one address, and so does this one: it waits until they are gone.
    let answer: Value =
        server.client(Era::Modern).result("resources/read", json!({"uri": "skill://big/text.txt"}));
    assert!(answer["contents"][0]["text"] == text.as_str());
}
