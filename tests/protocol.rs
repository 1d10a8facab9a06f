//! What is answered, the same in both eras and over both transports.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use common::http::Server;
use common::stdio::Host;
use common::{Client, Era, PNG, handshake, skill_md, skills, write};
use serde_json::{Value, json};

const HINTED: [(&str, &str); 6] = [
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
    ("skills/list", "skills"),
    ("tools/list", "tools"),
    ("resources/directory/read", "resources"),
];

/// Lets `test` speak with a server of the skills in every way there is.
fn check(test: impl Fn(&mut dyn Client)) {
    check_told(|client, _| test(client));
}

/// The same, and says whether the server can tell the client something later.
fn check_told(test: impl Fn(&mut dyn Client, bool)) {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    for era in [Era::Modern, Era::Legacy] {
        test(&mut Host::connect(root.path(), era), true);
        test(&mut server.client(era), era == Era::Modern);
    }
}

fn uris(entries: &Value) -> Vec<&str> {
    entries.as_array().unwrap().iter().map(|entry| entry["uri"].as_str().unwrap()).collect()
}

#[test]
fn the_server_says_what_it_is() {
    check_told(|client, is_told| {
        let said = match client.era() {
            Era::Modern => client.result("server/discover", json!({})),
            Era::Legacy => client.result("initialize", handshake()),
        };
        let resources = if is_told { json!({"subscribe": true, "listChanged": true}) } else { json!({}) };
        let capabilities = json!({
            "extensions": {"io.modelcontextprotocol/skills": {"directoryRead": true}},
            "resources": resources,
            "tools": {},
            "prompts": {},
        });
        assert_eq!(said["capabilities"], capabilities);
        let instructions = said["instructions"].as_str().unwrap();
        assert!(instructions.len() < 2048 && instructions.contains("skills/list"));
        let server = match client.era() {
            Era::Modern => &said["_meta"]["io.modelcontextprotocol/serverInfo"],
            Era::Legacy => &said["serverInfo"],
        };
        assert_eq!(server["name"], "skillserve");
        assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
    });
}

#[test]
fn skills_are_listed_and_got() {
    check(|client| {
        let listed = client.result("skills/list", json!({}));
        let skills = &listed["skills"];
        let expected = [
            "skill://acme/billing/SKILL.md",
            "skill://acme/billing/refunds/SKILL.md",
            "skill://csv/SKILL.md",
        ];
        assert_eq!(uris(skills), expected);
        assert_eq!(
            uris(&skills[0]["resources"]),
            [expected[0], expected[1], "skill://acme/billing/refunds/terms.txt"]
        );
        assert_eq!(
            skills[2]["frontmatter"],
            json!({"name": "csv", "description": "What csv does.", "metadata": {"version": "1.0"}})
        );
        assert!(uris(&skills[2]["resources"]).contains(&"skill://csv/setup%20guide.md"));
        for skill in skills.as_array().unwrap() {
            assert_eq!(skill.as_object().unwrap().len(), 3, "no other members: {skill}");
            let got = client.result("skills/get", json!({"uri": skill["uri"]}));
            assert_eq!(&got["skill"], skill);
        }
    });
}

#[test]
fn a_skill_that_is_not_served_is_named_in_the_error() {
    check(|client| {
        for uri in [
            "skill://nope/SKILL.md",
            "skill://csv",
            "skill://csv/Makefile",
            "SKILL://csv/SKILL.md",
            "skill://%63sv/SKILL.md",
            "skill://csv/%53KILL.md",
            "skill:///SKILL.md",
            "skill://csv/../csv/SKILL.md",
            "",
        ] {
            let error = client.error("skills/get", json!({"uri": uri}));
            assert_eq!(error["code"], -32602, "{error}");
            assert!(error["message"].as_str().unwrap().contains(uri), "{error}");
        }
    });
}

