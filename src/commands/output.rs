//! Standard output, for a command's result.

use std::io::{self, ErrorKind, StdoutLock, Write};

/// Standard output for as long as somebody reads it. A reader such as `head` that has gone has seen what it wanted, so what
/// is written after that is dropped and is no error.
pub(super) struct Output<W = StdoutLock<'static>> {
    inner: W,
    has_reader: bool,
}

impl Output {
    /// Takes standard output.
    pub(super) fn new() -> Self {
        Self { inner: io::stdout().lock(), has_reader: true }
    }
}

impl<W: Write> Output<W> {
    fn unless_closed<T>(&mut self, done: io::Result<T>, dropped: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.has_reader = false;
                Ok(dropped)
            }
            done => done,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.has_reader {
            return Ok(bytes.len());
        }
        let done = self.inner.write(bytes);
        self.unless_closed(done, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.has_reader {
            return Ok(());
        }
        let done = self.inner.flush();
        self.unless_closed(done, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    fn check(failure: ErrorKind, is_ok: bool) {
        let mut output = Output { inner: Failing(failure), has_reader: true };
        assert_eq!(output.write_all(b"x").and_then(|()| output.flush()).is_ok(), is_ok, "{failure}");
    }

    #[test]
    fn only_a_reader_that_has_gone_is_no_error() {
        check(ErrorKind::BrokenPipe, true);
        check(ErrorKind::StorageFull, false);
    }
}
