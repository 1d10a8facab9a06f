//! What is known from one start to the next: which files are not read again, and that no flaw of an index, no change of a file
//! and nobody who can write the index makes an answer wrong.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without ends it")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::follower::{Follower, Lines, write_skill};
use common::http::{Request, Server};
use common::{skill_md, skillserve, wait_until, write};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const NOTES: &str = "skill://csv/notes.txt";

/// What is said when an index is of use.
const KNOWS: &str = "need not be digested";

/// The bytes before the body of an index; the last are the body's digest.
const HEAD_BYTES: usize = 60;

/// The bytes of a record.
const RECORD_BYTES: usize = 65;

/// A directory of skills, and the place of an index beside it.
struct Bed {
    _dir: TempDir,
    root: PathBuf,
    index: PathBuf,
}

impl Bed {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (root, index) = (dir.path().join("skills"), dir.path().join("index"));
        write_skill(&root, "csv", "first\n");
        write_skill(&root, "pdf", "other\n");
        Self { _dir: dir, root, index }
    }

    /// The same with an index of both skills' files, which a server has written.
    fn indexed() -> Self {
        let bed = Self::new();
        // Files as young as these are read again at the next start.
        wait_until("the files are old enough to be known", || {
            bed.start().stop();
            fs::read(&bed.index).unwrap().len() > HEAD_BYTES + 4 * RECORD_BYTES
        });
        bed
    }

    fn start(&self) -> Started {
        let mut command = skillserve();
        command.args(["stdio", "-v", "--no-watch"]).arg(&self.root).env("SKILLSERVE_INDEX", &self.index);
        Started(Follower::of(command))
    }

    /// Writes an index for any copy.
    fn make(&self) {
        let mut command = skillserve();
        command.arg("index").arg(&self.root).arg("-o").arg(&self.index);
        assert!(command.output().unwrap().status.success());
    }

    /// Makes the index state a digest for a text that it does not have.
    fn lie(&self, text: &[u8]) -> String {
        let mut bytes = fs::read(&self.index).unwrap();
        let digest = Sha256::digest(text);
        let at = bytes.windows(32).position(|window| *window == *digest).unwrap();
        bytes[at] ^= 0xff;
        let lie = format!("sha256:{}", hex::encode(&bytes[at..at + 32]));
        let seal = Sha256::digest(&bytes[HEAD_BYTES..]);
        bytes[HEAD_BYTES - 32..HEAD_BYTES].copy_from_slice(&seal);
        fs::write(&self.index, bytes).unwrap();
        lie
    }
}

/// A server that ends well.
struct Started(Follower);

impl Started {
    fn stop(mut self) -> Lines {
        self.0.host.close();
        assert!(self.0.host.wait().0.success());
        self.0.told
    }

    fn digest(&mut self) -> String {
        self.0.digests()[NOTES].clone()
    }

    /// Of how many files the first look has taken the digest.
    fn taken(&self) -> String {
        self.0.told.wait_for(KNOWS);
        let all = self.0.told.all();
        all.iter().find(|line| line.contains(KNOWS)).cloned().unwrap_or_default()
    }
}

fn digest_of(text: &str) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(text)))
}

/// Writes other bytes into a file, and sets its time back.
fn change_unseen(path: &Path, text: &str) {
    let before = fs::metadata(path).unwrap();
    assert_eq!(before.len(), text.len() as u64);
    fs::write(path, text).unwrap();
    fs::File::options().append(true).open(path).unwrap().set_modified(before.modified().unwrap()).unwrap();
}

