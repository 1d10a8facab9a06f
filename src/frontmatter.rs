//! A skill's frontmatter: between which fences it stands, and what it says (N1, E2).

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::finding::{Code, Problem};

/// The largest frontmatter that is parsed, in bytes.
pub const FRONTMATTER_MAX_BYTES: usize = 256 * 1024;

/// The fields of a frontmatter.
#[derive(Clone, Debug, PartialEq)]
pub struct Frontmatter {
    /// Every field that the author wrote: `name` and `description` first, then the author's order.
    pub fields: Map<String, Value>,
    /// The bytes of the file that each top-level key and its value stand in.
    pub spans: HashMap<String, FieldSpan>,
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
/// The first [`Problem`] that keeps the frontmatter from having one meaning for every host.
pub fn parse(file: &[u8]) -> Result<Frontmatter, Problem> {
    let _ = file;
    Err(Problem { code: Code::NoFrontmatter, span: 0..0, message: String::new(), help: String::new() })
}
