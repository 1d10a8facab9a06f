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
            "a quoted value goes on in a line that is not indented by spaces",
            "close the quote, or indent each further line of the value by two spaces",
        ),
        K::UnknownQuotedScalarEscape | K::InvalidQuotedScalarHexEscape | K::InvalidUnicodeEscape => (
            "a backslash in double quotes begins no escape that YAML knows",
            "write the backslash twice, or use single quotes",
        ),
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
                at..at,
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
            "a value in brackets goes on in a line that is not indented",
            "close the bracket, or indent each further line by two spaces",
        ),
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInPlainScalar | K::TabAtBlockScalarStart => {
            ("a tab is used as indentation", "indent with spaces")
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
        K::UnexpectedCharacter { character: found } => return character(at, *found),
        _ => ("this is not YAML", "put the value in quotes, or compare the line with `key: value`"),
    };
    problem(Code::YamlSyntax, at..at, message, help)
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
    let message = format!("a value cannot begin with `{character}`");
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
    if text.get(at.start.saturating_sub(1)..).is_some_and(|rest| rest.starts_with("{{")) {
        return problem(
            Code::YamlNotJson,
            at.start - 1..at.end,
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

/// The part of a line that a message can be about.
fn first_line(at: usize, rest: &str) -> Range<usize> {
    at..at + rest.find(['\r', '\n']).unwrap_or(rest.len())
}
