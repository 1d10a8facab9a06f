//! Which findings are told, and what they cost: `--rule`, `--hosts` and `--portable`, applied to every finding by
//! [`Rules::settle`] and nowhere else, so that all commands agree.

use std::collections::BTreeMap;

use crate::finding::{Code, Finding, Host, Kind, Severity};

/// What is done about a kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It is not told.
    Off,
    /// It is told.
    Warn,
    /// It is told, and a skill that has it is not served.
    Error,
}

/// How findings are treated.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    levels: BTreeMap<Code, Level>,
    hosts: Vec<Host>,
    portable: bool,
    in_full: bool,
}

/// Why a word is no rule that can be set, and what to do.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Not `CODE=LEVEL`.
    #[error("it takes CODE=off, CODE=warn or CODE=error, for example unknown-field=off")]
    Form,
    /// No such code.
    #[error("there is no code {0:?}{hint}", hint = Code::hint(.0))]
    Unknown(String),
    /// A kind that always costs a skill.
    #[error(
        "{0} cannot be set to {1}: a skill that has it cannot be served, and must not be missing without a word"
    )]
    Cost(&'static str, String),
}

impl Rules {
    /// Judges for these hosts too; for the usual ones if none is named and `portable` is set.
    ///
    /// With `portable`, what makes one of them lose a whole listing is an error.
    #[must_use]
    pub fn for_hosts(self, hosts: &[Host], portable: bool) -> Self {
        let hosts = if hosts.is_empty() && portable { Host::DEFAULT } else { hosts };
        Self { hosts: hosts.to_vec(), portable, ..self }
    }

    /// Looks for everything that any rule knows, as `check` does: also for the usual hosts, if none is named.
    #[must_use]
    pub fn in_full(self) -> Self {
        let hosts = if self.hosts.is_empty() { Host::DEFAULT.to_vec() } else { self.hosts };
        Self { in_full: true, hosts, ..self }
    }

    /// Takes a word `CODE=LEVEL`.
    ///
    /// # Errors
    /// A word that is no rule, or one that would hide that a skill is lost.
    pub fn set(&mut self, word: &str) -> Result<(), RuleError> {
        let (name, level) = word.split_once('=').ok_or(RuleError::Form)?;
        let code = Code::named(name).ok_or_else(|| RuleError::Unknown(name.to_owned()))?;
        let parsed = match level {
            "off" => Level::Off,
            "warn" => Level::Warn,
            "error" => Level::Error,
            _ => return Err(RuleError::Form),
        };
        if code.kind() == Kind::Cost && parsed != Level::Error {
            return Err(RuleError::Cost(code.as_str(), level.to_owned()));
        }
        self.levels.insert(code, parsed);
        Ok(())
    }

    /// Whether it is worth the while to look for findings of this kind.
    pub fn wants(&self, code: Code) -> bool {
        match self.levels.get(&code) {
            Some(level) => *level != Level::Off,
            None => match code.kind() {
                Kind::Cost | Kind::Fault => true,
                Kind::Further => self.in_full,
                Kind::Host => !self.hosts.is_empty(),
                Kind::Quiet => false,
            },
        }
    }

    /// The hosts that skills are judged for.
    pub fn hosts(&self) -> &[Host] {
        // A rule about hosts that was asked for by name is about the usual ones.
        let by_rule =
            self.levels.iter().any(|(code, level)| code.kind() == Kind::Host && *level != Level::Off);
        if self.hosts.is_empty() && by_rule { Host::DEFAULT } else { &self.hosts }
    }

