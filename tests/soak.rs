//! Everything changes as fast as it can while clients ask: no answer is a mixture, nothing leaks, and the end is seen.
//!
//! It takes some ten seconds, or as many as the environment variable `SOAK_SECONDS` says.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::http::Server;
use common::stdio::Host;
use common::{Client, Era, PATIENCE, skill_md, skillserve, wait_until, write};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const SECONDS: u64 = 8;
/// How many answers of each client must have been verified. Until then it goes on, for at most [`PATIENCE`] more.
const VERIFIED_MIN: usize = 300;
/// How many more files a server may have open at the end than when it was warm. Connections come and go.
const MORE_FILES_MAX: usize = 8;
/// How much more memory it may take. An allocator seldom gives all back.
const MORE_MEMORY_MAX_KIB: usize = 32 * 1024;

/// How a file is changed, and so which states of it there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Put in its place at once: it is there always, and whole.
    Whole,
    /// Written where it stands: it is there always, and may be a beginning.
    InPlace,
    /// It comes and goes, or what it links to does, and is whole while it is there.
    Passing,
}

/// Each file that changes: its skill, its name there, and how it changes.
const FILES: &[(&str, &str, How)] = &[
    ("steady", "renamed.txt", How::Whole),
    ("steady", "edited.txt", How::InPlace),
    ("replaced", "SKILL.md", How::Whole),
    ("edited", "SKILL.md", How::InPlace),
    ("swapped", "SKILL.md", How::Passing),
    ("swapped", "data.txt", How::Passing),
    ("passing", "SKILL.md", How::Passing),
    ("passing", "data.txt", How::Passing),
    ("moved/passing", "SKILL.md", How::Passing),
];

/// What the file of this name holds in its version of this number: a body that says the number in each line.
fn version(skill: &str, name: &str, number: usize) -> String {
    let body = format!("{number}\n").repeat(1 + number * 37 % 3_000);
    if name == "SKILL.md" { head(skill) + &body } else { body }
}

fn head(skill: &str) -> String {
    String::from_utf8(skill_md(skill.rsplit('/').next().unwrap(), "")).unwrap()
}

/// Whether `text` is a version, or the beginning of one.
fn is_version(skill: &str, name: &str, text: &str, how: How) -> bool {
    let head = if name == "SKILL.md" { head(skill) } else { String::new() };
    let Some(body) = text.strip_prefix(&*head) else {
        return how == How::InPlace && head.starts_with(text);
    };
    match body.split_once('\n').map(|(number, _)| number.parse()) {
        Some(Ok(number)) => {
            let whole = version(skill, name, number);
            if how == How::InPlace { whole.starts_with(text) } else { whole == text }
        }
        Some(Err(_)) => false,
        None => how == How::InPlace && body.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// Changes everything, again and again.
struct Writer {
    root: PathBuf,
    /// Where files are written before they are put in their place.
    staging: PathBuf,
    number: usize,
}

impl Writer {
    fn start(bed: &Path) -> Self {
        let mut writer = Self { root: bed.join("root"), staging: bed.join("staging"), number: 0 };
        write(&writer.root, &[("steady/SKILL.md", head("steady").as_bytes())]);
        for dir in ["replaced", "edited", "swapped", "moved"] {
            fs::create_dir_all(writer.root.join(dir)).unwrap();
        }
        fs::create_dir(&writer.staging).unwrap();
        for name in ["SKILL.md", "data.txt"] {
            symlink(format!("..data/{name}"), writer.root.join("swapped").join(name)).unwrap();
        }
        writer.change_all();
        writer
    }

    /// Ends with all files there, and whole.
    fn change_all(&mut self) {
        self.number += 1;
        self.replace("steady", "renamed.txt");
        self.edit("steady", "edited.txt");
        self.replace("replaced", "SKILL.md");
        self.edit("edited", "SKILL.md");
        self.swap();
        self.pass("passing", &["SKILL.md", "data.txt"]);
        self.replace("steady", "renamed.txt");
        self.pass("moved/passing", &["SKILL.md"]);
    }

    fn version(&self, skill: &str, name: &str) -> String {
        version(skill, name, self.number)
    }

    fn replace(&self, skill: &str, name: &str) {
        let new = self.staging.join("new");
        fs::write(&new, self.version(skill, name)).unwrap();
        fs::rename(new, self.root.join(skill).join(name)).unwrap();
    }

    fn edit(&self, skill: &str, name: &str) {
        let text = self.version(skill, name);
        let mut file = fs::File::create(self.root.join(skill).join(name)).unwrap();
        for part in text.as_bytes().chunks(2_000) {
            file.write_all(part).unwrap();
        }
    }

    fn swap(&self) {
        let dir = self.root.join("swapped");
        let data = format!("..{}", self.number);
        for name in ["SKILL.md", "data.txt"] {
            write(&dir, &[(&format!("{data}/{name}"), self.version("swapped", name).as_bytes())]);
        }
        symlink(&data, dir.join("..new")).unwrap();
        fs::rename(dir.join("..new"), dir.join("..data")).unwrap();
        let _ = fs::remove_dir_all(dir.join(format!("..{}", self.number - 1)));
    }

    fn pass(&self, skill: &str, names: &[&str]) {
        let (dir, new) = (self.root.join(skill), self.staging.join("dir"));
        let _ = fs::remove_dir_all(&dir);
        for name in names {
            write(&new, &[(name, self.version(skill, name).as_bytes())]);
        }
        fs::rename(new, dir).unwrap();
    }

    /// The digest that must be stated for each file in the end.
    fn expected(&self) -> BTreeMap<String, String> {
        let files =
            FILES.iter().map(|(skill, name, _)| (uri(skill, name), digest(&self.version(skill, name))));
        files.chain([(uri("steady", "SKILL.md"), digest(&head("steady")))]).collect()
    }
}

fn uri(skill: &str, name: &str) -> String {
    format!("skill://{skill}/{name}")
}

fn digest(text: &str) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(text)))
}

