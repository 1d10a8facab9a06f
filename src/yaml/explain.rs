//! Refusals in words that an author understands, with a cure that can be typed.

use std::ops::Range;

use granit_parser::{ErrorKind, ScanError};

use super::{DEPTH_MAX, NODES_MAX, anchor, line, scalar};
use crate::finding::{Code, Problem};
use crate::problem::{problem, shorten};

/// Puts the parser's error into words.
pub(super) fn explain(text: &str, error: &ScanError) -> Problem {
    let at = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return too_deep(at..at);
    }
    line::mistake(text, at, error.kind()).unwrap_or_else(|| plainly(text, at, error.kind()))
}

/// The error alone, where the line shows no common mistake.
fn plainly(text: &str, at: usize, kind: &ErrorKind) -> Problem {
    use ErrorKind as K;
    let rest = text.get(at..).unwrap_or("");
    let (message, help) = match kind {
        K::UnclosedQuotedScalar | K::DocumentIndicatorInQuotedScalar => (
            "a quote is opened and not closed",
            "close the quote, or put `\\\"` or `''` where the text itself has one",
        ),
        K::InvalidQuotedScalarIndent | K::TabInIndentation => (
            "a quote is still open in this line, which is not indented by spaces",
            "close the quote, or indent each further line of the value by two spaces",
        ),
        K::UnknownQuotedScalarEscape | K::InvalidQuotedScalarHexEscape | K::InvalidUnicodeEscape => {
            let backslash = at + unknown_escape(rest).unwrap_or(0);
            return problem(
                Code::YamlSyntax,
                backslash..backslash + 1,
                "a backslash in double quotes begins no escape that YAML knows",
                "write the backslash twice, or use single quotes",
            );
        }
        K::MissingLowSurrogate
        | K::InvalidLowSurrogate
        | K::UnpairedLowSurrogate
        | K::InvalidLowSurrogateHexEscape => {
            return problem(
                Code::YamlNotJson,
                first_line(at, rest),
                "an escape names half of a surrogate pair, which is no character",
                "write the character itself, or both halves of the pair",
            );
        }
        K::UnclosedFlowCollection { open } | K::MismatchedFlowCollectionEnd { open, .. } => {
            return problem(
                Code::YamlSyntax,
                one_character(at, rest),
                format!("the bracket `{open}` is not closed by its counterpart"),
                "close the bracket, or quote the value if it is text",
            );
        }
        K::MisplacedFlowCollectionEnd => {
            ("a closing bracket stands where none is open", "remove it, or quote the value")
        }
        K::ExpectedFlowMappingSeparator | K::ExpectedFlowSequenceSeparator => (
            "two entries between brackets are not separated by a comma",
            "put a comma between them, or quote the value if it is text",
        ),
        K::InvalidIndentation | K::InvalidFlowScalarIndent => (
            "a bracket is still open in this line, which is not indented",
            "close the bracket, or indent each further line by two spaces",
        ),
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInPlainScalar | K::TabAtBlockScalarStart => {
            // The parser's place is that of the value which goes on below.
            let tab = at + rest.find('\t').unwrap_or(0);
            let tab = one_character(tab, text.get(tab..).unwrap_or(""));
            return problem(Code::YamlSyntax, tab, "a tab is used as indentation", "indent with spaces");
        }
        K::SimpleKeyExpected | K::InvalidSimpleKey => (
            "this line is no `key: value` and does not belong to the value before it",
            "write `key: value`, or indent the line to make it go on with the value before",
        ),
        K::MappingValueNotAllowed => (
            "a second `: ` stands in a value that is not quoted",
            "put the value in quotes, or write it below `>-`",
        ),
        K::ExpectedBlockMappingKey | K::ExpectedBlockSequenceEntry | K::ExpectedDocumentStart => (
            "this line does not fit the lines before it",
            "give all keys of one mapping, and all `-` of one list, the same indentation",
        ),
        K::InvalidBlockScalarHeader | K::ZeroBlockScalarIndent => (
            "text stands on the line of `|` or `>`",
            "begin the text on the next line, indented by two spaces",
        ),
        K::InvalidBlockScalarIndent => (
            "the first lines of a block are indented by more than its text",
            "indent all lines of the text alike",
        ),
        K::CommentInterceptedScalar => {
            ("a comment stands in the middle of a value", "put the value in quotes, or move the comment")
        }
        K::CommentNotSeparated => ("`#` stands directly after a value", "put a space before `#`"),
        K::BlockSequenceEntryNotAllowed | K::BlockEntryInFlowCollection | K::InvalidBlockEntryWhitespace => (
            "a list entry `- ` stands where a list cannot begin",
            "begin the list on a line of its own, or quote the value if it is text",
        ),
        K::UnknownAnchor => (
            "a value that begins with `*` refers to an anchor, and there is none of that name",
            "put the value in quotes",
        ),
        K::DirectiveDisallowed => ("a line begins with `%`, which is a YAML directive", "remove the line"),
        K::BomInsideDocument => {
            ("a byte-order mark stands within the frontmatter", "remove the invisible U+FEFF")
        }
        K::UnexpectedCharacter { character: found } => {
            // The parser's place is that of the value which the character stands in.
            return character(at + rest.find(*found).unwrap_or(0), *found);
        }
        _ => ("this is not YAML", "put the value in quotes, or compare the line with `key: value`"),
    };
    problem(Code::YamlSyntax, one_character(at, rest), message, help)
}

