//! What is said about an entry that is not served.

use std::ffi::OsStr;
use std::io;

use super::entry::Lister;
use super::limits::{LINK_MAX_HOPS, LINK_MAX_OPENS};
use super::names::Withheld;
use super::resolve::Broken;
use crate::finding::{Code, Severity};

const READ_RIGHT: &str = "give the server's user the right to read it, or exclude it";

impl Lister<'_> {
    pub(super) fn find(&mut self, served: &str, code: Code, message: String, help: &str) {
        self.own.rare().findings.push(self.walk.finding(served, code, message, help));
    }

    pub(super) fn unreadable(&mut self, served: &str, error: &io::Error) {
        // What was removed since the directory was listed is simply not there.
        if error.kind() != io::ErrorKind::NotFound {
            self.find(served, Code::Unreadable, format!("it could not be looked at: {error}"), READ_RIGHT);
        }
    }

    pub(super) fn not_utf8(&mut self, name: &OsStr) {
        let message = "the name is not UTF-8, so no URI can name it portably".to_owned();
        let mut finding =
            self.walk.finding(&self.spot.served, Code::NameNotUtf8, message, "rename it, or exclude it");
        finding.path = finding.path.join(name);
        finding.severity = Severity::Warning;
        self.own.rare().findings.push(finding);
    }

    pub(super) fn junk(&mut self, served: &str) {
        let message = "tools leave such names behind, so it is passed over".to_owned();
        self.find(served, Code::Junk, message, "remove it, or keep it out of version control");
    }

    pub(super) fn special(&mut self, served: &str) {
        let message = "it is a pipe, a socket or a device, which is never opened".to_owned();
        self.find(served, Code::SpecialFile, message, "replace it by a regular file, or exclude it");
    }

    pub(super) fn withhold(&mut self, served: &str) {
        let message = "the name says that it holds a secret, so it is withheld".to_owned();
        self.find(
            served,
            Code::Secret,
            message,
            "move it out of the served directory, or pass `--allow-secret GLOB` if it may be read",
        );
    }

    pub(super) fn withhold_target(&mut self, served: &str, why: Withheld) {
        let (message, help) = match why {
            Withheld::Never => (
                "the link leads into what version control or a package manager keeps, which is never served",
                "replace the link by a copy, or serve the target as a directory of its own",
            ),
            Withheld::Secret => (
                "the link leads to a name that says it holds a secret, so it is withheld",
                "remove the link, or pass `--allow-secret GLOB` with the target's name if it may be read",
            ),
        };
        self.find(served, Code::Secret, message.to_owned(), help);
    }

    pub(super) fn broken(&mut self, served: &str, name: &OsStr, broken: Broken) {
        let target = self.dir.read_link_contents(name).map(|target| target.display().to_string());
        let target = target.map_or_else(|_| String::new(), |target| format!(" to {target:?}"));
        let (code, message, help) = match broken {
            Broken::Leaves => (
                Code::LinkLeaves,
                format!("the link{target} leads out of every served directory"),
                "pass `--follow-links-to DIR` with the directory that it leads into, or replace it by a copy",
            ),
            Broken::Dangles => (
                Code::LinkDangles,
                format!("the link{target} leads to nothing"),
                "mend the link, or remove it",
            ),
            Broken::Loops => (
                Code::LinkLoop,
                format!("the link{target} leads in a circle, or through more than {LINK_MAX_HOPS} links"),
                "point it straight at a file or a directory",
            ),
            Broken::TooLong => (
                Code::TooDeep,
                format!("the link{target} leads through more than {LINK_MAX_OPENS} directories"),
                "point it straight at a file or a directory",
            ),
            Broken::Io(error) => {
                (Code::Unreadable, format!("the link{target} could not be followed: {error}"), READ_RIGHT)
            }
        };
        self.find(served, code, message, help);
    }
}
