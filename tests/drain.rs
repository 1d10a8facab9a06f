//! How a server ends: what is in hand is answered, within a bound, and nothing is answered with a fault of its own.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use common::http::{Request, Response, Server};
use common::http2::{self, Client as Client2};
use common::{Client, Era, skill_md, wait_until, write};
use serde_json::json;
use tempfile::TempDir;

/// More than the system takes off for a client that does not read.
const LARGE: usize = 12 << 20;
const URI: &str = "skill://big/text.txt";

fn bed() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let text = "x".repeat(LARGE);
    write(root.path(), &[("big/SKILL.md", &skill_md("big", "")), ("big/text.txt", text.as_bytes())]);
    root
}

/// A server that knows its skills.
fn start(root: &Path, options: &[&str]) -> Server {
    let server = Server::start(root, options);
    server.client(Era::Modern).result("skills/list", json!({}));
    server
}

fn list() -> Request {
    Request::modern("skills/list", json!({}))
}

fn read() -> Request {
    Request::modern("resources/read", json!({"uri": URI}))
}

/// A client that has begun to read a large answer, and how it began.
fn begin_to_read(server: &Server) -> (TcpStream, u8) {
    let mut stream = server.connect();
    stream.write_all(&read().to_bytes(&server.address)).unwrap();
    let mut first = [0];
    stream.read_exact(&mut first).unwrap();
    (stream, first[0])
}

fn signal(server: &Server) {
    common::signal(&server.child, "TERM");
}

fn wait_for_end(server: &mut Server) {
    wait_until("the program ends", || server.child.try_wait().unwrap().is_some());
    assert!(server.child.wait().unwrap().success());
}

fn takes_nobody(server: &Server) -> bool {
    TcpStream::connect(&server.address).is_err()
}

#[test]
fn a_request_that_is_still_coming_in_is_answered() {
    let root = bed();
    let mut server = start(root.path(), &["--drain-seconds", "20"]);
    let bytes = list().to_bytes(&server.address);
    let mut streams = [bytes.len() / 3, bytes.len() - 1].map(|said| {
        let mut stream = server.connect();
        stream.write_all(&bytes[..said]).unwrap();
        (stream, said)
    });
    // Both have been read by now, or this one would not be answered.
    assert_eq!(server.exchange(&list()).status, 200);
    signal(&server);
    wait_until("no more connections are taken", || takes_nobody(&server));
    for (stream, said) in &mut streams {
        stream.write_all(&bytes[*said..]).unwrap();
        assert_eq!(Response::read(&mut BufReader::new(stream)).status, 200);
    }
    wait_for_end(&mut server);
}

/// Also where the connection has been used before.
#[test]
fn a_next_request_that_is_still_coming_in_is_answered() {
    let root = bed();
    let mut server = start(root.path(), &["--drain-seconds", "20"]);
    let bytes = list().to_bytes(&server.address);
    let mut streams = [bytes.len() / 3, bytes.len() - 1].map(|said| {
        let mut stream = server.connect();
        stream.write_all(&bytes).unwrap();
        assert_eq!(Response::read(&mut BufReader::new(&stream)).status, 200);
        stream.write_all(&bytes[..said]).unwrap();
        (stream, said)
    });
    let mut quiet = server.connect();
    quiet.write_all(&bytes).unwrap();
    assert_eq!(Response::read(&mut BufReader::new(&quiet)).status, 200);
    // All has been read by now, or this one would not be answered.
    assert_eq!(server.exchange(&list()).status, 200);
    signal(&server);
    // One of which nothing comes is left at once, before the others go on.
    assert_eq!(quiet.read(&mut [0]).unwrap(), 0);
    for (stream, said) in &mut streams {
        stream.write_all(&bytes[*said..]).unwrap();
        assert_eq!(Response::read(&mut BufReader::new(&*stream)).status, 200);
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }
    wait_for_end(&mut server);
}

#[test]
fn half_a_head_does_not_hold_it_up() {
    let root = bed();
    let mut server = start(root.path(), &["--drain-seconds", "3600"]);
    let bytes = list().to_bytes(&server.address);
    let mut half = server.connect();
    half.write_all(&bytes[..bytes.len() / 3]).unwrap();
    let mut again = server.connect();
    again.write_all(&bytes).unwrap();
    assert_eq!(Response::read(&mut BufReader::new(&again)).status, 200);
    again.write_all(&bytes[..bytes.len() / 3]).unwrap();
    // It has been read by now, or this one would not be answered.
    assert_eq!(server.exchange(&list()).status, 200);
    let (unread, _) = begin_to_read(&server);
    signal(&server);
    assert_eq!((half.read(&mut [0]).unwrap(), again.read(&mut [0]).unwrap()), (0, 0));
    // What is in hand still is.
    assert!(server.child.try_wait().unwrap().is_none());
    drop(unread);
    wait_for_end(&mut server);
}

