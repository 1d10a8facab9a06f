//! Probes.

use super::*;

#[track_caller]
fn check(response: &Response, status: u16, text: &str) {
    assert_eq!(
        (response.status, std::str::from_utf8(&response.body).unwrap()),
        (status, text),
        "{response:?}"
    );
    assert_eq!(response.header("cache-control"), Some("no-store"));
}

#[test]
fn probes_are_answered_whatever_they_call_the_server() {
    let bed = bed();
    let server = start(&bed, &[]);
    wait_until("the server is ready", || server.exchange(&Request::get("/readyz")).status == 200);
    for path in ["/healthz", "/readyz"] {
        let probe = Request::get(path).with("Host", "10.1.2.3:8008").with("Origin", "https://evil.example");
        check(&server.exchange(&probe), 200, "ok\n");
        let head = server.exchange_head(&probe.clone().to("HEAD", path));
        assert_eq!((head.status, head.header("content-length")), (200, Some("3")));
        assert_eq!(server.exchange(&probe.to("POST", path)).status, 405);
    }
    // Nothing else is.
    for path in ["/metrics", "/status.json", "/mcp", "/healthz/", "/"] {
        assert_eq!(server.exchange(&Request::get(path).with("Host", "10.1.2.3:8008")).status, 403, "{path}");
    }
}

#[test]
fn a_server_without_a_catalog_is_alive_and_not_ready() {
    let bed = tempfile::tempdir().unwrap();
    let server = start(&bed, &["--wait-for-root", "60"]);
    check(&server.exchange(&Request::get("/healthz")), 200, "ok\n");
    check(&server.exchange(&Request::get("/readyz")), 503, "the catalog is being built\n");
    fs::create_dir(bed.path().join("skills")).unwrap();
    wait_until("the server is ready", || server.exchange(&Request::get("/readyz")).status == 200);
}

#[test]
fn a_server_whose_directory_is_gone_is_not_ready_until_it_is_back() {
    let bed = bed();
    let server = start(&bed, &[]);
    let (root, away) = (bed.path().join("skills"), bed.path().join("away"));
    let ready = || server.exchange(&Request::get("/readyz"));
    wait_until("the server is ready", || ready().status == 200);
    fs::rename(&root, &away).unwrap();
    wait_until("the server is not ready", || ready().status == 503);
    check(&ready(), 503, "a served directory cannot be read\n");
    check(&server.exchange(&Request::get("/healthz")), 200, "ok\n");
    fs::rename(&away, &root).unwrap();
    wait_until("the server is ready again", || ready().status == 200);
}

#[cfg(unix)]
#[test]
fn a_server_that_is_to_stop_is_not_ready_while_it_still_answers() {
    use std::io::{Read as _, Write as _};

    let bed = bed();
    write(bed.path(), &[("skills/good/big.txt", "x".repeat(12 << 20).as_bytes())]);
    let mut server = start(&bed, &["--admin-listen", "127.0.0.1:0"]);
    let admin = admin::address(&server);
    let ready = || server.exchange_at(&admin, &Request::get("/readyz"));
    wait_until("the server is ready", || ready().status == 200);
    // An answer that nobody reads yet.
    let mut unread = server.connect();
    let read = ask("resources/read", json!({"uri": "skill://good/big.txt"}));
    unread.write_all(&read.to_bytes(&server.address)).unwrap();
    unread.read_exact(&mut [0]).unwrap();
    common::signal(&server.child, "TERM");
    wait_until("the server is to stop", || ready().status == 503);
    check(&ready(), 503, "the server is shutting down\n");
    drop(unread);
    wait_until("the program ends", || server.child.try_wait().unwrap().is_some());
    assert!(server.child.wait().unwrap().success());
}
