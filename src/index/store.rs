//! An index on the disk: read within a bound, written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use super::Index;
use super::format::{Flaw, MAGIC, Seal, decode};

/// The largest index that is read: 256 MiB, more than the largest root has use for.
pub const INDEX_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// What the name of an index begins with that is being written.
const NEW_PREFIX: &str = ".skillserve-index-";

/// How old a file with nothing in it is at least for nobody to be about to write it: many times what a process takes from
/// making a file to locking it.
const BEGUN_MAX: Duration = Duration::from_secs(60);

/// Why there is no index. Completes "the index is ignored: it …".
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its bytes are none.
    #[error(transparent)]
    Flaw(#[from] Flaw),
    /// It has too many.
    #[error("is larger than {INDEX_MAX_BYTES} bytes")]
    TooLarge,
    /// Something else stands there.
    #[error("is no regular file")]
    NotAFile,
    /// The system refused.
    #[error("cannot be read ({0})")]
    Io(#[from] io::Error),
}

/// Why an index is not saved. Completes "the index cannot be written: …", and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// It is more than is [loaded](load).
    #[error(
        "it would be larger than {INDEX_MAX_BYTES} bytes, which no start reads; go without one, or serve fewer files"
    )]
    TooLarge,
    /// The place [is not free](is_free).
    #[error("what stands there is no index; name another file, or delete it")]
    NotAnIndex,
    /// A link stands there. To write through it would be to let whoever can make links in the directory choose which file is
    /// written; to replace it would leave the file that it leads to as it is.
    #[error("it is a link; name the file that the link leads to")]
    Link,
    /// There is nothing to write it into.
    #[error("its directory does not exist; make it, or name a file in another one")]
    NoDirectory,
    /// The system refused.
    #[error(
        "{0}; give the user that writes it the right to write in its directory, or name a file in another one"
    )]
    Io(#[from] io::Error),
}

/// The index in a file, and its seal; `None` if there is no such file.
///
/// # Errors
/// See [`LoadError`]. Never more than [`INDEX_MAX_BYTES`] and one are read.
pub fn load(path: &Path) -> Result<Option<(Index, Seal)>, LoadError> {
    // Asked for before it is opened, because to open a pipe is to wait.
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata?,
    };
    if !metadata.is_file() {
        return Err(LoadError::NotAFile);
    }
    if metadata.len() > INDEX_MAX_BYTES {
        return Err(LoadError::TooLarge);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0).saturating_add(1));
    File::open(path)?.take(INDEX_MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > INDEX_MAX_BYTES {
        return Err(LoadError::TooLarge);
    }
    Ok(Some(decode(&bytes)?).zip(Seal::of(&bytes)))
}

/// Whether an index may take the place of what stands at `path`: of nothing, of an empty file, and of an index of any
/// version.
///
/// # Errors
/// What the system refused, so that it is not known.
pub fn is_free(path: &Path) -> io::Result<bool> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        metadata => metadata?,
    };
    Ok(metadata.is_file() && (metadata.len() == 0 || begins_as_index(&File::open(path)?)?))
}

fn begins_as_index(file: &File) -> io::Result<bool> {
    let mut start = Vec::with_capacity(MAGIC.len());
    file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC)
}

/// Puts an encoded index in the place of what stands at `path`. Whoever reads meanwhile, or after a crash, finds the one or
/// the other; of several who write, the last one's stays.
///
/// # Errors
/// See [`SaveError`]. Then what stood there still does.
pub fn save(path: &Path, encoded: &[u8]) -> Result<(), SaveError> {
    if encoded.len() as u64 > INDEX_MAX_BYTES {
        return Err(SaveError::TooLarge);
    }
    // Whoever makes one after this has it replaced, and nothing behind it written.
    if path.is_symlink() {
        return Err(SaveError::Link);
    }
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !dir.try_exists()? {
        return Err(SaveError::NoDirectory);
    }
    if !is_free(path)? {
        return Err(SaveError::NotAnIndex);
    }
    remove_left_behind(dir);
    let mut builder = tempfile::Builder::new();
    builder.prefix(NEW_PREFIX);
    // As any file that a program writes: who may read it is for the umask to say. Another user runs an image than makes it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut new = builder.tempfile_in(dir)?;
    // Tells others that somebody is writing. Where there are no locks, they leave it alone all the same.
    let _ = new.as_file().lock();
    new.write_all(encoded)?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(io::Error::from)?;
    // The new name is on the disk when the directory is. Not every system can be asked for that, and not every directory that
    // may be written to be opened. The index is there all the same; at worst, the one before is after a crash.
    #[cfg(unix)]
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(())
}

