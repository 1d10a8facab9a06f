//! The least that any look at a directory does: a walk over all of it, and a stat of each file.
//!
//! usage: walk DIR

use std::path::PathBuf;

use anyhow::Context as _;

fn main() -> anyhow::Result<()> {
    let mut directories = vec![PathBuf::from(std::env::args_os().nth(1).context("a directory")?)];
    let (mut files, mut bytes) = (0_u64, 0);
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                directories.push(entry.path());
            } else {
                files += 1;
                bytes += metadata.len();
            }
        }
    }
    println!("{files} files, {bytes} bytes");
    Ok(())
}
