//! The page for people, as the program serves it: what is where, what a browser is told, and what is bounded.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::fs;
use std::io::{BufReader, ErrorKind, Write as _};
use std::path::Path;

use common::http::{Request, Response, Server};
use common::{skill_md, skills, skillserve, wait_until, write};

/// Every page and every other thing that a browser asks for, of the skills that the tests share.
const PATHS: &[&str] = &[
    "/",
    "/?q=csv&page=1",
    "/problems",
    "/skill?path=acme/billing/refunds",
    "/file?path=csv/scripts/run.ts",
    "/file?path=csv/SKILL.md&as=source",
    "/explain?code=yaml-syntax",
    "/download?path=csv/data/logo.png",
];

fn get(server: &Server, path: &str) -> Response {
    server.exchange(&request(path))
}

fn request(path: &str) -> Request {
    Request::post("").without("Accept").without("Content-Type").to("GET", path.to_owned().leak())
}

fn html(server: &Server, path: &str) -> String {
    let response = get(server, path);
    assert_eq!(
        (response.status, response.header("content-type")),
        (200, Some("text/html; charset=utf-8")),
        "{path}"
    );
    String::from_utf8(response.body).unwrap()
}

/// The targets of the links, sources and forms of a page.
fn targets(html: &str) -> Vec<String> {
    let attributes = ["href=\"", "src=\"", "action=\""];
    let targets = attributes.iter().flat_map(|name| html.split(name).skip(1));
    targets.map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&")).collect()
}

#[test]
fn every_answer_tells_a_browser_to_beware() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    let asset = targets(&html(&server, "/")).into_iter().find(|target| target.ends_with(".js")).unwrap();
    let others = ["/nope", "/skill?path=nope", "/download?path=nope", "/assets/nope", "/explain"];
    for path in PATHS.iter().copied().chain([format!("/{asset}").as_str()]) {
        let response = get(&server, path);
        assert_eq!(response.status, 200, "{path}");
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(response.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(response.header("cross-origin-opener-policy"), Some("same-origin"), "{path}");
        assert_eq!(response.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
    }
    for path in others {
        assert_eq!(get(&server, path).status, 404, "{path}");
    }
}

#[test]
fn all_links_are_relative_and_lead_somewhere() {
    let root = skills();
    write(
        root.path(),
        &[("csv/a b&c?d#e%20f+g;h\"'.md", b"# odd\n"), ("csv/b\\c:d.txt", b"x"), ("bad/SKILL.md", b"x")],
    );
    let server = Server::start(root.path(), &[]);
    let mut seen = vec!["./".to_owned()];
    let mut next = 0;
    while let Some(path) = seen.get(next).cloned() {
        next += 1;
        let response = get(&server, &format!("/{}", path.trim_start_matches("./")));
        assert_eq!(response.status, 200, "{path}");
        if response.header("content-type") != Some("text/html; charset=utf-8") {
            continue;
        }
        for target in targets(&String::from_utf8(response.body).unwrap()) {
            assert!(!target.starts_with('/') && !target.contains("//"), "{path}: {target}");
            let target = target.split('#').next().unwrap().to_owned();
            if !target.is_empty() && !seen.contains(&target) {
                seen.push(target);
            }
        }
    }
    for path in ["skill?path=acme/billing/refunds", "file?path=csv/a%20b%26c%3Fd%23e%2520f%2Bg%3Bh%22%27.md"]
    {
        assert!(seen.iter().any(|target| target == path), "{path} in {seen:#?}");
    }
}

#[test]
fn no_page_names_a_path_of_the_machine() {
    let root = skills();
    write(root.path(), &[("bad/SKILL.md", b"x")]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/hostname", root.path().join("csv/host")).unwrap();
    let server = Server::start(root.path(), &[]);
    let parent = root.path().parent().unwrap().to_str().unwrap();
    assert!(html(&server, "/problems").contains("bad/SKILL.md"));
    for path in PATHS.iter().filter(|path| !path.starts_with("/download")) {
        let html = html(&server, path);
        assert!(!html.contains(&format!("{parent}/")) && !html.contains("/etc/"), "{path}: {html}");
    }
}

#[test]
fn only_what_changed_is_sent_again() {
    let root = skills();
    // Every page says when it was looked at last, so nothing may look again.
    let server = Server::start(root.path(), &["--no-watch"]);
    for path in PATHS {
        let first = get(&server, path);
        assert_eq!(first.header("cache-control"), Some("private, no-cache"), "{path}");
        let tag = first.header("etag").unwrap();
        let again = server.exchange_head(&request(path).with("If-None-Match", &format!("\"x\", W/{tag}")));
        assert_eq!((again.status, again.header("etag")), (304, Some(tag)), "{path}");
    }
}

#[test]
fn only_get_and_head_are_answered() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    for path in PATHS {
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            let response = server.exchange(&request(path).to(method, path));
            assert_eq!(
                (response.status, response.header("allow")),
                (405, Some("GET,HEAD")),
                "{method} {path}"
            );
        }
        let response = server.exchange_head(&request(path).to("HEAD", path));
        assert_eq!(response.status, 200, "{path}");
    }
}