/// The character at `at`, unless the line ends there.
fn one_character(at: usize, rest: &str) -> Range<usize> {
    at..at + rest.chars().next().filter(|c| !matches!(c, '\r' | '\n')).map_or(0, char::len_utf8)
}

fn character(at: usize, character: char) -> Problem {
    let span = at..at + character.len_utf8();
    if !character.is_ascii_graphic() {
        let message = format!("the character U+{:04X} cannot stand in YAML", u32::from(character));
        return problem(
            Code::YamlSyntax,
            span,
            message,
            "remove it, or write it as an escape in double quotes",
        );
    }
    let message = match character {
        '`' => "a value cannot begin with a backtick".to_owned(),
        _ => format!("a value cannot begin with `{character}`"),
    };
    problem(Code::YamlSyntax, span, message, "put the value in quotes")
}

/// A second document in the frontmatter.
pub(super) fn second_document(at: Range<usize>) -> Problem {
    problem(
        Code::YamlSyntax,
        at,
        "a second YAML document begins within the frontmatter",
        "remove the `...` or `---` before it",
    )
}

/// Deeper than [`DEPTH_MAX`].
pub(super) fn too_deep(at: Range<usize>) -> Problem {
    problem(
        Code::YamlDepth,
        at.start..at.start,
        format!("lists and mappings are nested more than {DEPTH_MAX} deep"),
        "flatten the value, or quote it if it is text",
    )
}

/// More than [`NODES_MAX`].
pub(super) fn too_many_nodes(at: Range<usize>) -> Problem {
    problem(
        Code::FrontmatterTooLarge,
        at.start..at.start,
        format!("the frontmatter has more than {NODES_MAX} values"),
        "move the data to a file of its own",
    )
}

/// An alias that cannot be expanded.
pub(super) fn alias(refusal: anchor::Refusal, at: Range<usize>) -> Problem {
    let message = match refusal {
        anchor::Refusal::Cycle => "an alias stands within the value that it refers to",
        anchor::Refusal::Weight => "aliases repeat a value more often than hosts expand it",
    };
    problem(Code::YamlAlias, at, message, "write the value out instead of using `*`")
}

/// A scalar or a tag without a JSON form.
pub(super) fn scalar(refusal: scalar::Refusal, at: Range<usize>) -> Problem {
    match refusal {
        scalar::Refusal::NotFinite => problem(
            Code::YamlNotJson,
            at,
            "this number is infinite, no number, or too large for JSON",
            "put it in quotes to make it text",
        ),
        scalar::Refusal::Tag => problem(
            Code::YamlNotJson,
            at,
            "this tag gives the value a type that JSON does not have or that hosts read differently",
            "remove the tag, or put the whole value in quotes if it is text",
        ),
    }
}

/// A list or a mapping where a key is expected.
pub(super) fn collection_as_key(text: &str, at: Range<usize>) -> Problem {
    let before = at
        .start
        .checked_sub(1)
        .filter(|before| text.get(*before..).is_some_and(|rest| rest.starts_with("{{")));
    if let Some(before) = before {
        return problem(
            Code::YamlNotJson,
            before..at.end,
            "a value that begins with `{{` is read as a mapping within a mapping",
            "put the value in quotes",
        );
    }
    problem(
        Code::YamlNotJson,
        at,
        "a list or a mapping is used as a key, which JSON cannot hold",
        "put the key in quotes if it is text",
    )
}

/// A `:` without a key before it.
pub(super) fn no_key(at: Range<usize>) -> Problem {
    problem(Code::YamlSyntax, at, "a `:` stands without a key before it", "write `key: value`")
}

/// A comment that hides from hosts where a value ends.
pub(super) fn comment_before_value(at: Range<usize>) -> Problem {
    problem(
        Code::YamlSyntax,
        at,
        "a comment stands between a key and its value, and hosts lose the indentation there",
        "move the comment above the key, or put the value in quotes",
    )
}

/// An anchor or a tag between brackets with no value.
pub(super) fn no_value(at: Range<usize>) -> Problem {
    problem(
        Code::YamlSyntax,
        at,
        "an anchor or a tag between brackets has no value",
        "write a value, or remove it",
    )
}

/// A `?` alone.
pub(super) fn unquoted_question_mark(at: Range<usize>) -> Problem {
    problem(Code::YamlSyntax, at, "a `?` stands alone and is not quoted", "put it in quotes")
}

/// A key that the mapping has already.
pub(super) fn duplicate_key(key: &str, at: Range<usize>) -> Problem {
    problem(
        Code::YamlDuplicateKey,
        at,
        format!("the key `{}` stands twice in the same mapping", shorten(key)),
        "keep one of the two",
    )
}

/// Where the first escape stands that YAML does not know, as far as its first character tells.
fn unknown_escape(quoted: &str) -> Option<usize> {
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        if c == '\\' && !characters.next().is_some_and(|(_, c)| "0abtnvfre \"/\\N_LP\t\r\n".contains(c)) {
            return Some(at);
        }
    }
    None
}

/// The part of a line that a message can be about.
fn first_line(at: usize, rest: &str) -> Range<usize> {
    at..at + rest.find(['\r', '\n']).unwrap_or(rest.len())
}
