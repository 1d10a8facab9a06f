//! The numbers.

use std::collections::BTreeMap;

use super::*;

/// The value of a metric with its labels, in the order in which they are written.
fn value(metrics: &str, name: &str) -> Option<f64> {
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    Some(value.parse().unwrap())
}

/// Waits for the value that a metric is to have.
#[track_caller]
fn wait_for(server: &Server, name: &str, expected: Option<f64>) {
    let mut last = None;
    wait_until(&format!("{name} is {expected:?}"), || {
        last = value(&text(server, "/metrics"), name);
        last == expected
    });
}

#[test]
fn requests_are_counted_by_method_and_outcome() {
    let bed = bed();
    let server = start(&bed, &[]);
    let check = |request: &Request, method: &str, outcome: &str| {
        let name = format!("skillserve_requests_total{{method=\"{method}\",outcome=\"{outcome}\"}}");
        let count = |metrics: &str| value(metrics, &name).unwrap_or_default();
        let before = text(&server, "/metrics");
        let response = server.exchange(request);
        let after = text(&server, "/metrics");
        assert_eq!(count(&after) - count(&before), 1.0, "{name} after {response:?}\n{after}");
        let took = format!("skillserve_request_duration_seconds_count{{method=\"{method}\"}}");
        let took = |metrics: &str| value(metrics, &took).unwrap_or_default();
        assert_eq!(took(&after) - took(&before), 1.0, "{method}");
    };
    check(&ask("skills/list", json!({})), "skills/list", "ok");
    check(&ask("skills/list", json!({"cursor": "x"})), "skills/list", "-32602");
    check(&ask("resources/read", json!({"uri": "skill://good/notes.txt"})), "resources/read", "ok");
    check(&ask("resources/read", json!({"uri": "skill://good/none"})), "resources/read", "-32602");
    check(&ask("tools/call", json!({"name": "x"})), "tools/call", "-32602");
    check(&ask("skills/list", json!({})).without("Mcp-Method"), "skills/list", "-32020");
    check(&ask("made/up", json!({})), "other", "-32601");
    check(&ask("made/\"up\"\n", json!({})).without("Mcp-Method"), "other", "-32020");
    check(&Request::post("{"), "other", "-32700");
    check(&Request::post("[]"), "other", "-32600");
    check(&Request::post("x".repeat(300 << 10)), "other", "-32600");
    check(&Request::get("/mcp"), "other", "-32600");
    check(&ask("skills/list", json!({})).with("Host", "evil.example"), "other", "-32600");
    check(&ask("skills/list", json!({})).with("Accept", "text/html"), "skills/list", "-32600");
    let ping = Era::Legacy.request(1, "ping", json!({}));
    check(&Request::message(Era::Legacy, &ping), "ping", "ok");
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    check(&Request::message(Era::Legacy, &note), "notifications/initialized", "ok");
}

#[test]
fn what_is_not_the_endpoint_is_counted_by_status() {
    let bed = bed();
    let server = start(&bed, &[]);
    let before = text(&server, "/metrics");
    let nothing = server.exchange(&Request::get("/nothing"));
    server.exchange(&Request::get("/healthz"));
    let after = text(&server, "/metrics");
    for (status, more) in [("2xx", 2.0), ("4xx", 1.0), ("5xx", 0.0)] {
        let name = format!("skillserve_http_requests_total{{status=\"{status}\"}}");
        assert_eq!(value(&after, &name).unwrap() - value(&before, &name).unwrap(), more, "{name}");
    }
    let bytes = "skillserve_response_bytes_total";
    let more = value(&after, bytes).unwrap() - value(&before, bytes).unwrap();
    assert_eq!(more, (before.len() + nothing.body.len() + "ok\n".len()) as f64);
    // The one that asks is in flight.
    assert_eq!(value(&after, "skillserve_requests_in_flight"), Some(1.0));
}

#[test]
fn what_is_no_request_is_counted_and_told() {
    use std::io::{Read as _, Write as _};

    let bed = bed();
    let server = start(&bed, &["-v"]);
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    let bad = [("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\r\nA B: c\r\n\r\n", 400), (&*long, 431)];
    for (count, (bytes, status)) in (1..).zip(bad) {
        let mut stream = server.connect();
        let address = stream.local_addr().unwrap().to_string();
        // It may be answered before all of it is sent.
        let _ = stream.write_all(bytes.as_bytes());
        let mut begin = [0; "HTTP/1.1 400".len()];
        stream.read_exact(&mut begin).unwrap();
        assert_eq!(begin, *format!("HTTP/1.1 {status}").as_bytes());
        server.line(&["debug: what came is no request", &address]);
        wait_for(&server, "skillserve_connections_unreadable_total", Some(f64::from(count)));
    }
    // One that only goes is none of them.
    let mut half = server.connect();
    half.write_all(b"GET / HT").unwrap();
    let address = half.local_addr().unwrap().to_string();
    drop(half);
    server.line(&["a connection broke off", &address]);
    wait_for(&server, "skillserve_connections_unreadable_total", Some(3.0));
}

