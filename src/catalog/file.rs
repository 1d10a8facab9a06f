//! What is known of a served file.

use std::time::SystemTime;

use crate::skill::{Content, Digest};
use crate::tree::Modified;

use super::read::Read;

/// What is known of a served file.
#[derive(Clone, Debug)]
pub struct File {
    /// What its bytes are.
    pub(super) read: Read,
    pub(super) modified: Modified,
}

/// What a snapshot states of a file that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    digest: Digest,
    size: u64,
    content: Content,
}

impl Stated {
    /// The digest of its bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The number of its bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether its bytes go out as text.
    pub fn content(&self) -> Content {
        self.content
    }
}

impl File {
    /// What a read of it gives beside its bytes.
    pub fn stated(&self) -> Stated {
        Stated { digest: self.digest(), size: self.size(), content: self.content() }
    }

    /// When the file was last modified, where the file system says so.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified.time()
    }

    /// The digest of its bytes.
    pub fn digest(&self) -> Digest {
        self.read.digest
    }

    /// The number of its bytes.
    pub fn size(&self) -> u64 {
        self.read.size
    }

    /// Whether its bytes go out as text.
    pub fn content(&self) -> Content {
        self.read.content
    }
}