#[test]
fn resources_are_the_skills() {
    check(|client| {
        let listed = client.result("resources/list", json!({}));
        let resources = listed["resources"].as_array().unwrap();
        assert_eq!(resources.len(), 3);
        let mut csv = resources[2].clone();
        let modified = csv["annotations"]["lastModified"].take();
        let modified = modified.as_str().unwrap();
        assert!(modified.len() == 20 && modified.starts_with("20") && modified.ends_with('Z'), "{modified}");
        let expected = json!({
            "uri": "skill://csv/SKILL.md",
            "name": "csv",
            "description": "What csv does.",
            "mimeType": "text/markdown",
            "size": 80,
            "annotations": {"lastModified": null},
        });
        assert_eq!(csv, expected);
    });
}

#[test]
fn files_are_read_in_any_spelling_of_their_uri() {
    check(|client| {
        for (uri, mime_type, text) in [
            ("skill://csv/Makefile", "text/x-makefile", "all:\n"),
            ("SKILL://csv/%4Dakefile", "text/x-makefile", "all:\n"),
            ("skill://csv/scripts/run.ts", "text/x-typescript", "export {};\n"),
            ("skill://csv/setup%20guide.md", "text/markdown", "\u{feff}Café\r\n"),
            ("skill://csv/setup guide.md", "text/markdown", "\u{feff}Café\r\n"),
            ("skill://acme/billing/refunds/terms.txt", "text/plain", ""),
        ] {
            let read = client.result("resources/read", json!({"uri": uri}));
            assert_eq!(read["contents"], json!([{"uri": uri, "mimeType": mime_type, "text": text}]));
        }
        for (uri, mime_type, bytes) in [
            ("skill://csv/data/logo.png", "image/png", PNG),
            ("skill://csv/data/latin-1.txt", "application/octet-stream", b"caf\xe9\n"),
        ] {
            use base64::Engine as _;
            let blob = base64::engine::general_purpose::STANDARD.encode(bytes);
            let read = client.result("resources/read", json!({"uri": uri}));
            assert_eq!(read["contents"], json!([{"uri": uri, "mimeType": mime_type, "blob": blob}]));
        }
    });
}

/// The bytes that a read gives.
fn bytes(read: &Value) -> Vec<u8> {
    use base64::Engine as _;
    let contents = &read["contents"][0];
    match contents["text"].as_str() {
        Some(text) => text.into(),
        None => base64::engine::general_purpose::STANDARD.decode(contents["blob"].as_str().unwrap()).unwrap(),
    }
}

/// Reads every file that is listed, and counts them.
fn read_all(client: &mut dyn Client) -> usize {
    use sha2::Digest as _;
    let mut count = 0;
    for page in client.pages("skills/list", &json!({})) {
        for file in page["skills"].as_array().unwrap().iter().flat_map(|s| s["resources"].as_array().unwrap())
        {
            let bytes = bytes(&client.result("resources/read", json!({"uri": file["uri"]})));
            let digest = format!("sha256:{}", hex::encode(sha2::Sha256::digest(&bytes)));
            assert_eq!((&file["size"], &file["digest"]), (&json!(bytes.len()), &json!(digest)), "{file}");
            count += 1;
        }
    }
    count
}

#[test]
fn every_file_has_the_size_and_the_digest_that_its_listing_states() {
    check(|client| assert_eq!(read_all(client), 11));
    let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("skills-example");
    let server = Server::start(&example, &[]);
    for era in [Era::Modern, Era::Legacy] {
        assert_eq!(read_all(&mut Host::connect(&example, era)), 21);
        assert_eq!(read_all(&mut server.client(era)), 21);
    }
}

#[test]
fn a_resource_that_is_not_served_is_an_error_with_its_uri() {
    check(|client| {
        for uri in ["skill://csv/nope", "skill://csv", "skill://nope"] {
            // The code of its own is what the revisions before 2026-07-28 ask for.
            let code = if client.era() == Era::Modern { -32602 } else { -32002 };
            let error = client.error("resources/read", json!({"uri": uri}));
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(uri)), "{error}");
        }
        for uri in [
            "file:///etc/passwd",
            "skill://csv/../csv/SKILL.md",
            "skill://csv/%00",
            "skill://csv/SKILL.md?",
            "",
        ] {
            let error = client.error("resources/read", json!({"uri": uri}));
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32602), &json!(uri)), "{error}");
        }
    });
}

