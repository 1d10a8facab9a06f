//! The program as a server that does not answer everybody: who may ask, who has to say who they are, and how often.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::fs;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::http::{Request, Response, Server};
use common::{Era, PATIENCE, handshake, skills, skillserve, wait_until, write};
use serde_json::{Value, json};
use tempfile::TempDir;

const ALICE: &str = "alices-token-0123456789";
const BOB: &str = "bobs-token/0123456789+~==";
/// What `printf %s bobs-token/0123456789+~== | sha256sum` prints.
const BOBS_DIGEST: &str = "9093ba1f42171230273e22d02d1ba546c5958140e275fa5feb7b6b38dc7856a6";

/// A server whose log can be read.
struct Logged {
    server: Server,
    dir: TempDir,
}

impl Logged {
    /// Serves a few skills. In its directory, `tokens` holds alice's token and bob's.
    fn start(options: &[&str]) -> Self {
        let dir = skills();
        write_tokens(dir.path(), &tokens());
        Self::start_in(dir, options)
    }

    fn start_in(dir: TempDir, options: &[&str]) -> Self {
        let mut server = Server::run(http(dir.path(), options));
        server.address = server.address.replace("0.0.0.0", "127.0.0.1");
        Self { server, dir }
    }

    fn told(&self) -> String {
        self.server.told()
    }

    #[track_caller]
    fn wait_for(&self, words: &str) {
        wait_until(words, || self.told().contains(words));
    }

    #[track_caller]
    fn status(&self, request: &Request) -> u16 {
        self.server.exchange(request).status
    }

    /// Sends a request many times over one connection, and says how often each status came.
    fn flood(&self, request: &Request, times: usize) -> Vec<(u16, usize)> {
        self.flood_with(times, |_| request.clone())
    }

    /// The same with a request for each number.
    fn flood_with(&self, times: usize, request: impl Fn(usize) -> Request) -> Vec<(u16, usize)> {
        let mut stream = self.server.connect();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut statuses = std::collections::BTreeMap::new();
        for number in 0..times {
            stream.write_all(&request(number).to_bytes(&self.server.address)).unwrap();
            let response = Response::read(&mut reader);
            *statuses.entry(response.status).or_default() += 1;
            if response.status == 429 {
                let seconds: u64 =
                    response.header("retry-after").expect("when to come again").parse().unwrap();
                assert!((1..=60).contains(&seconds), "{seconds}");
                assert_eq!(response.json()["error"]["code"], -32603);
            }
        }
        statuses.into_iter().collect()
    }
}

fn tokens() -> String {
    format!("# ours\n\nalice:{ALICE}\r\nbob:sha256:{BOBS_DIGEST}\n")
}

/// Writes a file of tokens that only its owner can read.
fn write_tokens(dir: &Path, text: &str) -> PathBuf {
    let (path, new) = (dir.join("tokens"), dir.join("tokens.new"));
    fs::write(&new, text).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&new, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    fs::rename(new, &path).unwrap();
    path
}

fn http(dir: &Path, options: &[&str]) -> Command {
    let mut command = skillserve();
    command.arg("http").args(options).arg(".").current_dir(dir).stdin(Stdio::null());
    if !options.contains(&"--listen") {
        command.args(["--listen", "127.0.0.1:0"]);
    }
    command
}

fn list() -> Request {
    Request::modern("skills/list", json!({}))
}

fn with_token(token: &str) -> Request {
    list().with("Authorization", &format!("Bearer {token}"))
}

/// A request that `127.0.0.1` forwards for `client`.
fn forwarded(client: &str) -> Request {
    list().with("X-Forwarded-For", client)
}

