//! What is wrong with a skill, where, and the cure: one [`Finding`] each, with a [`Code`] that never changes.

use std::ops::Range;
use std::path::PathBuf;

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

/// A place in a text file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in code points, counted from 1.
    pub column: u32,
    /// The text of the line, without its end, cut to a bounded window around the mark.
    pub excerpt: String,
    /// The bytes of `excerpt` that the finding is about; empty for a point.
    pub mark: Range<usize>,
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
}

macro_rules! codes {
    ($( $(#[doc = $doc:literal])+ $variant:ident = $name:literal, )+) => {
        /// The kinds of findings. A code's documentation is its published explanation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl Code {
            /// Every code, in the order of this table.
            pub const ALL: &[Self] = &[$( Self::$variant, )+];

            /// The stable name, as printed in brackets.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $name, )+ }
            }

            /// What the code means, why it matters and how to cure it.
            pub fn explanation(self) -> &'static str {
                match self { $( Self::$variant => concat!($( $doc, "\n", )+), )+ }
            }
        }
    };
}

codes! {
    /// The file does not begin with a line `---`, so it has no frontmatter (N1). Begin it with `---`, the fields, `---`.
    NoFrontmatter = "no-frontmatter",
    /// The frontmatter is opened by `---` but no later line is `---`. Close it.
    UnclosedFrontmatter = "unclosed-frontmatter",
    /// The file, or its frontmatter, is not UTF-8 (UTF-16 for example). Save it as UTF-8.
    NotUtf8 = "not-utf8",
    /// The frontmatter is larger than any host needs; it is refused before it is parsed.
    FrontmatterTooLarge = "frontmatter-too-large",
    /// The frontmatter is not YAML 1.2: an unquoted `: ` in a value, a tab as indentation, an unclosed quote, …
    YamlSyntax = "yaml-syntax",
    /// A mapping has the same key twice.
    YamlDuplicateKey = "yaml-duplicate-key",
    /// Collections are nested too deeply.
    YamlDepth = "yaml-depth",
    /// Aliases expand to too many nodes, or an alias stands within its own anchor.
    YamlAlias = "yaml-alias",
    /// A value or a key has no JSON form that all hosts agree on: `.nan`, `.inf`, a lone surrogate, a binary, a set, …
    YamlNotJson = "yaml-not-json",
    /// The frontmatter is a list, a text or another value, not a mapping of fields.
    NotAMapping = "not-a-mapping",
    /// There is no `name` (N2).
    NameMissing = "name-missing",
    /// The `name` is no text: quote it (N2).
    NameNotString = "name-not-string",
    /// The `name` does not keep the naming rule (N2).
    NameInvalid = "name-invalid",
    /// The `name` is not the name of the directory (N2, U2). Hosts look a skill up under both.
    NameMismatch = "name-mismatch",
    /// There is no `description` (N3).
    DescriptionMissing = "description-missing",
    /// The `description` is no text (N3).
    DescriptionNotString = "description-not-string",
    /// The `description` is empty or blank (N3).
    DescriptionBlank = "description-blank",
    /// The `description` is longer than 1,024 code points (N3).
    DescriptionTooLong = "description-too-long",
    /// A field that the format does not define. It is served as it stands (N5).
    UnknownField = "unknown-field",
    /// A field has another type or length than the format says (N4). It is served as it stands; some hosts refuse it.
    FieldType = "field-type",
    /// A `metadata` key begins with `io.modelcontextprotocol/`, which is reserved (E8).
    ReservedKey = "reserved-key",
    /// A file such as `skill.md` that would be a skill if its name were `SKILL.md` to the letter.
    WrongCase = "wrong-case",
    /// A root holds no skill at all. A skill is a directory with a `SKILL.md`; a flat `foo.md` is none.
    NoSkills = "no-skills",
    /// The skill has more files than every host must accept (E7).
    TooManyFiles = "too-many-files",
    /// The skill's files are larger in sum than every host must accept (E7).
    TooLarge = "too-large",
    /// Another skill, of an earlier root or the same, is already served at this URI.
    UriTaken = "uri-taken",
    /// The skill would lie inside a skill of another root, or enclose one (E4, E6).
    InsideAnotherSkill = "inside-another-skill",
    /// A link points out of every root and of every directory given by `--follow-links-to`.
    LinkLeaves = "link-leaves",
    /// A link points at nothing.
    LinkDangles = "link-dangles",
    /// A link leads back to itself or to a directory that encloses it.
    LinkLoop = "link-loop",
    /// Links lead to more entries than are looked at.
    LinkBudget = "link-budget",
    /// A link, where `--links refuse` says that none is followed.
    LinkRefused = "link-refused",
    /// A pipe, a socket or a device: never opened.
    SpecialFile = "special-file",
    /// `SKILL.md` is a directory.
    SkillMdDirectory = "skill-md-directory",
    /// A name that says it holds a secret (`.env`, `*.key`, `id_rsa`, …): withheld.
    Secret = "secret",
    /// A name that is not UTF-8, so no URI can name it portably.
    NameNotUtf8 = "name-not-utf8",
    /// It could not be read.
    Unreadable = "unreadable",
    /// The directories are nested more deeply, or the path is longer, than is looked at.
    TooDeep = "too-deep",
    /// The root has more entries than are looked at.
    TooManyEntries = "too-many-entries",
    /// A `.skillignore` has a line that is no pattern, or is too large.
    IgnoreFile = "ignore-file",
    /// It kept changing while it was read.
    Changing = "changing",
    /// The skill cannot be built right now, and its last good version is still served, for a while.
    Kept = "kept",
}

