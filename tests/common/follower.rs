//! A server that follows a directory while a test changes it.
//!
//! Only listings are asked for to see whether a change was followed: they look at nothing on the disk, while a read may look
//! again by itself.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::stdio::Host;
use super::{Client, Era, skill_md, skillserve, wait_until, write};

/// How often a server that watches looks when it starts: once, and once more for what happened before it watched.
pub const FIRST_LOOKS: usize = 2;

/// What the program says at -v whenever it looks at the disk.
const LOOKING: &str = "debug: looking at ";

/// The lines of a stream, as they come.
#[derive(Clone, Default)]
pub struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    /// Reads a stream from here on.
    pub fn of(stream: impl Read + Send + 'static) -> Self {
        let lines = Self::default();
        let all = Arc::clone(&lines.0);
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                all.lock().unwrap().push(line);
            }
        });
        lines
    }

    /// How many of them hold these words.
    pub fn count(&self, words: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|line| line.contains(words)).count()
    }

    /// Waits for one that holds these words.
    #[track_caller]
    pub fn wait_for(&self, words: &str) {
        wait_until(words, || self.count(words) > 0);
    }

    /// All that there are.
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// The program, and what it says on stderr.
pub struct Follower {
    pub host: Host,
    pub told: Lines,
}

impl Follower {
    /// Serves `dir` with these options, and has looked once.
    pub fn start(dir: &Path, options: &[&str]) -> Self {
        let mut command = skillserve();
        command.args(["stdio", "-v"]).args(options).arg(dir);
        Self::of(command)
    }

    /// Starts this command, and waits for its first look.
    pub fn of(command: Command) -> Self {
        let mut host = Host::of(command, Era::Modern);
        let told = Lines::of(host.child.stderr.take().unwrap());
        let mut follower = Self { host, told };
        follower.digests();
        follower
    }

    /// The digest of each file that is served, by its URI.
    pub fn digests(&mut self) -> BTreeMap<String, String> {
        let pages = self.host.pages("skills/list", &json!({}));
        let skills = pages.iter().flat_map(|page| page["skills"].as_array().unwrap());
        let files = skills.flat_map(|skill| skill["resources"].as_array().unwrap());
        files.map(|file| (text(&file["uri"]), text(&file["digest"]))).collect()
    }

    /// Waits until exactly these are the files that are served.
    #[track_caller]
    pub fn wait_for_files(&mut self, uris: &[&str]) {
        wait_until(&format!("{uris:?}"), || self.digests().keys().eq(uris));
    }

    /// Waits until a listing states another digest for this file than `before`, and checks that a read agrees with it.
    #[track_caller]
    pub fn wait_for_text(&mut self, uri: &str, expected: &str, before: &BTreeMap<String, String>) {
        wait_until(uri, || self.digests().get(uri).is_some_and(|now| Some(now) != before.get(uri)));
        wait_until(expected, || self.read(uri).as_deref() == Some(expected));
    }

    /// The text of a file, if it is served.
    pub fn read(&mut self, uri: &str) -> Option<String> {
        let answer = self.host.ask("resources/read", json!({"uri": uri}));
        answer["result"]["contents"][0]["text"].as_str().map(str::to_owned)
    }

    /// How often the program has looked at the disk.
    pub fn looks(&self) -> usize {
        self.told.count(LOOKING)
    }

    /// Waits until it has looked so often, and checks that it has not more often.
    #[track_caller]
    pub fn check_looks(&self, count: usize) {
        wait_until("it looks", || self.looks() >= count);
        assert_eq!(self.looks(), count, "{:?}", self.told.all());
    }

    /// Sends the program a signal.
    pub fn signal(&self, name: &str) {
        super::signal(&self.host.child, name);
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A skill with one more file, which holds `text`.
pub fn write_skill(root: &Path, path: &str, text: &str) {
    let name = path.rsplit('/').next().unwrap();
    let skill = skill_md(name, "");
    write(root, &[(&format!("{path}/SKILL.md"), &skill), (&format!("{path}/notes.txt"), text.as_bytes())]);
}

/// Puts a file in the place of another at once, as editors that save with care do. It is written out of sight of whoever
/// follows `root`, so that it is one change.
pub fn replace(root: &Path, path: &str, bytes: &[u8]) {
    let outside = tempfile::tempdir_in(root.parent().unwrap()).unwrap();
    fs::write(outside.path().join("new"), bytes).unwrap();
    fs::rename(outside.path().join("new"), root.join(path)).unwrap();
}
