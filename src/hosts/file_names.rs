//! Names that not every system can hold, and names that are one on some.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;

use crate::finding::{Code, Elsewhere, Host, Loss};

use super::{Fault, Held};

/// The characters that Windows does not allow in a name, besides controls.
const NOT_ON_WINDOWS: [char; 8] = ['<', '>', ':', '"', '|', '?', '*', '\\'];
/// The names that Windows keeps for devices, whatever extension they have. Those of ports have a digit from 1 to 9.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
const PORTS: [&str; 2] = ["com", "lpt"];
/// The longest path below a skill that fast-agent takes, in code points.
const PATH_MAX_CHARS: usize = 1024;
/// The file in which fast-agent keeps where a skill came from.
const FAST_AGENT_FILE: &str = ".skill-source.json";
/// The most names of which faults are told one by one.
const TOLD_MAX: usize = 20;

/// Files and directories with such a name, the skill's own included.
pub(super) fn unportable(skill: &str, held: &[Held]) -> Vec<Fault> {
    let by_fast_agent = &[Host::FastAgent];
    let own = why_not(skill).map(|why| fault("", why, by_fast_agent));
    let named = held.iter().filter_map(|held| {
        let name = held.path.rsplit('/').next().unwrap_or_default();
        let why = why_not(name)?;
        let hosts: &[Host] =
            if name.contains('\\') { &[Host::FastMcp, Host::FastAgent] } else { by_fast_agent };
        let mut fault = fault(&held.path, why, hosts);
        if has_drive(&held.path) {
            fault.elsewhere.insert(0, Elsewhere { host: Host::FastMcp, loss: Loss::Skill });
        }
        Some(fault)
    });
    let long = held.iter().filter(|held| held.file.is_some() && held.path.chars().count() > PATH_MAX_CHARS);
    let long = long.map(|held| fault(&held.path, "the path is longer than 1024 characters", by_fast_agent));
    own.into_iter().chain(named).chain(long).take(TOLD_MAX).collect()
}

/// Why Windows, or a host that keeps to its rules, cannot hold a name.
fn why_not(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    let is_port =
        |port: &&str| stem.strip_prefix(*port).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']));
    if name.chars().any(|c| NOT_ON_WINDOWS.contains(&c)) {
        Some("the name has a character that Windows does not allow")
    } else if name.chars().any(|c| u32::from(c) < 32) {
        Some("the name has a control character, which Windows does not allow")
    } else if name.ends_with(['.', ' ']) {
        Some("the name ends with a dot or a blank, which Windows cuts off")
    } else if DEVICES.contains(&stem.as_str()) || PORTS.iter().any(is_port) {
        Some("the name is one that Windows keeps for a device")
    } else if name.eq_ignore_ascii_case(FAST_AGENT_FILE) {
        Some("the name is one that fast-agent keeps for itself")
    } else {
        None
    }
}

/// Whether Windows would read the path as one on a drive, `a:b` for example.
fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Paths that are equal after case folding and composition.
pub(super) fn collisions(held: &[Held]) -> Vec<Fault> {
    let mut folded: BTreeMap<String, &Held> = BTreeMap::new();
    let mut faults: Vec<Fault> = Vec::new();
    for held in held {
        let Some(first) = folded.insert(fold(&held.path), held) else { continue };
        // Two directories become one, which is told for the files in them.
        if held.file.is_none() && first.file.is_none() {
            continue;
        }
        let is_files = held.file.is_some() && first.file.is_some();
        let mut elsewhere = if is_files { listing(&[Host::FastAgent]) } else { Vec::new() };
        elsewhere.extend(Elsewhere::each(Loss::File, &[Host::Windows]));
        let message = format!("the path is that of {} where case does not count", first.path);
        faults.push(Fault { code: Code::FileNameCollision, elsewhere, ..fault(&held.path, &message, &[]) });
    }
    faults.truncate(TOLD_MAX);
    faults
}

fn fold(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    path.nfc().flat_map(char::to_lowercase).collect::<String>().replace('ß', "ss").replace('ς', "σ")
}

fn listing(hosts: &[Host]) -> Vec<Elsewhere> {
    Elsewhere::each(Loss::Listing, hosts)
}

fn fault(path: &str, message: &str, lists_nothing: &[Host]) -> Fault {
    let mut elsewhere = listing(lists_nothing);
    if !lists_nothing.is_empty() {
        elsewhere.extend(Elsewhere::each(Loss::File, &[Host::Windows]));
    }
    let (path, message) = (path.to_owned(), message.to_owned());
    Fault { path, code: Code::FileName, message, help: "rename it".to_owned(), elsewhere }
}
