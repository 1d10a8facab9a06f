//! Clients that speak HTTP/2 and give their windows as they like.

use bytes::Bytes;
use h2::client::{Builder, Connection, SendRequest};
use h2::{Reason, RecvStream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::PATIENCE;
use super::http::{Request, Response};

/// A connection with prior knowledge. What it receives is seen to by a task, whose end says how the connection ended.
pub struct Client {
    pub send: SendRequest<Bytes>,
    pub end: tokio::task::JoinHandle<Result<(), h2::Error>>,
    pub host: String,
}

/// An answer whose body is yet to be read.
pub struct Answer {
    pub response: Response,
    pub body: RecvStream,
}

/// Runs what a client does.
pub fn run<T>(client: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(client)
}

impl Client {
    /// Connects to a server that is named by its address.
    pub async fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        Self::over(stream, address, &mut Builder::new()).await
    }

    /// Speaks to `host` over some stream.
    pub async fn over<S>(stream: S, host: &str, builder: &mut Builder) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (send, connection): (_, Connection<S, Bytes>) = builder.handshake(stream).await.unwrap();
        Self { send, end: tokio::spawn(connection), host: host.to_owned() }
    }

    /// Sends a request. Its `Host` goes where HTTP/2 has it.
    pub async fn ask(&mut self, request: &Request) -> Result<Answer, h2::Error> {
        let host = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
        let host = host.map_or(&*self.host, |(_, host)| host);
        let mut head = axum::http::Request::builder()
            .method(request.method)
            .uri(format!("http://{host}{}", request.path));
        for (name, value) in request.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
            head = head.header(name, value);
        }
        let is_whole = request.body.is_empty();
        let mut send = self.send.clone().ready().await?;
        let (response, mut stream) = send.send_request(head.body(()).unwrap(), is_whole)?;
        if !is_whole {
            // What is refused is not read to its end.
            let _ = stream.send_data(request.body.clone().into(), true);
        }
        let (head, body) = timeout(PATIENCE, response).await.expect("an answer in time")?.into_parts();
        let headers = head
            .headers
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap().to_owned()));
        let response =
            Response { status: head.status.as_u16(), headers: headers.collect(), body: Vec::new() };
        Ok(Answer { response, body })
    }

    /// Sends a request and reads what answers it.
    pub async fn exchange(&mut self, request: &Request) -> Result<Response, h2::Error> {
        self.ask(request).await?.read().await
    }
}

impl Answer {
    /// Reads the body.
    pub async fn read(mut self) -> Result<Response, h2::Error> {
        while let Some(part) = timeout(PATIENCE, self.body.data()).await.expect("more in time") {
            let part = match part {
                // It was answered before it was read, and the rest is not wanted.
                Err(error) if error.reason() == Some(Reason::NO_ERROR) => break,
                part => part?,
            };
            self.body.flow_control().release_capacity(part.len()).unwrap();
            self.response.body.extend_from_slice(&part);
        }
        Ok(self.response)
    }
}
