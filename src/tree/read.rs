//! Reading a file's bytes: never through a link, never from what is no regular file, never more than asked for.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, OpenOptions};

use super::identity::Identity;
use super::site::Site;
use super::zone::Zones;

/// Where the bytes of a file are: a place inside one of the opened directories, with every link already resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Shared by all files of a directory.
    pub(super) dir: Arc<Site>,
    pub(super) name: Box<OsStr>,
}

impl Source {
    pub(super) fn new(dir: Arc<Site>, name: OsString) -> Self {
        Self { dir, name: name.into_boxed_os_str() }
    }
}

/// Handles on everything that was walked, by which its files are read. Cheap to clone.
///
/// It belongs to the tree of one walk. It keeps reading the directories of that walk when a root's link points elsewhere
/// later on; what is removed from them is gone.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    pub(super) zones: Zones,
}

/// Why a file's bytes could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is gone, or a part of its path is now a link, or it is no regular file any more, or it was written to while it was
    /// read.
    #[error("it is no longer the file that it was")]
    Gone,
    /// It is larger than the reader allows.
    #[error("it is larger than {max_bytes} bytes")]
    TooLarge {
        /// The bound that was given.
        max_bytes: u64,
    },
    /// The system refused.
    #[error("{0}")]
    Io(#[source] io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Gone,
            _ => Self::Io(error),
        }
    }
}

/// How many bytes of a file are held at a time where it need not be held as a whole: many small files' all, and enough for
/// the disk to be read at its own speed.
const PIECE_MAX_BYTES: usize = 256 * 1024;
/// The room for a file that is smaller, or does not tell its length.
const PIECE_MIN_BYTES: usize = 4 * 1024;

/// Reads files one after the other. The directory of the last one stays open, for the next one is often beside it.
#[derive(Debug)]
pub struct Reader<'d> {
    disk: &'d Disk,
    last: Option<(Arc<Site>, Dir)>,
    buffer: Vec<u8>,
}

impl Disk {
    /// Reads a whole file of the tree that this disk belongs to, without following any link and without ever waiting on
    /// a pipe or a device.
    ///
    /// # Errors
    /// See [`ReadError`]. Never more than `max_bytes` and one are held.
    pub fn read(&self, source: &Source, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
        self.reader().read(source, max_bytes)
    }

    /// Reads several files.
    pub fn reader(&self) -> Reader<'_> {
        Reader { disk: self, last: None, buffer: Vec::new() }
    }

    /// The directory that a file lies in: its absolute path without links.
    pub fn directory(&self, source: &Source) -> Option<PathBuf> {
        self.zones.real(&source.dir.place)
    }
}

impl Reader<'_> {
    /// As [`Disk::read`].
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn read(&mut self, source: &Source, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
        read_in(directory(self.disk, &mut self.last, source)?, &source.name, max_bytes)
    }

    /// Reads a whole file into the room of the one before, and tells what the file was meanwhile.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn whole(&mut self, source: &Source, max_bytes: u64) -> Result<(&[u8], Identity), ReadError> {
        let Self { disk, last, buffer } = self;
        // What one large file took is given back.
        buffer.clear();
        buffer.shrink_to(PIECE_MAX_BYTES);
        let dir = directory(disk, last, source)?;
        let (length, identity) = read_with(dir, &source.name, max_bytes, |file, expected_bytes| {
            buffer.clear();
            buffer.resize(usize::try_from(expected_bytes).unwrap_or(usize::MAX), 0);
            let length = fill(file, buffer)?;
            buffer.truncate(length);
            // There is more only where the file does not tell its length.
            let more = file.read_to_end(buffer)?;
            Ok(((length + more) as u64, length + more))
        })?;
        Ok((&buffer[..length], identity))
    }

    /// Reads a file piece by piece. `start` is called with its length before the first piece, once more whenever the file was
    /// written to meanwhile, so that all begins anew. A file that is one piece is given back as a whole too.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn pieces<T>(
        &mut self,
        source: &Source,
        max_bytes: u64,
        start: impl Fn(u64) -> T,
        take: impl Fn(&mut T, &[u8]),
    ) -> Result<(T, Option<&[u8]>), ReadError> {
        let Self { disk, last, buffer } = self;
        let dir = directory(disk, last, source)?;
        let ((taken, whole), _) = read_with(dir, &source.name, max_bytes, |file, expected_bytes| {
            let room = usize::try_from(expected_bytes).unwrap_or(usize::MAX);
            buffer.resize(buffer.len().max(room.clamp(PIECE_MIN_BYTES, PIECE_MAX_BYTES)), 0);
            let (mut taken, mut total_bytes, mut count) = (start(expected_bytes), 0, 0);
            loop {
                let length = fill(file, buffer)?;
                take(&mut taken, &buffer[..length]);
                count += 1;
                total_bytes += length as u64;
                if length < buffer.len() || file.limit() == 0 {
                    let whole = (count == 1).then_some(length);
                    return Ok((total_bytes, (taken, whole)));
                }
            }
        })?;
        Ok((taken, whole.map(|length| &buffer[..length])))
    }
}