impl Place {
    /// The most bytes of a line that go into an excerpt. Each of them that is no UTF-8 takes three there.
    pub const EXCERPT_MAX_BYTES: usize = 160;

    /// The place of `span` in `text`, which need not be valid UTF-8 as a whole.
    pub fn of(text: &[u8], span: &Range<usize>) -> Self {
        let start = span.start.min(text.len());
        let end = span.end.clamp(start, text.len());
        let line_start = text[..start].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let line_end = text[start..].iter().position(|b| *b == b'\n').map_or(text.len(), |at| start + at);
        let line = text[..line_start].iter().filter(|b| **b == b'\n').count() + 1;
        let before = String::from_utf8_lossy(&text[line_start..start]);
        let column = before.trim_start_matches('\u{feff}').chars().count() + 1;

        let window_start = cut(text, start.saturating_sub(Self::EXCERPT_MAX_BYTES / 2), line_start);
        let window_end = cut(text, (window_start + Self::EXCERPT_MAX_BYTES).min(line_end), start);
        let head =
            String::from_utf8_lossy(&text[window_start..start]).trim_start_matches('\u{feff}').to_owned();
        let marked = String::from_utf8_lossy(&text[start..end.min(window_end).max(start)]).into_owned();
        let tail = String::from_utf8_lossy(&text[end.min(window_end).max(start)..window_end]);
        let mark = head.len()..head.len() + marked.trim_end_matches(['\r', '\n']).len();
        let excerpt = format!("{head}{marked}{tail}").trim_end_matches(['\r', '\n']).to_owned();
        Self {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            mark: mark.start.min(excerpt.len())..mark.end.min(excerpt.len()),
            excerpt,
        }
    }
}

/// Moves `at` back to the nearest place where a UTF-8 character can begin, but never below `floor`.
fn cut(text: &[u8], at: usize, floor: usize) -> usize {
    let at = at.max(floor);
    (floor..=at).rev().take(4).find(|i| text.get(*i).is_none_or(|b| b & 0xC0 != 0x80)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, span: Range<usize>, expected: (u32, u32, &str, &str)) {
        let place = Place::of(text.as_bytes(), &span);
        let marked = &place.excerpt[place.mark.clone()];
        assert_eq!((place.line, place.column, place.excerpt.as_str(), marked), expected);
    }

    #[test]
    fn a_place_counts_lines_and_code_points() {
        check("a\nbé: c\nd", 5..6, (2, 3, "bé: c", ":"));
        check("one\r\ntwo\r\n", 5..8, (2, 1, "two", "two"));
        check("\u{feff}---\nx", 3..6, (1, 1, "---", "---"));
        check("abc", 3..3, (1, 4, "abc", ""));
        check("", 0..0, (1, 1, "", ""));
        check("ab\ncd", 0..5, (1, 1, "ab", "ab"));
        check("ab", 7..9, (1, 3, "ab", ""));
    }

    #[test]
    fn an_excerpt_is_bounded_and_holds_its_mark() {
        let text = "é".repeat(1_000_000);
        let place = Place::of(text.as_bytes(), &(999_998..1_000_000));
        assert!(place.excerpt.len() <= 2 * Place::EXCERPT_MAX_BYTES);
        assert_eq!(&place.excerpt[place.mark], "é");
    }

    #[test]
    fn an_excerpt_never_begins_in_the_line_before() {
        let place = Place::of(b"\n\x80", &(1..2));
        assert_eq!((place.line, place.column, place.excerpt.as_str(), place.mark), (2, 1, "\u{fffd}", 0..3));
    }

    /// Bytes that make short lines and broken characters, and now and then a long line.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => prop::sample::select(b"a\n\r\x80\xc3\xa9\xef\xbb\xbf\xf0\x9f\xff".as_slice()).prop_map(|b| vec![b]),
            1 => (any::<u8>(), 1..200_usize).prop_map(|(b, times)| vec![b; times]),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_place_holds_for_any_bytes(text in bytes(), start in 0..2000_usize, len in 0..400_usize) {
            let place = Place::of(&text, &(start..start + len));
            prop_assert!(!place.excerpt.contains('\n'), "{place:?}");
            prop_assert!(place.excerpt.get(place.mark.clone()).is_some(), "{place:?}");
            prop_assert!(place.excerpt.len() <= 3 * Place::EXCERPT_MAX_BYTES, "{place:?}");
            let before = text.get(..start).unwrap_or(&text);
            let lines = before.iter().filter(|b| **b == b'\n').count() + 1;
            prop_assert_eq!(usize::try_from(place.line).unwrap(), lines);
        }
    }

    #[test]
    fn codes_are_told_apart_by_their_names() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
