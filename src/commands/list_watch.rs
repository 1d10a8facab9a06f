//! `skillserve list --watch`: says what changes, as it is seen.

use std::collections::HashSet;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use crate::catalog::{Changes, Snapshot};
use crate::cli::Source;
use crate::finding::{Finding, Severity};
use crate::report;
use crate::skill::SKILL_MD;
use crate::tree::Hint;
use crate::uri;
use crate::watch::When;

use super::Exit;
use super::look::Looked;
use super::looker::Looker;
use super::output::Output;
use super::serve::{run, stopped};

/// Prints a line for each skill that is served, and then one for each that is added, changed, removed or newly refused.
/// What is wrong with those that are refused goes to stderr.
///
/// # Errors
/// A root that cannot be opened, or a standard output that cannot be written to.
pub fn list_watch(source: Source, when: When) -> anyhow::Result<Exit> {
    run(async {
        let looker = Arc::new(Looker::new(source, Duration::ZERO, false, when)?);
        let stopped = stopped()?;
        let watch = async {
            let mut hint = Hint::Everything;
            loop {
                let before = looker.last();
                let looking = looker.clone();
                tokio::task::spawn_blocking(move || looking.look(&hint))
                    .await?
                    .map_err(anyhow::Error::msg)?;
                if let Some(now) = looker.last() {
                    Output::new().write_all(lines(before.as_deref(), &now).as_bytes())?;
                }
                hint = looker.reason().await;
            }
        };
        tokio::select! {
            () = stopped => Ok(Exit::Clean),
            ended = watch => ended,
        }
    })
}

fn lines(before: Option<&Looked>, now: &Looked) -> String {
    let nothing = Snapshot::default();
    let Changes { added, changed, removed } =
        now.snapshot().changes_since(before.map_or(&nothing, |before| before.snapshot()));
    let told: HashSet<&Finding> = before.iter().flat_map(|before| before.findings()).collect();
    let is_new = |finding: &&Finding| finding.severity == Severity::Error && !told.contains(finding);
    let refused = now.findings().iter().filter(is_new).map(|finding| report::escape::path(&finding.path));
    let uri = |path: String| uri::from_path(&format!("{path}/{SKILL_MD}"));
    let lines = [("added", added), ("changed", changed), ("removed", removed)]
        .into_iter()
        .flat_map(|(what, paths)| paths.into_iter().map(move |path| (what, uri(path))))
        .chain(refused.map(|path| ("refused", path)));
    lines.map(|(what, which)| format!("{what:<8} {which}\n")).collect()
}