/// Removes what a process that was killed while it wrote an index has left in its directory. That it may still be there is no
/// reason not to write another.
fn remove_left_behind(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(NEW_PREFIX));
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_named && is_file() && is_left_behind(&entry.path()).unwrap_or(false) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a file is what there is of an index that nobody is writing.
fn is_left_behind(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    file.try_lock()?;
    let metadata = file.metadata()?;
    if metadata.len() > 0 {
        return begins_as_index(&file);
    }
    // Somebody may be about to lock it.
    Ok(metadata.modified()?.elapsed().is_ok_and(|age| age >= BEGUN_MAX))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::super::{Key, Kind, Record, encode};
    use super::*;
    use crate::skill::{Content, Digest};

    fn index(count: u8) -> Index {
        let record = Record { digest: Digest::of(b""), size: 0, content: Content::Text, wire_bytes: 0 };
        Index::new(Kind::SameDisk, (0..count).map(|number| (Key([number; 16]), record)))
    }

    #[test]
    fn what_is_saved_is_loaded_and_nothing_else_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        assert!(load(&path).unwrap().is_none());
        for count in [3, 0, 200] {
            let encoded = encode(&index(count));
            save(&path, &encoded).unwrap();
            assert_eq!(load(&path).unwrap(), Some((index(count), Seal::of(&encoded).unwrap())));
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_index_is_told_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let told = |path: &Path| load(path).unwrap_err().to_string();
        assert_eq!(told(dir.path()), "is no regular file");
        let path = dir.path().join("index");
        fs::write(&path, "").unwrap();
        assert_eq!(told(&path), "is no index");
        // Without a byte on the disk.
        File::options().write(true).open(&path).unwrap().set_len(INDEX_MAX_BYTES + 1).unwrap();
        assert_eq!(told(&path), "is larger than 268435456 bytes");
        assert!(matches!(save(&dir.path().join("none/index"), b""), Err(SaveError::NoDirectory)));
    }

    #[test]
    fn what_would_not_be_loaded_is_not_saved() {
        let dir = tempfile::tempdir().unwrap();
        let refused = save(&dir.path().join("index"), &vec![0; INDEX_MAX_BYTES as usize + 1]).unwrap_err();
        assert!(matches!(refused, SaveError::TooLarge), "{refused}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn nothing_but_an_index_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        let encoded = encode(&index(1));
        let mut older = encoded.clone();
        older[16] ^= 1;
        for replaced in [&b""[..], &older, &encoded[..20]] {
            fs::write(&path, replaced).unwrap();
            save(&path, &encoded).unwrap();
            assert_eq!(fs::read(&path).unwrap(), encoded);
        }
        for kept in [&b"x"[..], b"skillserve indeX", &[0; 100]] {
            fs::write(&path, kept).unwrap();
            assert!(matches!(save(&path, &encoded), Err(SaveError::NotAnIndex)));
            assert_eq!(fs::read(&path).unwrap(), kept);
        }
        assert!(!is_free(dir.path()).unwrap());
    }

    #[test]
    #[cfg(unix)]
    fn a_link_is_read_through_but_neither_written_through_nor_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (index_at, link) = (dir.path().join("index"), dir.path().join("link"));
        std::os::unix::fs::symlink("index", &link).unwrap();
        let refuse = || {
            let refused = save(&link, &encode(&index(2)));
            assert!(matches!(refused, Err(SaveError::Link)));
            assert!(link.is_symlink());
        };
        refuse();
        assert!(!index_at.exists());
        save(&index_at, &encode(&index(1))).unwrap();
        refuse();
        assert_eq!(load(&link).unwrap().unwrap().0, index(1));
    }

    #[test]
    fn what_was_left_behind_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let encoded = encode(&index(1));
        let half = &encoded[..encoded.len() / 2];
        fs::write(at(".skillserve-index-left"), half).unwrap();
        // One process was killed before it wrote anything, another has only begun, and a third takes long to begin.
        let old = |name| {
            let file = File::create(at(name)).unwrap();
            file.set_modified(SystemTime::now() - 2 * BEGUN_MAX).unwrap();
            file
        };
        old(".skillserve-index-empty");
        fs::write(at(".skillserve-index-begun"), "").unwrap();
        let begun = old(".skillserve-index-slow");
        begun.lock().unwrap();
        fs::write(at(".skillserve-index-mine"), half).unwrap();
        let written = File::open(at(".skillserve-index-mine")).unwrap();
        written.lock().unwrap();
        fs::write(at(".skillserve-index-other"), "notes").unwrap();
        fs::write(at("skillserve-index-copy"), half).unwrap();
        fs::create_dir(at(".skillserve-index-dir")).unwrap();
        save(&at("index"), &encoded).unwrap();
        let names =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(
            names,
            [
                ".skillserve-index-begun",
                ".skillserve-index-dir",
                ".skillserve-index-mine",
                ".skillserve-index-other",
                ".skillserve-index-slow",
                "index",
                "skillserve-index-copy",
            ]
        );
    }

    #[test]
    fn whoever_writes_at_the_same_time_leaves_one_whole_index() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        std::thread::scope(|scope| {
            for count in 1..=4 {
                let path = &path;
                scope.spawn(move || (0..50).for_each(|_| save(path, &encode(&index(count * 50))).unwrap()));
            }
            for _ in 0..200 {
                load(&path).unwrap();
            }
        });
        assert!(load(&path).unwrap().is_some_and(|(index, _)| index.len().is_multiple_of(50)));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
