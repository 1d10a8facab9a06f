//! The commands as somebody types them: what they print, and how they end.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use common::http::{Request, Server};
use common::stdio::Host;
use common::{Client, Era, PATIENCE, skill_md, skillserve, write};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A name that would clear the screen, turn the text around and look empty.
const HOSTILE: &str = "bad\u{1b}[2J\u{9b}31m\u{202e}\u{200b}";

/// A directory in which commands are typed: `good` holds a skill, `mixed` one that is served and one that is not,
/// `empty` nothing, and `file` is a file.
fn bed() -> TempDir {
    let bed = tempfile::tempdir().unwrap();
    write(
        bed.path(),
        &[
            ("good/csv/SKILL.md", &skill_md("csv", "")),
            ("good/csv/notes.txt", b"notes\n"),
            ("good/csv/.hidden", b"hidden\n"),
            ("good/csv/credentials.json", b"{}\n"),
            ("good/other/SKILL.md", &skill_md("renamed", "")),
            ("mixed/csv/SKILL.md", &skill_md("csv", "")),
            ("mixed/broken/SKILL.md", b"no frontmatter\n"),
            ("outside/far.txt", b"far\n"),
            ("file", b""),
        ],
    );
    for name in ["a", "b", "c", "d", "e", "f"] {
        write(bed.path(), &[(&format!("many/{name}/SKILL.md"), &skill_md(name, ""))]);
    }
    write(bed.path(), &[("odd/pdf/SKILL.md", &skill_md("pdf", "")), ("odd/pdf/what?", b"")]);
    fs::create_dir(bed.path().join("empty")).unwrap();
    symlink("notes.txt", bed.path().join("good/csv/near.txt")).unwrap();
    symlink("../../outside/far.txt", bed.path().join("good/csv/far.txt")).unwrap();
    bed
}

fn command(dir: &Path, args: &[impl AsRef<OsStr>]) -> Command {
    let mut command = skillserve();
    command.args(args).current_dir(dir).stdin(Stdio::null());
    command
}

/// What both streams of the program hold.
fn printed(output: &Output) -> String {
    String::from_utf8([&*output.stdout, &*output.stderr].concat()).unwrap()
}

/// Types `args` in a fresh [`bed`]: the program ends with this code, having printed these words.
#[track_caller]
fn check(args: &[&str], (code, words): (i32, &str)) -> Output {
    let output = command(bed().path(), args).output().unwrap();
    let printed = printed(&output);
    assert!(output.status.code() == Some(code) && printed.contains(words), "{args:?}: {output:?}\n{printed}");
    output
}

/// Sends requests to a program that serves stdin, which then ends by itself.
fn ask(mut command: Command, requests: &[Value]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for request in requests {
        // A program that refuses to serve has closed its input.
        let _ = writeln!(input, "{request}");
    }
    drop(input);
    child.wait_with_output().unwrap()
}