#[test]
fn connections_streams_and_sessions_are_counted() {
    let bed = bed();
    let server = start(&bed, &["--sessions", "3"]);
    let open = "skillserve_connections_open";
    let silent = [server.connect(), server.connect()];
    wait_for(&server, open, Some(3.0));
    drop(silent);
    wait_for(&server, open, Some(1.0));
    assert!(value(&text(&server, "/metrics"), "skillserve_connections_accepted_total").unwrap() >= 4.0);

    let subscriptions = "skillserve_subscriptions_open";
    let mut stream =
        server.open(&ask("subscriptions/listen", json!({"notifications": {"resourcesListChanged": true}})));
    assert!(stream.next().is_some());
    wait_for(&server, subscriptions, Some(1.0));
    // It has been answered, though it goes on.
    assert_eq!(value(&text(&server, "/metrics"), "skillserve_requests_in_flight"), Some(1.0));
    drop(stream);
    // What tells a client that is gone something notices.
    write(bed.path(), &[("skills/third/SKILL.md", &skill_md("third", ""))]);
    wait_for(&server, subscriptions, Some(0.0));

    let initialize = Era::Legacy.request(1, "initialize", common::handshake());
    server.exchange(&Request::message(Era::Legacy, &initialize));
    wait_for(&server, "skillserve_sessions_open", Some(1.0));
}

#[test]
fn what_is_served_and_what_is_not_is_counted() {
    let bed = bed();
    let server = start(&bed, &[]);
    let skipped = "skillserve_skills_skipped{code=\"yaml-syntax\"}";
    let finding = "skillserve_findings{code=\"yaml-syntax\",severity=\"error\"}";
    wait_for(&server, skipped, Some(1.0));
    let metrics = text(&server, "/metrics");
    for (name, expected) in [
        (finding, 1.0),
        ("skillserve_findings{code=\"secret\",severity=\"warning\"}", 1.0),
        ("skillserve_skills", 2.0),
        ("skillserve_files", 3.0),
        ("skillserve_roots", 1.0),
        ("skillserve_roots_lost", 0.0),
    ] {
        assert_eq!(value(&metrics, name), Some(expected), "{name}\n{metrics}");
    }
    let looks = |metrics: &str| value(metrics, "skillserve_looks_total{outcome=\"ok\"}").unwrap();
    let at = |metrics: &str| value(metrics, "skillserve_last_look_timestamp_seconds").unwrap();
    write(bed.path(), &[("skills/broken/SKILL.md", &skill_md("broken", ""))]);
    wait_for(&server, "skillserve_skills", Some(3.0));
    let later = text(&server, "/metrics");
    assert!(looks(&later) > looks(&metrics) && at(&later) > at(&metrics), "{later}");
    for (name, least) in [
        ("skillserve_look_seconds_total", 0.0),
        ("skillserve_look_directories_total", 1.0),
        ("process_start_time_seconds", 1.0),
        ("skillserve_build_info{version=\"0.1.0\"}", 1.0),
    ] {
        assert!(value(&later, name).unwrap() >= least, "{name}\n{later}");
    }
    assert_eq!((value(&later, skipped), value(&later, finding)), (None, None), "{later}");
    #[cfg(target_os = "linux")]
    assert!(value(&later, "process_resident_memory_bytes").unwrap() > 1e6);
}

/// The names and types of what is there. Every sample must belong to what was described last, and stand there once.
fn families(metrics: &str) -> BTreeMap<String, String> {
    let mut families = BTreeMap::new();
    let mut seen = std::collections::HashSet::new();
    let (mut described, mut current) = (String::new(), (String::new(), String::new()));
    for line in metrics.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            described = help.split_once(' ').expect("a help").0.to_owned();
            continue;
        }
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(name, described);
            assert!(families.insert(name.to_owned(), kind.to_owned()).is_none(), "{name} twice");
            current = (name.to_owned(), kind.to_owned());
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect(line);
        value.parse::<f64>().expect(line);
        assert!(seen.insert(series.to_owned()), "{series} twice");
        let name = series.split('{').next().unwrap();
        let rest = name.strip_prefix(&*current.0).expect(line);
        let is_part = match &*current.1 {
            "histogram" => ["_bucket", "_sum", "_count"].contains(&rest),
            "counter" => rest.is_empty() && name.ends_with("_total"),
            _ => rest.is_empty() && !name.ends_with("_total"),
        };
        assert!(is_part, "{line} in {current:?}");
    }
    families
}

#[test]
fn both_formats_are_written_as_they_should_be() {
    let bed = bed();
    let server = start(&bed, &[]);
    server.exchange(&ask("skills/list", json!({})));
    let plain = server.exchange(&Request::get("/metrics"));
    assert_eq!(plain.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let plain = String::from_utf8(plain.body).unwrap();
    let families = families(&plain);
    // The steps of a histogram add up.
    let steps = plain.lines().filter(|line| line.contains("_bucket{method=\"skills/list\""));
    let steps: Vec<u64> = steps.map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap()).collect();
    assert!(steps.is_sorted() && steps.last() == Some(&1), "{steps:?}");

    let accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
    let open = server.exchange(&Request::get("/metrics").with("Accept", accept));
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(open.header("content-type"), Some(media_type));
    assert!(open.body.ends_with(b"# EOF\n"));

    // What is there is what the document says.
    let document = include_str!("../../docs/metrics.md");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `"));
    let told = rows.filter(|row| row.starts_with("skillserve_") || row.starts_with("process_"));
    let told: BTreeMap<_, _> = told
        .map(|row| {
            let (name, rest) = row.split_once(['`', '{']).unwrap();
            (name.to_owned(), rest.split(" | ").nth(1).unwrap().to_owned())
        })
        .collect();
    #[cfg(target_os = "linux")]
    assert_eq!(told, families);
    #[cfg(not(target_os = "linux"))]
    assert!(families.iter().all(|(name, kind)| told.get(name) == Some(kind)), "{families:?}");
}
