//! Where connections come from: an address of the network, a socket in the file system, or one that systemd passes.

use std::fmt;
use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::anyhow;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};

use super::Host;
use super::caller::Peer;
use super::heard::Heard;
use super::patience::Patient;
use super::tls::Tls;
#[cfg(unix)]
use super::unix::{Passed, SocketFile};

/// How many connections may wait to be let in, where the system allows as many (Linux does by default): more than are ever
/// open at once, so that none is lost when all clients come back at the same time. One that is lost may look open to its
/// client.
pub(super) const BACKLOG: u16 = 4096;

/// Where is to be listened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host and a port; port 0 takes a free one.
    Network(String),
    /// A socket in the file system.
    #[cfg(unix)]
    File(PathBuf),
}

/// Text that names no place to listen at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAddress {
    /// Neither form.
    #[error("an address is HOST:PORT, such as 127.0.0.1:8008 or [::1]:8008, or on Unix unix:/path")]
    Malformed,
    /// A socket where there are none.
    #[error("sockets in the file system are listened on only on Unix; take HOST:PORT")]
    NoFiles,
}

impl Address {
    /// Whether the system chooses the port.
    pub fn takes_free_port(&self) -> bool {
        matches!(self, Self::Network(name) if name.ends_with(":0"))
    }
}

impl FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        match text.strip_prefix("unix:") {
            Some("") => Err(NoAddress::Malformed),
            #[cfg(unix)]
            Some(path) => Ok(Self::File(path.into())),
            #[cfg(not(unix))]
            Some(_) => Err(NoAddress::NoFiles),
            // Whether it can be listened there is for the system to say; whether it is an address is clear before that.
            None if text.parse::<SocketAddr>().is_ok() => Ok(Self::Network(text.to_owned())),
            None if text.parse().is_ok_and(|host: Host| host.port().is_some()) => {
                Ok(Self::Network(text.to_owned()))
            }
            None => Err(NoAddress::Malformed),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(address) => f.write_str(address),
            #[cfg(unix)]
            Self::File(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// How clients reach a listener.
#[derive(Clone, Debug)]
pub struct Place {
    /// `None` for a socket in the file system.
    pub(super) address: Option<SocketAddr>,
    /// Whether TLS is spoken.
    pub(super) is_secure: bool,
    name: String,
}

impl Place {
    /// Somewhere on the network.
    pub(super) fn network(address: SocketAddr, is_secure: bool) -> Self {
        Self { address: Some(address), is_secure, name: address.to_string() }
    }

    /// A socket in the file system, of which this much is known.
    #[cfg(unix)]
    pub(super) fn file(path: Option<&std::path::Path>, is_secure: bool) -> Self {
        let path = path.map(|path| path.display().to_string());
        Self { address: None, is_secure, name: format!("unix:{}", path.unwrap_or_default()) }
    }

    /// Whether only programs of this machine can connect.
    pub(super) fn is_local(&self) -> bool {
        self.address.is_none_or(|address| address.ip().to_canonical().is_loopback())
    }

    /// Whether it is at all addresses of this machine, so that its own says nothing of how clients name it.
    pub(super) fn is_everywhere(&self) -> bool {
        self.address.is_some_and(|address| address.ip().to_canonical().is_unspecified())
    }

    /// As it is called in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// `http`, or what it is with TLS.
    pub(super) fn scheme(&self) -> &'static str {
        if self.is_secure { "https" } else { "http" }
    }

    /// What clients are told, who find the endpoint at `path`.
    pub fn url(&self, path: &str) -> String {
        match self.address {
            Some(address) => format!("{}://{address}{path}", self.scheme()),
            None => format!("{}://localhost{path} over {}", self.scheme(), self.name),
        }
    }
}

/// Takes connections in.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    place: Place,
    tls: Option<Arc<Tls>>,
}

#[derive(Debug)]
enum Socket {
    Network(TcpListener),
    #[cfg(unix)]
    File {
        socket: tokio::net::UnixListener,
        _file: Option<SocketFile>,
    },
}

impl Listener {
    /// Listens at the address that was given to `option`.
    ///
    /// # Errors
    /// A sentence for what keeps it from that.
    pub async fn bind(option: &str, address: &Address, tls: Option<Arc<Tls>>) -> anyhow::Result<Self> {
        match address {
            Address::Network(name) => {
                let socket = bind(name).await.map_err(|error| cannot_bind(option, name, &error))?;
                let place = Place::network(socket.local_addr()?, tls.is_some());
                Ok(Self { socket: Socket::Network(socket), place, tls })
            }
            #[cfg(unix)]
            Address::File(path) => {
                let (socket, file) = SocketFile::bind(option, path)?;
                let place = Place::file(Some(path), tls.is_some());
                Ok(Self { socket: Socket::File { socket, _file: Some(file) }, place, tls })
            }
        }
    }

