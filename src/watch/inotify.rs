//! The system's word on Linux. It tells of a directory by the number that it gave for the watch, so all that is kept of a
//! watch is whose number that is.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::ops::Bound;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, Event, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::event::{Failure, How, Said};
use super::known::{Interest, Known, Order, Orders};
use super::lock;

/// The number of a watch.
pub(super) type Mark = i32;

/// What is asked for of directories beside roots.
pub(super) const BESIDE: Interest = Interest::Names;

/// What is asked for of every directory: which entries it has. Nothing but a directory is watched. It may be watched under
/// another path too, for more.
const NAMES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW)
    .union(WatchFlags::MASK_ADD);
/// What is asked for where all that happens is of interest: every change, and when a file that was written to is closed,
/// but no opening and reading, for our own would fill the queue and come back to us for ever.
const ALL: WatchFlags = NAMES.union(WatchFlags::MODIFY).union(WatchFlags::CLOSE_WRITE);
/// After these an entry is no longer what it was.
const GONE: ReadFlags = ReadFlags::DELETE
    .union(ReadFlags::DELETE_SELF)
    .union(ReadFlags::MOVED_FROM)
    .union(ReadFlags::MOVE_SELF)
    .union(ReadFlags::UNMOUNT);
/// How much of the queue is read at a time: room for some dozens of events with names of usual length.
const BUFFER_BYTES: usize = 4096;

/// Watches directories, and reads what the system says of them as long as it lives.
#[derive(Debug)]
pub(super) struct Watcher {
    watches: Arc<Watches>,
    /// Closed with it, which ends the reading.
    _end: PipeWriter,
}

impl Watcher {
    /// Lets `hear` hear what is said.
    pub(super) fn new(hear: impl Fn(Result<Said, Failure>) + Send + 'static) -> Result<Self, Failure> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(io::Error::from)?;
        let watches = Arc::new(Watches { queue, dirs: Mutex::default() });
        let (end, _end) = io::pipe()?;
        let reading = Arc::clone(&watches);
        let read = move || {
            // Nothing more is heard of a queue that cannot be read.
            if let Err(error) = reading.read(&end, &hear) {
                hear(Err(Failure::Io(error.into())));
            }
        };
        thread::Builder::new().name("watch".to_owned()).spawn(read)?;
        Ok(Self { watches, _end })
    }

