//! The `.skillignore` of a directory: found, read through the same handles as everything else, and obeyed or told of.

use std::ffi::OsStr;
use std::sync::Arc;

use super::Links;
use super::entry::Lister;
use super::limits::{IGNORE_FILE_MAX_BYTES, PATTERN_ENTRIES};
use super::read::{ReadError, read_in};
use super::resolve::{self, Resolved};
use super::rules::{self, IGNORE_FILE};
use crate::finding::{Code, Place, Severity};

impl Lister<'_> {
    /// Adds the directory's own ignore file to the rules. If that cannot be read as a whole, nothing of the directory may
    /// be served, for what its author wanted to keep back is not known: then the answer is `false`. A single line that is
    /// no pattern is passed over, as git does, and told.
    pub(super) fn read_rules(&mut self) -> bool {
        let text = match self.rules_text() {
            Ok(text) => text,
            Err(reason) => return self.refuse_rules(&reason),
        };
        // To compile one takes long, and few change.
        let known = self.memory.and_then(|node| node.own.rules.file()).filter(|known| *known.text == *text);
        let file = match known.cloned().map_or_else(|| rules::parse(text).map(Arc::new), Ok) {
            Ok(file) => file,
            Err(reason) => return self.refuse_rules(&format!("its patterns cannot be used: {reason}")),
        };
        let served = self.served(IGNORE_FILE);
        for line in &file.bad {
            let message = format!("the line is no pattern: {}", line.reason);
            let finding = self.walk.finding(&served, Code::IgnoreFile, message, line.help);
            self.own.rare().findings.push(finding.at(Place::of(&file.text, &line.span)));
        }
        self.own.entries += file.len() * PATTERN_ENTRIES;
        self.own.rules = self.own.rules.with(&self.spot.served, file);
        true
    }

    fn rules_text(&mut self) -> Result<Vec<u8>, String> {
        let name = OsStr::new(IGNORE_FILE);
        let is_link = self.dir.symlink_metadata(name).is_ok_and(|metadata| metadata.is_symlink());
        let read = if !is_link {
            read_in(&self.dir, name, IGNORE_FILE_MAX_BYTES)
        } else if self.walk.policy.links == Links::Refuse {
            return Err("it is a link, and links are not followed".to_owned());
        } else {
            self.own.rare().has_links = true;
            let via = &mut self.own.rare().via;
            match resolve::resolve(self.walk.zones, &self.dir, &self.spot.site.place, name, via) {
                Ok(Resolved { dir, other: Some((name, _)), .. }) => {
                    read_in(&dir, &name, IGNORE_FILE_MAX_BYTES)
                }
                _ => return Err("it is a link that leads to no file".to_owned()),
            }
        };
        read.map_err(|error| match error {
            ReadError::Gone => "it is no regular file".to_owned(),
            other => other.to_string(),
        })
    }

    fn refuse_rules(&mut self, reason: &str) -> bool {
        let message =
            format!("the ignore file cannot be obeyed, so nothing of its directory is served: {reason}");
        let mut finding = self.walk.finding(
            &self.served(IGNORE_FILE),
            Code::IgnoreFile,
            message,
            "mend the file, or remove it",
        );
        finding.severity = Severity::Error;
        self.own.rare().findings.push(finding);
        false
    }
}
