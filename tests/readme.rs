//! What the documents say, held against what is there: the README's transcript is run again, and the rules that comments name
//! are listed.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};
use std::path::Path;
use std::process::Command;

#[test]
fn the_transcript_is_what_its_commands_print() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = read_to_string(project.join("README.md")).unwrap();
    let transcript = readme.split("```console\n").nth(1).unwrap().split("```").next().unwrap();

    let work = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(project.join("skills-example"), work.path().join("skills-example")).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_skillserve")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());

    let mut printed = String::new();
    for command in commands(transcript) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec 2>&1\n{command}")]).current_dir(&work);
        // Without the environment of the person who runs the tests.
        shell.env_clear().env("PATH", &path);
        printed.push_str(&format!("$ {}\n", command.replace('\n', "\n> ")));
        printed.push_str(&String::from_utf8(shell.output().unwrap().stdout).unwrap());
    }
    assert_eq!(printed, transcript);
}

/// The lines after a prompt, each with those that continue it.
fn commands(transcript: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in transcript.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_owned());
        } else if let (Some(rest), Some(command)) = (line.strip_prefix("> "), commands.last_mut()) {
            command.push('\n');
            command.push_str(rest);
        }
    }
    commands
}

#[test]
fn every_rule_that_a_comment_names_is_listed_and_no_other() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = read_to_string(project.join("docs/rules.md")).unwrap();
    let listed: BTreeSet<_> =
        table.lines().filter_map(|line| line.strip_prefix("| ")).flat_map(ids).collect();
    let mut named = BTreeSet::new();
    add_named(&project.join("src"), &mut named);
    assert_eq!(named, listed);
}

/// Adds the ids in the comments of all sources below `dir`.
fn add_named(dir: &Path, named: &mut BTreeSet<String>) {
    for path in read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            add_named(&path, named);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = read_to_string(&path).unwrap();
            named.extend(text.lines().filter_map(|line| line.trim_start().strip_prefix("//")).flat_map(ids));
        }
    }
}

/// Words of a capital and a digit. A span such as `N1–N3` stands for all that are in it.
fn ids(line: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let mut is_span = false;
    for word in line.split_inclusive(|end: char| !end.is_ascii_alphanumeric()) {
        let id = word.trim_end_matches(|end: char| !end.is_ascii_alphanumeric());
        if let [letter @ b'A'..=b'Z', digit @ b'0'..=b'9'] = *id.as_bytes() {
            let begin = ids.last().filter(|_| is_span).map_or(digit, |begin| begin.as_bytes()[1] + 1);
            ids.extend((begin..=digit).map(|digit| format!("{}{}", char::from(letter), char::from(digit))));
        }
        is_span = word.ends_with('–');
    }
    ids
}