#[test]
fn a_download_is_the_file_and_nothing_that_a_browser_shows() {
    let root = skills();
    let large = vec![b'<'; 5 << 20];
    write(root.path(), &[("csv/evil.html", b"<script>x</script>"), ("csv/large.svg", &large)]);
    let server = Server::start(root.path(), &[]);
    for (path, bytes) in [
        ("csv/evil.html", b"<script>x</script>".as_slice()),
        ("csv/large.svg", &large),
        ("csv/data/logo.png", common::PNG),
    ] {
        let response = get(&server, &format!("/download?path={path}"));
        assert_eq!((response.status, response.body == bytes), (200, true), "{path}");
        assert_eq!(response.header("content-type"), Some("application/octet-stream"), "{path}");
        let disposition = response.header("content-disposition").unwrap();
        assert!(disposition.starts_with("attachment; filename=\""), "{disposition}");
        assert!(response.header("content-security-policy").unwrap().contains("sandbox"), "{path}");
    }
}

#[test]
fn a_change_is_told_and_shown() {
    let root = skills();
    let mut server = Server::start(root.path(), &["--keep-last-good", "0"]);
    // The first catalog is none.
    server.line(&["serving "]);
    let mut events = server.open(&request("/events"));
    write(root.path(), &[("csv/SKILL.md", b"---\nname: csv\ndescription: a: b\n---\n")]);
    events.next().expect("a change");
    let page = html(&server, "/");
    assert!(page.contains("csv/SKILL.md</bdi>:3:15") && !page.contains("data-key=\"csv\""), "{page}");
    write(root.path(), &[("csv/SKILL.md", &skill_md("csv", ""))]);
    events.next().expect("a change");
    wait_until("the skill is served again", || html(&server, "/").contains("data-key=\"csv\""));
    stop(&mut server);
    while events.next().is_some() {}
}

#[cfg(unix)]
fn stop(server: &mut Server) {
    common::signal(&server.child, "TERM");
}

#[cfg(not(unix))]
fn stop(server: &mut Server) {
    server.child.kill().unwrap();
}

#[test]
fn no_caller_has_all_streams_of_changes() {
    let root = skills();
    let server = Server::start(root.path(), &["--trusted-proxy", "127.0.0.1"]);
    let of = |client| request("/events").with("X-Forwarded-For", client);
    let mut open: Vec<_> = (0..64).map(|_| server.open(&of("192.0.2.1"))).collect();
    let refused = server.exchange(&of("192.0.2.1"));
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("2")));
    assert_eq!(server.exchange_head(&of("192.0.2.2")).status, 200);
    // Pages are answered all the same.
    html(&server, "/");
    open.pop();
    wait_until("there is a place again", || server.exchange_head(&of("192.0.2.1")).status == 200);
}

