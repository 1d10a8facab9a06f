//! Input in lines of bounded length.

use memchr::memchr;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Reads lines, and holds no more than one of the longest kind.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// The beginning of a line whose end has not been read yet.
    line: Vec<u8>,
    max_bytes: usize,
    /// Whether what comes is the rest of a line that was too long.
    is_skipping: bool,
}

/// A line was longer than allowed. Its rest is skipped.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of at most `max_bytes`, their ends not counted.
    pub(super) fn new(input: R, max_bytes: usize) -> Self {
        Self { input: BufReader::new(input), line: Vec::new(), max_bytes, is_skipping: false }
    }

    /// The next line without its end, or `None` at the end of the input. What follows the last line end is a line too,
    /// unless it is empty. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> std::io::Result<Option<Result<Vec<u8>, TooLong>>> {
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then_some(Ok(rest)));
            }
            let end = memchr(b'\n', read);
            let part = &read[..end.unwrap_or(read.len())];
            let is_too_long = !self.is_skipping && self.line.len() + part.len() > self.max_bytes;
            if !is_too_long && !self.is_skipping {
                self.line.extend_from_slice(part);
            }
            let consumed = part.len() + usize::from(end.is_some());
            self.input.consume(consumed);
            if is_too_long {
                self.line = Vec::new();
                self.is_skipping = end.is_none();
                return Ok(Some(Err(TooLong)));
            }
            if end.is_some() && !std::mem::take(&mut self.is_skipping) {
                return Ok(Some(Ok(std::mem::take(&mut self.line))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `input` in lines of at most 8 bytes; `!` stands for one that is too long.
    async fn check(input: &[u8], expected: &[&str]) {
        for chunk in [1, 3, input.len().max(1)] {
            let (mut near, far) = tokio::io::duplex(chunk);
            let sent = input.to_vec();
            tokio::spawn(async move { tokio::io::AsyncWriteExt::write_all(&mut near, &sent).await });
            let mut lines = Lines::new(far, 8);
            let mut read = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                read.push(line.map_or("!".into(), |line| String::from_utf8(line).unwrap()));
            }
            assert_eq!(read, expected, "in chunks of {chunk}");
        }
    }

    #[tokio::test]
    async fn lines_are_read_whole_and_bounded() {
        check(b"", &[]).await;
        check(b"one\ntwo\n", &["one", "two"]).await;
        check(b"one\ntwo", &["one", "two"]).await;
        check(b"\n\na\n", &["", "", "a"]).await;
        check(b"12345678\n", &["12345678"]).await;
        check(b"123456789\n", &["!"]).await;
        check(b"12345678901234567890\nnext\n", &["!", "next"]).await;
        check(b"1234567890\n1234567890\na", &["!", "!", "a"]).await;
        check(b"12345678901234567890", &["!"]).await;
    }
}
