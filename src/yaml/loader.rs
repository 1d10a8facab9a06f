//! From the parser's events to a value, without recursion.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};
use serde_json::{Map, Value};

use super::anchor::{Anchor, Anchors, Contents};
use super::check::{self, Indentation};
use super::scalar::Kind;
use super::{DEPTH_MAX, NODES_MAX, Root, TEXT_MAX_BYTES, anchor, explain, number, options, scalar};
use crate::finding::Problem;

/// Loads the one document in a text that needs no change for the parser.
pub(super) fn load_as_is(text: &str) -> Result<Root, Problem> {
    let mut loader = Loader::new(text);
    for event in Parser::new_from_str_with_options(text, options(true)) {
        let (event, span) = event.map_err(|error| explain::explain(text, &error))?;
        loader.take(event, &span)?;
    }
    Ok(match loader.root {
        None => Root::Empty,
        Some((Value::Object(fields), _)) => Root::Mapping(fields, loader.fields),
        // An empty document is as empty as a missing one.
        Some((Value::Null, _)) if !check::has_content(text) => Root::Empty,
        Some((value, span)) => Root::Other(value, span),
    })
}

/// A collection that is being read.
#[derive(Debug)]
struct Frame {
    kind: Open,
    style: StructureStyle,
    anchor: usize,
    /// From its start to the end of what has been read of it.
    span: Range<usize>,
    /// The totals at its start, so that their growth is its own size.
    nodes_before: usize,
    text_bytes_before: usize,
    contents: Contents,
}

#[derive(Debug)]
enum Open {
    List(Vec<Value>),
    /// The pairs so far, and the key that waits for its value.
    Mapping(Map<String, Value>, Option<(String, Range<usize>)>),
}

/// A node that is complete.
#[derive(Debug)]
struct Node {
    value: Value,
    span: Range<usize>,
    contents: Contents,
}

#[derive(Debug)]
struct Loader<'a> {
    text: &'a str,
    frames: Vec<Frame>,
    indentation: Indentation,
    /// Whether the last scalar was a block (`|` or `>`).
    is_below_block: bool,
    /// The column of a misleading comment since the last node.
    comment_column: Option<usize>,
    anchors: Anchors,
    nodes: usize,
    text_bytes: usize,
    documents: usize,
    root: Option<(Value, Range<usize>)>,
    fields: Vec<(Range<usize>, Range<usize>)>,
}