#[test]
fn a_caller_that_waits_for_its_turn_holds_up_nobody_else() {
    const LARGE: usize = 16 << 20;
    let root = skills();
    write(root.path(), &[("csv/large.bin", &vec![0; LARGE]), ("csv/text.txt", &b"&&&&\n".repeat(20_000))]);
    let more = ["--max-bytes", "33554432", "--trusted-proxy", "127.0.0.1"];
    let server = Server::start(root.path(), &more);
    let of = |client, path| request(path).with("X-Forwarded-For", client).to_bytes(&server.address);
    let ask = |client, path| {
        let mut stream = server.connect();
        stream.write_all(&of(client, path)).unwrap();
        stream
    };
    // With these, that it does not read, it has as much as one may have.
    let unread: Vec<_> = (0..8).map(|_| ask("192.0.2.1", "/download?path=csv/large.bin")).collect();
    for stream in &unread {
        stream.peek(&mut [0]).unwrap();
    }
    // More than are made at once.
    let waiting: Vec<_> = (0..6).map(|_| ask("192.0.2.1", "/file?path=csv/text.txt")).collect();
    // Often enough that those have come as far as they come.
    for _ in 0..20 {
        let mut other = BufReader::new(ask("192.0.2.2", "/file?path=csv/text.txt"));
        assert_eq!(Response::read(&mut other).status, 200);
    }
    for stream in &waiting {
        stream.set_nonblocking(true).unwrap();
        assert_eq!(stream.peek(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    }
    drop(unread);
    for stream in waiting {
        stream.set_nonblocking(false).unwrap();
        assert_eq!(Response::read(&mut BufReader::new(stream)).status, 200);
    }
}

#[test]
fn a_long_text_is_shown_in_part() {
    let root = skills();
    let line = [b"&".repeat(99), b"\n".to_vec()].concat();
    write(
        root.path(),
        &[("csv/long.txt", &line.repeat(10_000)), ("csv/one-line.json", &b"\x01\x02".repeat(1 << 20))],
    );
    let server = Server::start(root.path(), &[]);
    for name in ["long.txt", "one-line.json"] {
        let html = html(&server, &format!("/file?path=csv/{name}"));
        assert!(html.contains("Only the beginning is shown"), "{name}");
        assert!(html.len() < 5 << 20, "{} bytes", html.len());
    }
}

#[test]
fn a_page_says_when_there_is_nothing_to_show_yet() {
    let root = tempfile::tempdir().unwrap();
    let late = root.path().join("late");
    let server = Server::start(&late, &["--wait-for-root", "60"]);
    let response = get(&server, "/");
    assert_eq!((response.status, response.header("retry-after")), (503, Some("2")));
    assert!(String::from_utf8(response.body).unwrap().contains("The skills are being read"));
    write(&late, &[("csv/SKILL.md", &skill_md("csv", ""))]);
    wait_until("the first look has ended", || get(&server, "/").status == 200);
}

#[test]
fn the_page_can_be_left_out() {
    let root = skills();
    let status = |server: &Server| PATHS.iter().map(|path| get(server, path).status).collect::<Vec<_>>();
    let without = [404].repeat(PATHS.len());
    assert_eq!(status(&Server::start(root.path(), &["--no-page"])), without);
    let mut command = skillserve();
    command.env("SKILLSERVE_NO_PAGE", "1");
    assert_eq!(status(&Server::start_by(command, root.path(), &[])), without);
}

#[test]
fn the_page_is_for_those_who_may_ask() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    for path in PATHS {
        assert_eq!(server.exchange(&request(path).with("Host", "evil.example")).status, 403, "{path}");
        assert_eq!(
            server.exchange(&request(path).with("Origin", "http://evil.example")).status,
            403,
            "{path}"
        );
    }
}

#[test]
fn the_script_and_the_style_stand_in_files_of_their_own() {
    for file in ["page.js", "page.css"] {
        let text = fs::read_to_string(Path::new("src/page").join(file)).unwrap();
        assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("url("), "{file}");
    }
    let root = skills();
    let server = Server::start(root.path(), &[]);
    for path in PATHS.iter().filter(|path| !path.starts_with("/download")) {
        let html = html(&server, path);
        assert!(!html.contains("<style") && !html.contains(" style="), "{path}");
        assert_eq!(html.matches("<script").count(), html.matches("<script src=\"assets/").count(), "{path}");
    }
    let name = targets(&html(&server, "/")).into_iter().find(|target| target.ends_with(".css")).unwrap();
    let kept = get(&server, &format!("/{name}"));
    assert_eq!(kept.header("cache-control"), Some("public, max-age=31536000, immutable"));
}
