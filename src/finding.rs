//! What is wrong with a skill, where, and the cure: one [`Finding`] each, with a [`Code`] that never changes.

mod code;
mod host;
mod place;

use std::ops::Range;
use std::path::PathBuf;

pub use code::{Code, Kind};
pub use host::{Elsewhere, Host, Loss};
pub use place::Place;

/// How much a finding costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing is lost, or one supporting file is.
    Warning,
    /// A skill is not served.
    Error,
}

impl Severity {
    /// The word that stands before a finding.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing that is wrong, told once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// What kind it is.
    pub code: Code,
    /// What it costs.
    pub severity: Severity,
    /// The file or directory, below its root as the root was typed. An error names what should have been the skill's
    /// `SKILL.md`, so that errors can be counted by skill.
    pub path: PathBuf,
    /// Where in that file, when it is about the text.
    pub place: Option<Place>,
    /// What is wrong, in one sentence without a full stop. It may quote untrusted text raw: whoever prints it escapes.
    pub message: String,
    /// What to do about it, in the imperative, without a full stop.
    pub help: String,
    /// The hosts that it costs something, in the order of [`Host::ALL`].
    pub elsewhere: Vec<Elsewhere>,
    /// Whether it is an error only because a rule says so. Then it may be about any file of the skill that it costs.
    pub is_by_rule: bool,
}

impl Finding {
    /// A finding about a file or directory as a whole.
    pub fn new(
        code: Code,
        severity: Severity,
        path: impl Into<PathBuf>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity,
            path: path.into(),
            place: None,
            message: message.into(),
            help: help.into(),
            elsewhere: Vec::new(),
            is_by_rule: false,
        }
    }

    /// The same with a place in the file.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place: Some(place), ..self }
    }

    /// Whether it blanks a whole listing somewhere.
    pub fn blanks_a_listing(&self) -> bool {
        self.elsewhere.iter().any(|elsewhere| elsewhere.loss == Loss::Listing)
    }
}

/// A fault in a text, before it is known which file it stands in: what a pure parser reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind it is.
    pub code: Code,
    /// The bytes of the file that it is about; empty for a point.
    pub span: Range<usize>,
    /// As in [`Finding::message`].
    pub message: String,
    /// As in [`Finding::help`].
    pub help: String,
    /// As in [`Finding::elsewhere`].
    pub elsewhere: Vec<Elsewhere>,
}

impl Problem {
    /// The finding about the file at `path` with these bytes.
    pub fn found(self, severity: Severity, path: impl Into<PathBuf>, bytes: &[u8]) -> Finding {
        let place = Place::of(bytes, &self.span);
        let finding = Finding::new(self.code, severity, path, self.message, self.help).at(place);
        Finding { elsewhere: self.elsewhere, ..finding }
    }
}