#[test]
fn what_did_not_change_is_not_read_again() {
    let bed = Bed::indexed();
    let mut started = bed.start();
    assert!(started.taken().contains("knows 4 files, of which 4 need"), "{}", started.taken());
    assert_eq!(started.digest(), digest_of("first\n"));
    assert_eq!(started.0.read(NOTES).as_deref(), Some("first\n"));
    started.stop();
    // A change that hides behind an equal size and an equal time, and a new file.
    change_unseen(&bed.root.join("csv/notes.txt"), "FIRST\n");
    write(&bed.root, &[("pdf/new.txt", b"new\n")]);
    let mut started = bed.start();
    assert!(started.taken().contains("knows 4 files, of which 3 need"), "{}", started.taken());
    assert_eq!(started.digest(), digest_of("FIRST\n"));
    assert!(started.0.digests().contains_key("skill://pdf/new.txt"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_start_reads_no_more_than_skill_md_files() {
    const LARGE: u64 = 4 << 20;
    let bed = Bed::new();
    write(&bed.root, &[("csv/large.txt", &vec![b'x'; LARGE as usize])]);
    let read_bytes = || {
        let started = bed.start();
        let io = fs::read_to_string(format!("/proc/{}/io", started.0.host.child.id())).unwrap();
        started.stop();
        io.lines().next().unwrap().strip_prefix("rchar: ").unwrap().parse::<u64>().unwrap()
    };
    assert!(read_bytes() > LARGE);
    wait_until("it is not read any more", || read_bytes() < LARGE);
}

#[test]
fn a_skill_md_is_read_at_each_start() {
    let bed = Bed::indexed();
    change_unseen(
        &bed.root.join("csv/SKILL.md"),
        std::str::from_utf8(&skill_md("csv", "")).unwrap().replace("What", "That").as_str(),
    );
    let mut started = bed.start();
    let skill = common::Client::result(
        &mut started.0.host,
        "skills/get",
        serde_json::json!({"uri": "skill://csv/SKILL.md"}),
    );
    assert_eq!(skill["skill"]["frontmatter"]["description"], "That csv does.");
}

#[test]
fn a_skill_that_breaks_after_a_start_with_an_index_is_kept() {
    let bed = Bed::indexed();
    let mut started = bed.start();
    started.0.told.wait_for("SKILL.md files are in memory");
    write(&bed.root, &[("csv/SKILL.md", b"broken")]);
    started.0.signal("HUP");
    started.0.told.wait_for("warning[kept]");
    assert_eq!(started.digest(), digest_of("first\n"));
}

#[test]
fn what_nobody_asked_for_is_not_counted_as_if_somebody_had() {
    let bed = Bed::indexed();
    let mut command = skillserve();
    command.env("SKILLSERVE_INDEX", &bed.index);
    let server = Server::start_by(command, &bed.root, &["-v", "--no-watch"]);
    server.line(&["SKILL.md files are in memory"]);
    let metrics = String::from_utf8(server.exchange(&Request::get("/metrics")).body).unwrap();
    for count in ["hits_total 0", "misses_total 0", "reads_total 0", "evictions_total 0"] {
        let line = format!("\nskillserve_cache_{count}\n");
        assert!(metrics.contains(&line), "{count} in:\n{metrics}");
    }
    assert!(!metrics.contains("\nskillserve_cache_bytes 0\n"), "{metrics}");
}

#[test]
fn a_digest_that_is_made_up_for_a_skill_md_never_goes_out_with_its_bytes() {
    const SKILL_MD: &str = "skill://csv/SKILL.md";
    let bed = Bed::indexed();
    let text = fs::read_to_string(bed.root.join("csv/SKILL.md")).unwrap();
    bed.lie(text.as_bytes());
    let mut started = bed.start();
    assert!(started.taken().contains("of which 4 need"), "{}", started.taken());
    // Whoever reads it first, a client or the server itself, finds it out.
    assert_eq!(started.0.read(SKILL_MD).as_deref(), Some(&*text));
    assert_eq!(started.0.digests()[SKILL_MD], digest_of(&text));
}

#[test]
fn who_writes_the_index_cannot_make_wrong_bytes_of_it_and_a_read_puts_it_right() {
    let bed = Bed::indexed();
    let lie = bed.lie(b"first\n");
    let mut started = bed.start();
    assert_eq!(started.digest(), lie);
    assert_eq!(started.0.read(NOTES).as_deref(), Some("first\n"));
    assert_eq!(started.digest(), digest_of("first\n"));
    assert_eq!(started.0.read(NOTES).as_deref(), Some("first\n"));
    started.stop();
    // For good.
    let mut started = bed.start();
    assert!(started.taken().contains("of which 4 need"), "{}", started.taken());
    assert_eq!(started.digest(), digest_of("first\n"));
}

#[test]
fn an_index_of_a_copy_is_of_use_and_verified() {
    let bed = Bed::new();
    let notes = bed.root.join("csv/notes.txt");
    bed.make();
    // As in an image: another file with the same size, and the same second of its time.
    let time = fs::metadata(&notes).unwrap().modified().unwrap();
    fs::rename(&notes, bed.root.join("old")).unwrap();
    fs::write(&notes, "first\n").unwrap();
    fs::File::options().append(true).open(&notes).unwrap().set_modified(time).unwrap();
    let started = bed.start();
    assert!(started.taken().contains("knows 4 files, of which 4 need"), "{}", started.taken());
    started.0.told.wait_for("verified what the index said");
    started.stop();
    // Other bytes behind the same size and time: nobody has to read them for the listing to be right.
    bed.make();
    change_unseen(&notes, "FIRST\n");
    let mut started = bed.start();
    assert!(started.taken().contains("of which 4 need"), "{}", started.taken());
    started.0.told.wait_for("verified what the index said");
    assert_eq!(started.digest(), digest_of("FIRST\n"));
    assert_eq!(started.0.read(NOTES).as_deref(), Some("FIRST\n"));
}

/// Puts these bytes in the place of the index. It is ignored with a warning that says why, and made anew.
#[track_caller]
fn check_flaw(bed: &Bed, bytes: &[u8], why: &str) {
    fs::write(&bed.index, bytes).unwrap();
    let mut started = bed.start();
    assert_eq!(started.digest(), digest_of("first\n"));
    let told = started.stop();
    assert_eq!(told.count(KNOWS), 0, "{:?}", told.all());
    assert_eq!(told.count("warning: "), 1, "{:?}", told.all());
    assert_eq!(told.count(&format!("is ignored: it {why}; nothing is lost but time")), 1, "{:?}", told.all());
    assert!(bed.start().taken().contains("of which 4 need"));
}

#[test]
fn a_flawed_index_costs_a_warning_and_time() {
    let bed = Bed::indexed();
    let good = fs::read(&bed.index).unwrap();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    check_flaw(&bed, b"", "is no index");
    check_flaw(&bed, &good[..good.len() / 2], "is cut short, or has more behind its end");
    check_flaw(&bed, &flipped(17), "was made by another version of skillserve");
    check_flaw(&bed, &flipped(good.len() - 20), "is damaged");
    // Without most of its bytes on the disk.
    fs::File::options().append(true).open(&bed.index).unwrap().set_len(1 << 40).unwrap();
    let started = bed.start();
    assert_eq!(started.stop().count("is ignored: it is larger than 268435456 bytes"), 1);
}

#[test]
fn a_place_that_cannot_be_written_costs_one_warning() {
    let bed = Bed::new();
    let bed = Bed { index: bed.root.parent().unwrap().join("none/index"), ..bed };
    let mut started = bed.start();
    write(&bed.root, &[("csv/notes.txt", b"again\n")]);
    started.0.signal("HUP");
    wait_until("the change is served", || started.digest() == digest_of("again\n"));
    fs::create_dir(bed.index.parent().unwrap()).unwrap();
    let told = started.stop();
    assert_eq!(told.count("warning: the index "), 1, "{:?}", told.all());
    assert_eq!(
        told.count("cannot be written: its directory does not exist; make it, or name a file in another one"),
        1
    );
    // What could not be written is tried again, at the end at the latest.
    assert!(bed.index.exists());
}

#[test]
fn servers_that_share_an_index_leave_a_whole_one() {
    let bed = Bed::indexed();
    let servers: Vec<_> = (0..4)
        .map(|number| {
            // Each finds something else to write.
            write(&bed.root, &[("pdf/new.txt", format!("{number}\n").as_bytes())]);
            bed.start()
        })
        .collect();
    std::thread::scope(|scope| {
        servers.into_iter().for_each(|server| drop(scope.spawn(|| server.stop())));
    });
    assert!(bed.start().taken().contains("of which 4 need"));
    let beside = fs::read_dir(bed.index.parent().unwrap()).unwrap();
    assert_eq!(beside.count(), 2);
}

/// Asks both commands that write an index to write it there. Each refuses with these words at the end.
#[track_caller]
fn check_refused(bed: &Bed, index: &Path, words: &str) {
    for (args, option) in [(["stdio"], "--index"), (["index"], "--output")] {
        let mut command = skillserve();
        command.args(args).arg(&bed.root).arg(option).arg(index);
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.ends_with(words), "{told}");
    }
}

#[test]
fn an_index_is_not_put_among_what_is_served() {
    let bed = Bed::new();
    let words = "lies in a directory that is served: name a file beside it\n";
    check_refused(&bed, &bed.root.join("csv/index"), words);
}

#[test]
fn a_link_to_an_index_is_of_use_and_stays_a_link() {
    let bed = Bed::indexed();
    let link = bed.index.with_file_name("link");
    std::os::unix::fs::symlink("index", &link).unwrap();
    let before = fs::read(&bed.index).unwrap();
    let bed = Bed { index: link, ..bed };
    let mut started = bed.start();
    assert!(started.taken().contains("of which 4 need"));
    write(&bed.root, &[("csv/notes.txt", b"again\n")]);
    started.0.signal("HUP");
    wait_until("the change is served", || started.digest() == digest_of("again\n"));
    let words = "cannot be written: it is a link; name the file that the link leads to";
    assert_eq!(started.stop().count(words), 1);
    let made = skillserve().arg("index").arg(&bed.root).arg("-o").arg(&bed.index).output().unwrap();
    assert_eq!(made.status.code(), Some(2));
    assert!(String::from_utf8(made.stderr).unwrap().contains(words));
    assert!(bed.index.is_symlink() && fs::read(&bed.index).unwrap() == before);
}

#[test]
fn nothing_but_an_index_is_written_over() {
    let bed = Bed::new();
    let words = "is no index, and an index would be written over it: name another file, or delete it\n";
    fs::write(&bed.index, "my notes\n").unwrap();
    check_refused(&bed, &bed.index, words);
    assert_eq!(fs::read_to_string(&bed.index).unwrap(), "my notes\n");
    check_refused(&bed, &bed.root, words);
}
