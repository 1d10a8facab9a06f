//! A running server, and clients that write their requests by hand.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::Value;

use super::{Client, Era, PATIENCE, handshake, skillserve};

/// The most that is kept of what a server writes on stderr.
const TOLD_MAX_BYTES: usize = 16 << 20;

/// The program, listening.
pub struct Server {
    pub child: Child,
    pub address: String,
    told: Arc<Mutex<String>>,
}

impl Server {
    /// Starts the program and waits until it says where it listens.
    pub fn start(root: &Path, options: &[&str]) -> Self {
        Self::start_by(skillserve(), root, options)
    }

    /// The same with a command that runs the program.
    pub fn start_by(mut command: Command, root: &Path, options: &[&str]) -> Self {
        command.args(["http", "--listen", "127.0.0.1:0"]).args(options).arg(root);
        Self::run(command)
    }

    /// The same with a command that says everything.
    pub fn run(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let told: Arc<Mutex<String>> = Arc::default();
        let address = loop {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it did not say where it listens");
            told.lock().unwrap().push_str(&line);
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split_once('/').unwrap().0.to_owned();
            }
        };
        // What it writes later must go somewhere.
        let more = told.clone();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let mut told = more.lock().unwrap();
                if told.len() < TOLD_MAX_BYTES {
                    *told += &(line + "\n");
                }
            }
        });
        Self { child, address, told }
    }

    /// What it has written on stderr until now.
    pub fn told(&self) -> String {
        self.told.lock().unwrap().clone()
    }

    /// The line on stderr that holds all of these words, which may still have to come.
    pub fn line(&self, words: &[&str]) -> String {
        let mut found = None;
        super::wait_until(&format!("{words:?} is told in:\n{}", self.told()), || {
            let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
            found = self.told().lines().find(has_all).map(str::to_owned);
            found.is_some()
        });
        found.unwrap()
    }

    /// A connection that gives up in time.
    pub fn connect(&self) -> TcpStream {
        connect(&self.address)
    }

    /// One exchange on a connection of its own.
    pub fn exchange(&self, request: &Request) -> Response {
        self.exchange_at(&self.address, request)
    }

    /// The same with another address of the server.
    pub fn exchange_at(&self, address: &str, request: &Request) -> Response {
        let mut stream = connect(address);
        stream.write_all(&request.to_bytes(address)).unwrap();
        Response::read(&mut BufReader::new(stream))
    }

    /// The head of what answers a request, whatever its body is.
    pub fn exchange_head(&self, request: &Request) -> Response {
        let mut stream = self.connect();
        stream.write_all(&request.to_bytes(&self.address)).unwrap();
        Response::read_head(&mut BufReader::new(stream))
    }

    /// Sends a request that is answered with a stream of events.
    pub fn open(&self, request: &Request) -> Events {
        let mut stream = self.connect();
        stream.write_all(&request.to_bytes(&self.address)).unwrap();
        let mut reader = BufReader::new(stream);
        let response = Response::read(&mut reader);
        assert_eq!(response.header("content-type"), Some("text/event-stream"), "{response:?}");
        Events { reader, response, text: String::new() }
    }

    /// A client of this server.
    pub fn client(&self, era: Era) -> HttpClient<'_> {
        HttpClient { server: self, era, id: 0 }
    }
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect_timeout(&address.parse().unwrap(), PATIENCE).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request, to be changed before it is sent.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: &'static str,
    pub path: &'static str,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// A request to the endpoint with the headers that every one has.
    pub fn post(body: impl Into<Vec<u8>>) -> Self {
        let request = Self { method: "POST", path: "/mcp", headers: Vec::new(), body: body.into() };
        request.with("Accept", "application/json, text/event-stream").with("Content-Type", "application/json")
    }

    /// A request that carries a message, with the headers of its era.
    pub fn message(era: Era, message: &Value) -> Self {
        let request = Self::post(message.to_string());
        match era {
            Era::Legacy if message["method"] == "initialize" => request,
            Era::Legacy => request.with("MCP-Protocol-Version", "2025-11-25"),
            Era::Modern => {
                let method = message["method"].as_str().unwrap();
                let request = request.with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", method);
                let name = match method {
                    "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                        &message["params"]["uri"]
                    }
                    _ => &message["params"]["name"],
                };
                match name.as_str() {
                    Some(name) => request.with("Mcp-Name", name),
                    None => request,
                }
            }
        }
    }

    /// A request that says everything itself.
    pub fn modern(method: &str, params: Value) -> Self {
        Self::message(Era::Modern, &Era::Modern.request(1, method, params))
    }

    /// A request that only looks.
    pub fn get(path: &'static str) -> Self {
        Self { method: "GET", path, headers: Vec::new(), body: Vec::new() }
    }

    /// The same with another value of a header.
    pub fn with(self, name: &str, value: &str) -> Self {
        let mut request = self.without(name);
        request.headers.push((name.to_owned(), value.to_owned()));
        request
    }

    /// The same without a header.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    /// The same with another method and path.
    pub fn to(mut self, method: &'static str, path: &'static str) -> Self {
        (self.method, self.path) = (method, path);
        self
    }

    /// As it is sent to `host`.
    pub fn to_bytes(&self, host: &str) -> Vec<u8> {
        let has = |name: &str| self.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !has("Host") {
            head += &format!("Host: {host}\r\n");
        }
        if !has("Transfer-Encoding") && !has("Content-Length") {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        [head.as_bytes(), b"\r\n", &self.body].concat()
    }
}