    /// Follows orders, and tells `known` what came of them.
    ///
    /// # Errors
    /// No more directories can be watched.
    pub(super) fn follow(&mut self, orders: Orders, known: &Mutex<Known>) -> Result<(), Failure> {
        for Order { dir, before, .. } in orders.unwatch {
            if let Some(mark) = before {
                self.watches.remove(mark, dir);
            }
        }
        for Order { dir, before, interest } in orders.watch {
            match self.watches.add(&dir, before, interest) {
                Ok(mark) => lock(known).watched(&dir, mark),
                Err(Errno::NOSPC) => return Err(Failure::Full),
                Err(error) => match Failure::from(io::Error::from(error)) {
                    failure if failure.is_fatal() => return Err(failure),
                    _ => lock(known).not_watched(&dir),
                },
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Watches {
    queue: OwnedFd,
    /// Which directories each number is of: more than one if one directory is mounted in several places.
    dirs: Mutex<BTreeSet<(Mark, Arc<Path>)>>,
}

impl Watches {
    /// Watches a directory, and no longer what was watched under its path `before`.
    fn add(&self, dir: &Arc<Path>, before: Option<Mark>, interest: Interest) -> Result<Mark, Errno> {
        let wanted = match interest {
            Interest::All => ALL,
            Interest::Names => NAMES,
        };
        // The lock is held, so that nothing is told of a number that is nobody's yet.
        let mut dirs = lock(&self.dirs);
        let mark = inotify::add_watch(&self.queue, &**dir, wanted)?;
        dirs.insert((mark, Arc::clone(dir)));
        drop(dirs);
        if let Some(before) = before.filter(|before| *before != mark) {
            self.remove(before, Arc::clone(dir));
        }
        Ok(mark)
    }

    fn remove(&self, mark: Mark, dir: Arc<Path>) {
        let mut dirs = lock(&self.dirs);
        if dirs.remove(&(mark, dir)) && of(&dirs, mark).next().is_none() {
            // It may be gone with its directory.
            let _ = inotify::remove_watch(&self.queue, mark);
        }
    }

    /// Lets `hear` hear all that is said until the other end of `end` is closed.
    fn read(&self, end: &PipeReader, hear: &impl Fn(Result<Said, Failure>)) -> Result<(), Errno> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        loop {
            let mut ready =
                [&self.queue as &dyn AsFd, end].map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN));
            match poll(&mut ready, None) {
                Err(Errno::INTR) => continue,
                polled => polled?,
            };
            if !ready[1].revents().is_empty() {
                return Ok(());
            }
            let mut reader = Reader::new(&self.queue, &mut buffer);
            loop {
                match reader.next() {
                    Ok(event) => hear(Ok(self.said(&event))),
                    Err(Errno::INTR | Errno::AGAIN) => {}
                    Err(error) => return Err(error),
                }
                if reader.is_buffer_empty() {
                    break;
                }
            }
        }
    }

    /// What an event says.
    fn said(&self, event: &Event<'_>) -> Said {
        let what = event.events();
        if what.contains(ReadFlags::QUEUE_OVERFLOW) {
            return Said::Lost;
        }
        let mut dirs = lock(&self.dirs);
        if what.contains(ReadFlags::IGNORED) {
            // The directory is gone, of which was told before, or it is of no interest.
            let gone: Vec<_> = of(&dirs, event.wd()).cloned().collect();
            for gone in gone {
                dirs.remove(&gone);
            }
            return Said::Nothing;
        }
        let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
        let entry =
            |(_, dir): &(Mark, Arc<Path>)| name.map_or_else(|| PathBuf::from(&**dir), |name| dir.join(name));
        let how = match what {
            what if what.intersects(GONE) => How::Gone,
            what if what.contains(ReadFlags::MODIFY) => How::Written,
            what if what.contains(ReadFlags::CLOSE_WRITE) => How::Closed,
            _ => How::Other,
        };
        Said::Changed { entries: of(&dirs, event.wd()).map(entry).collect(), how }
    }
}

/// The directories of a number.
fn of(dirs: &BTreeSet<(Mark, Arc<Path>)>, mark: Mark) -> impl Iterator<Item = &(Mark, Arc<Path>)> {
    // No path is before the empty one. It is made once, not for every event.
    static FIRST: LazyLock<Arc<Path>> = LazyLock::new(|| Arc::from(Path::new("")));
    let first = (mark, Arc::clone(&FIRST));
    dirs.range((Bound::Included(first), Bound::Unbounded)).take_while(move |(other, _)| *other == mark)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;
    use std::io::Write as _;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
    use std::time::Duration;

    use super::*;
    use crate::tree::Steps;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A directory with the directories `a` and `b` in it, a watcher, and what it hears.
    fn bed() -> (tempfile::TempDir, Watcher, Receiver<Said>) {
        let top = tempfile::tempdir().unwrap();
        ["a", "b"].iter().for_each(|name| fs::create_dir(top.path().join(name)).unwrap());
        let (told, heard) = channel();
        (top, Watcher::new(move |said| drop(told.send(said.unwrap()))).unwrap(), heard)
    }

    fn dir(top: &Path, name: &str) -> Arc<Path> {
        top.join(name).into()
    }

    /// Makes a directory in `made_in`, and expects to hear of just that, in these directories.
    fn check(heard: &Receiver<Said>, made_in: &Path, name: &str, told_in: &[&Arc<Path>]) {
        fs::create_dir(made_in.join(name)).unwrap();
        let mut entries: Vec<_> = told_in.iter().map(|dir| dir.join(name)).collect();
        entries.sort();
        assert_eq!(heard.recv_timeout(PATIENCE), Ok(Said::Changed { entries, how: How::Other }));
    }

    #[test]
    fn a_directory_in_two_places_is_told_of_in_both_until_it_is_in_none() {
        let (top, watcher, heard) = bed();
        // Two paths of one directory, the second without a link as its last name.
        let near = dir(&top.path().canonicalize().unwrap(), "a");
        let far: Arc<Path> = Path::new("/proc/self/root").join(near.strip_prefix("/").unwrap()).into();
        let mark = watcher.watches.add(&near, None, Interest::All).unwrap();
        assert_eq!(watcher.watches.add(&far, None, Interest::All), Ok(mark));
        check(&heard, &near, "1", &[&far, &near]);
        watcher.watches.remove(mark, Arc::clone(&near));
        check(&heard, &near, "2", &[&far]);
        watcher.watches.remove(mark, far);
        let other = dir(top.path(), "b");
        watcher.watches.add(&other, None, Interest::All).unwrap();
        fs::create_dir(near.join("3")).unwrap();
        assert_eq!(heard.recv_timeout(PATIENCE), Ok(Said::Nothing), "the end of the watch");
        check(&heard, &other, "4", &[&other]);
    }

    #[test]
    fn directories_that_were_swapped_unheard_are_told_of_under_their_paths() {
        let (top, watcher, heard) = bed();
        let dirs = ["a", "b"].map(|name| dir(top.path(), name));
        let marks = dirs.each_ref().map(|dir| watcher.watches.add(dir, None, Interest::All).unwrap());
        let third = top.path().join("c");
        for (from, to) in [(&*dirs[0], &*third), (&dirs[1], &dirs[0]), (&third, &dirs[1])] {
            fs::rename(from, to).unwrap();
        }
        for _ in 0..3 {
            assert!(matches!(heard.recv_timeout(PATIENCE), Ok(Said::Changed { how: How::Gone, .. })));
        }
        for (dir, mark) in dirs.iter().zip(marks) {
            watcher.watches.add(dir, Some(mark), Interest::All).unwrap();
        }
        assert_eq!(heard.recv_timeout(PATIENCE), Ok(Said::Nothing), "the end of a watch");
        check(&heard, &dirs[0], "1", &[&dirs[0]]);
        check(&heard, &dirs[1], "2", &[&dirs[1]]);
        assert_eq!(lock(&watcher.watches.dirs).len(), 2);
    }

    #[test]
    fn a_directory_that_goes_leaves_nothing_behind() {
        let (top, watcher, heard) = bed();
        let dir = dir(top.path(), "a");
        let mark = watcher.watches.add(&dir, None, Interest::All).unwrap();
        fs::remove_dir(&dir).unwrap();
        let gone = Said::Changed { entries: vec![dir.to_path_buf()], how: How::Gone };
        assert_eq!(heard.recv_timeout(PATIENCE), Ok(gone));
        assert_eq!(heard.recv_timeout(PATIENCE), Ok(Said::Nothing), "the end of the watch");
        assert!(lock(&watcher.watches.dirs).is_empty());
        // Made again, it is watched again.
        fs::create_dir(&dir).unwrap();
        watcher.watches.add(&dir, Some(mark), Interest::All).unwrap();
        check(&heard, &dir, "1", &[&dir]);
    }

    #[test]
    fn opening_and_reading_is_not_told() {
        let (top, watcher, heard) = bed();
        let dir = dir(top.path(), "a");
        fs::write(dir.join("x"), "text").unwrap();
        watcher.watches.add(&dir, None, Interest::All).unwrap();
        fs::read(dir.join("x")).unwrap();
        fs::read_dir(&dir).unwrap().for_each(drop);
        check(&heard, &dir, "1", &[&dir]);
    }

    #[test]
    fn of_what_is_beside_only_the_names_are_told_unless_more_is_of_interest() {
        let (top, watcher, heard) = bed();
        let dir = dir(top.path(), "a");
        watcher.watches.add(&dir, None, Interest::Names).unwrap();
        let write = || fs::write(dir.join("log"), "text").unwrap();
        let expect = |how| {
            let entries = vec![dir.join("log")];
            assert_eq!(heard.recv_timeout(PATIENCE), Ok(Said::Changed { entries, how }));
        };
        write();
        expect(How::Other);
        write();
        check(&heard, &dir, "1", &[&dir]);
        // What was asked for once is not taken back by who asks for less.
        for interest in [Interest::All, Interest::Names] {
            watcher.watches.add(&dir, None, interest).unwrap();
            write();
            expect(How::Written);
            while heard.recv_timeout(PATIENCE).unwrap()
                != (Said::Changed { entries: vec![dir.join("log")], how: How::Closed })
            {}
        }
    }

    #[test]
    fn of_what_is_not_served_any_more_the_names_alone_are_told() {
        let (top, mut watcher, heard) = bed();
        let dir = dir(top.path(), "a");
        fs::write(dir.join("log"), "text").unwrap();
        let known = Mutex::new(Known::new(BESIDE));
        let gates = HashSet::from([dir.join("root")]);
        let served = Steps { added: vec![Arc::clone(&dir)], ..Steps::default() };
        let unserved = Steps { removed: vec![dir.to_path_buf()], ..Steps::default() };
        for steps in [served, unserved] {
            let orders = lock(&known).step(steps, &gates);
            watcher.follow(orders, &known).unwrap();
        }
        assert_eq!(heard.recv_timeout(PATIENCE), Ok(Said::Nothing), "the end of the watch for all");
        fs::OpenOptions::new().append(true).open(dir.join("log")).unwrap().write_all(b"more").unwrap();
        check(&heard, &dir, "1", &[&dir]);
    }

    #[test]
    fn nothing_is_heard_after_the_end_of_a_watcher() {
        let (_top, watcher, heard) = bed();
        drop(watcher);
        assert_eq!(heard.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
    }
}