/// What came of a client's questions.
#[derive(Debug, Default)]
struct Counts {
    /// Answers that are what a listing before or after them states.
    verified: usize,
    /// Answers between two listings that differ from them and from each other: more than one change happened meanwhile.
    between: usize,
    /// Reads that were refused, because the file was gone or changed too fast.
    refused: usize,
}

/// The digest and the size that are stated for a file, if it is served.
fn stated(client: &mut impl Client, skill: &str, name: &str) -> Option<(String, usize)> {
    let answer = client.ask("skills/get", json!({"uri": uri(skill, "SKILL.md")}));
    let resources = answer["result"]["skill"]["resources"].as_array()?;
    let file = resources.iter().find(|file| file["uri"] == uri(skill, name))?;
    Some((file["digest"].as_str()?.to_owned(), usize::try_from(file["size"].as_u64()?).unwrap()))
}

/// Asks for one file, and for its digest before and after.
fn check(client: &mut impl Client, (skill, name, how): (&str, &str, How), counts: &mut Counts) {
    let before = stated(client, skill, name);
    let answer = client.ask("resources/read", json!({"uri": uri(skill, name)}));
    let after = stated(client, skill, name);
    let what = || format!("{skill}/{name}: {before:?}, {after:?}");
    if how != How::Passing {
        assert!(before.is_some() && after.is_some(), "{}", what());
    }
    let Some(text) = answer["result"]["contents"][0]["text"].as_str() else {
        let error = &answer["error"]["message"];
        let is_changing = error.as_str().is_some_and(|message| message.contains("changing"));
        assert!(is_changing || how == How::Passing, "{}: {answer}", what());
        counts.refused += 1;
        return;
    };
    assert!(is_version(skill, name, text, how), "{}: {} bytes: {text:.200}", what(), text.len());
    let got = Some((digest(text), text.len()));
    if got == before || got == after {
        counts.verified += 1;
    } else {
        assert_ne!(before, after, "{} of {name} is stated by nobody: {got:?}", skill);
        counts.between += 1;
    }
}

/// Asks until told to stop.
fn ask(client: &mut impl Client, is_over: &AtomicBool) -> Counts {
    let begin = Instant::now();
    let mut counts = Counts::default();
    while !is_over.load(Ordering::Relaxed)
        || counts.verified < VERIFIED_MIN && begin.elapsed() < duration() + PATIENCE
    {
        FILES.iter().for_each(|file| check(client, *file, &mut counts));
    }
    counts
}

fn duration() -> Duration {
    let seconds = std::env::var("SOAK_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(SECONDS))
}

/// The open files of a process, and its resident memory in KiB.
fn costs(process: u32) -> (usize, usize) {
    let files = fs::read_dir(format!("/proc/{process}/fd")).unwrap().count();
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let memory = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    (files, memory.split_whitespace().nth(1).unwrap().parse().unwrap())
}

/// The digest that is stated for each file. Nothing is read for that.
fn listing(client: &mut impl Client) -> BTreeMap<String, String> {
    let listed = client.result("skills/list", json!({}));
    let files =
        listed["skills"].as_array().unwrap().iter().flat_map(|skill| skill["resources"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    files.map(|file| (text(&file["uri"]), text(&file["digest"]))).collect()
}

#[test]
fn no_answer_is_a_mixture_while_everything_changes() {
    let bed = tempfile::tempdir().unwrap();
    let mut writer = Writer::start(bed.path());
    let root = writer.root.clone();
    let server = Server::start(&root, &[]);
    let mut command = skillserve();
    command.arg("stdio").arg(&root);
    let mut host = Host::of(command, Era::Modern);
    let mut told = host.child.stderr.take().unwrap();
    std::thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink()));
    let processes = [host.child.id(), server.child.id()];
    wait_until("the beginning is seen", || listing(&mut host) == writer.expected());
    wait_until("the beginning is seen", || listing(&mut server.client(Era::Modern)) == writer.expected());

    let is_over = AtomicBool::new(false);
    let warm = std::thread::scope(|scope| {
        let asking = [
            scope.spawn(|| ask(&mut host, &is_over)),
            scope.spawn(|| ask(&mut server.client(Era::Modern), &is_over)),
        ];
        let begin = Instant::now();
        let mut warm = None;
        while asking.iter().any(|asking| !asking.is_finished()) {
            writer.change_all();
            if begin.elapsed() > duration() / 4 {
                warm.get_or_insert_with(|| processes.map(costs));
            }
            is_over.store(begin.elapsed() >= duration(), Ordering::Relaxed);
        }
        for asking in asking {
            let counts = asking.join().unwrap();
            assert!(counts.verified >= VERIFIED_MIN, "{counts:?}");
        }
        warm.unwrap()
    });

    wait_until("the end is seen", || listing(&mut host) == writer.expected());
    wait_until("the end is seen", || listing(&mut server.client(Era::Modern)) == writer.expected());
    for (process, (files, memory)) in processes.into_iter().zip(warm) {
        wait_until("the files are closed", || costs(process).0 <= files + MORE_FILES_MAX);
        let now = costs(process).1;
        assert!(now <= memory + MORE_MEMORY_MAX_KIB, "{now} KiB, and {memory} KiB when it was warm");
    }
}