/// What came back.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    /// Reads one response, whose length its head says or which comes in chunks. A stream of events is left to be read.
    pub fn read(stream: &mut impl BufRead) -> Self {
        let mut response = Self::read_head(stream);
        let is_stream = response.header("content-type") == Some("text/event-stream");
        if response.header("transfer-encoding") == Some("chunked") && !is_stream {
            while let Some(chunk) = read_chunk(stream) {
                response.body.extend(chunk);
            }
            return response;
        }
        let length = response.header("content-length").map_or(0, |length| length.parse().unwrap());
        response.body = vec![0; length];
        stream.read_exact(&mut response.body).unwrap();
        response
    }

    fn read_head(stream: &mut impl BufRead) -> Self {
        let mut line = || {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let status = line().split(' ').nth(1).expect("a status").parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let header = line();
            let Some((name, value)) = header.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Self { status, headers, body: Vec::new() }
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

/// The next chunk of a body; none at its end.
fn read_chunk(stream: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut size = String::new();
    stream.read_line(&mut size).unwrap();
    let size = usize::from_str_radix(size.trim(), 16).expect("a chunk");
    let mut chunk = vec![0; size + "\r\n".len()];
    stream.read_exact(&mut chunk).unwrap();
    chunk.truncate(size);
    (size > 0).then_some(chunk)
}

/// A stream of server-sent events.
pub struct Events {
    reader: BufReader<TcpStream>,
    pub response: Response,
    text: String,
}

impl Events {
    /// The message of the next event; `None` at the end of the stream. Comments are passed over, but not for ever.
    pub fn next(&mut self) -> Option<Value> {
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < PATIENCE, "there are only comments");
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data:"));
                let message = data.map(|data| serde_json::from_str(data).expect(data));
                self.text = rest.to_owned();
                if message.is_some() {
                    return message;
                }
            }
            self.text += std::str::from_utf8(&read_chunk(&mut self.reader)?).unwrap();
        }
    }

    /// Whether nothing comes for so long.
    pub fn is_quiet_for(&mut self, duration: std::time::Duration) -> bool {
        assert!(self.text.is_empty(), "{:?}", self.text);
        self.reader.get_ref().set_read_timeout(Some(duration)).unwrap();
        let is_quiet = self.reader.fill_buf().is_err();
        self.reader.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
        is_quiet
    }
}

/// A client that makes a connection for each request.
pub struct HttpClient<'a> {
    server: &'a Server,
    era: Era,
    id: u64,
}

impl Client for HttpClient<'_> {
    fn era(&self) -> Era {
        self.era
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        if self.era == Era::Legacy && self.id == 0 {
            self.id = 1;
            self.result("initialize", handshake());
        }
        self.id += 1;
        let message = self.era.request(self.id, method, params);
        let response = self.server.exchange(&Request::message(self.era, &message));
        assert_eq!(response.header("content-type"), Some("application/json"), "{response:?}");
        let answer = response.json();
        assert_eq!(answer["id"], self.id, "{answer}");
        answer
    }
}