/// The answers that were given, by the numbers of their requests.
fn answers(output: &Output) -> Vec<Value> {
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut answers: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

fn list_request() -> Value {
    Era::Modern.request(1, "skills/list", json!({}))
}

/// Lines as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}

/// The first line that holds `words`.
#[track_caller]
fn wait_for(lines: &Receiver<String>, words: &str) -> String {
    let begin = Instant::now();
    loop {
        let line = lines.recv_timeout(PATIENCE.saturating_sub(begin.elapsed())).expect(words);
        if line.contains(words) {
            return line;
        }
    }
}

#[test]
fn exit_codes_tell_how_a_check_went() {
    check(&["check", "mixed/csv"], (0, "1 skill (1 file, 53 B) would be served, 0 skipped, 0 warnings\n"));
    check(&["check", "mixed"], (1, "error[no-frontmatter]"));
    check(&["check", "mixed", "nope"], (2, "there is no file or directory \"nope\": check the path\n"));
    // They have done what they were asked, and tell what they leave out.
    check(&["list", "mixed"], (0, "skill://csv/SKILL.md"));
    check(&["list", "mixed"], (0, "error[no-frontmatter]"));
    check(&["index", "mixed", "-o", "out.index"], (0, "error[no-frontmatter]"));
    check(&["--version"], (0, env!("CARGO_PKG_VERSION")));
    check(&["help"], (0, "SKILLSERVE_MAX_FILES"));
    check(&["check", "--nope", "good"], (2, "--nope"));
}

#[test]
fn a_directory_that_cannot_be_served_is_told_in_one_sentence() {
    for name in ["check", "list", "stdio", "http"] {
        for (dir, sentence) in [
            ("nope", "error: there is no directory \"nope\": check the path, or create it\n"),
            ("file", "error: \"file\" is not a directory: name the directory that holds it\n"),
        ] {
            // `check` takes files too.
            if name == "check" {
                continue;
            }
            let output = check(&[name, dir], (2, ""));
            let told = String::from_utf8(output.stderr).unwrap();
            let told = if name == "http" { without_times(&told) } else { told };
            assert_eq!((&*told, &*output.stdout), (sentence, &b""[..]), "{name} {dir}");
        }
        check(&[name, ""], (2, "error: a DIR is empty: name a directory of skills"));
        check(&[name], (2, "error: name a directory of skills, "));
        check(&[name, "--mount", "good"], (2, "error: --mount takes PREFIX=DIR"));
    }
    check(&[], (2, "error: say what to do, for example `skillserve http ./skills`"));
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    let sentence = |option: &str| {
        format!(
            "error: the pattern \"priv[\" of {option} is not in gitignore syntax (unclosed character class; missing ']', at character 5): correct it\n"
        )
    };
    for name in ["check", "list", "stdio", "http"] {
        for option in ["--exclude", "--allow-secret"] {
            check(&[name, "good", option, "notes", option, "priv["], (2, &sentence(option)));
        }
    }
    let bed = bed();
    let mut command = command(bed.path(), &["list", "good"]);
    let output = command.env("SKILLSERVE_EXCLUDE", "notes\npriv[\n").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(printed(&output).starts_with(&sentence("SKILLSERVE_EXCLUDE")), "{output:?}");
    // With a directory that is waited for, it is clear at once.
    check(&["stdio", "later", "--wait-for-root", "1", "--exclude", "priv["], (2, &sentence("--exclude")));
}

#[test]
fn a_value_that_is_none_is_told_with_the_usage_of_its_command() {
    let usage = |command: &str| format!("\n\nUsage: skillserve {command} [OPTIONS] [DIR]...\n");
    check(&["http", "good", "--path", "mcp"], (2, &usage("http")));
    check(&["check", "good", "--rule", "x=off"], (2, &usage("check")));
    check(&["list", "good", "--hosts", "nobody"], (2, &usage("list")));
    check(&["stdio"], (2, &usage("stdio")));
    check(&["index", "good", "-o", "x", "--exclude", "{"], (2, "\n\nUsage: skillserve index "));
    check(&["explain", "nothing"], (2, "\n\nUsage: skillserve explain "));
    check(&[], (2, "\n\nUsage: skillserve [OPTIONS] <COMMAND>\n"));
}

#[test]
fn a_word_that_is_no_command_is_told_with_one_that_is() {
    let serving = "\n  tip: to serve directories, say how: `skillserve http ./skills`, or `skillserve stdio ./skills` in a host's entry\n";
    for word in ["serve", "run", "start", "server", "./good"] {
        check(&[word, "good"], (2, serving));
    }
    let printed = printed(&check(&["chek", "good"], (2, "a similar subcommand exists: 'check'")));
    assert!(!printed.contains("to serve"), "{printed}");
}

#[test]
fn the_help_of_explain_shows_how_it_is_typed_and_how_it_ends() {
    check(&["explain", "--help"], (0, "\n  skillserve explain yaml-syntax  "));
    check(&["explain", "--help"], (0, "\nExit codes: 0 done, 2 "));
}

#[test]
fn an_empty_directory_is_served_with_a_warning() {
    check(&["check", "empty"], (0, "warning[no-skills]"));
    check(&["stdio", "empty", "--strict"], (0, "warning[no-skills] empty"));
    let bed = bed();
    let output = ask(command(bed.path(), &["stdio", "empty"]), &[list_request()]);
    assert_eq!(answers(&output)[0]["result"]["skills"], json!([]), "{output:?}");
}

#[test]
fn a_port_in_use_is_told_in_one_sentence() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let output = check(&["http", "good", "--listen", &address], (2, &address));
    let sentence = format!(
        "error: {address} is in use: stop the program that has it, or take another port with --listen\n"
    );
    assert_eq!(without_times(&printed(&output)), sentence);
}

/// What a server over HTTP has told, without the time that stands at the beginning of each message.
#[track_caller]
fn without_times(told: &str) -> String {
    let form = "0000-00-00T00:00:00.000Z ";
    let rest = |line: &str| {
        let (time, rest) = line.split_at_checked(form.len())?;
        let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
        (time.chars().map(digits).collect::<String>() == form).then(|| rest.to_owned() + "\n")
    };
    told.lines().map(|line| rest(line).unwrap_or_else(|| panic!("no time: {line}"))).collect()
}

