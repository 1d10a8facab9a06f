//! Where the program listens: addresses, sockets, paths, certificates.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]
#![cfg_attr(not(feature = "tls"), allow(dead_code, unused_imports, reason = "what only TLS needs"))]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};

use common::http::{Request, Response, Server};
use common::{PATIENCE, skills, skillserve, wait_until};
use serde_json::json;

fn list() -> Request {
    Request::modern("skills/list", json!({}))
}

/// A server that listens somewhere.
struct Running {
    child: Child,
    /// What it tells before.
    before: String,
    /// What it says after "listening on ".
    place: String,
    /// What else it tells.
    told: Receiver<String>,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (send, told) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).try_for_each(|line| send.send(line).ok())
        });
        let mut before = String::new();
        let place = loop {
            let line = told.recv_timeout(PATIENCE).expect("it says where it listens");
            if let Some((_, place)) = line.split_once("listening on ") {
                break place.to_owned();
            }
            before.push_str(&(line + "\n"));
        };
        Self { child, before, place, told }
    }

    fn wait_for(&self, words: &str) -> String {
        loop {
            let line = self.told.recv_timeout(PATIENCE).expect(words);
            if line.contains(words) {
                return line;
            }
        }
    }

    fn stop(&mut self) {
        common::signal(&self.child, "TERM");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn http(root: &Path, options: &[&str]) -> Command {
    let mut command = skillserve();
    command.arg("http").args(options).arg(root).stdin(Stdio::null());
    command
}

/// Asks over some stream.
fn ask(mut stream: impl std::io::Read + Write, request: &Request, host: &str) -> Response {
    stream.write_all(&request.to_bytes(host)).unwrap();
    Response::read(&mut BufReader::new(stream))
}

/// The program refuses to start, with this sentence.
#[track_caller]
fn check_refused(mut command: Command, words: &str) {
    let Output { status, stderr, .. } = command.output().unwrap();
    let told = String::from_utf8(stderr).unwrap();
    assert!(status.code() == Some(2) && told.contains(words), "{words}: {told}");
}

#[test]
fn the_endpoint_is_where_an_option_says() {
    let root = skills();
    let server = Server::start(root.path(), &["--path", "/skills/v1.0"]);
    let status = |path| server.exchange(&list().to("POST", path)).status;
    assert_eq!(status("/skills/v1.0"), 200);
    for path in ["/mcp", "/skills", "/skills/v1.0/", "/skills/v1.0/x", "/skills/v1x0"] {
        assert_eq!(status(path), 404, "{path}");
    }
    check_refused(http(root.path(), &["--path", "/{x}"]), "a path is /name");
}

#[test]
fn an_address_of_ipv6_is_listened_on() {
    let root = skills();
    let server = Running::start(http(root.path(), &["--listen", "[::1]:0"]));
    let address = server.place.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    assert!(address.starts_with("[::1]:") && !address.ends_with(":0"));
    assert_eq!(ask(TcpStream::connect(address).unwrap(), &list(), address).status, 200);
}

#[test]
fn a_socket_in_the_file_system_is_for_user_and_group() {
    let root = skills();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("skills.sock");
    let listen = format!("unix:{}", path.display());
    let options = ["--listen", &listen, "--allow-origin", "https://app.example.com"];
    let mut server = Running::start(http(root.path(), &options));
    assert_eq!(server.place, format!("http://localhost/mcp over {listen}"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o660);
    let connect = || UnixStream::connect(&path).unwrap();
    assert_eq!(ask(connect(), &list(), "localhost").status, 200);
    // Whoever reaches it through a proxy is held to the same rules.
    assert_eq!(ask(connect(), &list(), "evil.example.com").status, 403);
    let from = |origin| ask(connect(), &list().with("Origin", origin), "localhost").status;
    assert_eq!((from("https://app.example.com"), from("http://localhost")), (200, 403));
    common::http2::run(async {
        let stream = tokio::net::UnixStream::connect(&path).await.unwrap();
        let mut builder = h2::client::Builder::new();
        let mut client = common::http2::Client::over(stream, "localhost", &mut builder).await;
        assert_eq!(client.exchange(&list()).await.unwrap().status, 200);
    });

    // It is in use, and gone at the end.
    check_refused(http(root.path(), &options), "is in use: stop the program that has it");
    assert_eq!(ask(connect(), &list(), "localhost").status, 200);
    server.stop();
    assert!(!path.exists());
}

#[test]
fn only_a_socket_that_nobody_listens_on_is_replaced() {
    let root = skills();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("skills.sock");
    let listen = format!("unix:{}", path.display());
    drop(UnixListener::bind(&path).unwrap());
    assert!(fs::metadata(&path).unwrap().file_type().is_socket());
    let mut server = Running::start(http(root.path(), &["--listen", &listen]));
    assert_eq!(ask(UnixStream::connect(&path).unwrap(), &list(), "localhost").status, 200);
    // What another one has put there meanwhile is not this server's to remove.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "kept").unwrap();
    server.stop();
    assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
    check_refused(http(root.path(), &["--listen", &listen]), "is there and is no socket: remove it");
    assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
}

#[test]
fn a_socket_that_cannot_be_made_is_told_with_the_cure() {
    let root = skills();
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("file"), "").unwrap();
    for (path, words) in [
        ("gone/s.sock", "its directory is not there: create that, or take another path with --listen"),
        ("file/s.sock", "its directory is not there"),
        ("file", "is there and is no socket: remove it, or take another path with --listen"),
        (&"x".repeat(120), "are too long for a socket: give --listen a shorter path"),
    ] {
        let listen = format!("unix:{}", place.path().join(path).display());
        check_refused(http(root.path(), &["--listen", &listen]), words);
    }
    let admin = format!("unix:{}", place.path().join("file").display());
    check_refused(
        http(root.path(), &["--listen", "127.0.0.1:0", "--admin-listen", &admin]),
        "is no socket: remove it, or take another path with --admin-listen",
    );
    // Whoever may do everything can write there all the same.
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(place.path().join("x"), "").is_err() {
        let listen = format!("unix:{}", place.path().join("s.sock").display());
        check_refused(
            http(root.path(), &["--listen", &listen]),
            "let the server's user write in its directory",
        );
    }
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_server_with_two_listeners_says_once_that_it_stops() {
    let root = skills();
    let place = tempfile::tempdir().unwrap();
    let admin = format!("unix:{}", place.path().join("admin.sock").display());
    let mut server =
        Running::start(http(root.path(), &["--listen", "127.0.0.1:0", "--admin-listen", &admin]));
    server.wait_for("page, metrics and status are at http://localhost/ over unix:");
    let asked = Request::get("/metrics");
    assert_eq!(
        ask(UnixStream::connect(place.path().join("admin.sock")).unwrap(), &asked, "localhost").status,
        200
    );
    server.stop();
    let told: Vec<_> = server.told.iter().filter(|line| line.contains("stopping")).collect();
    assert!(
        matches!(&*told, [line] if line.contains("stopping: what is in hand is answered for at most 5 s")),
        "{told:?}"
    );
}

#[test]
fn a_server_beyond_loopback_says_how_it_can_be_reached() {
    let root = skills();
    let tokens = root.path().join("tokens");
    fs::write(&tokens, "alice:0123456789abcdef\n").unwrap();
    let tokens = tokens.to_str().unwrap();
    let told = |options: &[&str]| {
        let mut server = Running::start(http(root.path(), options));
        // All of this is told before.
        server.stop();
        server.before.clone()
    };
    let (name, bare) =
        ("info: requests that name this server otherwise", "warning: tokens cross the network unencrypted");
    let plain = told(&["--listen", "0.0.0.0:0", "--token-file", tokens]);
    assert!(plain.contains(name) && plain.contains(bare), "{plain}");
    let named = told(&["--listen", "0.0.0.0:0", "--anonymous", "--allow-host", "skills.example"]);
    assert!(!named.contains(name) && !named.contains(bare), "{named}");
}

/// The program as systemd starts it, with some files from descriptor 3 on.
fn passed(root: &Path, socket: OwnedFd, files: &str) -> Command {
    let count = files.split_whitespace().count();
    let script = format!("exec {files} </dev/null; LISTEN_PID=$$ LISTEN_FDS={count} exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_skillserve"), "http", "--listen", "127.0.0.1:1"]);
    command.arg(root).stdin(Stdio::from(socket));
    command
}