#[test]
fn streams_of_http_2_are_answered_after_it_says_goodbye() {
    let root = bed();
    let mut server = start(root.path(), &["--drain-seconds", "20"]);
    http2::run(async {
        let mut client = Client2::connect(&server.address).await;
        let idle = Client2::connect(&server.address).await;
        let answers = (client.ask(&read()).await.unwrap(), client.ask(&read()).await.unwrap());
        signal(&server);
        assert!(idle.end.await.unwrap().is_ok());
        // No stream more is begun on this one either.
        while client.ask(&list()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // At once: they share the connection's window.
        for response in <[_; 2]>::from(tokio::try_join!(answers.0.read(), answers.1.read()).unwrap()) {
            assert_eq!(response.status, 200);
            assert_eq!(response.json()["result"]["contents"][0]["text"].as_str().unwrap().len(), LARGE);
        }
        drop(client.send);
        assert!(client.end.await.unwrap().is_ok());
    });
    wait_for_end(&mut server);
}

#[test]
fn clients_that_do_not_read_do_not_hold_it_up() {
    let root = bed();
    let mut server = start(root.path(), &["--drain-seconds", "1"]);
    let _unread = begin_to_read(&server);
    http2::run(async {
        let mut client = Client2::connect(&server.address).await;
        let _unread = client.ask(&read()).await.unwrap();
        signal(&server);
        let begin = Instant::now();
        wait_for_end(&mut server);
        assert!(begin.elapsed() >= Duration::from_secs(1));
    });
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let root = bed();
    let mut server = start(root.path(), &["--drain-seconds", "3600"]);
    let (unread, first) = begin_to_read(&server);
    signal(&server);
    wait_until("no more connections are taken", || takes_nobody(&server));
    assert!(server.child.try_wait().unwrap().is_none());
    signal(&server);
    wait_for_end(&mut server);
    let mut answer = Vec::new();
    let _ = (&[first][..]).chain(unread).read_to_end(&mut answer);
    assert!(answer.starts_with(b"HTTP/1.1 200") && answer.len() < LARGE);
}

#[test]
fn no_request_under_load_is_answered_with_a_fault() {
    let root = bed();
    let mut server = start(root.path(), &["--drain-seconds", "20"]);
    let answered = AtomicUsize::new(0);
    let statuses = std::thread::scope(|scope| {
        let (address, answered) = (&server.address, &answered);
        let kept = (0..4).map(|_| {
            scope.spawn(move || {
                let mut statuses = Vec::new();
                while let Ok(stream) = TcpStream::connect(address) {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    let mut stream = stream;
                    for _ in 0..20 {
                        let request = if statuses.len() % 10 == 0 { read() } else { list() };
                        // The connection may end between two requests, and in no other way.
                        if stream.write_all(&request.to_bytes(address)).is_err()
                            || std::io::BufRead::fill_buf(&mut reader).is_ok_and(<[u8]>::is_empty)
                            || std::io::BufRead::fill_buf(&mut reader).is_err()
                        {
                            break;
                        }
                        statuses.push(Response::read(&mut reader).status);
                        answered.fetch_add(1, Relaxed);
                    }
                }
                statuses
            })
        });
        let shared = scope.spawn(move || {
            http2::run(async {
                let mut statuses = Vec::new();
                let mut client = Client2::connect(address).await;
                while let Ok(response) = client.exchange(&list()).await {
                    statuses.push(response.status);
                    answered.fetch_add(1, Relaxed);
                }
                statuses
            })
        });
        let clients: Vec<_> = kept.chain([shared]).collect();
        wait_until("there is a load", || answered.load(Relaxed) > 100);
        signal(&server);
        let statuses = clients.into_iter().flat_map(|client| client.join().unwrap());
        statuses.fold(BTreeMap::<u16, usize>::new(), |mut all, status| {
            *all.entry(status).or_default() += 1;
            all
        })
    });
    assert_eq!(statuses.keys().collect::<Vec<_>>(), [&200], "{statuses:?}");
    wait_for_end(&mut server);
}