#[test]
fn a_server_says_when_and_a_host_adds_that_itself() {
    let bed = bed();
    let mut server = Server::run(command(bed.path(), &["http", "-v", "--listen", "127.0.0.1:0", "good/csv"]));
    server.exchange(&Request::message(Era::Modern, &list_request()));
    server.line(&["serving 1 skill"]);
    server.line(&["POST /mcp"]);
    common::signal(&server.child, "TERM");
    assert!(server.child.wait().unwrap().success());
    let told = server.told();
    let (helps, messages): (Vec<_>, Vec<_>) = told.lines().partition(|line| line.starts_with("  help: "));
    let messages = without_times(&(messages.join("\n") + "\n"));
    assert!(!helps.is_empty() && messages.contains("\ninfo: serving 1 skill"), "{told}");
    assert!(messages.lines().any(|line| line.starts_with("POST /mcp status=200")), "{told}");

    let output = ask(command(bed.path(), &["stdio", "good/csv"]), &[list_request()]);
    assert!(printed(&output).contains("\ninfo: serving 1 skill"), "{output:?}");
    let output = ask(command(bed.path(), &["stdio", "--log-format", "json", "good/csv"]), &[list_request()]);
    let event: Value = serde_json::from_slice(output.stderr.split(|b| *b == b'\n').next().unwrap()).unwrap();
    assert!(event["timestamp"].as_str().unwrap().ends_with('Z'), "{event}");
}

#[test]
fn a_server_that_may_open_too_few_files_says_so_and_does_not_start() {
    let bed = bed();
    let with = |files: u32| {
        let script = format!("ulimit -n {files} && exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_skillserve"), "http", "--listen", "127.0.0.1:0"]);
        command.arg("good").current_dir(bed.path());
        command
    };
    let mut child = Running(with(63).stderr(Stdio::piped()).spawn().unwrap());
    common::wait_until("the program ends", || child.0.try_wait().unwrap().is_some());
    let mut told = String::new();
    child.0.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(child.0.wait().unwrap().code(), Some(2), "{told}");
    assert_eq!(
        without_times(&told),
        "error: this process may open only 63 files and needs 64 to serve: raise `ulimit -n`\n"
    );
    let server = Server::run(with(64));
    assert_eq!(server.exchange(&Request::message(Era::Modern, &list_request())).status, 200);
    server.line(&["at most 32 connections are kept, because this process may open only 64 files"]);
}

#[test]
fn strict_serves_all_or_nothing() {
    let sentence = "1 skipped, so --strict serves nothing: cure the errors above, or leave --strict out\n";
    for name in ["stdio", "http"] {
        let output = check(&[name, "--strict", "mixed"], (2, sentence));
        assert_eq!(printed(&output).matches("--strict serves nothing").count(), 1);
    }
    check(&["stdio", "--strict", "mixed/csv"], (0, "serving 1 skill"));
}

