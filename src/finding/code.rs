//! The kinds of findings. A code never changes its name; its page lies in `src/explain`.

use crate::nearest::nearest;

/// How a kind of finding is treated where no rule says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An error: it always costs a skill, so no rule can silence it.
    Cost,
    /// A warning; an error where it costs a skill.
    Fault,
    /// A warning that only `check` looks for, unless a rule asks for it.
    Further,
    /// A warning about what other programs do, looked for by `check` and wherever hosts are picked.
    Host,
    /// Counted but not told, unless a rule asks for it.
    Quiet,
}

impl Kind {
    /// The word for it in a list of codes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cost => "error",
            Self::Fault | Self::Further | Self::Host => "warning",
            Self::Quiet => "off",
        }
    }
}

macro_rules! codes {
    ($( $variant:ident = $name:literal, $kind:ident; )+) => {
        /// The kinds of findings. A code's documentation is its published page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $( #[doc = include_str!(concat!("../explain/", $name, ".md"))] $variant, )+
        }

        impl Code {
            /// Every code, in the order of this table.
            pub const ALL: &[Self] = &[$( Self::$variant, )+];

            /// The stable name, as printed in brackets.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $name, )+ }
            }

            /// How it is treated where no rule says otherwise.
            pub fn kind(self) -> Kind {
                match self { $( Self::$variant => Kind::$kind, )+ }
            }

            /// Its page, in Markdown: what it means, why it matters, an example, and the cure.
            pub fn page(self) -> &'static str {
                match self { $( Self::$variant => include_str!(concat!("../explain/", $name, ".md")), )+ }
            }
        }
    };
}

codes! {
    NoFrontmatter = "no-frontmatter", Cost;
    UnclosedFrontmatter = "unclosed-frontmatter", Cost;
    NotUtf8 = "not-utf8", Cost;
    FrontmatterTooLarge = "frontmatter-too-large", Cost;
    YamlSyntax = "yaml-syntax", Cost;
    YamlDuplicateKey = "yaml-duplicate-key", Cost;
    YamlDepth = "yaml-depth", Cost;
    YamlAlias = "yaml-alias", Cost;
    YamlNotJson = "yaml-not-json", Cost;
    NotAMapping = "not-a-mapping", Cost;
    NameMissing = "name-missing", Cost;
    NameNotString = "name-not-string", Cost;
    NameInvalid = "name-invalid", Cost;
    NameMismatch = "name-mismatch", Cost;
    DescriptionMissing = "description-missing", Cost;
    DescriptionNotString = "description-not-string", Cost;
    DescriptionBlank = "description-blank", Cost;
    DescriptionTooLong = "description-too-long", Cost;
    UnknownField = "unknown-field", Fault;
    FieldType = "field-type", Fault;
    ReservedKey = "reserved-key", Fault;
    WrongCase = "wrong-case", Cost;
    NoSkills = "no-skills", Fault;
    TooManyFiles = "too-many-files", Cost;
    TooLarge = "too-large", Cost;
    UriTaken = "uri-taken", Cost;
    InsideAnotherSkill = "inside-another-skill", Cost;
    LinkLeaves = "link-leaves", Fault;
    LinkDangles = "link-dangles", Fault;
    LinkLoop = "link-loop", Fault;
    LinkBudget = "link-budget", Fault;
    LinkRefused = "link-refused", Fault;
    SpecialFile = "special-file", Fault;
    SkillMdDirectory = "skill-md-directory", Cost;
    Secret = "secret", Fault;
    NameNotUtf8 = "name-not-utf8", Fault;
    Unreadable = "unreadable", Fault;
    TooDeep = "too-deep", Fault;
    TooManyEntries = "too-many-entries", Cost;
    IgnoreFile = "ignore-file", Fault;
    Changing = "changing", Fault;
    Kept = "kept", Fault;
    Refused = "refused", Cost;
    Junk = "junk", Quiet;
    HiddenUnicode = "hidden-unicode", Fault;
    LinkNotServed = "link-not-served", Further;
    YamlVersions = "yaml-versions", Host;
    YamlDate = "yaml-date", Host;
    YamlBlockEnd = "yaml-block-end", Host;
    YamlPython = "yaml-python", Host;
    YamlTypescript = "yaml-typescript", Host;
    ByteOrderMark = "byte-order-mark", Host;
    FenceBlanks = "fence-blanks", Host;
    FileName = "file-name", Host;
    FileNameCollision = "file-name-collision", Host;
    MessageTooLarge = "message-too-large", Host;
    ChatgptLimits = "chatgpt-limits", Host;
}

