//! Closing brackets in the column of their key.
//!
//! ```yaml
//! allowed-tools: [
//!   Read,
//! ]
//! ```
//!
//! YAML asks for more indentation than the key's before the last bracket; hosts make an exception for it, and authors
//! rely on that. So the parser gets to see a space before such a bracket, and positions are counted back.

use granit_parser::{Event, Parser, StructureStyle};

use super::options;

/// A text with a space inserted before each closing bracket that ends an outermost flow collection on a line of its own.
#[derive(Debug)]
pub(super) struct Spaced {
    /// The text for the parser.
    pub(super) text: String,
    /// Where in the original text the spaces would stand, in ascending order.
    inserted: Vec<usize>,
}

impl Spaced {
    /// Makes the text for the parser, if it needs to differ from `text`.
    pub(super) fn new(text: &str) -> Option<Self> {
        let leads = |line: &str| line.trim_start_matches(' ').starts_with([']', '}']);
        if !text.lines().any(leads) {
            return None;
        }
        let inserted = outermost_ends(text);
        if inserted.is_empty() {
            return None;
        }
        let mut spaced = String::with_capacity(text.len() + inserted.len());
        let mut from = 0;
        for at in &inserted {
            spaced.push_str(text.get(from..*at)?);
            spaced.push(' ');
            from = *at;
        }
        spaced.push_str(text.get(from..)?);
        Some(Self { text: spaced, inserted })
    }

    /// The place in the original text of a byte of the parser's.
    pub(super) fn original(&self, at: usize) -> usize {
        // The space number n stands at `inserted[n] + n`.
        let before = self.inserted.iter().enumerate().take_while(|(nth, place)| *place + nth < at).count();
        at - before
    }
}

/// The closing brackets of outermost flow collections that only spaces stand before, up to the first error.
fn outermost_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut depth = 0_usize;
    for event in Parser::new_from_str_with_options(text, options(false)).map_while(Result::ok) {
        let (event, span) = event;
        match event {
            Event::SequenceStart(style, ..) | Event::MappingStart(style, ..) => {
                if style == StructureStyle::Flow || depth > 0 {
                    depth += 1;
                }
            }
            Event::SequenceEnd | Event::MappingEnd if depth > 0 => {
                depth -= 1;
                let bracket = span.start.byte_offset().unwrap_or(text.len());
                let line = text.get(..bracket).map(|before| before.rsplit('\n').next().unwrap_or(before));
                let leads = line.is_some_and(|before| before.bytes().all(|byte| byte == b' '));
                if depth == 0 && leads && text.get(bracket..).is_some_and(|rest| rest.starts_with([']', '}']))
                {
                    ends.push(bracket);
                }
            }
            _ => {}
        }
    }
    ends
}
