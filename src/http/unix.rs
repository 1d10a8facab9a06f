//! Sockets as only Unix has them: in the file system, and passed on by systemd.

use std::fs::{self, Permissions};
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use listenfd::ListenFd;
use socket2::{Domain, SockAddr, Socket, Type};

use super::listen::BACKLOG;

/// Who may connect to a socket in the file system: its user and its group.
const MODE: u32 = 0o660;

/// A socket's file, which is gone when this is.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    /// The device and the number of the file, because another one may have taken its place.
    identity: Option<(u64, u64)>,
}

impl SocketFile {
    /// Listens at `path`, which was given to `option`, in place of a server that is gone.
    pub(super) fn bind(option: &str, path: &Path) -> anyhow::Result<(tokio::net::UnixListener, Self)> {
        let cannot = || format!("cannot listen on unix:{}", path.display());
        // Nothing else about a path is looked at before the system takes it.
        let address = SockAddr::unix(path).map_err(|_| {
            let bytes = path.as_os_str().len();
            anyhow!("{}: its {bytes} bytes are too long for a socket: give {option} a shorter path", cannot())
        })?;
        make_way(option, path)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).with_context(cannot)?;
        socket.bind(&address).map_err(|error| refused(option, path, &error))?;
        let file = Self { path: path.to_owned(), identity: identity(path) };
        // Nobody can connect before it listens, and so nobody but those who may.
        fs::set_permissions(path, Permissions::from_mode(MODE)).with_context(cannot)?;
        socket.listen(BACKLOG.into()).with_context(cannot)?;
        socket.set_nonblocking(true).with_context(cannot)?;
        let socket = tokio::net::UnixListener::from_std(socket.into()).with_context(cannot)?;
        Ok((socket, file))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Why the system makes no socket there, and the cure.
fn refused(option: &str, path: &Path, error: &io::Error) -> anyhow::Error {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            anyhow!(
                "cannot listen on unix:{shown}: its directory is not there: create that, or take another path with {option}"
            )
        }
        io::ErrorKind::PermissionDenied => anyhow!(
            "cannot listen on unix:{shown}: {error}; let the server's user write in its directory, or take another path with {option}"
        ),
        _ => anyhow!("cannot listen on unix:{shown}: {error}; take another path with {option}"),
    }
}

/// Removes the socket of a server that is gone. Anything else stays where it is.
fn make_way(option: &str, path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(refused(option, path, &error)),
        Ok(file) if !file.file_type().is_socket() => {
            bail!("{shown} is there and is no socket: remove it, or take another path with {option}")
        }
        Ok(_) if is_alone(option, path)? => {
            fs::remove_file(path).map_err(|error| refused(option, path, &error))
        }
        Ok(_) => {
            bail!("unix:{shown} is in use: stop the program that has it, or take another path with {option}")
        }
    }
}

/// Whether nobody listens on a socket.
fn is_alone(option: &str, path: &Path) -> anyhow::Result<bool> {
    let connect = || {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        // One whose server has no time for more makes others wait.
        socket.set_nonblocking(true)?;
        socket.connect(&SockAddr::unix(path)?)
    };
    match connect() {
        Ok(()) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(true),
        Err(error) => bail!(
            "cannot tell who has the socket {}: {error}; remove it, or take another path with {option}",
            path.display()
        ),
    }
}

/// A socket that systemd has opened and passed on.
#[derive(Debug)]
pub enum Passed {
    /// Of the network.
    Network(TcpListener),
    /// In the file system.
    File(UnixListener),
}

impl Passed {
    /// The one that is passed to this process, if any is. It is taken out of the environment, so that this has to be asked
    /// once, and before anything else looks there.
    ///
    /// # Errors
    /// A sentence if there is more than one, or another kind of file.
    pub fn take() -> anyhow::Result<Option<Self>> {
        let mut passed = ListenFd::from_env();
        match passed.len() {
            0 => return Ok(None),
            1 => {}
            many => {
                bail!("systemd passes {many} sockets, and one is listened on: leave one in the socket unit")
            }
        }
        if let Ok(Some(socket)) = passed.take_unix_listener(0) {
            return Ok(Some(Self::File(socket)));
        }
        match passed.take_tcp_listener(0) {
            Ok(Some(socket)) => Ok(Some(Self::Network(socket))),
            _ => bail!("what systemd passes is no socket to listen on: ListenStream= makes one"),
        }
    }
}
