//! Tests that need a process with fewer rights or resources than this one: they run themselves again in such a process.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// What the process shall have few of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Few {
    /// At most 24 descriptors, and two threads that walk.
    Descriptors,
    /// Only the rights of a user who is not root.
    Rights,
}

const MARK: &str = "SKILLSERVE_TEST_CHILD";

/// Runs `test`, which is the body of the test `name`, in a process that has few of what `few` says.
pub(super) fn run(name: &str, few: Few, test: impl FnOnce()) {
    if std::env::var_os(MARK).is_some() || few == Few::Rights && !is_root() {
        return test();
    }
    // The other user may not be able to reach the directory in which the tests were built.
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = dir.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();

    let mut command = Command::new("/bin/sh");
    let limit = if few == Few::Descriptors { "ulimit -n 24 && " } else { "" };
    command.arg("-c").arg(format!("{limit}exec \"$0\" \"$@\"")).arg(&program).args(["--exact", name]);
    command.env(MARK, "1").env("RAYON_NUM_THREADS", "2").current_dir("/");
    if few == Few::Rights {
        command.uid(65_534).gid(65_534);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Whether permissions do not hold for this process.
fn is_root() -> bool {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o000)).unwrap();
    fs::read_dir(dir.path()).is_ok()
}