impl Code {
    /// The code of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// The code that somebody means who writes it in capitals, with blanks or underscores, or as it stands in a finding:
    /// `error[yaml-syntax]`.
    pub fn meant(written: &str) -> Option<Self> {
        Self::named(&plain(written))
    }

    /// What to tell after the words that there is no code of this name.
    pub fn hint(written: &str) -> String {
        match nearest(&plain(written), Self::ALL.iter().map(|code| code.as_str())) {
            Some(nearest) => format!("; did you mean {nearest}? `skillserve explain` lists them all"),
            None => ": `skillserve explain` lists them".to_owned(),
        }
    }

    /// The heading of its page.
    pub fn title(self) -> &'static str {
        self.page().lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

/// What is written, in the form of a code.
fn plain(written: &str) -> String {
    let inner = written.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let inner = inner.map_or(written, |(inner, _)| inner).trim();
    inner.to_lowercase().replace(|c: char| c == '_' || c.is_whitespace(), "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_known_however_it_is_written() {
        let check = |written: &str, expected| assert_eq!(Code::meant(written), expected, "{written}");
        for written in [
            "yaml-syntax",
            "YAML-Syntax",
            "yaml_syntax",
            " yaml syntax",
            "[yaml-syntax]",
            "error[yaml-syntax]",
        ] {
            check(written, Some(Code::YamlSyntax));
        }
        check("yaml-sintax", None);
        check("", None);
        assert_eq!(
            Code::hint("YAML_sintax"),
            "; did you mean yaml-syntax? `skillserve explain` lists them all"
        );
        assert_eq!(Code::hint("nothing"), ": `skillserve explain` lists them");
    }

    #[test]
    fn codes_are_told_apart_by_their_names() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(Code::ALL.iter().all(|code| Code::named(code.as_str()) == Some(*code)));
    }

    #[test]
    fn every_page_says_what_why_an_example_and_the_cure() {
        for code in Code::ALL {
            // An example stands in a fence.
            let text = code.page().split("```").step_by(2).collect::<String>();
            let headings: Vec<_> = text.lines().filter(|line| line.starts_with('#')).collect();
            assert_eq!(headings.len(), 5, "{code:?}: {headings:?}");
            assert_eq!(headings[1..], ["## What", "## Why", "## Example", "## Cure"], "{code:?}");
            let is_title = |title: &str| title.len() < 70 && !title.ends_with('.');
            assert!(is_title(code.title()), "{code:?}: {}", code.title());
            let sections = code.page().split("\n## ").skip(1);
            assert!(sections.map(str::lines).all(|mut lines| lines.nth(2).is_some()), "{code:?}");
            assert!(code.page().lines().all(|line| line.chars().count() <= 110), "{code:?}");
        }
    }

    #[test]
    fn a_page_names_the_section_of_a_rule_and_not_its_number() {
        let is_number = |word: &str| {
            let digits = word.strip_prefix(|c: char| c.is_ascii_uppercase());
            digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        };
        for code in Code::ALL {
            let mut words = code.page().split(|c: char| !c.is_alphanumeric());
            assert_eq!(words.find(|word| is_number(word)), None, "{code:?}");
        }
    }
}
