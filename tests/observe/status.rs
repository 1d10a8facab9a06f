//! How it stands with the skills.

use super::*;

fn status(server: &Server) -> Value {
    server.exchange(&Request::get("/status.json")).json()
}

fn settled(server: &Server) -> Value {
    wait_until("the server is ready", || status(server)["state"] == "ready");
    status(server)
}

#[test]
fn it_says_what_is_served_and_what_is_not_and_why() {
    let bed = bed();
    let server = start(&bed, &[]);
    let status = settled(&server);
    assert_eq!(status["version"], 1);
    assert_eq!(
        status["summary"],
        json!({"skills": 2, "files": 3, "bytes": 114, "skipped": 1, "errors": 1, "warnings": 1})
    );
    let root = json!({"name": "skills", "prefix": "", "isLost": false, "leftOut": {"hidden": 0, "junk": 0, "ignored": 0}});
    assert_eq!(status["roots"], json!([root]));
    let listed = server.exchange(&ask("skills/list", json!({}))).json();
    let listed = &listed["result"]["skills"][0];
    assert_eq!(
        status["skills"][0],
        json!({
            "path": "good",
            "uri": listed["uri"],
            "name": "good",
            "description": listed["frontmatter"]["description"],
            "files": 2,
            "bytes": 58,
            "digest": listed["resources"][0]["digest"],
        })
    );
    let broken = &status["findings"][0];
    assert_eq!(
        (&broken["code"], &broken["severity"], &broken["path"], &broken["line"], &broken["column"]),
        (&json!("yaml-syntax"), &json!("error"), &json!("skills/broken/SKILL.md"), &json!(3), &json!(22))
    );
    assert!(broken["message"].is_string() && broken["help"].is_string(), "{broken}");
    assert_eq!(status["findings"][1]["path"], "skills/keys/server.key");
    assert!(status["look"]["seconds"].is_number() && status["server"]["uptimeSeconds"].is_u64(), "{status}");
}

#[test]
fn it_says_nothing_of_where_on_the_machine_things_are() {
    let bed = bed();
    let more = bed.path().join("more");
    write(&more, &[("skills/x/SKILL.md", b"none"), ("skills/.skillignore", b"[z-a]\n")]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", more.join("skills/y")).unwrap();
    let mount = format!("acme={}", more.join("skills").display());
    let server = start(&bed, &["--mount", &mount]);
    settled(&server);
    let text = text(&server, "/status.json");
    let status: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&status["roots"][0]["name"], &status["roots"][1]["name"]),
        (&json!("skills"), &json!("skills-2"))
    );
    assert_eq!(status["roots"][1]["prefix"], "acme");
    let paths: Vec<_> =
        status["findings"].as_array().unwrap().iter().map(|finding| &finding["path"]).collect();
    assert!(paths.contains(&&json!("skills-2/x/SKILL.md")), "{paths:?}");
    assert!(!text.contains(bed.path().to_str().unwrap()), "{text}");
    // Nor does it say so when one is lost.
    fs::remove_dir_all(&more).unwrap();
    wait_until("a root is lost", || super::status::status(&server)["state"] == "root-lost");
    let text = super::text(&server, "/status.json");
    assert!(text.contains("\"isLost\":true") && !text.contains(bed.path().to_str().unwrap()), "{text}");
}

#[test]
fn who_has_it_is_told_that_nothing_changed() {
    let bed = bed();
    let server = start(&bed, &[]);
    settled(&server);
    let tag = || server.exchange(&Request::get("/status.json")).header("etag").unwrap().to_owned();
    let first = tag();
    let again = Request::get("/status.json").with("If-None-Match", &first);
    let unchanged = server.exchange_head(&again);
    assert_eq!((unchanged.status, unchanged.header("etag")), (304, Some(&*first)));
    // Nor does a look that finds nothing new change it, once nothing has just been written.
    let looks = || {
        let metrics = text(&server, "/metrics");
        let looks = metrics.lines().find(|line| line.starts_with("skillserve_looks_total{outcome=\"ok\"}"));
        looks.unwrap().to_owned()
    };
    let (mut last, mut number) = (first, 0);
    wait_until("a look changes nothing", || {
        let (before, earlier) = (looks(), last.clone());
        number += 1;
        fs::write(bed.path().join("skills/loose.txt"), format!("{number}, no part of any skill")).unwrap();
        wait_until("there has been a look", || looks() != before);
        last = tag();
        last == earlier
    });
    write(bed.path(), &[("skills/good/notes.txt", b"2\n")]);
    wait_until("the tag is another one", || tag() != last);
    let again = Request::get("/status.json").with("If-None-Match", &last);
    assert_eq!(server.exchange(&again).status, 200);
    // That of another process means nothing.
    assert_ne!(start(&bed, &[]).exchange(&Request::get("/status.json")).header("etag"), Some(&*last));
}

#[test]
fn a_long_one_comes_in_pieces_and_whole() {
    const SKILLS: usize = 600;
    let root = tempfile::tempdir().unwrap();
    let skills = root.path().join("skills");
    for number in 0..SKILLS {
        let (good, bad) = (format!("s{number}/SKILL.md"), format!("x{number}/SKILL.md"));
        let description =
            format!("---\nname: s{number}\ndescription: {}\n---\n", "long \u{202e} ".repeat(90));
        write(&skills, &[(&good, description.as_bytes()), (&bad, b"---\nname: [\n---\n")]);
    }
    let server = Server::start(&skills, &[]);
    settled(&server);
    let response = server.exchange(&Request::get("/status.json"));
    assert_eq!(response.header("transfer-encoding"), Some("chunked"));
    // It is as safe on a terminal as everything else.
    assert!(!std::str::from_utf8(&response.body).unwrap().contains('\u{202e}'));
    let status = response.json();
    let names: std::collections::BTreeSet<_> =
        status["skills"].as_array().unwrap().iter().map(|skill| skill["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), status["skills"].as_array().unwrap().len()), (SKILLS, SKILLS));
    let summary = &status["summary"];
    assert_eq!((&summary["skipped"], &summary["errors"]), (&json!(SKILLS), &json!(SKILLS)));
    let findings = summary["errors"].as_u64().unwrap() + summary["warnings"].as_u64().unwrap();
    assert_eq!(status["findings"].as_array().unwrap().len() as u64, findings);
}

#[test]
fn before_the_first_look_there_is_nothing_to_say() {
    let bed = tempfile::tempdir().unwrap();
    let server = start(&bed, &["--wait-for-root", "60"]);
    let status = status(&server);
    assert_eq!((&status["state"], &status["look"]), (&json!("building"), &Value::Null));
    assert_eq!(
        (&status["skills"], &status["findings"], &status["roots"]),
        (&json!([]), &json!([]), &json!([]))
    );
}