    /// Gives a finding the severity that the rules say; `None` if it is not told.
    ///
    /// What costs a skill stays an error whatever they say. Whoever serves has to leave out the skill of a finding that
    /// was no error before.
    pub fn settle(&self, mut finding: Finding) -> Option<Finding> {
        finding.elsewhere.retain(|elsewhere| self.hosts().contains(&elsewhere.host));
        if finding.severity == Severity::Error {
            return Some(finding);
        }
        if finding.code.kind() == Kind::Host && finding.elsewhere.is_empty() || !self.wants(finding.code) {
            return None;
        }
        let is_error = match self.levels.get(&finding.code) {
            Some(level) => *level == Level::Error,
            None => self.portable && finding.blanks_a_listing(),
        };
        if is_error {
            finding.severity = Severity::Error;
            finding.is_by_rule = true;
        }
        Some(finding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Elsewhere, Loss};

    fn rules(words: &[&str]) -> Rules {
        let mut rules = Rules::default();
        words.iter().for_each(|word| rules.set(word).unwrap());
        rules
    }

    fn check(
        rules: &Rules,
        code: Code,
        severity: Severity,
        elsewhere: &[Elsewhere],
        expected: Option<Severity>,
    ) {
        let finding =
            Finding { elsewhere: elsewhere.to_vec(), ..Finding::new(code, severity, "a", "m", "h") };
        assert_eq!(rules.settle(finding).map(|finding| finding.severity), expected, "{code:?} {rules:?}");
    }

    #[test]
    fn a_rule_decides_whether_and_how_a_finding_is_told() {
        use Severity::{Error, Warning};
        check(&rules(&[]), Code::Secret, Warning, &[], Some(Warning));
        check(&rules(&["secret=off"]), Code::Secret, Warning, &[], None);
        check(&rules(&["secret=error"]), Code::Secret, Warning, &[], Some(Error));
        check(&rules(&["secret=error", "secret=warn"]), Code::Secret, Warning, &[], Some(Warning));
        check(&rules(&["secret=off"]), Code::Secret, Error, &[], Some(Error));
        check(&rules(&[]), Code::Junk, Warning, &[], None);
        check(&rules(&["junk=warn"]), Code::Junk, Warning, &[], Some(Warning));
        check(&rules(&[]), Code::LinkNotServed, Warning, &[], None);
        check(&rules(&[]).in_full(), Code::LinkNotServed, Warning, &[], Some(Warning));
    }

    #[test]
    fn a_host_rule_is_told_to_those_who_picked_the_host() {
        use Severity::{Error, Warning};
        let skill = Elsewhere::each(Loss::Skill, &[Host::FastMcp]);
        let listing = Elsewhere::each(Loss::Listing, &[Host::FastAgent]);
        let picked = |hosts: &[Host], portable| rules(&[]).for_hosts(hosts, portable);
        check(&rules(&[]), Code::YamlDate, Warning, &skill, None);
        check(&picked(&[Host::FastMcp], false), Code::YamlDate, Warning, &skill, Some(Warning));
        check(&picked(&[Host::TypeScript], false), Code::YamlDate, Warning, &skill, None);
        check(&rules(&["yaml-date=error"]), Code::YamlDate, Warning, &skill, Some(Error));
        check(&picked(&[], true), Code::YamlDate, Warning, &skill, Some(Warning));
        check(&picked(&[], true), Code::FileName, Warning, &listing, Some(Error));
        check(&picked(&[Host::TypeScript], true), Code::FileName, Warning, &listing, None);
        let lenient = rules(&["file-name=warn"]).for_hosts(&[], true);
        check(&lenient, Code::FileName, Warning, &listing, Some(Warning));
        // A fault of the format is told whatever it costs elsewhere.
        check(&rules(&[]), Code::FieldType, Warning, &listing, Some(Warning));
        check(&picked(&[], true), Code::FieldType, Warning, &listing, Some(Error));
    }

    #[test]
    fn a_word_that_is_no_rule_is_refused_with_a_sentence() {
        let refused = |word: &str| Rules::default().set(word).unwrap_err().to_string();
        insta::assert_snapshot!(refused("secret"), @"it takes CODE=off, CODE=warn or CODE=error, for example unknown-field=off");
        insta::assert_snapshot!(refused("secret=info"), @"it takes CODE=off, CODE=warn or CODE=error, for example unknown-field=off");
        insta::assert_snapshot!(refused("secrets=off"), @r#"there is no code "secrets"; did you mean secret? `skillserve explain` lists them all"#);
        insta::assert_snapshot!(refused("yaml-syntax=off"), @"yaml-syntax cannot be set to off: a skill that has it cannot be served, and must not be missing without a word");
    }
}
