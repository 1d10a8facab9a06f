//! An answer as bytes, whole if it is small, else in pieces that are made as they are taken: what a large file becomes in
//! JSON is never there as a whole.

pub(super) mod escape;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::skill::Content;

/// About how many bytes a piece has.
const PIECE_BYTES: usize = 64 * 1024;
/// The most bytes of a file whose answer is made whole.
pub(super) const WHOLE_MAX_BYTES: usize = 32 * 1024;
/// The most bytes of a text that are escaped at once, which makes a piece of control characters 112 KiB at most.
const TEXT_STEP_BYTES: usize = 8 * 1024;
/// The most bytes that are made into base64 at once: just one piece.
const BASE64_STEP_BYTES: usize = PIECE_BYTES / 4 * 3;

/// An answer, of which some pieces may have been taken.
#[derive(Debug)]
pub(crate) struct Answer {
    head: Bytes,
    /// What is left of a file.
    file: Bytes,
    form: Form,
    tail: Bytes,
    /// How many bytes are left altogether.
    left: u64,
    /// The code of the error that it is, if it is one.
    error: Option<i32>,
}

/// What a file becomes in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A text with escapes.
    Text,
    /// Base64.
    Base64,
}

impl Form {
    /// The form of a file: text where its bytes are text.
    pub(super) fn of(content: Content, bytes: &[u8]) -> Self {
        match content {
            Content::Text if std::str::from_utf8(bytes).is_ok() => Self::Text,
            _ => Self::Base64,
        }
    }

    /// How many bytes a file becomes.
    pub(super) fn len(self, bytes: &[u8]) -> usize {
        match self {
            Self::Text => escape::len(bytes),
            Self::Base64 => bytes.len().div_ceil(3) * 4,
        }
    }

    /// Appends a file.
    pub(super) fn append(self, out: &mut Vec<u8>, bytes: &[u8]) {
        match self {
            Self::Text => escape::append(out, bytes),
            Self::Base64 => {
                let begin = out.len();
                out.resize(begin + self.len(bytes), 0);
                // The room is exactly what the digits take.
                let _ = STANDARD.encode_slice(bytes, &mut out[begin..]);
            }
        }
    }
}

impl Answer {
    /// An answer that is whole.
    pub(super) fn whole(bytes: Vec<u8>) -> Self {
        Self::of_parts(bytes.into(), Bytes::new())
    }

    /// An answer with a page of a listing, whose entries are the larger part of it.
    pub(super) fn of_page(head: Vec<u8>, page: Vec<u8>) -> Self {
        Self::of_parts(head.into(), page.into())
    }

    /// An answer with a file.
    pub(super) fn of_file(head: Vec<u8>, file: Bytes, form: Form, tail: Vec<u8>) -> Self {
        let left = (head.len() + form.len(&file) + tail.len()) as u64;
        Self { head: head.into(), file, form, tail: tail.into(), left, error: None }
    }

    fn of_parts(head: Bytes, tail: Bytes) -> Self {
        let left = (head.len() + tail.len()) as u64;
        Self { head, file: Bytes::new(), form: Form::Base64, tail, left, error: None }
    }

    /// An answer that is an error with this code.
    pub(super) fn of_error(bytes: Vec<u8>, code: i32) -> Self {
        Self { error: Some(code), ..Self::whole(bytes) }
    }

    /// The code of the error that it is, if it is one.
    pub(crate) fn error(&self) -> Option<i32> {
        self.error
    }

    /// How many bytes are left.
    pub(crate) fn len(&self) -> u64 {
        self.left
    }

    /// The next piece of the file.
    fn piece(&mut self) -> Bytes {
        let mut out = Vec::with_capacity(PIECE_BYTES + TEXT_STEP_BYTES * 2);
        while !self.file.is_empty() && out.len() < PIECE_BYTES {
            let step = match self.form {
                Form::Text => TEXT_STEP_BYTES,
                Form::Base64 => BASE64_STEP_BYTES,
            };
            let step = self.file.split_to(step.min(self.file.len()));
            self.form.append(&mut out, &step);
        }
        out.into()
    }
}

impl Iterator for Answer {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let piece = if !self.head.is_empty() {
            std::mem::take(&mut self.head)
        } else if !self.file.is_empty() {
            self.piece()
        } else {
            std::mem::take(&mut self.tail)
        };
        self.left -= piece.len() as u64;
        (!piece.is_empty()).then_some(piece)
    }
}
