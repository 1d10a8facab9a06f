//! Where a skill that is served would not load all the same: what the readers and limits of known hosts make of it.
//!
//! Everything here is pure, and about skills that this server takes. Each rule's page says which hosts it was tried with.

mod chatgpt;
mod field_types;
mod file_names;
mod messages;
mod older_yaml;
mod python;
mod typescript;
mod yaml_1_1;

use crate::finding::{Code, Elsewhere, Host, Loss, Problem};
use crate::frontmatter::Frontmatter;
use crate::problem::problem;
use crate::yaml::outline::{Outline, outline};

pub(crate) use chatgpt::too_many as too_many_for_chatgpt;
pub(crate) use field_types::elsewhere as of_field;

/// A file or directory of a skill.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// The path below the skill's directory.
    pub path: String,
    /// Of a file, its bytes, and how many bytes of a message carry it.
    pub file: Option<(u64, u64)>,
}

/// What is wrong with a file for some hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The path below the skill's directory; empty for the directory.
    pub path: String,
    pub code: Code,
    pub message: String,
    pub help: String,
    pub elsewhere: Vec<Elsewhere>,
}

/// Judges the text of a `SKILL.md` whose frontmatter is this.
pub(crate) fn in_frontmatter(file: &str, frontmatter: &Frontmatter) -> Vec<Problem> {
    let fences = &frontmatter.fences;
    let text = file.get(fences.yaml.clone()).unwrap_or("");
    let written = Text { text, start: fences.yaml.start, outline: outline(text) };
    let mut problems = python::around(file, frontmatter);
    problems.extend(older_yaml::values(&written));
    problems.extend(older_yaml::block_at_end(&written));
    problems.extend(python::unreadable(&written, frontmatter));
    problems.extend(typescript::unreadable(&written));
    problems
}

/// Judges the files of a skill of this name, for these hosts.
pub(crate) fn in_files(name: &str, held: &[Held], hosts: &[Host]) -> Vec<Fault> {
    let mut faults = file_names::unportable(name, held);
    faults.extend(file_names::collisions(held));
    faults.extend(messages::too_large(held));
    if hosts.contains(&Host::ChatGpt) {
        faults.extend(chatgpt::over(held));
    }
    faults
}

/// A frontmatter's YAML, and how it is written.
struct Text<'a> {
    text: &'a str,
    /// Where it begins in the file.
    start: usize,
    outline: Outline,
}

impl Text<'_> {
    /// What a span of the outline says.
    fn slice(&self, span: &std::ops::Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or("")
    }

    /// A problem that costs these hosts the skill.
    fn skill(
        &self,
        code: Code,
        span: &std::ops::Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
        hosts: &[Host],
    ) -> Problem {
        let span = self.start + span.start..self.start + span.end;
        Problem { elsewhere: Elsewhere::each(Loss::Skill, hosts), ..problem(code, span, message, help) }
    }
}

#[cfg(test)]
mod tests;