/// The sentences of a program that refuses to start.
#[track_caller]
fn refusal(dir: &Path, options: &[&str]) -> String {
    let mut child = http(dir, options).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("it refuses", || child.try_wait().unwrap().is_some());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_host_that_is_not_known_is_told_once_with_the_cure() {
    let logged = Logged::start(&[]);
    for host in ["skills.example.com:80", "other.example.com"] {
        let response = logged.server.exchange(&list().with("Host", host));
        assert_eq!(response.status, 403);
        assert!(response.json()["error"]["message"].as_str().unwrap().contains("--allow-host"));
    }
    logged.wait_for("say so with --allow-host skills.example.com");
    assert_eq!(logged.told().matches("is refused").count(), 1);
}

#[test]
fn an_origin_that_is_not_allowed_is_told_once_with_the_cure() {
    let logged = Logged::start(&[]);
    for origin in ["null", "https://app.example.com", "https://other.example.com"] {
        assert_eq!(logged.server.exchange(&list().with("Origin", origin)).status, 403);
    }
    logged.wait_for("say so with --allow-origin https://app.example.com");
    assert_eq!(logged.told().matches("is refused").count(), 1);
}

#[test]
fn others_than_this_machine_are_let_in_only_if_that_is_meant() {
    let dir = skills();
    write_tokens(dir.path(), &tokens());
    let told = refusal(dir.path(), &["--listen", "0.0.0.0:0"]);
    assert!(
        told.contains("--token-file FILE") && told.contains("--anonymous") && told.lines().count() == 1,
        "{told}"
    );
    let told = refusal(dir.path(), &["--listen", "0.0.0.0:0", "--anonymous", "--token-file", "tokens"]);
    assert!(told.contains("--anonymous lets everybody in, and --token-file does not"), "{told}");

    let loud = "warning: --anonymous: whoever reaches this server may read all of its skills";
    for options in
        [&["--listen", "0.0.0.0:0", "--anonymous"][..], &["--listen", "0.0.0.0:0", "--anonymous", "-q"]]
    {
        let server = Logged::start(options);
        assert!(server.told().contains(loud), "{}", server.told());
        assert_eq!(server.status(&list()), 200);
    }
    let server = Logged::start(&["--listen", "0.0.0.0:0", "--token-file", "tokens"]);
    assert!(!server.told().contains("--anonymous"), "{}", server.told());
    assert_eq!((server.status(&list()), server.status(&with_token(ALICE))), (401, 200));
    // This machine's own programs need neither.
    assert!(!Logged::start(&[]).told().contains("--anonymous"));
}

#[test]
fn a_file_of_tokens_with_a_fault_is_refused_with_its_line() {
    let dir = skills();
    let secret = "seekrit-seekrit";
    for (text, words) in [
        (format!("alice:{ALICE}\n{secret}{secret}\n"), "line 2, has no colon: write NAME:TOKEN"),
        (format!("alice:{secret}\n"), "line 1, has a token of fewer than 16 characters"),
        (format!("alice:{secret} {secret}\n"), "line 1, has a token with a character that"),
        (format!("{secret}/{secret}:alice\n"), "line 1, has a name that is not"),
        (format!("alice:sha256:{secret}\n"), "line 1, has a digest that is not"),
        (format!("alice:{ALICE}\nalice:{secret}{secret}\n"), "line 2, has the name of line 1"),
        (format!("alice:{secret}{secret}\nbob:{secret}{secret}\n"), "line 2, has the token of line 1"),
        ("# nobody\n".to_owned(), "holds no token: write one NAME:TOKEN a line"),
    ] {
        write_tokens(dir.path(), &text);
        let told = refusal(dir.path(), &["--token-file", "tokens"]);
        assert!(told.contains(words) && told.lines().count() == 1 && !told.contains("seekrit"), "{told}");
    }
    for (name, words) in [("nope", "cannot read the token file nope"), (".", "it is no regular file")] {
        let told = refusal(dir.path(), &["--token-file", name]);
        assert!(told.contains(words), "{told}");
    }
}

/// Sends a request and gives back what challenges its answer has.
#[track_caller]
fn check(server: &Logged, request: &Request, status: u16) -> Vec<String> {
    let response = server.server.exchange(request);
    assert_eq!(response.status, status, "{response:?}");
    if response.header("content-type") == Some("application/json") && [400, 401].contains(&status) {
        let body = response.json();
        assert_eq!((&body["jsonrpc"], &body["error"]["code"]), (&json!("2.0"), &json!(-32600)), "{body}");
    }
    let challenges = response.headers.iter().filter(|(name, _)| name == "www-authenticate");
    challenges.map(|(_, value)| value.clone()).collect()
}

#[test]
fn whoever_has_no_token_is_told_so() {
    let server = Logged::start(&["--token-file", "tokens", "--sessions", "2"]);
    let realm = "Bearer realm=\"skillserve\"";
    assert_eq!(check(&server, &list(), 401), [realm]);
    for request in [
        list().to("GET", "/mcp"),
        list().to("DELETE", "/mcp"),
        list().to("OPTIONS", "/mcp"),
        list().to("GET", "/x"),
    ] {
        assert_eq!(check(&server, &request, 401), [realm]);
    }
    for header in ["", "Digest x", &format!("Token {ALICE}"), ALICE] {
        assert_eq!(check(&server, &list().with("Authorization", header), 401), [realm], "{header}");
    }
    for token in ["x", &ALICE[1..], &format!("{ALICE}="), &ALICE.to_uppercase(), BOBS_DIGEST] {
        let challenges = check(&server, &with_token(token), 401);
        assert!(
            challenges.len() == 1 && challenges[0].starts_with(&format!("{realm}, error=\"invalid_token\""))
        );
    }
    let mut twice = with_token(ALICE);
    twice.headers.push(("authorization".into(), format!("Bearer {ALICE}")));
    for request in [with_token(""), with_token("a b"), with_token(&format!("{ALICE},")), twice] {
        let challenges = check(&server, &request, 400);
        assert!(
            challenges.len() == 1
                && challenges[0].starts_with(&format!("{realm}, error=\"invalid_request\""))
        );
    }
    for token in [ALICE, BOB] {
        assert_eq!(check(&server, &with_token(token), 200), Vec::<String>::new());
    }
    assert_eq!(server.status(&list().with("authorization", &format!("bearer  {BOB}"))), 200);
    // A token in the path would be written down everywhere.
    let in_path: &'static str = Box::leak(format!("/mcp?access_token={ALICE}").into_boxed_str());
    assert_eq!(server.status(&list().to("POST", in_path)), 401);
    // Clients that look for a way to get a token are told that there is none.
    assert_eq!(server.status(&list().to("GET", "/.well-known/oauth-protected-resource/mcp")), 404);
}

#[test]
fn a_session_is_there_for_the_token_that_opened_it() {
    let server = Logged::start(&["--token-file", "tokens", "--sessions", "4"]);
    let by = |token: &str, message: &Value| {
        Request::message(Era::Legacy, message).with("Authorization", &format!("Bearer {token}"))
    };
    let initialize = Era::Legacy.request(1, "initialize", handshake());
    let open =
        |token| server.server.exchange(&by(token, &initialize)).header("mcp-session-id").map(str::to_owned);
    let id = open(ALICE).unwrap();
    let list = Era::Legacy.request(2, "skills/list", json!({}));
    let post = |token| by(token, &list).with("Mcp-Session-Id", &id);
    for (token, status) in [(BOB, 404), (ALICE, 200)] {
        assert_eq!(server.status(&post(token)), status);
    }
    assert_eq!(server.status(&post(BOB).to("GET", "/mcp")), 404);
    assert_eq!(server.status(&post(BOB).to("DELETE", "/mcp")), 404);
    // Whoever opens many leaves some for others.
    assert!(open(ALICE).is_some() && open(ALICE).is_none() && open(BOB).is_some());
    assert_eq!(server.status(&post(ALICE).to("DELETE", "/mcp")), 204);
}

#[test]
fn a_browser_asks_its_user_for_the_token() {
    let server = Logged::start(&["--token-file", "tokens"]);
    let navigate = |path| {
        let page = list().to("GET", path).without("Content-Type");
        page.with("Accept", "text/html,*/*;q=0.8").with("Sec-Fetch-Mode", "navigate")
    };
    let challenges = check(&server, &navigate("/"), 401);
    // Who lets go of the question reads what it was.
    let told = server.server.exchange(&navigate("/"));
    assert_eq!(told.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(String::from_utf8(told.body).unwrap().starts_with("a token is needed: reload this page"));
    assert!(
        challenges.len() == 2 && challenges[0].starts_with("Basic ") && challenges[1].starts_with("Bearer ")
    );
    let script = navigate("/").with("Sec-Fetch-Mode", "cors");
    for request in [navigate("/mcp"), script, navigate("/mcp").to("POST", "/mcp")] {
        let challenges = check(&server, &request, 401);
        assert!(challenges.len() == 1 && challenges[0].starts_with("Bearer "), "{challenges:?}");
    }
    // `printf %s me:alices-token-0123456789 | base64`, and the same with a digit less.
    let (right, wrong) =
        ("Basic bWU6YWxpY2VzLXRva2VuLTAxMjM0NTY3ODk=", "Basic bWU6YWxpY2VzLXRva2VuLTAxMjM0NTY3OA==");
    assert_eq!(check(&server, &navigate("/nothing").with("Authorization", right), 404), Vec::<String>::new());
    assert_eq!(check(&server, &navigate("/nothing").with("Authorization", wrong), 401).len(), 2);
    // A browser sends it unasked, also when the page of somebody else makes it ask.
    for request in [list().with("Authorization", right), navigate("/mcp").with("Authorization", right)] {
        check(&server, &request, 401);
    }
}

#[test]
fn a_page_that_may_ask_learns_what_it_lacks() {
    let server = Logged::start(&["--token-file", "tokens", "--allow-origin", "https://app.example.com"]);
    let origin = "https://app.example.com";
    let preflight = list().with("Access-Control-Request-Method", "POST").to("OPTIONS", "/mcp");
    let response = server.server.exchange(&preflight.clone().with("Origin", origin));
    assert_eq!((response.status, response.header("access-control-allow-origin")), (204, Some(origin)));
    assert!(response.header("access-control-allow-headers").unwrap().contains("authorization"));
    assert_eq!(server.status(&preflight.with("Origin", "https://evil.example.com")), 403);
    let response = server.server.exchange(&list().with("Origin", origin));
    assert_eq!((response.status, response.header("access-control-allow-origin")), (401, Some(origin)));
    assert!(response.header("access-control-expose-headers").unwrap().contains("www-authenticate"));
    assert_eq!(server.status(&with_token(ALICE).with("Origin", origin)), 200);
}

#[test]
fn a_change_of_the_tokens_is_taken_up() {
    let server = Logged::start(&["--token-file", "tokens"]);
    let status = |token: &str| server.status(&with_token(token));
    let carol = "carols-token-0123456789";
    assert_eq!((status(ALICE), status(BOB), status(carol)), (200, 200, 401));
    write_tokens(server.dir.path(), &format!("carol:{carol}\nalice:{ALICE}\n"));
    wait_until("carol is let in", || status(carol) == 200);
    assert_eq!((status(ALICE), status(BOB)), (200, 401));

    // What is of no use changes nothing, and is told once.
    write_tokens(server.dir.path(), &format!("carol:{carol}\nalice={ALICE}\n"));
    let told = "error: the token file tokens, line 2, has no colon";
    server.wait_for(told);
    assert_eq!((status(ALICE), status(carol)), (200, 200));
    fs::remove_file(server.dir.path().join("tokens")).unwrap();
    let gone = "error: cannot read the token file tokens";
    server.wait_for(gone);
    assert_eq!((status(ALICE), status(carol)), (200, 200));
    write_tokens(server.dir.path(), &format!("alice:{ALICE}\n"));
    wait_until("carol is shut out", || status(carol) == 401);
    assert_eq!(status(ALICE), 200);
    let log = server.told();
    assert_eq!((log.matches(told).count(), log.matches(gone).count()), (1, 1), "{log}");

    // A file without tokens shuts everybody out.
    write_tokens(server.dir.path(), "");
    wait_until("alice is shut out", || status(ALICE) == 401);
    server.wait_for("warning: the token file tokens holds no token: nobody can ask");
}

#[cfg(unix)]
#[test]
fn a_file_of_tokens_that_everybody_can_read_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = skills();
    let path = write_tokens(dir.path(), &tokens());
    let warning = "warning: everybody on this machine can read the token file tokens: `chmod o-r` it";
    let server = Logged::start_in(dir, &["--token-file", "tokens"]);
    assert!(!server.told().contains(warning), "{}", server.told());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    let server = Logged::start_in(server.dir, &["--token-file", "tokens"]);
    assert!(server.told().contains(warning), "{}", server.told());
}

#[test]
fn a_token_is_written_nowhere() {
    for format in ["text", "json"] {
        let server = Logged::start(&["--token-file", "tokens", "-vv", "--log-format", format]);
        let wrong = "a-wrong-token-0123456789";
        let mut answers = Vec::new();
        for token in [ALICE, BOB, wrong] {
            for request in
                [with_token(token), with_token(token).to("GET", "/"), with_token(&format!("{token} {token}"))]
            {
                answers.push(format!("{:?}", server.server.exchange(&request)));
            }
        }
        for token in [format!("alice {ALICE}"), format!("carol:{wrong}\ncarol:{wrong}")] {
            write_tokens(server.dir.path(), &token);
            server.wait_for(if token.contains('\n') { "has the name" } else { "has no colon" });
        }
        let log = server.told();
        for token in [ALICE, BOB, wrong, BOBS_DIGEST] {
            assert!(
                !log.contains(token) && answers.iter().all(|answer| !answer.contains(token)),
                "{token}: {log}"
            );
        }
    }
}

#[test]
fn a_caller_that_asks_without_end_leaves_the_others_alone() {
    let server = Logged::start(&["--token-file", "tokens", "--rate-limit", "300"]);
    let many = std::thread::scope(|scope| {
        let flooding = scope.spawn(|| server.flood(&with_token(ALICE), 2000));
        assert_eq!(server.flood(&with_token(BOB), 200), [(200, 200)]);
        flooding.join().unwrap()
    });
    let [(200, answered), (429, refused)] = many[..] else { panic!("{many:?}") };
    assert!(answered >= 300 && refused > 1000, "{many:?}");
    // What she has not said who she is with does not count for her.
    assert_eq!(server.status(&with_token(BOB)), 200);
}

#[test]
fn callers_behind_a_proxy_are_told_apart() {
    let server = Logged::start(&["--rate-limit", "100", "--trusted-proxy", "127.0.0.0/8"]);
    let is_limited = |request: &Request| {
        let statuses = server.flood(request, 400);
        let [(200, answered), (429, refused)] = statuses[..] else { return false };
        answered >= 100 && refused > 200
    };
    assert!(is_limited(&forwarded("203.0.113.1")));
    assert_eq!(server.status(&forwarded("203.0.113.1")), 429);
    // What the client says itself stands before what the proxy adds.
    assert_eq!(server.status(&forwarded("198.51.100.1, 203.0.113.1")), 429);
    assert_eq!(server.status(&forwarded("203.0.113.1, 127.0.0.2")), 429);
    assert_eq!(server.flood(&forwarded("203.0.113.2"), 50), [(200, 50)]);
    let element = |value: &str| list().with("Forwarded", value);
    assert_eq!(server.status(&element("for=203.0.113.1;proto=https")), 429);
    assert_eq!(server.status(&element("for=203.0.113.3")), 200);

    // One subscriber of IPv6 has as many addresses as it likes.
    assert!(is_limited(&forwarded("2001:db8::1")));
    assert_eq!(server.status(&forwarded("2001:db8::ffff")), 429);
    assert_eq!(server.status(&forwarded("2001:db8:0:1::1")), 200);

    // What nobody can read comes from the proxy itself, as far as anybody knows, and so do all such.
    assert!(is_limited(&forwarded("203.0.113.1, nonsense")));
    assert_eq!(server.status(&element("for=\"203.0.113.4")), 429);
    assert_eq!(server.status(&element("for=203.0.113.4").with("X-Forwarded-For", "203.0.113.5")), 429);
    assert_eq!(server.flood(&forwarded("203.0.113.4"), 50), [(200, 50)]);
}

#[test]
fn a_proxy_that_nobody_has_named_is_told_once() {
    let server = Logged::start(&["--rate-limit", "10"]);
    // Its clients cannot be told apart, so that none of them shuts the others out.
    assert_eq!(server.flood(&forwarded("203.0.113.1"), 50), [(200, 50)]);
    let warning = "tell its clients apart with --trusted-proxy 127.0.0.1";
    server.wait_for(warning);
    assert_eq!(server.told().matches(warning).count(), 1);
}

#[test]
fn requests_without_a_token_are_limited_too() {
    let server =
        Logged::start(&["--token-file", "tokens", "--rate-limit", "60", "--trusted-proxy", "127.0.0.1"]);
    let statuses = server.flood(&forwarded("203.0.113.1"), 300);
    let [(401, told), (429, refused)] = statuses[..] else { panic!("{statuses:?}") };
    assert!(told >= 60 && refused > 150, "{statuses:?}");
    // Those at the same address who have a token are not shut out.
    let alice = with_token(ALICE).with("X-Forwarded-For", "203.0.113.1");
    assert_eq!(server.flood(&alice, 20), [(200, 20)]);
}

#[test]
fn tokens_cannot_be_guessed_at_speed() {
    let server = Logged::start(&["--token-file", "tokens", "--trusted-proxy", "127.0.0.1"]);
    let from = |token: &str, client: &str| with_token(token).with("X-Forwarded-For", client);
    assert_eq!(server.status(&from(BOB, "203.0.113.1")), 200);
    // A client that goes on with a token that has been withdrawn guesses nothing.
    assert_eq!(server.flood(&from("carols-token-0123456789", "203.0.113.1"), 300), [(401, 300)]);
    let guess = |number: usize| from(&format!("a-guess-{number:010}"), "203.0.113.1");
    let statuses = server.flood_with(500, guess);
    let [(401, looked_at), (429, refused)] = statuses[..] else { panic!("{statuses:?}") };
    assert!(looked_at >= 100 && refused > 200, "{statuses:?}");
    // Not even the right one is looked at there now, unless it has been right there before.
    assert_eq!(server.status(&from(ALICE, "203.0.113.1")), 429);
    assert_eq!(server.status(&from(BOB, "203.0.113.1")), 200);
    // The other clients of the proxy are let in.
    assert_eq!(server.status(&from(ALICE, "203.0.113.2")), 200);
}

/// Sends a request line and headers as they are.
#[track_caller]
fn check_raw(server: &Logged, line: &str, headers: &[&str], status: u16) {
    let mut stream = server.server.connect();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let request = list();
    let mut head = format!("{line}\r\nContent-Length: {}\r\n", request.body.len());
    for (name, value) in &request.headers {
        head += &format!("{name}: {value}\r\n");
    }
    headers.iter().for_each(|header| head += &format!("{header}\r\n"));
    stream.write_all(&[head.as_bytes(), b"\r\n", &request.body].concat()).unwrap();
    let response = Response::read(&mut BufReader::new(stream));
    assert_eq!(response.status, status, "{line} {headers:?}: {response:?}");
}

#[test]
fn no_way_of_writing_a_host_gets_past_the_check() {
    let server = Logged::start(&["--trusted-proxy", "127.0.0.1"]);
    let port = server.server.address.rsplit_once(':').unwrap().1.to_owned();
    let post = "POST /mcp HTTP/1.1";
    for host in ["localhost", "LOCALHOST", &format!("127.0.0.1:{port}"), "[::1]:1"] {
        check_raw(&server, post, &[&format!("Host: {host}")], 200);
    }
    for host in [
        "evil.example.com",
        "evil.example.com:80",
        "localhost.",
        "localhost.evil.example.com",
        "evil-localhost",
        "127.0.0.1.nip.io",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0.0.0.0",
        "[::]",
        "[::ffff:127.0.0.1]",
        "192.0.2.1",
    ] {
        check_raw(&server, post, &[&format!("Host: {host}")], 403);
    }
    for host in [
        "",
        "localhost:",
        "localhost:x",
        "localhost:99999",
        "localhost@evil.example.com",
        "evil@localhost",
        "localhost/",
        "localhost, evil.example.com",
        "localhost evil.example.com",
        "http://localhost",
        "::1",
        "*",
        "lo\u{e7}alhost",
    ] {
        check_raw(&server, post, &[&format!("Host: {host}")], 400);
    }
    check_raw(&server, post, &[], 400);
    check_raw(&server, "POST /mcp HTTP/1.0", &[], 400);
    check_raw(&server, post, &["Host: localhost", "Host: localhost"], 400);
    check_raw(&server, post, &["Host: localhost", "Host: evil.example.com"], 400);
    // What stands before the path counts too.
    check_raw(&server, "POST http://localhost/mcp HTTP/1.1", &["Host: localhost"], 200);
    check_raw(&server, "POST http://evil.example.com/mcp HTTP/1.1", &["Host: localhost"], 403);
    check_raw(&server, "POST http://localhost/mcp HTTP/1.1", &["Host: evil.example.com"], 403);
    check_raw(&server, "POST http://evil@localhost/mcp HTTP/1.1", &["Host: localhost"], 400);
    // What a proxy says of the host does not.
    for header in [
        "X-Forwarded-Host: localhost",
        "Forwarded: host=localhost;for=203.0.113.1",
        "X-Original-Host: localhost",
    ] {
        check_raw(&server, post, &["Host: evil.example.com", header], 403);
    }
    check_raw(&server, post, &["Host: localhost", "X-Forwarded-Host: evil.example.com"], 200);
    check_raw(&server, "GET / HTTP/1.1", &["Host: evil.example.com"], 403);
}

#[test]
fn an_option_that_names_no_proxy_is_refused_at_once() {
    let dir = skills();
    write(dir.path(), &[]);
    for value in ["10.0.0.0/33", "proxy.example.com", ""] {
        let told = refusal(dir.path(), &["--trusted-proxy", value]);
        assert!(
            told.contains("--trusted-proxy") && told.contains("a proxy is an address or a network"),
            "{told}"
        );
    }
    assert!(refusal(dir.path(), &["--rate-limit", "x"]).contains("--rate-limit"));
}
