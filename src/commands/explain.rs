//! `skillserve explain`: the pages of the codes.

use std::io::Write as _;

use crate::finding::{Code, Kind};

use super::Exit;
use super::output::Output;

/// Prints the page of a code, or a line for each of them.
///
/// # Errors
/// A standard output that cannot be written to.
pub fn explain(code: Option<Code>) -> anyhow::Result<Exit> {
    let mut out = Output::new();
    match code {
        Some(code) => write!(out, "{}", page(code))?,
        None => {
            let width = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or(0);
            for code in Code::ALL {
                writeln!(out, "{:width$}  {:7}  {}", code.as_str(), code.kind().as_str(), code.title())?;
            }
        }
    }
    Ok(Exit::Clean)
}

/// The page, with the code and what it costs below the title.
fn page(code: Code) -> String {
    let (title, rest) = code.page().split_once('\n').unwrap_or((code.page(), ""));
    format!("{title}\n\n{}: {}\n{rest}", code.as_str(), level(code.kind()))
}

/// What a finding of this kind is where no rule says otherwise.
fn level(kind: Kind) -> &'static str {
    match kind {
        Kind::Cost => "error",
        Kind::Fault => "warning, or error where it costs a skill",
        Kind::Further => "warning, told by `check`",
        Kind::Host => "warning, told by `check` and with `--hosts`",
        Kind::Quiet => "off, told if `--rule` says so",
    }
}