#[test]
fn directories_are_read_level_by_level() {
    check(|client| {
        let mut children = |uri: &str| {
            let read = client.result("resources/directory/read", json!({"uri": uri}));
            let children = read["resources"].as_array().unwrap().clone();
            let brief =
                |child: &Value| json!([child["uri"], child["name"], child["mimeType"], child["size"]]);
            children.iter().map(brief).collect::<Vec<_>>()
        };
        assert_eq!(
            children("skill://csv"),
            [
                json!(["skill://csv/Makefile", "Makefile", "text/x-makefile", 5]),
                json!(["skill://csv/SKILL.md", "csv", "text/markdown", 80]),
                json!(["skill://csv/data", "data", "inode/directory", null]),
                json!(["skill://csv/scripts", "scripts", "inode/directory", null]),
                json!(["skill://csv/setup%20guide.md", "setup guide.md", "text/markdown", 10]),
            ]
        );
        assert_eq!(
            children("Skill://csv/%64ata"),
            [
                json!(["skill://csv/data/latin-1.txt", "latin-1.txt", "application/octet-stream", 5]),
                json!(["skill://csv/data/logo.png", "logo.png", "image/png", 17]),
            ]
        );
        assert_eq!(children("skill://acme/billing").len(), 2);
        for uri in ["skill://csv/", "skill://csv/SKILL.md", "skill://csv/nope", "skill://nope", "x", ""] {
            let error = client.error("resources/directory/read", json!({"uri": uri}));
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32602), &json!(uri)), "{error}");
        }
    });
}

#[test]
fn there_are_no_tools_prompts_and_templates() {
    check(|client| {
        for (method, member) in [HINTED[0], HINTED[2], HINTED[4]] {
            assert_eq!(client.result(method, json!({}))[member], json!([]));
            assert_eq!(client.result(method, json!({"cursor": null}))[member], json!([]));
        }
        for method in ["tools/call", "prompts/get"] {
            assert_eq!(client.error(method, json!({"name": "nope"}))["code"], -32602);
        }
    });
}

#[test]
fn answers_say_how_long_they_may_be_kept() {
    let root = skills();
    let server = Server::start(root.path(), &[]);
    let mut client = server.client(Era::Modern);
    let results = HINTED.map(|(method, _)| (method, json!({"uri": "skill://csv"})));
    let others = [
        ("server/discover", json!({})),
        ("skills/get", json!({"uri": "skill://csv/SKILL.md"})),
        ("resources/read", json!({"uri": "skill://csv/SKILL.md"})),
    ];
    for (method, params) in results.into_iter().chain(others) {
        let result = client.result(method, params);
        assert_eq!(result["resultType"], "complete", "{method}");
        assert!(result["ttlMs"].is_u64(), "{method}: {result}");
        assert_eq!(result["cacheScope"], "private", "{method}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "skillserve", "{method}");
    }
}

#[test]
fn malformed_parameters_are_invalid_parameters() {
    check(|client| {
        for method in ["skills/get", "resources/read", "resources/directory/read"] {
            for params in [json!({}), json!({"uri": 7}), json!({"uri": null})] {
                let error = client.error(method, params);
                assert_eq!(error["code"], -32602, "{method}: {error}");
            }
        }
        for (method, _) in HINTED {
            for cursor in [json!("x"), json!(""), json!(7), json!({})] {
                let params = json!({"uri": "skill://csv", "cursor": cursor});
                // A listing gives older peers the first page for a cursor that is no text.
                if client.era() == Era::Legacy && !cursor.is_string() && method.ends_with("/list") {
                    client.result(method, params);
                } else {
                    let error = client.error(method, params);
                    assert_eq!(error["code"], -32602, "{method} {cursor}: {error}");
                }
            }
        }
    });
}

#[test]
fn methods_that_are_not_there_are_not_found() {
    check_told(|client, is_told| {
        let mut methods = vec!["foo", "logging/setLevel", "completion/complete"];
        if client.era() == Era::Modern || !is_told {
            methods.extend(["resources/subscribe", "resources/unsubscribe"]);
        }
        if client.era() == Era::Modern {
            methods.extend(["ping", "initialize"]);
        } else {
            methods.push("subscriptions/listen");
            assert_eq!(client.error("initialize", json!({}))["code"], -32602);
            assert_eq!(client.result("ping", json!({})), json!({}));
        }
        for method in methods {
            let params = json!({
                "uri": "skill://csv",
                "level": "info",
                "notifications": {},
                "ref": {"type": "ref/prompt", "name": "x"},
                "argument": {"name": "x", "value": "x"},
            });
            assert_eq!(client.error(method, params)["code"], -32601, "{method}");
        }
    });
}

#[test]
fn a_listing_comes_in_pages_that_any_replica_continues() {
    let root = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..580).map(|number| format!("skill-{number:03}")).collect();
    for name in &names {
        write(root.path(), &[(&format!("{name}/SKILL.md"), &skill_md(name, ""))]);
    }
    let expected: Vec<String> = names.iter().map(|name| format!("skill://{name}/SKILL.md")).collect();
    let server = Server::start(root.path(), &[]);
    let mut client = server.client(Era::Modern);
    let pages = client.pages("skills/list", &json!({}));
    assert_eq!(pages.iter().flat_map(|page| uris(&page["skills"])).collect::<Vec<_>>(), expected);
    assert_eq!(pages.len(), 3);

    // Another process goes on where this one left off, also when the skill at which it left off has gone.
    std::fs::remove_dir_all(root.path().join("skill-249")).unwrap();
    let cursor = &pages[0]["nextCursor"];
    let mut other = Host::connect(root.path(), Era::Legacy);
    let next = other.result("skills/list", json!({"cursor": cursor}));
    assert_eq!(next["skills"][0]["uri"], "skill://skill-250/SKILL.md");

    // And it is good for nothing else.
    for method in ["resources/list", "resources/directory/read"] {
        let error = other.error(method, json!({"uri": "skill://skill-000", "cursor": cursor}));
        assert_eq!(error["code"], -32602);
    }
}

