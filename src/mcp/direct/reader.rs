//! Reads the JSON of plain requests: objects whose keys are looked at, texts without escapes, and what is passed over.

use memchr::memchr;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// The most objects and arrays that are opened in what is passed over, and so how deep they can be nested: less than half
/// of what rmcp reads. Hosts send a few.
const NESTED_MAX: usize = 48;

/// The most digits in a row, but for those of a text. rmcp refuses a message with an integer beyond 64 bits, also where it
/// means nothing.
const DIGITS_MAX: usize = 18;

/// A message on one line in which nothing is escaped, and how far it has been read.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    message: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Begins with a message that has neither a backslash nor a control character.
    pub(super) fn new(message: &'a str) -> Self {
        Self { message, at: 0 }
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
        let text = self.up_to(memchr(b'"', self.rest().as_bytes())?);
        self.at += 1;
        text
    }

    /// Reads a text, or that there is none.
    pub(super) fn text_or_null(&mut self) -> Option<Option<&'a str>> {
        if self.next() == Some(b'"') {
            return self.text().map(Some);
        }
        (self.pass_over()? == "null").then_some(None)
    }

    /// Reads an integer as every reader of JSON would.
    pub(super) fn integer(&mut self) -> Option<i64> {
        self.next()?;
        let is_of_number =
            |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let length = self.rest().bytes().position(|byte| !is_of_number(byte))?;
        let number = self.up_to(length)?;
        let digits = number.strip_prefix('-').unwrap_or(number);
        // Minus nothing is one number to some and another to others.
        let is_usual = !digits.starts_with(['+', '0']) || number == "0";
        if is_usual && digits.len() <= DIGITS_MAX { number.parse().ok() } else { None }
    }

    /// Passes over any value, which is given as it is written.
    pub(super) fn pass_over(&mut self) -> Option<&'a str> {
        self.next()?;
        let mut ahead = self.clone();
        // Hosts send little else.
        let length = match ahead.object(|reader, _| reader.text().map(drop)) {
            Some(()) => ahead.at - self.at,
            None => length(self.rest())?,
        };
        self.up_to(length)
    }

    /// What is next, other than spaces; `None` at the end.
    pub(super) fn next(&mut self) -> Option<u8> {
        loop {
            let next = self.message.as_bytes().get(self.at).copied();
            if next != Some(b' ') {
                return next;
            }
            self.at += 1;
        }
    }

    fn take(&mut self, sign: u8) -> Option<()> {
        (self.next()? == sign).then(|| self.at += 1)
    }

    fn rest(&self) -> &'a str {
        self.message.get(self.at..).unwrap_or_default()
    }

    /// So many bytes of the rest, which are then read.
    fn up_to(&mut self, length: usize) -> Option<&'a str> {
        let read = self.message.get(self.at..self.at + length)?;
        self.at += length;
        Some(read)
    }
}

/// How long the value is that begins here. `None` if there is none, or one that rmcp may not read.
fn length(rest: &str) -> Option<usize> {
    let mut values = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let length = values.byte_offset();
    let value = rest.as_bytes().get(..length)?;
    let opened = value.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    let mut digits = value.split(|byte| !byte.is_ascii_digit());
    (opened <= NESTED_MAX && digits.all(|digits| digits.len() <= DIGITS_MAX)).then_some(length)
}