impl<'a> Loader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            frames: Vec::new(),
            indentation: Indentation::default(),
            is_below_block: false,
            comment_column: None,
            anchors: Anchors::default(),
            nodes: 0,
            text_bytes: 0,
            documents: 0,
            root: None,
            fields: Vec::new(),
        }
    }

    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Problem> {
        let at = self.range(span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(explain::second_document(at));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => self.scalar(&text, style, anchor, tag, span),
            Event::Alias(id) => self.alias(id, at),
            Event::SequenceStart(style, anchor, tag) => {
                self.open(Open::List(Vec::new()), style, anchor, tag, span)
            }
            Event::MappingStart(style, anchor, tag) => {
                self.open(Open::Mapping(Map::new(), None), style, anchor, tag, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(at),
            Event::Anchor(..) => self.indentation.check(self.text, &span.start),
            Event::Comment(..) => {
                let is_in_brackets =
                    self.frames.last().is_some_and(|frame| frame.style == StructureStyle::Flow);
                self.comment_column = check::misleading_comment(self.text, &at).or(self.comment_column);
                check::comment(self.text, at, self.is_below_block, is_in_brackets)
            }
            _ => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        span: &Span,
    ) -> Result<(), Problem> {
        let at = self.range(span);
        self.tag(span)?;
        // The parser writes a value that is not there as `~`.
        let text = if style == ScalarStyle::Plain && at.is_empty() { "" } else { text };
        match style {
            ScalarStyle::Literal | ScalarStyle::Folded => check::block_scalar(self.text, &at, text)?,
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => check::quoted_scalar(self.text, &at)?,
            // Between brackets some hosts read it as the mark of a key.
            ScalarStyle::Plain if text == "?" => return Err(explain::unquoted_question_mark(at)),
            ScalarStyle::Plain => {
                check::plain_scalar(self.text, &at)?;
                self.plain_surroundings(&at, span, anchor != 0 || tag.is_some())?;
            }
        }
        self.comment_column = None;
        self.is_below_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let value = self
            .kind(tag, span)
            .and_then(|kind| scalar::resolve(text, style, kind))
            .map_err(|refusal| explain::scalar(refusal, self.tag_or(span, &at)))?;
        self.grow(1, text.len(), &at)?;
        let contents = Contents { scalar: true, ..Contents::default() };
        if anchor != 0 {
            self.grow(1, text.len(), &at)?;
            self.anchors.define(anchor, Anchor::new(value.clone(), 1, text.len(), contents.clone()));
        }
        self.place(Node { value, span: at, contents })
    }

    fn alias(&mut self, id: usize, at: Range<usize>) -> Result<(), Problem> {
        let anchor = self.anchors.resolve(id).map_err(|refusal| explain::alias(refusal, at.clone()))?;
        let (nodes, text_bytes, depth) = (anchor.nodes, anchor.text_bytes, anchor.depth());
        if self.frames.len() + depth > DEPTH_MAX {
            return Err(explain::too_deep(at));
        }
        // Only what fits is copied.
        if self.nodes + nodes > NODES_MAX || self.text_bytes + text_bytes > TEXT_MAX_BYTES {
            return Err(explain::alias(anchor::Refusal::Weight, at));
        }
        self.nodes += nodes;
        self.text_bytes += text_bytes;
        let value = anchor.value.clone();
        self.place(Node { value, span: at, contents: Contents { scalar: false, aliases: vec![id], depth } })
    }

    fn open(
        &mut self,
        kind: Open,
        style: StructureStyle,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        span: &Span,
    ) -> Result<(), Problem> {
        let at = self.range(span);
        if style == StructureStyle::Block {
            self.indentation.check(self.text, &span.start)?;
        }
        if self.frames.len() >= DEPTH_MAX {
            return Err(explain::too_deep(at));
        }
        self.comment_column = None;
        self.tag(span)?;
        if let Some(Frame { kind: Open::Mapping(_, None), .. }) = self.frames.last() {
            return Err(explain::collection_as_key(self.text, at));
        }
        let fits = |tag: Kind| {
            matches!(
                (tag, &kind),
                (Kind::Untagged | Kind::Text, _)
                    | (Kind::Collection("seq"), Open::List(_))
                    | (Kind::Collection("map"), Open::Mapping(..))
            )
        };
        match self.kind(tag, span) {
            Ok(tag) if fits(tag) => {}
            _ => return Err(explain::scalar(scalar::Refusal::Tag, self.tag_or(span, &at))),
        }
        let (nodes_before, text_bytes_before) = (self.nodes, self.text_bytes);
        self.grow(1, 0, &at)?;
        let contents = Contents::default();
        let span = at.start..at.start;
        self.frames.push(Frame { kind, style, anchor, span, nodes_before, text_bytes_before, contents });
        Ok(())
    }

    fn close(&mut self, at: Range<usize>) -> Result<(), Problem> {
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        frame.contents.depth += 1;
        let value = match frame.kind {
            Open::List(items) => Value::Array(items),
            Open::Mapping(fields, _) => Value::Object(fields),
        };
        if frame.anchor != 0 {
            let nodes = self.nodes - frame.nodes_before;
            let text_bytes = self.text_bytes - frame.text_bytes_before;
            // The copy that waits for aliases counts as well, or anchors within anchors would cost the square.
            self.grow(nodes, text_bytes, &frame.span)?;
            let anchor = Anchor::new(value.clone(), nodes, text_bytes, frame.contents.clone());
            self.anchors.define(frame.anchor, anchor);
        }
        // Without brackets a collection ends with its last node, not where the parser sees its end.
        let end = if frame.style == StructureStyle::Flow { at.end } else { frame.span.end };
        self.place(Node {
            value,
            span: frame.span.start..end.max(frame.span.start),
            contents: frame.contents,
        })
    }

    /// Puts a complete node where it belongs: at the root, into the list, or as key or value into the mapping.
    fn place(&mut self, node: Node) -> Result<(), Problem> {
        let is_field = self.frames.len() == 1;
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some((node.value, node.span));
            return Ok(());
        };
        frame.contents.absorb(node.contents);
        frame.span.end = frame.span.end.max(node.span.end);
        match &mut frame.kind {
            Open::List(items) => items.push(node.value),
            Open::Mapping(fields, waiting) => match waiting.take() {
                Some((key, span)) => {
                    if is_field {
                        self.fields.push((span, node.span));
                    }
                    fields.insert(key, node.value);
                }
                None => {
                    if node.value.is_null() && node.span.is_empty() {
                        return Err(explain::no_key(node.span));
                    }
                    let Some(key) = key(&node.value) else {
                        return Err(explain::collection_as_key(self.text, node.span));
                    };
                    if fields.contains_key(&key) {
                        return Err(explain::duplicate_key(&key, node.span));
                    }
                    *waiting = Some((key, node.span));
                }
            },
        }
        Ok(())
    }

    fn grow(&mut self, nodes: usize, text_bytes: usize, at: &Range<usize>) -> Result<(), Problem> {
        self.nodes += nodes;
        self.text_bytes += text_bytes;
        if self.nodes > NODES_MAX {
            return Err(explain::too_many_nodes(at.clone()));
        }
        if self.text_bytes > TEXT_MAX_BYTES {
            return Err(explain::alias(anchor::Refusal::Weight, at.clone()));
        }
        Ok(())
    }

    /// Refuses a plain scalar whose surroundings hosts read otherwise: a value below a misleading comment, and nothing
    /// but an anchor or a tag between brackets.
    fn plain_surroundings(
        &self,
        at: &Range<usize>,
        span: &Span,
        has_properties: bool,
    ) -> Result<(), Problem> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        if frame.style == StructureStyle::Flow {
            return if at.is_empty() && has_properties { Err(explain::no_value(at.clone())) } else { Ok(()) };
        }
        let is_value = !matches!(frame.kind, Open::Mapping(_, None));
        match self.comment_column {
            Some(column) if is_value && !at.is_empty() && column < span.start.col() => {
                Err(explain::comment_before_value(at.clone()))
            }
            _ => Ok(()),
        }
    }

    fn tag(&mut self, span: &Span) -> Result<(), Problem> {
        span.tag_start().map_or(Ok(()), |start| self.indentation.check(self.text, &start))
    }

    fn kind(&self, tag: Option<Cow<'_, Tag>>, span: &Span) -> Result<Kind, scalar::Refusal> {
        let Some(tag) = tag else { return Ok(Kind::Untagged) };
        let source = span.tag_span().and_then(|tag| tag.slice(self.text)).ok_or(scalar::Refusal::Tag)?;
        scalar::kind(&tag, source)
    }

    /// The bytes of the tag, or `otherwise` where there is none.
    fn tag_or(&self, span: &Span, otherwise: &Range<usize>) -> Range<usize> {
        span.tag_span().map_or_else(|| otherwise.clone(), |tag| self.range(&tag))
    }

    fn range(&self, span: &Span) -> Range<usize> {
        let end = self.text.len();
        let range = span.byte_range().unwrap_or(end..end);
        let start = range.start.min(end);
        start..range.end.clamp(start, end)
    }
}

/// The name that a key has as a JSON member, if it is a scalar.
pub(super) fn key(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => number::property_name(number),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
    }
}
