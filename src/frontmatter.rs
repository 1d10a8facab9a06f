//! A skill's frontmatter: between which fences it stands, and what it says (N1, E2).

mod fences;

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::finding::{Code, Problem};
use crate::problem::{kind, problem};
use crate::yaml::{self, Root};
pub use fences::Fences;

/// The largest frontmatter that is parsed, in bytes.
pub const FRONTMATTER_MAX_BYTES: usize = 256 * 1024;

/// The fields of a frontmatter.
#[derive(Clone, Debug, PartialEq)]
pub struct Frontmatter {
    /// Every field that the author wrote: `name` and `description` first, then the author's order.
    pub fields: Map<String, Value>,
    /// The bytes of the file that each top-level key and its value stand in.
    pub spans: HashMap<String, FieldSpan>,
    /// Where it stands in the file.
    pub fences: Fences,
}

/// Where a top-level field stands in the file, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSpan {
    /// The key.
    pub key: Range<usize>,
    /// The value; empty for a value that is not written.
    pub value: Range<usize>,
}

/// Reads the frontmatter of a `SKILL.md` from its raw bytes.
///
/// # Errors
/// The first [`Problem`] that keeps the frontmatter from having one meaning for every host: [`Code::NotUtf8`],
/// [`Code::NoFrontmatter`], [`Code::UnclosedFrontmatter`], [`Code::FrontmatterTooLarge`], [`Code::NotAMapping`] or one of
/// the codes of YAML.
pub fn parse(file: &[u8]) -> Result<Frontmatter, Problem> {
    let text = fences::text(file)?;
    let fences = fences::find(text)?;
    let start = fences.yaml.start;
    if fences.yaml.len() > FRONTMATTER_MAX_BYTES {
        return Err(too_large(start, fences.yaml.len()));
    }
    let yaml = text.get(fences.yaml.clone()).unwrap_or("");
    let shift = |range: Range<usize>| range.start + start..range.end + start;
    match yaml::load(yaml) {
        Ok(Root::Empty) => Ok(Frontmatter { fields: Map::new(), spans: HashMap::new(), fences }),
        Ok(Root::Mapping(fields, spans)) => {
            let shifted = spans.into_iter().map(|at| FieldSpan { key: shift(at.0), value: shift(at.1) });
            let spans = fields.keys().cloned().zip(shifted).collect();
            Ok(Frontmatter { fields: in_order(fields), spans, fences })
        }
        Ok(Root::Other(value, span)) => Err(not_a_mapping(&value, shift(span))),
        Err(problem) => Err(Problem { span: shift(problem.span), ..problem }),
    }
}

/// `name` and `description` first, then the author's order.
fn in_order(mut fields: Map<String, Value>) -> Map<String, Value> {
    let mut ordered = Map::new();
    for key in ["name", "description"] {
        if let Some(value) = fields.shift_remove(key) {
            ordered.insert(key.to_owned(), value);
        }
    }
    ordered.extend(fields);
    ordered
}

fn too_large(at: usize, bytes: usize) -> Problem {
    problem(
        Code::FrontmatterTooLarge,
        at..at,
        format!("the frontmatter has {bytes} bytes, and at most {FRONTMATTER_MAX_BYTES} are parsed"),
        "move the text below the closing `---`, or to a file of its own",
    )
}

fn not_a_mapping(value: &Value, span: Range<usize>) -> Problem {
    problem(
        Code::NotAMapping,
        span,
        format!("the frontmatter is {}, not a mapping of fields", kind(value)),
        "write one `key: value` a line, with a space after the colon",
    )
}

#[cfg(test)]
mod tests;
