//! YAML 1.2 core from parser events to an ordered JSON mapping.
//!
//! For every text the result is the value that the hosts' parser reads, or a refusal with its place and cure. What the
//! hosts read differently from one another, or cannot compare as JSON, is refused. There is no recursion: the depth of
//! a text costs a bounded stack of frames.

mod anchor;

mod check;
mod explain;
mod line;
mod loader;
mod number;
pub(crate) mod outline;
mod scalar;
mod spaced;

use std::ops::Range;

use granit_parser::Options;
use serde_json::{Map, Value};

use crate::finding::Problem;
use loader::load_as_is;
use spaced::Spaced;

/// The deepest nesting of collections, the frontmatter's own mapping included.
pub(crate) const DEPTH_MAX: usize = 64;
/// The most nodes (scalars, lists and mappings) after the expansion of aliases.
pub(crate) const NODES_MAX: usize = 20_000;
/// The most bytes of text in values and keys after the expansion of aliases.
pub(crate) const TEXT_MAX_BYTES: usize = 1024 * 1024;
/// The longest key in code points, so that none exceeds the 1,024 UTF-16 units that YAML allows.
const KEY_MAX_CHARS: usize = 512;

/// The root of a text.
#[derive(Debug, PartialEq)]
pub(crate) enum Root {
    /// Nothing but blanks and comments.
    Empty,
    /// A mapping, and where its keys and values stand, in the same order.
    Mapping(Map<String, Value>, Vec<(Range<usize>, Range<usize>)>),
    /// Another value, and where it stands.
    Other(Value, Range<usize>),
}

/// Loads the one document in `text`. Spans are bytes in `text`.
///
/// # Errors
/// The first [`Problem`], with one of the codes of YAML.
pub(crate) fn load(text: &str) -> Result<Root, Problem> {
    check::before(text)?;
    let Some(spaced) = Spaced::new(text) else { return load_as_is(text) };
    let original = |span: Range<usize>| spaced.original(span.start)..spaced.original(span.end);
    match load_as_is(&spaced.text) {
        Ok(Root::Mapping(fields, spans)) => {
            let spans = spans.into_iter().map(|(key, value)| (original(key), original(value))).collect();
            Ok(Root::Mapping(fields, spans))
        }
        Ok(Root::Other(value, span)) => Ok(Root::Other(value, original(span))),
        Ok(Root::Empty) => Ok(Root::Empty),
        Err(problem) => Err(Problem { span: original(problem.span), ..problem }),
    }
}

/// The value of a scalar that is written without quotes; none for one that JSON does not have.
pub(crate) fn plain_value(text: &str) -> Option<Value> {
    scalar::resolve(text, granit_parser::ScalarStyle::Plain, scalar::Kind::Untagged).ok()
}

/// The name that a key which is written without quotes has as a JSON member.
pub(crate) fn plain_key(text: &str) -> Option<String> {
    loader::key(&plain_value(text)?)
}

fn options(strict_indentation: bool) -> Options {
    granit_parser::options! {
        strict_indentation: strict_indentation,
        disallow_directives: true,
        emit_anchor_events: true,
        max_buffered_comment_events: usize::MAX,
        simple_key_max_lookahead: KEY_MAX_CHARS,
        flow_nesting_limit: DEPTH_MAX,
        block_nesting_limit: DEPTH_MAX,
    }
}

#[cfg(test)]
mod tests;
