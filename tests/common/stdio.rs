//! A host that starts the program and speaks with it over pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Client, Era, PATIENCE, handshake, skillserve, wait_until};

/// The program, and the ends of its pipes.
pub struct Host {
    pub child: Child,
    pub input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    lines: Option<Receiver<String>>,
    era: Era,
    id: u64,
}

impl Host {
    /// Starts the program, without a word yet.
    pub fn start(root: &Path, era: Era) -> Self {
        Self::spawn(root, era, Stdio::null())
    }

    /// The same with a pipe for stderr that nobody reads.
    pub fn with_unread_stderr(root: &Path, era: Era) -> Self {
        Self::spawn(root, era, Stdio::piped())
    }

    fn spawn(root: &Path, era: Era, stderr: Stdio) -> Self {
        let mut command = skillserve();
        command.arg("stdio").arg(root);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Self { child, input, output, lines: None, era, id: 0 }
    }

    /// Starts a command that speaks over its pipes. Its stderr is a pipe that somebody must read.
    pub fn of(mut command: Command, era: Era) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Self { child, input, output, lines: None, era, id: 0 }
    }

    /// Starts the program and shakes hands where that is done.
    pub fn connect(root: &Path, era: Era) -> Self {
        let mut host = Self::start(root, era);
        if era == Era::Legacy {
            host.result("initialize", handshake());
            host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        host
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).and_then(|()| input.flush()).unwrap();
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    /// Begins to read the output, if that has not begun.
    pub fn read(&mut self) -> &Receiver<String> {
        let output = self.output.take();
        self.lines.get_or_insert_with(|| {
            let (sender, lines) = channel();
            let output = BufReader::new(output.unwrap());
            std::thread::spawn(move || {
                for line in output.lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
            lines
        })
    }

    /// The next line of output, which must be a JSON-RPC message.
    pub fn receive(&mut self) -> Value {
        let line = self.read().recv_timeout(PATIENCE).expect("an answer");
        let message: Value = serde_json::from_str(&line).expect(&line);
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Whether the output is over, once all that came has been taken.
    pub fn is_silent(&mut self) -> bool {
        self.read().recv_timeout(PATIENCE).is_err()
    }

    /// Closes the input.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// Waits for the program to end by itself, and says how long that took.
    pub fn wait(&mut self) -> (ExitStatus, Duration) {
        let begin = Instant::now();
        wait_until("the program ends", || self.child.try_wait().unwrap().is_some());
        (self.child.wait().unwrap(), begin.elapsed())
    }
}

impl Client for Host {
    fn era(&self) -> Era {
        self.era
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        self.send(&self.era.request(self.id, method, params));
        let answer = self.receive();
        assert_eq!(answer["id"], self.id, "{answer}");
        answer
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
