//! The README's transcript, run again: every command that it shows gives the output that it shows.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

#[test]
fn the_transcript_is_what_its_commands_print() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(project.join("README.md")).unwrap();
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