#[test]
fn a_page_is_bounded_in_bytes() {
    let root = tempfile::tempdir().unwrap();
    let notes = format!("metadata:\n  notes: {}\n", "x".repeat(50_000));
    for number in 0..12 {
        let name = format!("skill-{number:02}");
        write(root.path(), &[(&format!("{name}/SKILL.md"), &skill_md(&name, &notes))]);
    }
    let mut client = Host::connect(root.path(), Era::Modern);
    let pages = client.pages("skills/list", &json!({}));
    assert!(pages.len() > 1 && pages.iter().all(|page| page.to_string().len() <= 256 * 1024));
    assert_eq!(pages.iter().map(|page| uris(&page["skills"]).len()).sum::<usize>(), 12);
}

#[test]
fn a_directory_comes_in_pages() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &[("many/SKILL.md", &skill_md("many", ""))]);
    for number in 0..400 {
        write(root.path(), &[(&format!("many/files/{number:03}.txt"), b"x")]);
    }
    let mut client = Host::connect(root.path(), Era::Modern);
    let pages = client.pages("resources/directory/read", &json!({"uri": "skill://many/files"}));
    assert!(pages.len() > 1);
    assert_eq!(pages.iter().map(|page| uris(&page["resources"]).len()).sum::<usize>(), 400);
    let elsewhere = json!({"uri": "skill://many", "cursor": pages[0]["nextCursor"]});
    assert_eq!(client.error("resources/directory/read", elsewhere)["code"], -32602);
}

#[test]
fn no_answer_has_a_path_of_the_machine() {
    let root = skills();
    let shown = root.path().to_str().unwrap().to_owned();
    let mut client = Host::connect(root.path(), Era::Modern);
    for (method, uri) in [
        ("skills/list", ""),
        ("skills/get", "skill://csv"),
        ("resources/list", ""),
        ("resources/read", "skill://csv/nope"),
        ("resources/read", "skill://csv/SKILL.md"),
        ("resources/directory/read", "skill://csv"),
        ("resources/directory/read", "skill://"),
    ] {
        let answer = client.ask(method, json!({"uri": uri})).to_string();
        assert!(!answer.contains(&shown), "{answer}");
    }
    // A file that is gone since it was listed is no reason to say where it was.
    std::fs::remove_file(root.path().join("csv/Makefile")).unwrap();
    let error = client.error("resources/read", json!({"uri": "skill://csv/Makefile"})).to_string();
    assert!(!error.contains(&shown), "{error}");
}
