//! Tests that would disturb others in their process, and run themselves again in one of their own.

use std::process::{Command, id};

const MARK: &str = "SKILLSERVE_TEST_WATCH_CHILD";

pub(super) fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs `test`, which is the body of the test `name`, in a process that the shell `script` makes of its arguments.
pub(super) fn run(name: &str, script: &str, test: impl Future<Output = ()>) {
    if is_child() {
        return tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }
    let program = std::env::current_exe().unwrap();
    let arguments = ["-c", script];
    let output = Command::new("sh")
        .args(arguments)
        .arg(program)
        .args(["--exact", name])
        .env(MARK, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Sends this process a signal.
pub(super) fn signal(name: &str) {
    assert!(Command::new("kill").arg(format!("-{name}")).arg(id().to_string()).status().unwrap().success());
}
