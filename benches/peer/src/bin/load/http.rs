//! Connections that are kept busy, all on one thread: what the client takes of the processors, the server cannot have.

use std::cell::Cell;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::{JoinSet, LocalSet};

use super::message;
use super::tally::{Span, Tally};

const HEADERS_MAX: usize = 32;

/// Sends the messages in turn over so many connections.
pub fn run(address: &str, messages: &[Value], connections: usize, seconds: f64) -> anyhow::Result<Value> {
    let requests: Vec<_> = messages.iter().map(|message| message::request(address, message)).collect();
    let requests: &[Vec<u8>] = Vec::leak(requests);
    let next: &Cell<usize> = Box::leak(Box::new(Cell::new(0)));
    let address = address.to_owned();
    let tally = each(connections, Span::new(seconds), move |span| {
        let address = address.clone();
        async move {
            let mut connection = Connection::open(&address).await?;
            let mut tally = Tally::new(span);
            while !span.is_over() {
                let request = &requests[next.replace(next.get() + 1) % requests.len()];
                let asked = Instant::now();
                let bytes = connection.ask(request).await?.len();
                tally.add(asked, bytes);
            }
            Ok(tally)
        }
    })?;
    Ok(tally.report())
}

/// Runs a client so many times at once, and adds up what they counted.
fn each<F>(connections: usize, span: Span, client: impl Fn(Span) -> F) -> anyhow::Result<Tally>
where
    F: Future<Output = anyhow::Result<Tally>> + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let mut clients = JoinSet::new();
        for _ in 0..connections {
            clients.spawn_local(client(span));
        }
        let mut sum = Tally::new(span);
        while let Some(tally) = clients.join_next().await {
            sum = sum.merge(tally??);
        }
        Ok(sum)
    })
}

/// A connection that is kept alive.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(address: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Sends a request, and gives the body of its answer, which is a result.
    pub async fn ask(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let (head, body) = loop {
            self.fill(16 * 1024).await?;
            if let Some(lengths) = lengths(&self.buffer)? {
                break lengths;
            }
        };
        while self.buffer.len() < head + body {
            self.fill(head + body - self.buffer.len()).await?;
        }
        let body = &self.buffer[head..];
        message::check(body)?;
        Ok(body)
    }

    async fn fill(&mut self, bytes: usize) -> anyhow::Result<()> {
        self.buffer.reserve(bytes);
        ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the connection was closed");
        Ok(())
    }
}

/// How long the head and the body of an answer are, once the head is there.
fn lengths(answer: &[u8]) -> anyhow::Result<Option<(usize, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = response.parse(answer)? else { return Ok(None) };
    if response.code != Some(200) {
        bail!("{}", String::from_utf8_lossy(answer));
    }
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.context("an answer does not say how long it is")?.value;
    Ok(Some((head, std::str::from_utf8(length)?.parse()?)))
}
