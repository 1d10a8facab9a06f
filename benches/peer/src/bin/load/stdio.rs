//! One server, spoken to over its pipes.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::message;
use super::tally::{Span, Tally};

/// Sends the messages in turn, so that `window` of them are in flight. The first answer is waited for before that.
/// `cpu` is the processor time that the server took for all answers, in seconds.
pub fn run(messages: &[Value], window: usize, seconds: f64, command: &[&str]) -> anyhow::Result<Value> {
    let mut server = Server::start(command)?;
    let lines: Vec<_> = messages.iter().map(message::line_after_id).collect();
    let mut lines = lines.iter().cycle();
    let mut next = || lines.next().context("no message");
    server.write(next()?)?;
    server.input.flush()?;
    server.receive()?;

    let cpu = server.cpu()?;
    let span = Span::new(seconds);
    let mut tally = Tally::new(span);
    let mut asked = VecDeque::new();
    while !span.is_over() {
        while asked.len() < window {
            server.write(next()?)?;
            asked.push_back(Instant::now());
        }
        // What is buffered goes out before anything is waited for.
        server.flush_if_waiting()?;
        let bytes = server.receive()?;
        // Answers may overtake each other, so that a single latency means little, but their distribution does.
        tally.add(asked.pop_front().context("more answers than requests")?, bytes);
    }
    let cpu = server.cpu()? - cpu;
    server.end()?;
    let mut report = tally.report();
    report["cpu"] = cpu.into();
    Ok(report)
}

/// How long it takes from spawn to the first answer, in microseconds, so many times.
pub fn first(messages: &[Value], times: usize, command: &[&str]) -> anyhow::Result<Value> {
    let line = message::line_after_id(&messages[0]);
    let mut took = Vec::new();
    for _ in 0..times {
        let spawned = Instant::now();
        let mut server = Server::start(command)?;
        server.write(&line)?;
        server.input.flush()?;
        server.receive()?;
        took.push(spawned.elapsed().as_secs_f64() * 1e6);
        server.end()?;
    }
    Ok(json!(took))
}

struct Server {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    id: u64,
}

impl Server {
    fn start(command: &[&str]) -> anyhow::Result<Self> {
        let (program, words) = command.split_first().context("a command")?;
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run {program}"))?;
        let input = BufWriter::new(child.stdin.take().context("a pipe")?);
        let output = BufReader::with_capacity(64 * 1024, child.stdout.take().context("a pipe")?);
        Ok(Self { child, input, output, line: Vec::new(), id: 0 })
    }

    fn write(&mut self, line: &[u8]) -> anyhow::Result<()> {
        self.id += 1;
        write!(self.input, "{{\"id\":{}", self.id)?;
        Ok(self.input.write_all(line)?)
    }

    fn flush_if_waiting(&mut self) -> anyhow::Result<()> {
        if memchr::memchr(b'\n', self.output.buffer()).is_none() {
            self.input.flush()?;
        }
        Ok(())
    }

    /// The length of the next answer, which is a result.
    fn receive(&mut self) -> anyhow::Result<usize> {
        self.line.clear();
        self.output.read_until(b'\n', &mut self.line)?;
        ensure!(self.line.ends_with(b"\n"), "the server ended");
        message::check(&self.line)?;
        Ok(self.line.len())
    }

    /// The processor time of its threads, in seconds.
    fn cpu(&self) -> anyhow::Result<f64> {
        let mut nanoseconds = 0.0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let told = std::fs::read_to_string(task?.path().join("schedstat"))?;
            nanoseconds += told.split(' ').next().context("a number")?.parse::<f64>()?;
        }
        Ok(nanoseconds / 1e9)
    }

    fn end(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}
