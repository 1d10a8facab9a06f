//! Two habits of authors that hosts read and the parser does not: closing brackets in the column of their key, and no
//! blank between a colon and a bracket.
//!
//! ```yaml
//! allowed-tools: [
//!   Read,
//! ]
//! metadata: {cli:{bins: [curl]}}
//! ```
//!
//! The parser gets to see a space before such a bracket, and positions are counted back.

use granit_parser::{ErrorKind, Event, Parser, StructureStyle};

use super::options;

/// The most colons without a blank that are looked for, since each costs a pass over the text.
const COLONS_MAX: usize = 16;

/// A text with spaces inserted where only the parser needs them.
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
        if !text.contains(":{") && !text.contains(":[") && !text.lines().any(leads) {
            return None;
        }
        let mut spaced = Self { text: text.to_owned(), inserted: Vec::new() };
        for _ in 0..COLONS_MAX {
            let Some(colon) = spaced.scan().1 else { break };
            spaced.insert(text, &[colon + 1]);
        }
        let brackets = spaced.scan().0;
        spaced.insert(text, &brackets);
        (!spaced.inserted.is_empty()).then_some(spaced)
    }

    /// The place in the original text of a byte of the parser's.
    pub(super) fn original(&self, at: usize) -> usize {
        // The space number n stands at `inserted[n] + n`.
        let before = self.inserted.iter().enumerate().take_while(|(nth, place)| *place + nth < at).count();
        at - before
    }

    /// Inserts spaces at places of the parser's text.
    fn insert(&mut self, text: &str, places: &[usize]) {
        self.inserted.extend(places.iter().map(|at| self.original(*at)).collect::<Vec<_>>());
        self.inserted.sort_unstable();
        self.text.clear();
        let mut from = 0;
        for at in &self.inserted {
            self.text.push_str(text.get(from..*at).unwrap_or(""));
            self.text.push(' ');
            from = *at;
        }
        self.text.push_str(text.get(from..).unwrap_or(""));
    }

    /// The closing brackets of outermost flow collections that only spaces stand before, and the first colon that a
    /// bracket follows without a blank.
    fn scan(&self) -> (Vec<usize>, Option<usize>) {
        let text = self.text.as_str();
        let mut brackets = Vec::new();
        let mut depth = 0_usize;
        for event in Parser::new_from_str_with_options(text, options(false)) {
            let (event, span) = match event {
                Ok(next) => next,
                Err(error) if *error.kind() == ErrorKind::FlowMappingValueAdjacentCollection => {
                    return (brackets, error.marker().byte_offset());
                }
                Err(_) => break,
            };
            match event {
                Event::SequenceStart(style, ..) | Event::MappingStart(style, ..) => {
                    if style == StructureStyle::Flow || depth > 0 {
                        depth += 1;
                    }
                }
                Event::SequenceEnd | Event::MappingEnd if depth > 0 => {
                    depth -= 1;
                    let Some(at) = span.start.byte_offset().filter(|_| depth == 0) else { continue };
                    let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
                    let line = before.trim_end_matches(' ');
                    if rest.starts_with([']', '}']) && (line.is_empty() || line.ends_with('\n')) {
                        brackets.push(at);
                    }
                }
                _ => {}
            }
        }
        (brackets, None)
    }
}