#[test]
fn a_socket_that_systemd_passes_is_listened_on() {
    let root = skills();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    // A client may come before the server does.
    let early = TcpStream::connect(&address).unwrap();
    let mut server = Running::start(passed(root.path(), socket.into(), "3<&0"));
    assert_eq!(server.place, format!("http://{address}/mcp"));
    assert_eq!(ask(early, &list(), &address).status, 200);
    server.stop();

    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("skills.sock");
    let socket = UnixListener::bind(&path).unwrap();
    let kept = socket.try_clone().unwrap();
    let mut server = Running::start(passed(root.path(), socket.into(), "3<&0"));
    assert_eq!(ask(UnixStream::connect(&path).unwrap(), &list(), "localhost").status, 200);
    server.stop();
    // The file is not the server's: systemd starts it again when somebody connects.
    assert!(path.exists());

    check_refused(
        passed(root.path(), kept.try_clone().unwrap().into(), "3<&0 4<&0"),
        "systemd passes 2 sockets",
    );
    let file = fs::File::open(root.path()).unwrap();
    check_refused(passed(root.path(), file.into(), "3<&0"), "no socket to listen on");
}

#[cfg(not(feature = "tls"))]
#[test]
fn tls_that_is_not_built_in_is_said_so() {
    let command = http(skills().path(), &["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    check_refused(command, "this skillserve is built without TLS");
}

#[cfg(feature = "tls")]
mod tls {
    use std::sync::Arc;

    use tokio_rustls::TlsConnector;
    use tokio_rustls::client::TlsStream;
    use tokio_rustls::rustls::crypto::ring;
    use tokio_rustls::rustls::pki_types::CertificateDer;
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};

    use super::*;

    /// A certificate for localhost, whose files are written.
    fn certify(directory: &Path) -> CertificateDer<'static> {
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        fs::write(directory.join("key.pem"), signing_key.serialize_pem()).unwrap();
        fs::write(directory.join("cert.pem"), cert.pem()).unwrap();
        cert.der().clone()
    }

    fn start(root: &Path, directory: &Path, more: &[&str]) -> (Running, String) {
        let [cert, key] = ["cert.pem", "key.pem"].map(|name| directory.join(name).display().to_string());
        let options = ["--listen", "127.0.0.1:0", "--tls-cert", &cert, "--tls-key", &key];
        let server = Running::start(http(root, &[&options, more].concat()));
        let address = server.place.strip_prefix("https://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        (server, address)
    }

    /// A connection of a client that trusts only this certificate.
    async fn connect(
        address: &str,
        trusted: &CertificateDer<'static>,
        protocols: &[&str],
    ) -> std::io::Result<TlsStream<tokio::net::TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        TlsConnector::from(Arc::new(config)).connect("localhost".try_into().unwrap(), stream).await
    }

    /// A request over HTTP/1.1.
    async fn ask(
        address: &str,
        trusted: &CertificateDer<'static>,
        request: &Request,
    ) -> std::io::Result<Response> {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let mut stream = connect(address, trusted, &["http/1.1"]).await?;
        let request = request.clone().with("Connection", "close");
        let port = address.rsplit_once(':').unwrap().1;
        stream.write_all(&request.to_bytes(&format!("localhost:{port}"))).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok(Response::read(&mut &*answer))
    }

    #[test]
    fn both_versions_are_spoken_behind_tls() {
        let (root, directory) = (skills(), tempfile::tempdir().unwrap());
        let cert = certify(directory.path());
        let (_server, address) = start(root.path(), directory.path(), &[]);
        common::http2::run(async {
            assert_eq!(ask(&address, &cert, &list()).await.unwrap().status, 200);
            let port = address.rsplit_once(':').unwrap().1;
            let origin = |scheme| list().with("Origin", &format!("{scheme}://localhost:{port}"));
            assert_eq!(ask(&address, &cert, &origin("https")).await.unwrap().status, 200);
            assert_eq!(ask(&address, &cert, &origin("http")).await.unwrap().status, 403);

            let stream = connect(&address, &cert, &["h2", "http/1.1"]).await.unwrap();
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
            let mut builder = h2::client::Builder::new();
            let mut client = common::http2::Client::over(stream, "localhost", &mut builder).await;
            assert_eq!(client.exchange(&list()).await.unwrap().status, 200);
        });
    }

    /// It has been let in, and never shakes hands.
    #[test]
    fn a_silent_client_does_not_hold_up_the_end() {
        let (root, directory) = (skills(), tempfile::tempdir().unwrap());
        let cert = certify(directory.path());
        let (mut server, address) = start(root.path(), directory.path(), &["--drain-seconds", "8"]);
        let mut silent = TcpStream::connect(&address).unwrap();
        // It is in, because this one that came after it is answered.
        common::http2::run(async { assert_eq!(ask(&address, &cert, &list()).await.unwrap().status, 200) });
        server.stop();
        assert_eq!(std::io::Read::read(&mut silent, &mut [0]).unwrap(), 0);
        // It has not been waited for until that time was up.
        let told: Vec<_> = server.told.iter().filter(|line| line.contains("unanswered")).collect();
        assert!(told.is_empty(), "{told:?}");
    }

    #[test]
    fn a_key_that_everybody_can_read_is_told() {
        let (root, directory) = (skills(), tempfile::tempdir().unwrap());
        certify(directory.path());
        for (mode, is_told) in [(0o644, true), (0o640, false)] {
            fs::set_permissions(directory.path().join("key.pem"), fs::Permissions::from_mode(mode)).unwrap();
            let (server, _) = start(root.path(), directory.path(), &[]);
            let told = server.before.contains("warning: everybody on this machine can read the private key");
            assert_eq!(told, is_told, "{mode:o}: {}", server.before);
        }
    }

    #[test]
    fn who_speaks_http_where_https_is_spoken_is_told_so() {
        let (root, directory) = (skills(), tempfile::tempdir().unwrap());
        certify(directory.path());
        let (server, address) = start(root.path(), directory.path(), &["-v"]);
        let large = Request { body: vec![b' '; 1 << 20], ..list() };
        for bytes in [list().to_bytes(&address), large.to_bytes(&address), b"PRI * HTTP/2.0\r\n\r\n".to_vec()]
        {
            let mut plain = TcpStream::connect(&address).unwrap();
            plain.set_read_timeout(Some(PATIENCE)).unwrap();
            // It may be answered before all of it is sent.
            let _ = plain.write_all(&bytes);
            let mut answer = Vec::new();
            std::io::Read::read_to_end(&mut plain, &mut answer).unwrap();
            let response = Response::read(&mut &*answer);
            assert_eq!((response.status, response.header("connection")), (400, Some("close")));
            assert_eq!(response.body, b"this port speaks https: write https:// in the address\n");
            server.wait_for("the client speaks plain HTTP");
        }
    }

    #[test]
    fn who_speaks_https_where_http_is_spoken_shows_in_the_log() {
        let (root, directory) = (skills(), tempfile::tempdir().unwrap());
        let cert = certify(directory.path());
        let server = Running::start(http(root.path(), &["-v", "--listen", "127.0.0.1:0"]));
        let address = server.place.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        common::http2::run(async { assert!(connect(address, &cert, &[]).await.is_err()) });
        server.wait_for("debug: what came is no request");
    }

    #[test]
    fn a_certificate_is_read_again_and_a_broken_one_is_not_taken() {
        let (root, directory) = (skills(), tempfile::tempdir().unwrap());
        let old = certify(directory.path());
        let (mut server, address) = start(root.path(), directory.path(), &[]);
        let is_served = |cert| common::http2::run(async { ask(&address, cert, &list()).await.is_ok() });
        assert!(is_served(&old));
        fs::write(directory.path().join("key.pem"), "broken").unwrap();
        let told = server.wait_for("the certificate is kept as it was");
        assert!(told.contains("holds no private key") && !told.contains("broken"), "{told}");
        assert!(is_served(&old));
        let new = certify(directory.path());
        wait_until("the new one is shown", || is_served(&new));
        assert!(!is_served(&old));
        server.stop();
        let more: Vec<_> = server.told.try_iter().filter(|line| line.contains("kept as it was")).collect();
        assert!(more.is_empty(), "{more:?}");
    }

    #[test]
    fn files_that_are_no_certificate_are_refused_at_once() {
        let (root, directory) = (skills(), tempfile::tempdir().unwrap());
        let [cert, key] = ["cert.pem", "key.pem"].map(|name| directory.path().join(name));
        let check = |words| {
            let (cert, key) = (cert.display().to_string(), key.display().to_string());
            check_refused(http(root.path(), &["--tls-cert", &cert, "--tls-key", &key]), words);
        };
        check("cert.pem is not there: check the path");
        certify(directory.path());
        fs::rename(&key, directory.path().join("elsewhere.pem")).unwrap();
        check("key.pem is not there: check the path");
        certify(directory.path());
        let other_key = fs::read(&key).unwrap();
        certify(directory.path());
        fs::write(&key, other_key).unwrap();
        check("is not the key of the certificate");
        fs::write(&key, "").unwrap();
        check("holds no private key");
        fs::write(&cert, "").unwrap();
        check("holds no certificate");
        fs::write(&cert, "x".repeat(2 << 20)).unwrap();
        check("is larger than 1 MiB");
        check_refused(
            http(root.path(), &["--tls-cert", "cert.pem"]),
            "--tls-cert needs the private key of its certificate: give --tls-key FILE too",
        );
    }
}