    /// Listens on a socket that systemd has opened.
    ///
    /// # Errors
    /// When it cannot be used.
    #[cfg(unix)]
    pub fn passed(passed: Passed, tls: Option<Arc<Tls>>) -> anyhow::Result<Self> {
        let (socket, place) = match passed {
            Passed::Network(socket) => {
                socket.set_nonblocking(true)?;
                let socket = TcpListener::from_std(socket)?;
                let place = Place::network(socket.local_addr()?, tls.is_some());
                (Socket::Network(socket), place)
            }
            Passed::File(socket) => {
                socket.set_nonblocking(true)?;
                let place = Place::file(socket.local_addr()?.as_pathname(), tls.is_some());
                // The file is systemd's, which goes on to listen there.
                let socket = tokio::net::UnixListener::from_std(socket)?;
                (Socket::File { socket, _file: None }, place)
            }
        };
        Ok(Self { socket, place, tls })
    }

    /// How clients reach it.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The next connection.
    pub(super) async fn accept(&self) -> io::Result<(Stream, Peer)> {
        let heard = Arc::<Heard>::default();
        let (io, address): (Box<dyn Io>, _) = match &self.socket {
            Socket::Network(socket) => {
                let (stream, address) = next(socket).await?;
                (Box::new(Patient::new(stream, heard.clone())), Some(address))
            }
            #[cfg(unix)]
            Socket::File { socket, .. } => {
                let stream = socket.accept().await?.0;
                (Box::new(Patient::new(stream, heard.clone())), None)
            }
        };
        Ok((Stream { io, tls: self.tls.clone(), heard }, Peer { address }))
    }

    /// What it shows and proves to clients, if it speaks TLS.
    pub(super) fn tls(&self) -> Option<Arc<Tls>> {
        self.tls.clone()
    }
}

/// The next connection. What is sent over it goes out at once, not only when what went before has been acknowledged.
async fn next(socket: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (stream, address) = socket.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, address))
}

/// Listens at the first of the addresses that `name` stands for at which that can be done.
async fn bind(name: &str) -> io::Result<TcpListener> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name stands for no address");
    for address in lookup_host(name).await? {
        match bind_one(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn bind_one(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // So that the port can be taken again at once after a restart. On Windows it would be taken from a program that has it.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG.into())
}

fn cannot_bind(option: &str, address: &str, error: &io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            anyhow!("{address} is in use: stop the program that has it, or take another port with {option}")
        }
        io::ErrorKind::PermissionDenied => anyhow!(
            "cannot listen on {address}: {error}; take a port from 1024 on with {option}, or let this program have lower ones"
        ),
        _ => anyhow!(
            "cannot listen on {address}: {error}; {option} takes an address of this machine as HOST:PORT"
        ),
    }
}

/// What is read and written.
pub(super) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// A connection that was let in.
pub(super) struct Stream {
    io: Box<dyn Io>,
    tls: Option<Arc<Tls>>,
    heard: Arc<Heard>,
}

impl Stream {
    /// What is heard of the other end.
    pub(super) fn heard(&self) -> Arc<Heard> {
        self.heard.clone()
    }

    /// Shakes hands, if TLS is spoken.
    pub(super) async fn open(self) -> io::Result<Box<dyn Io>> {
        match self.tls {
            Some(tls) => tls.shake_hands(self.io).await,
            None => Ok(self.io),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port_or_a_socket() {
        for text in ["127.0.0.1:8008", "[::1]:0", "localhost:8008", "0.0.0.0:80"] {
            assert_eq!(text.parse(), Ok(Address::Network(text.to_owned())));
        }
        for text in ["", "8008", "localhost", "::1:80x", "localhost:x", "unix:", "http://x:80", "unix"] {
            assert_eq!(text.parse::<Address>(), Err(NoAddress::Malformed), "{text}");
        }
        #[cfg(unix)]
        assert_eq!("unix:/run/x y".parse(), Ok(Address::File("/run/x y".into())));
    }

    #[tokio::test]
    async fn connections_send_at_once() {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(socket.local_addr().unwrap()).await.unwrap();
        assert!(next(&socket).await.unwrap().0.nodelay().unwrap());
    }

    /// Where the system keeps fewer, it is the system that drops them.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn connections_wait_until_they_are_let_in() {
        let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        let waiting = most.trim().parse::<usize>().unwrap().min(BACKLOG.into());
        let listener =
            Listener::bind("--listen", &Address::Network("127.0.0.1:0".into()), None).await.unwrap();
        let address = listener.place().address.unwrap();
        for number in 0..waiting {
            let client = TcpStream::connect(address);
            let client = tokio::time::timeout(std::time::Duration::from_secs(10), client).await;
            assert!(client.is_ok_and(|client| client.is_ok()), "{number} of {waiting}");
        }
    }

    #[test]
    fn a_place_is_told_as_clients_name_it() {
        let place = |address: &str, is_secure| Place::network(address.parse().unwrap(), is_secure);
        assert_eq!(place("127.0.0.1:80", false).url("/mcp"), "http://127.0.0.1:80/mcp");
        assert_eq!(place("[::1]:443", true).url("/"), "https://[::1]:443/");
        assert!(place("127.1.2.3:80", false).is_local() && place("[::ffff:127.0.0.1]:80", false).is_local());
        assert!(!place("0.0.0.0:80", false).is_local() && !place("[::]:80", true).is_local());
    }
}
