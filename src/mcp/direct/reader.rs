//! Reads the JSON of plain requests: objects whose keys are looked at, texts without escapes, and what is passed over.

use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// The most objects and arrays that are opened in what is passed over, and so how deep they can be nested: less than half of what
/// rmcp reads. Hosts send a few.
const NESTED_MAX: usize = 48;

/// The most digits in a row in what is passed over. rmcp refuses a message with an integer beyond 64 bits, also where it means
/// nothing.
const DIGITS_MAX: usize = 18;

/// What is left of a message in which nothing is escaped.
pub(super) struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// A message, of which nothing has been read.
    pub(super) fn new(message: &'a str) -> Self {
        Self { rest: message }
    }

    /// Reads an object, each of whose values is read by `member`, which is given its key.
    pub(super) fn object(&mut self, mut member: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        loop {
            let key = self.text()?;
            self.take(b':')?;
            member(self, key)?;
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
        }
    }

    /// Reads a text.
    pub(super) fn text(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        // They are short, and so are looked through byte by byte.
        let end = self.rest.bytes().position(|byte| byte == b'"' || byte < b' ')?;
        let (text, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest.strip_prefix('"')?;
        Some(text)
    }

    /// Reads a text, or that there is none.
    pub(super) fn text_or_null(&mut self) -> Option<Option<&'a str>> {
        if self.is_before_text() {
            return self.text().map(Some);
        }
        self.rest = self.rest.strip_prefix("null")?;
        Some(None)
    }

    /// Whether a text is next.
    pub(super) fn is_before_text(&mut self) -> bool {
        self.pass_space();
        self.rest.starts_with('"')
    }

    /// Whether there is nothing more.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.pass_space();
        self.rest.is_empty()
    }

    /// Passes over any value, which is given as it is written.
    pub(super) fn pass_over(&mut self) -> Option<&'a str> {
        self.pass_space();
        let mut values = Deserializer::from_str(self.rest).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        let (value, rest) = self.rest.split_at_checked(values.byte_offset())?;
        if opens(value) > NESTED_MAX || has_long_number(value) {
            return None;
        }
        self.rest = rest;
        Some(value)
    }

    fn take(&mut self, sign: u8) -> Option<()> {
        self.pass_space();
        let (first, rest) = self.rest.split_at_checked(1)?;
        (first.as_bytes() == [sign]).then(|| self.rest = rest)
    }

    fn pass_space(&mut self) {
        if self.rest.starts_with([' ', '\n', '\r', '\t']) {
            self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
        }
    }
}

/// How many objects and arrays are opened, also in texts.
fn opens(value: &str) -> usize {
    value.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count()
}

/// Whether there are too many digits in a row, be it in a number or in a text.
fn has_long_number(value: &str) -> bool {
    value.len() > DIGITS_MAX
        && value.as_bytes().split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() > DIGITS_MAX)
}