#[test]
fn a_directory_that_appears_in_time_is_served() {
    let bed = bed();
    let mut command = command(bed.path(), &["stdio", "later", "--wait-for-root", "600"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Running(command.spawn().unwrap());
    writeln!(child.0.stdin.as_mut().unwrap(), "{}", list_request()).unwrap();
    wait_for(&lines(child.0.stderr.take().unwrap()), "waiting for later");
    fs::rename(bed.path().join("good"), bed.path().join("later")).unwrap();
    wait_for(&lines(child.0.stdout.take().unwrap()), "skill://csv/SKILL.md");
}

#[test]
fn a_directory_that_does_not_appear_in_time_is_told_once() {
    let bed = bed();
    let mut command = command(bed.path(), &["stdio", "later", "--wait-for-root", "1"]);
    // The input stays open, so that nothing but the failure ends the program.
    let child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut child = Running(child);
    common::wait_until("the program ends", || child.0.try_wait().unwrap().is_some());
    let mut told = String::new();
    child.0.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(
        told,
        "info: waiting for later\nerror: there is no directory \"later\": check the path, or create it\n"
    );
    assert_eq!(child.0.wait().unwrap().code(), Some(2));
}

/// A program that does not outlive its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_mount_is_served_below_its_prefix() {
    let bed = bed();
    let args = ["stdio", "--mount", "acme/größe 1=good", "mixed/csv"];
    let uri = "skill://acme/gr%C3%B6%C3%9Fe%201/csv/notes.txt";
    let read = Era::Modern.request(2, "resources/read", json!({"uri": uri}));
    let output = ask(command(bed.path(), &args), &[list_request(), read]);
    let answers = answers(&output);
    let skills = answers[0]["result"]["skills"].as_array().unwrap();
    let uris: Vec<_> = skills.iter().map(|skill| skill["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["skill://acme/gr%C3%B6%C3%9Fe%201/csv/SKILL.md", "skill://csv/SKILL.md"]);
    assert_eq!(answers[1]["result"]["contents"][0]["text"], "notes\n", "{output:?}");
}

#[test]
fn the_list_in_json_is_what_hosts_are_told() {
    let bed = bed();
    let deceptive =
        format!("metadata:\n  a: \"\\e[2J\\x9b31m\\u202E\\u200B\\U000E0041\"\n  {HOSTILE:?}: x\n");
    // Rust's escapes of these characters are YAML's, but for the braces.
    let deceptive = deceptive.replace("\\u{1b}", "\\e").replace("\\u{9b}", "\\x9b");
    let deceptive = deceptive.replace("\\u{202e}", "\\u202E").replace("\\u{200b}", "\\u200B");
    write(bed.path(), &[("mixed/loud/SKILL.md", &skill_md("loud", &deceptive))]);
    let output = command(bed.path(), &["list", "--json", "mixed"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(listed[1]["frontmatter"]["metadata"][HOSTILE], "x");
    let mut host = Host::connect(&bed.path().join("mixed"), Era::Modern);
    assert_eq!(host.result("skills/list", json!({}))["skills"], listed);
    assert_is_harmless(&output.stdout);
}

/// Nothing of it moves the cursor, hides, or turns text around.
#[track_caller]
fn assert_is_harmless(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let is_harmful = |c: char| {
        c.is_control() && c != '\n' || matches!(c, '\u{200b}' | '\u{202e}' | '\u{e0000}'..='\u{e0fff}')
    };
    assert!(!text.contains(is_harmful), "{text:?}");
}

#[test]
fn a_hostile_name_does_no_harm_in_any_output() {
    let bed = tempfile::tempdir().unwrap();
    let name_of_skill = format!("---\nname: {:?}\ndescription: x\n---\n", "a\\u202Eb").replace("\\\\", "\\");
    write(
        bed.path(),
        &[
            (&format!("{HOSTILE}/SKILL.md"), b"no frontmatter\n"),
            ("named/SKILL.md", name_of_skill.as_bytes()),
        ],
    );
    let shown = "bad\\u{1b}[2J\\u{9b}31m\\u{202e}\\u{200b}/SKILL.md";
    let run = |args: &[&str]| {
        let output = command(bed.path(), args).output().unwrap();
        assert_is_harmless(&output.stdout);
        assert_is_harmless(&output.stderr);
        output
    };
    assert!(printed(&run(&["check", "."])).contains(shown));

    let output = run(&["list", "."]);
    let text = String::from_utf8(output.stderr).unwrap();
    let words = format!("error[no-frontmatter] ./{shown}:1:1: the file does not begin with");
    assert!(text.contains(&words) && text.contains("\n  help: ") && text.contains("a\\u{202e}b"), "{text}");

    let output = run(&["list", "--log-format", "json", "."]);
    let events: Vec<Value> =
        output.stderr.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    let event = events.iter().find(|event| event["code"] == "no-frontmatter").unwrap();
    assert_eq!((&event["level"], &event["line"], &event["column"]), (&json!("ERROR"), &json!(1), &json!(1)));
    assert_eq!(event["path"], format!("./{shown}"));
    assert!(event["message"].is_string() && event["help"].is_string(), "{event}");

    // A root that is not there is told with its name, too.
    let output = command(bed.path(), &["check", HOSTILE, "x\u{202e}"]).output().unwrap();
    assert_is_harmless(&output.stderr);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bed = bed();
    for index in 0..300 {
        write(bed.path(), &[(&format!("mixed/broken-{index}/SKILL.md"), b"x\n")]);
    }
    for (args, code) in [
        (&["check", "mixed"][..], 1),
        (&["check", "mixed/csv"], 0),
        (&["list", "-q", "mixed"], 0),
        (&["list", "-q", "--json", "mixed"], 0),
        (&["explain"], 0),
        (&["explain", "yaml-syntax"], 0),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(bed.path(), args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        assert!(!printed(&output).contains("pipe"), "{args:?}: {output:?}");
    }
}

#[test]
fn what_is_typed_stays_whole() {
    let bed = bed();
    fs::rename(bed.path().join("good"), bed.path().join("a\nb")).unwrap();
    let output = command(bed.path(), &["list", "-q", "a\nb", "--mount", "m=a\nb"]).output().unwrap();
    assert!(printed(&output).contains("skill://m/csv/SKILL.md"), "{output:?}");
}

#[test]
fn a_list_in_the_environment_has_an_item_on_each_line() {
    let bed = bed();
    let check = |list: &str, expected: &[&str]| {
        let mut command = command(bed.path(), &["list", "-q"]);
        command.env("SKILLSERVE_DIR", list).env("SKILLSERVE_MOUNT", "m=good\n");
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let uris: Vec<_> = text.split_whitespace().filter(|word| word.starts_with("skill://")).collect();
        assert_eq!(uris, expected, "{output:?}");
    };
    check("mixed\n", &["skill://csv/SKILL.md", "skill://m/csv/SKILL.md"]);
    check("\nmixed\n\ngood/csv\n", &["skill://csv/SKILL.md", "skill://m/csv/SKILL.md"]);
    check("", &["skill://m/csv/SKILL.md"]);
    check("\n", &["skill://m/csv/SKILL.md"]);
}

/// Each variable, its value, a command, and words that are printed with it and not without it. With `!` in front it is the
/// other way round. A command that serves is asked for its skills.
const VARIABLES: &[(&str, &str, &[&str], &str)] = &[
    ("DIR", "good", &["list"], "skill://csv/SKILL.md"),
    ("MOUNT", "acme=good", &["list", "mixed"], "skill://acme/csv/SKILL.md"),
    ("JSON", "true", &["list", "good"], "\"uri\""),
    ("INCLUDE_HIDDEN", "yes", &["list", "--json", "good"], "skill://csv/.hidden"),
    ("EXCLUDE", "x\nnotes.*\n", &["list", "--json", "good"], "!notes.txt"),
    ("ALLOW_SECRET", "credentials.json", &["list", "--json", "good"], "skill://csv/credentials.json"),
    ("LINKS", "refuse", &["list", "--json", "good"], "!skill://csv/near.txt"),
    ("FOLLOW_LINKS_TO", "outside", &["list", "--json", "good"], "skill://csv/far.txt"),
    ("ON_NAME_MISMATCH", "use-name", &["list", "good"], "skill://renamed/SKILL.md"),
    ("MAX_FILES", "1", &["check", "good"], "too-many-files"),
    ("MAX_BYTES", "10", &["check", "good"], "too-large"),
    ("RULE", "reserved-key=off\nname-mismatch=error\nsecret=off\n", &["check", "good"], "!warning[secret]"),
    ("HOSTS", "chatgpt, windows,\n\nrmcp\n", &["check", "many"], "warning[chatgpt-limits]"),
    ("PORTABLE", "on", &["check", "odd"], "error[file-name]"),
    ("FORMAT", "github", &["check", "good"], "::warning file=good/"),
    ("VERBOSE", "2", &["stdio", "good"], "trace: answered"),
    ("QUIET", "1", &["stdio", "good"], "!serving 1 skill"),
    ("LOG_FORMAT", "json", &["stdio", "good"], "\"level\":\"INFO\""),
    ("NAME", "my skills", &["stdio", "good"], "\"title\":\"my skills\""),
    ("TTL", "7", &["stdio", "good"], "\"ttlMs\":7000"),
    ("CACHE_SCOPE", "public", &["stdio", "good"], "\"cacheScope\":\"public\""),
    ("WAIT_FOR_ROOT", "1", &["stdio", "nope"], "waiting for nope"),
    ("STRICT", "on", &["stdio", "mixed"], "SKILLSERVE_STRICT serves nothing"),
    ("INDEX", "none/x", &["stdio", "good"], "the index none/x cannot be written"),
    ("OUTPUT", "out.index", &["index", "good"], "wrote out.index: "),
    ("LISTEN", "nowhere", &["http", "good"], "SKILLSERVE_LISTEN `nowhere`"),
    ("TOKEN_FILE", "nope", &["http", "--listen", "127.0.0.1:0", "good"], "cannot read the token file nope"),
    (
        "ANONYMOUS",
        "true",
        &["http", "--listen", "127.0.0.1:0", "nope"],
        "whoever reaches this server may read",
    ),
    ("TRUSTED_PROXY", "::1\nnope\n", &["http", "good"], "SKILLSERVE_TRUSTED_PROXY `nope`"),
    ("RATE_LIMIT", "often", &["http", "good"], "'often' for 'SKILLSERVE_RATE_LIMIT': give a whole number"),
    ("ADMIN_LISTEN", "nowhere", &["http", "good"], "SKILLSERVE_ADMIN_LISTEN `nowhere`"),
    ("PATH", "mcp", &["http", "good"], "SKILLSERVE_PATH `mcp`"),
    (
        "TLS_CERT",
        "cert.pem",
        &["http", "good"],
        "SKILLSERVE_TLS_CERT needs the private key of its certificate: give --tls-key FILE too",
    ),
    (
        "TLS_KEY",
        "key.pem",
        &["http", "good"],
        "SKILLSERVE_TLS_KEY needs the certificate that it is the key of: give --tls-cert FILE too",
    ),
    (
        "DRAIN_SECONDS",
        "soon",
        &["http", "good"],
        "'soon' for 'SKILLSERVE_DRAIN_SECONDS': give a whole number of seconds",
    ),
];

/// Those that need a listening server.
const VARIABLES_OF_HTTP: &[(&str, &str, &str, &str)] = &[
    ("ALLOW_HOST", "skills.example\n", "Host", "skills.example"),
    ("ALLOW_ORIGIN", "https://app.example\n", "Origin", "https://app.example"),
];

#[test]
fn every_variable_has_its_effect() {
    let bed = bed();
    for (name, value, args, words) in VARIABLES {
        let run = |value: Option<&str>| {
            let mut command = command(bed.path(), args);
            // Without the variable, the port is one that fails too.
            command.envs(value.map(|value| (format!("SKILLSERVE_{name}"), value)));
            if args[0] == "http" && value.is_none() {
                command.args(["--listen", "elsewhere"]);
            }
            printed(&ask(command, &[list_request()]))
        };
        let (with, without) = (run(Some(value)), run(None));
        let (yes, no) = if words.starts_with('!') { (without, with) } else { (with, without) };
        let words = words.trim_start_matches('!');
        assert!(yes.contains(words) && !no.contains(words), "{name}:\n{yes}\nand:\n{no}");
    }
}

/// Types `args` in a fresh [`bed`] with these variables: the program ends with this code, having printed these words.
#[track_caller]
fn check_with(variables: &[(&str, &str)], args: &[&str], (code, words): (i32, &str)) -> String {
    let bed = bed();
    let mut command = command(bed.path(), args);
    command.envs(variables.iter().map(|(name, value)| (format!("SKILLSERVE_{name}"), value)));
    let output = command.output().unwrap();
    let printed = printed(&output);
    let is_expected = output.status.code() == Some(code) && printed.contains(words);
    assert!(is_expected, "{variables:?} {args:?}: {output:?}\n{printed}");
    printed
}

#[test]
fn a_variable_that_is_empty_counts_for_nothing() {
    for (name, _, args, _) in VARIABLES {
        let bed = bed();
        let run = |value: Option<&str>| {
            let mut command = command(bed.path(), args);
            command.envs(value.map(|value| (format!("SKILLSERVE_{name}"), value)));
            if args[0] == "http" {
                command.args(["--listen", "elsewhere"]);
            }
            let output = ask(command, &[list_request()]);
            (output.status, printed(&output))
        };
        assert_eq!(run(Some("")), run(None), "{name}");
    }
    check_with(&[("LISTEN", "")], &["http", "--help"], (0, "[env: SKILLSERVE_LISTEN="));
}

#[test]
fn an_error_names_the_variable_that_a_value_came_from() {
    check_with(&[("MAX_BYTES", "x")], &["list", "good"], (2, "'x' for 'SKILLSERVE_MAX_BYTES': give"));
    check_with(
        &[("MAX_BYTES", "1")],
        &["list", "--max-bytes", "x", "good"],
        (2, "'x' for '--max-bytes <BYTES>'"),
    );
    check_with(
        &[("MAX_BYTES", "x")],
        &["list", "--max-files", "x", "good"],
        (2, "'x' for '--max-files <N>'"),
    );
    check_with(&[("LINKS", "x")], &["list", "good"], (2, "'x' for 'SKILLSERVE_LINKS'"));
    check_with(
        &[("STRICT", "x")],
        &["stdio", "good"],
        (2, "'x' for 'SKILLSERVE_STRICT': give true or false"),
    );
    check_with(
        &[("DIR", "good\nnope")],
        &["list"],
        (2, "there is no directory \"nope\" of SKILLSERVE_DIR: check"),
    );
    check_with(&[("DIR", "good\nnope")], &["list", "far"], (2, "there is no directory \"far\": check"));
    check_with(
        &[("RULE", "secrets=off")],
        &["list", "good"],
        (2, "SKILLSERVE_RULE `secrets=off`: there is no code"),
    );
    check_with(&[("HOSTS", "x")], &["list", "good"], (2, "SKILLSERVE_HOSTS does not know"));
    // Also one that is seen later.
    let port = [("LISTEN", "192.0.2.1:0")];
    check_with(
        &port,
        &["http", "--anonymous", "good"],
        (2, "SKILLSERVE_LISTEN takes an address of this machine"),
    );
    check_with(
        &[],
        &["http", "--listen", "192.0.2.1:0", "good"],
        (2, "--listen takes an address of this machine"),
    );
}

#[test]
fn a_variable_that_is_not_utf_8_is_named() {
    let check = |variable: &str, args: &[&str], words: &str| {
        let bed = bed();
        let mut command = command(bed.path(), args);
        let output = command.env(variable, OsStr::from_bytes(b"x\xff")).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && printed.contains(words), "{variable}: {output:?}");
    };
    for (name, args) in
        [("NAME", ["stdio", "good"]), ("EXCLUDE", ["list", "good"]), ("JSON", ["list", "good"])]
    {
        let variable = format!("SKILLSERVE_{name}");
        check(&variable, &args, &format!("error: the value of {variable} is not UTF-8: "));
    }
    check("SKILLSERVE_LINKS", &["list", "good"], "SKILLSERVE_LINKS");
}

#[test]
fn a_variable_that_nothing_reads_is_told() {
    let told = "warning: nothing is done with the variable SKILLSERVE_TOKENFILE: did you mean SKILLSERVE_TOKEN_FILE?\n";
    check_with(&[("TOKENFILE", "x")], &["list", "good"], (0, told));
    // One of another command is read there.
    let others =
        [("TOKEN_FILE", "x"), ("TOKENS", ""), ("SERVICE_HOST", "10.0.0.1"), ("PORT", "tcp://10.0.0.1:80")];
    let printed = check_with(&others, &["list", "good"], (0, "skill://"));
    assert!(!printed.contains("the variable"), "{printed}");
}

#[test]
fn what_is_typed_wins_over_a_variable_that_excludes_it() {
    let tokens = ("TOKEN_FILE", "tokens");
    let open = "whoever reaches this server may read";
    check_with(&[tokens], &["http", "--listen", "127.0.0.1:0", "--anonymous", "nope"], (2, open));
    let args = ["http", "--listen", "127.0.0.1:0", "--token-file", "tokens", "nope"];
    let printed = check_with(&[("ANONYMOUS", "true")], &args, (2, "cannot read the token file tokens"));
    assert!(!printed.contains(open), "{printed}");
    let both =
        "error: SKILLSERVE_ANONYMOUS lets everybody in, and SKILLSERVE_TOKEN_FILE does not: give one of them";
    check_with(&[tokens, ("ANONYMOUS", "true")], &["http", "good"], (2, both));
    let both = "error: --anonymous lets everybody in, and --token-file does not: give one of them";
    check_with(&[], &["http", "--anonymous", "--token-file", "tokens", "good"], (2, both));

    check_with(&[("WATCH", "true")], &["list", "--json", "good"], (0, "\"uri\""));
    check_with(&[], &["list", "--json", "--watch", "good"], (2, "give one of them"));
    let told = |variables: &[(&str, &str)], args: &[&str], words: &str| {
        let bed = bed();
        let mut command = command(bed.path(), &[&["stdio", "-v", "good"], args].concat());
        command.envs(variables.iter().map(|(name, value)| (format!("SKILLSERVE_{name}"), value)));
        // The input stays open.
        let mut child = Running(command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        wait_for(&lines(child.0.stderr.take().unwrap()), words);
    };
    told(&[("NO_WATCH", "true")], &["--poll", "900"], "looking for changes every 900 s");
    told(&[("NO_WATCH", "false"), ("POLL", "900")], &[], "looking for changes every 900 s");
    told(&[("POLL", "900")], &["--no-watch"], "info: serving");
    told(&[("QUIET", "true")], &[], "info: serving");
    check_with(&[], &["stdio", "--no-watch", "--poll", "9", "good"], (2, "give one of them"));
    // What is set for servers does not keep others from running.
    check_with(&[("POLL", "9")], &["list", "good"], (0, "skill://"));
    check_with(
        &[],
        &["list", "--poll", "9", "good"],
        (2, "--poll is how often --watch looks: give that too"),
    );
}

#[test]
fn a_number_may_have_a_unit() {
    check(&["check", "good/csv", "--max-bytes", "10B"], (1, "too-large"));
    check(&["check", "good/csv", "--max-bytes", "1kB"], (0, "would be served"));
    check(
        &["list", "good", "--max-bytes", "10M"],
        (2, "'10M' for '--max-bytes <BYTES>': give a whole number of bytes"),
    );
    let bed = bed();
    let output = ask(command(bed.path(), &["stdio", "good", "--ttl", "1m"]), &[list_request()]);
    assert!(printed(&output).contains("\"ttlMs\":60000"), "{output:?}");
    check(&["stdio", "good", "--poll", "0"], (2, "'0' for '--poll <SECONDS>': give at least 1 second"));
    check(&["http", "good", "--sessions", "x"], (2, "'x' for '--sessions <N>': give a whole number"));
}

#[test]
fn a_pattern_may_be_a_path() {
    let listed =
        |args: &[&str]| printed(&check(&[&["list", "--json", "-q", "good"], args].concat(), (0, "[")));
    assert!(listed(&[]).contains("csv/notes.txt"));
    assert!(!listed(&["--exclude", "./csv/notes.txt"]).contains("csv/notes.txt"));
    assert!(listed(&["--exclude", "./notes.txt"]).contains("csv/notes.txt"));
    assert!(listed(&["--allow-secret", "./csv/credentials.json"]).contains("csv/credentials.json"));
    let refused = "error: --exclude `../notes.txt`: a pattern is relative to each DIR";
    check(&["list", "good", "--exclude", "../notes.txt"], (2, refused));
}

#[test]
fn a_code_is_explained_however_it_is_written() {
    for code in ["yaml-syntax", "YAML_Syntax", "yaml syntax", "error[yaml-syntax]"] {
        check(&["explain", code], (0, "yaml-syntax: error\n"));
    }
    check(&["explain", "ignore-file"], (0, "\nignore-file: warning, or error where it costs a skill\n"));
    check(&["explain", "yaml-sintax"], (2, "there is no code \"yaml-sintax\"; did you mean yaml-syntax?"));
    check(&["explain", "nothing"], (2, "there is no code \"nothing\": `skillserve explain` lists them"));
}

#[test]
fn every_variable_of_http_has_its_effect() {
    let bed = bed();
    for (name, value, header, sent) in VARIABLES_OF_HTTP {
        let status = |value: Option<&str>| {
            let mut command = command(bed.path(), &["http", "--listen", "127.0.0.1:0", "good"]);
            command.envs(value.map(|value| (format!("SKILLSERVE_{name}"), value)));
            let server = Server::run(command);
            server.exchange(&Request::message(Era::Modern, &list_request()).with(header, sent)).status
        };
        assert_eq!((status(Some(value)), status(None)), (200, 403), "{name}");
    }
}

/// Those whose tests set them in the environment too, but elsewhere, because it takes a change on the disk, a session, a page or an exit
/// code to see what they do.
const VARIABLES_OF_CHANGES: &[&str] = &[
    "CACHE_BYTES",
    "DENY_WARNINGS",
    "KEEP_LAST_GOOD",
    "NO_ACCESS_LOG",
    "NO_PAGE",
    "NO_WATCH",
    "POLL",
    "SESSIONS",
    "WATCH",
];

#[test]
fn sessions_can_be_wished_for_in_the_environment() {
    let bed = bed();
    for (sessions, is_given) in [("1", true), ("0", false)] {
        let mut command = command(bed.path(), &["http", "--listen", "127.0.0.1:0", "good"]);
        command.env("SKILLSERVE_SESSIONS", sessions);
        let server = Server::run(command);
        let initialize = Era::Legacy.request(1, "initialize", common::handshake());
        let response = server.exchange(&Request::message(Era::Legacy, &initialize));
        assert_eq!(response.header("mcp-session-id").is_some(), is_given, "{response:?}");
    }
}

#[test]
fn no_variable_is_without_a_test() {
    let named = VARIABLES.iter().map(|row| row.0).chain(VARIABLES_OF_HTTP.iter().map(|row| row.0));
    let named = named.chain(VARIABLES_OF_CHANGES.iter().copied());
    let named: BTreeSet<String> = named.map(str::to_owned).collect();
    let mut told = BTreeSet::new();
    for name in ["stdio", "http", "check", "list", "index"] {
        let help = printed(&check(&[name, "--help"], (0, "SKILLSERVE_DIR")));
        let parts = help.split("[env: SKILLSERVE_").skip(1);
        told.extend(parts.map(|part| part.split(['=', ']']).next().unwrap().to_owned()));
    }
    assert_eq!(named, told);
}

#[test]
fn requests_are_told_when_everything_is() {
    let bed = bed();
    let told = |verbosity: &str| {
        let args = ["stdio", verbosity, "good"];
        printed(&ask(command(bed.path(), &args), &[list_request()])).contains("answered")
    };
    assert_eq!((told("-v"), told("-vv")), (false, true));
}

#[test]
fn a_port_that_was_chosen_is_told_even_by_a_quiet_server() {
    let bed = bed();
    let server = Server::run(command(bed.path(), &["http", "-q", "--listen", "127.0.0.1:0", "good"]));
    assert!(!server.address.ends_with(":0"));
}
