//! All that a run needs to know, whichever way it was said.

use std::path::PathBuf;
use std::time::Duration;

use tracing_subscriber::filter::LevelFilter;

use crate::finding::Code;
use crate::tree::{self, Mount};
use crate::watch::When;
use crate::{catalog, http, log, mcp};

use super::Environment;

/// Everything that a run needs to know.
#[derive(Debug)]
pub struct Config {
    /// How much is told on stderr.
    pub log_level: LevelFilter,
    /// How it is told.
    pub log_format: log::Format,
    /// Which of this came from variables.
    pub environment: Environment,
    /// What is done with them.
    pub command: Command,
}

/// What is done with the skills.
#[derive(Debug)]
pub enum Command {
    /// Serve them over stdin and stdout.
    Stdio(Source, Serving),
    /// Serve them over HTTP.
    Http(Source, Serving, Box<Listening>),
    /// Say what is wrong with them.
    Check(Source, Checking),
    /// Say which would be served.
    List {
        /// The skills.
        source: Source,
        /// As `skills/list` gives them, not as a table.
        json: bool,
        /// When to look again, and say what changed, until told to stop.
        watch: Option<When>,
    },
    /// Write what their files are into a file, so that servers start faster.
    Index {
        /// The skills.
        source: Source,
        /// The file.
        output: PathBuf,
    },
    /// Print the page of a code; without one, list them all.
    Explain(Option<Code>),
}

impl Command {
    /// Whether each message says when it was written. Who runs a server by itself wants to know. A host that starts one adds
    /// the time to what it takes down, and who types another command reads at once.
    pub fn tells_when(&self) -> bool {
        matches!(self, Self::Http(..))
    }
}

/// How `check` says what it found.
#[derive(Debug)]
pub struct Checking {
    /// In which format.
    pub format: Format,
    /// Whether warnings are as bad as errors for the exit code.
    pub deny_warnings: bool,
    /// What was named but is no part of any skill, so that it is not looked at.
    pub passed_over: Vec<PathBuf>,
}

/// The formats of `check`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Source lines with marks, for people.
    #[default]
    Text,
    /// One JSON object; schemas/check.schema.json in the repository describes it.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of GitHub's workflows.
    Github,
}

/// Where skills come from and which are fit to be served.
#[derive(Debug)]
pub struct Source {
    /// The directories.
    pub mounts: Vec<Mount>,
    /// What is looked at in them.
    pub tree: tree::Options,
    /// How skills are judged.
    pub catalog: catalog::Options,
}

/// How serving starts, and what is answered.
#[derive(Debug)]
pub struct Serving {
    /// What every answer says of the server.
    pub mcp: mcp::Options,
    /// Whether one skill that cannot be served is reason enough to serve none.
    pub strict: bool,
    /// How long to wait for a directory that is not there yet.
    pub wait_for_root: Duration,
    /// When the directories are looked at again.
    pub watch: When,
    /// Where what is known of files is kept for the next start.
    pub index: Option<PathBuf>,
}

/// Where HTTP is listened for.
#[derive(Debug)]
pub struct Listening {
    /// At which place.
    pub address: http::Address,
    /// With which certificate; without TLS if there is none.
    pub tls: Option<http::TlsFiles>,
    /// The same for the one who runs this server, where that is another place.
    pub admin: Option<http::Address>,
    /// What is served there, to whom, and how it ends.
    pub http: http::Options,
}
