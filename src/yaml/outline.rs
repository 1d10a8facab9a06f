//! How a text is written, beside what it means: every scalar and collection with its style and place. For rules about
//! readers that know less of YAML, or another version of it.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::options;
use super::spaced::Spaced;

/// A scalar, a collection or an alias as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// What it is.
    pub form: Form,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    /// How many collections enclose it.
    pub depth: usize,
    /// Whether it is a key.
    pub is_key: bool,
    /// Whether it stands between brackets.
    pub is_in_brackets: bool,
    /// The anchor and the tag, where it has them.
    pub properties: Properties,
}

/// What can stand in front of a scalar or a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Properties {
    /// The number that the parser gives the anchor, from 1.
    pub anchor: Option<usize>,
    /// The tag, as it is meant.
    pub tag: Option<String>,
}

impl Properties {
    fn new(anchor: usize, tag: Option<std::borrow::Cow<'_, Tag>>) -> Self {
        let tag = tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix()));
        Self { anchor: (anchor != 0).then_some(anchor), tag }
    }

    /// Whether there are none.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// How something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A scalar without quotes; empty where nothing is written.
    Plain(String),
    /// A scalar in quotes.
    Quoted,
    /// A scalar below `|` or `>`, and whether nothing but line ends is in it.
    Block(bool),
    /// A list, and whether it has brackets.
    List(bool),
    /// A mapping, and whether it has brackets.
    Mapping(bool),
    /// `*name`.
    Alias,
}

/// What is in a text.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// In the order in which they begin.
    pub written: Vec<Written>,
    /// Where comments stand.
    pub comments: Vec<Range<usize>>,
}

/// The outline of a text that [`super::load`] takes. Of another one it is what stands before the first fault.
pub(crate) fn outline(text: &str) -> Outline {
    match Spaced::new(text) {
        None => read(text, |at| at),
        Some(spaced) => read(&spaced.text, |at| spaced.original(at)),
    }
}

/// A collection that is open.
struct Frame {
    /// Its place in the list.
    at: usize,
    is_mapping: bool,
    has_brackets: bool,
    /// How many nodes it has so far.
    nodes: usize,
}

fn read(text: &str, original: impl Fn(usize) -> usize) -> Outline {
    let mut outline = Outline::default();
    let mut frames: Vec<Frame> = Vec::new();
    let range = |span: &Span| {
        let range = span.byte_range().unwrap_or(text.len()..text.len());
        original(range.start)..original(range.end.max(range.start))
    };
    for event in Parser::new_from_str_with_options(text, options(true)) {
        let Ok((event, span)) = event else { return outline };
        let at = range(&span);
        let (form, properties) = match event {
            Event::Scalar(value, style, anchor, tag) => {
                let form = match style {
                    // The parser writes a value that is not there as `~`.
                    ScalarStyle::Plain if at.is_empty() => Form::Plain(String::new()),
                    ScalarStyle::Plain => Form::Plain(value.into_owned()),
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Form::Quoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => {
                        Form::Block(value.bytes().all(|byte| byte == b'\n'))
                    }
                };
                (form, Properties::new(anchor, tag))
            }
            Event::Alias(_) => (Form::Alias, Properties::default()),
            Event::SequenceStart(style, anchor, tag) => {
                (Form::List(style == StructureStyle::Flow), Properties::new(anchor, tag))
            }
            Event::MappingStart(style, anchor, tag) => {
                (Form::Mapping(style == StructureStyle::Flow), Properties::new(anchor, tag))
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = frames.pop().and_then(|frame| outline.written.get_mut(frame.at)) {
                    open.span.end = at.end.max(open.span.start);
                }
                continue;
            }
            Event::Comment(..) => {
                outline.comments.push(at);
                continue;
            }
            _ => continue,
        };
        let depth = frames.len();
        let around = frames.last_mut();
        let is_key = around.as_ref().is_some_and(|frame| frame.is_mapping && frame.nodes % 2 == 0);
        let is_in_brackets = around.as_ref().is_some_and(|frame| frame.has_brackets);
        around.into_iter().for_each(|frame| frame.nodes += 1);
        if let Form::List(has_brackets) | Form::Mapping(has_brackets) = form {
            let is_mapping = matches!(form, Form::Mapping(_));
            frames.push(Frame { at: outline.written.len(), is_mapping, has_brackets, nodes: 0 });
        }
        outline.written.push(Written { form, span: at, depth, is_key, is_in_brackets, properties });
    }
    outline
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_told_in_order_with_its_form() {
        let text = "a: x # c\n\"b\":\n  - &k |\n    t\n  - *k\n  - {c: [d, ]}\n";
        let told: Vec<String> = outline(text)
            .written
            .iter()
            .map(|written| {
                let flags = [
                    (written.is_key, "key "),
                    (written.is_in_brackets, "in "),
                    (!written.properties.is_none(), "& "),
                ];
                let flags: String = flags.iter().filter(|(is, _)| *is).map(|(_, flag)| *flag).collect();
                format!(
                    "{}{flags}{:?} {:?}",
                    " ".repeat(written.depth),
                    written.form,
                    &text[written.span.clone()]
                )
            })
            .collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        Mapping(false) "a: x # c\n\"b\":\n  - &k |\n    t\n  - *k\n  - {c: [d, ]}\n"
         key Plain("a") "a"
         Plain("x") "x"
         key Quoted "\"b\""
         List(false) "- &k |\n    t\n  - *k\n  - {c: [d, ]}\n"
          & Block(false) "t\n  "
          Alias "*k"
          Mapping(true) "{c: [d, ]}"
           key in Plain("c") "c"
           in List(true) "[d, ]"
            in Plain("d") "d"
        "#);
    }
}
