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