/// The directory that a file lies in: the `last` one, if it is that one, and else it takes its place.
fn directory<'l>(
    disk: &Disk,
    last: &'l mut Option<(Arc<Site>, Dir)>,
    source: &Source,
) -> io::Result<&'l Dir> {
    let open = match last.take().filter(|(place, _)| *place == source.dir) {
        Some(open) => open,
        None => (source.dir.clone(), disk.zones.open(&source.dir.place)?),
    };
    Ok(&last.insert(open).1)
}

/// Reads until the buffer is full or the file at its end.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// How often a file that is written to while it is read is read again.
const READ_TRIES: u32 = 5;

/// Reads the regular file `name` of `dir`.
///
/// # Errors
/// See [`ReadError`].
pub(super) fn read_in(dir: &Dir, name: &OsStr, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let read = read_with(dir, name, max_bytes, |file, length| {
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64, bytes))
    });
    read.map(|(bytes, _)| bytes)
}

/// Opens the regular file `name` of `dir` and reads it with `read`, which is given the file and its length, and says how many
/// bytes it found. Tells what the file was meanwhile.
fn read_with<T>(
    dir: &Dir,
    name: &OsStr,
    max_bytes: u64,
    mut read: impl FnMut(&mut io::Take<&File>, u64) -> io::Result<(u64, T)>,
) -> Result<(T, Identity), ReadError> {
    // Opening a device may do something, so the kind is asked for first. It may change before the file is open: hence
    // an open that neither follows nor waits, and a second question to the open file.
    let name: &Path = name.as_ref();
    if !dir.symlink_metadata(name)?.is_file() {
        return Err(ReadError::Gone);
    }
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = match dir.open_with(name, &options) {
        Ok(file) => file,
        // Systems name a refused link differently, so what is there now says what the error means.
        Err(error) => match dir.symlink_metadata(name) {
            Ok(metadata) if metadata.is_file() => return Err(error.into()),
            _ => return Err(ReadError::Gone),
        },
    };
    for _ in 0..READ_TRIES {
        if let Some(read) = read_still(&file, max_bytes, &mut read)? {
            return Ok(read);
        }
        (&file).rewind()?;
    }
    Err(ReadError::Gone)
}

/// Reads an open file from where it stands, its beginning. `None` if it was written to meanwhile: then what was read may be
/// the beginning of one version and the end of another.
fn read_still<T>(
    file: &File,
    max_bytes: u64,
    read: impl FnOnce(&mut io::Take<&File>, u64) -> io::Result<(u64, T)>,
) -> Result<Option<(T, Identity)>, ReadError> {
    let before = file.metadata()?;
    if !before.is_file() {
        return Err(ReadError::Gone);
    }
    if before.len() > max_bytes {
        return Err(ReadError::TooLarge { max_bytes });
    }
    // A file need not tell its length, as in `/proc`. If it does, its end need not be looked for: should there be more by
    // now, it tells another length afterwards.
    let bound = if before.len() == 0 { max_bytes.saturating_add(1) } else { before.len() };
    let (length, read) = read(&mut file.take(bound), before.len())?;
    if length > max_bytes {
        return Err(ReadError::TooLarge { max_bytes });
    }
    let after = file.metadata()?;
    let is_still = (before.len(), before.modified()?) == (after.len(), after.modified()?);
    Ok(is_still.then(|| (read, Identity::of(&after))))
}
