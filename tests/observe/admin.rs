//! The listener for the one who runs the server.

use super::*;

/// Where it is.
pub fn address(server: &Server) -> String {
    let line = server.line(&["page, metrics and status are at http://"]);
    line.split_once("http://").unwrap().1.trim_end_matches('/').to_owned()
}

#[test]
fn what_is_for_the_operator_can_be_elsewhere() {
    let bed = bed();
    let server = start(&bed, &["--admin-listen", "127.0.0.1:0"]);
    let admin = address(&server);
    for (path, main_status, admin_status) in
        [("/metrics", 404, 200), ("/status.json", 404, 200), ("/healthz", 200, 200), ("/mcp", 405, 404)]
    {
        let statuses = [&server.address, &admin].map(|at| server.exchange_at(at, &Request::get(path)).status);
        assert_eq!(statuses, [main_status, admin_status], "{path}");
    }
    // Its numbers are those of the other one.
    assert_eq!(server.exchange(&ask("skills/list", json!({}))).status, 200);
    let metrics = server.exchange_at(&admin, &Request::get("/metrics"));
    let metrics = String::from_utf8(metrics.body).unwrap();
    assert!(
        metrics.contains("skillserve_requests_total{method=\"skills/list\",outcome=\"ok\"} 1\n"),
        "{metrics}"
    );
    // There the endpoint's path is one like others: only what was asked here counts.
    let all = metrics.lines().filter(|line| line.starts_with("skillserve_requests_total{method=\"other\""));
    let counts: Vec<_> = all.filter(|line| !line.ends_with(" 0")).collect();
    assert_eq!(counts, ["skillserve_requests_total{method=\"other\",outcome=\"-32600\"} 1"]);
}

#[test]
fn who_takes_a_wrong_path_is_told_the_right_one() {
    let bed = bed();
    let said = |server: &Server, at: &str, path: &'static str, status: u16| {
        let response = server.exchange_at(at, &ask("skills/list", json!({})).to("POST", path));
        assert_eq!(response.status, status, "{response:?}");
        assert!(response.header("content-type").unwrap().starts_with("text/plain"), "{response:?}");
        String::from_utf8(response.body).unwrap()
    };
    let words = |server: &Server, at: &str| said(server, at, "/sse", 404);
    let (endpoint, page) = ("MCP is spoken at /mcp", "a page for people is at /");
    let server = start(&bed, &[]);
    assert_eq!(words(&server, &server.address), format!("nothing is at this path: {endpoint}, {page}\n"));
    let forgotten = said(&server, &server.address, "/", 405);
    assert_eq!(forgotten, format!("this path is for other methods: {endpoint}, {page}\n"));
    let server = start(&bed, &["--no-page"]);
    assert_eq!(words(&server, &server.address), format!("nothing is at this path: {endpoint}\n"));
    let server = start(&bed, &["--admin-listen", "127.0.0.1:0"]);
    assert_eq!(words(&server, &server.address), format!("nothing is at this path: {endpoint}\n"));
    assert_eq!(words(&server, &address(&server)), format!("nothing is at this path: {page}\n"));
    // Who is not let in is told nothing of it.
    let refused = server.exchange(&Request::get("/sse").with("Host", "evil.example"));
    assert!(refused.status == 403 && !String::from_utf8(refused.body).unwrap().contains("/mcp"));
}

#[test]
fn pages_of_other_origins_see_nothing_of_it() {
    let bed = bed();
    let server = start(&bed, &["--admin-listen", "127.0.0.1:0", "--allow-host", "ops.example"]);
    let admin = address(&server);
    let check = |name: &str, value: &str, expected: u16| {
        let request = Request::get("/metrics").with(name, value);
        assert_eq!(server.exchange_at(&admin, &request).status, expected, "{name}: {value}");
    };
    check("Host", &admin, 200);
    check("Host", "ops.example", 200);
    check("Host", "evil.example", 403);
    check("Origin", "https://evil.example", 403);
    check("Origin", &format!("http://{admin}"), 200);
    check("Origin", &format!("http://{}", server.address), 403);
}

#[test]
fn an_address_that_is_taken_is_told_with_its_option() {
    let bed = bed();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let _holder = std::net::TcpListener::bind(&taken).ok();
    let mut command = common::skillserve();
    command.args(["http", "--listen", "127.0.0.1:0", "--admin-listen", &taken]).arg(bed.path());
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("take another port with --admin-listen"), "{told}");
}
