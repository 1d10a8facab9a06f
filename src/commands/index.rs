//! `skillserve index`: writes what reads of the files gave, for servers that start from a copy of them.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;

use crate::cli::Source;
use crate::index::{self, Kind};
use crate::report::escape;

use super::Exit;
use super::keeper::check_place;
use super::look::{look, open};

/// Looks once at everything, and writes the index. Findings go to stderr, as those of a server do.
///
/// # Errors
/// A root that cannot be opened, or a file that cannot be written.
pub fn index(source: &Source, output: &Path) -> anyhow::Result<Exit> {
    check_place(output, source)?;
    let looked = look(&open(source, Duration::ZERO)?, &source.catalog);
    looked.tell();
    let index = looked.snapshot().to_index(Kind::AnyCopy);
    let shown = escape::path(output);
    index::save(output, &index::encode(&index))
        .map_err(|error| anyhow!("{shown} cannot be written: {error}"))?;
    tracing::info!("wrote {shown}: {} files that a server need not digest when it starts", index.len());
    Ok(Exit::Clean)
}
