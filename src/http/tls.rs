//! TLS: the certificate, which is read again when its files change, and the handshake.

mod plain;

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::{anyhow, bail};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{self, ServerConfig};

use super::TlsFiles;
use super::listen::Io;

/// How long a client may take to shake hands.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// How often the files are read again. They are small, and their times do not tell of every change.
const LOOK: Duration = Duration::from_secs(5);
/// The most bytes of one of the files. A chain of certificates has some ten thousand.
const FILE_MAX_BYTES: u64 = 1024 * 1024;
/// What can be spoken behind TLS, the better first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// What a server shows and proves to its clients.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    current: RwLock<Arc<ServerConfig>>,
    /// What the current one was made of.
    first: Pair,
}

/// What the two files hold.
#[derive(Clone, PartialEq, Eq)]
struct Pair {
    cert: Vec<u8>,
    key: Vec<u8>,
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A key is not to be seen anywhere.
        f.write_str("Pair")
    }
}

impl Tls {
    /// Reads a certificate and its key.
    ///
    /// # Errors
    /// A sentence for what is wrong with them.
    pub fn load(files: TlsFiles) -> anyhow::Result<Self> {
        let first = Pair::read(&files)?;
        let current = RwLock::new(Arc::new(first.config(&files)?));
        Ok(Self { files, current, first })
    }

    /// Shakes hands with a client, or tells one to do so that does not.
    pub(super) async fn shake_hands(&self, io: Box<dyn Io>) -> io::Result<Box<dyn Io>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        let shake = async { TlsAcceptor::from(current).accept(plain::begin(io).await?).await };
        Ok(Box::new(tokio::time::timeout(HANDSHAKE_MAX, shake).await.map_err(|_| io::ErrorKind::TimedOut)??))
    }

    /// Takes over what the files hold whenever that changes and is well, for ever. Otherwise it goes on with what it has.
    pub(super) async fn follow(&self) -> Infallible {
        let mut seen = Some(self.first.clone());
        let mut is_told = true;
        loop {
            tokio::time::sleep(LOOK).await;
            let files = self.files.clone();
            let read = tokio::task::spawn_blocking(move || {
                let pair = Pair::read(&files)?;
                let config = pair.config(&files);
                Ok((pair, config))
            });
            let read: anyhow::Result<_> = read.await.unwrap_or_else(|error| Err(error.into()));
            let (pair, config) = match read {
                Ok((pair, config)) => (Some(pair), config),
                Err(error) => (None, Err(error)),
            };
            let is_same = pair == seen;
            seen = pair;
            match config {
                Ok(config) if !is_same => {
                    *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                    tracing::info!("{} was read again", self.files.cert.display());
                    is_told = true;
                }
                Ok(_) => {}
                // The two files change one after the other, so what is wrong is told only if it stays so.
                Err(error) if is_same && !is_told => {
                    tracing::error!("the certificate is kept as it was: {error:#}");
                    is_told = true;
                }
                Err(_) => is_told = is_told && is_same,
            }
        }
    }
}

impl Pair {
    fn read(files: &TlsFiles) -> anyhow::Result<Self> {
        Ok(Self { cert: read("--tls-cert", &files.cert)?, key: read("--tls-key", &files.key)? })
    }

    fn config(&self, files: &TlsFiles) -> anyhow::Result<ServerConfig> {
        let (cert, key) = (files.cert.display(), files.key.display());
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.cert).collect();
        let chain =
            chain.map_err(|_| anyhow!("--tls-cert {cert} is malformed: it takes certificates in PEM"))?;
        if chain.is_empty() {
            bail!("--tls-cert {cert} holds no certificate: it takes a chain in PEM, the server's own first");
        }
        let private = PrivateKeyDer::from_pem_slice(&self.key).map_err(|_| {
            anyhow!("--tls-key {key} holds no private key: it takes one in PEM, not encrypted")
        })?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13, &TLS12])?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(|error| match error {
                rustls::Error::InconsistentKeys(_) => {
                    anyhow!("--tls-key {key} is not the key of the certificate in --tls-cert {cert}")
                }
                error => anyhow!("--tls-cert {cert} and --tls-key {key} cannot be used: {error}"),
            })?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
        Ok(config)
    }
}

/// The bytes of the file that was given to `option`.
fn read(option: &str, path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let cannot = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => anyhow!("{option} {shown} is not there: check the path"),
        io::ErrorKind::PermissionDenied => {
            anyhow!("{option} {shown} cannot be read: give the server's user the right to read it ({error})")
        }
        _ => anyhow!("{option} {shown} cannot be read: name a file in PEM ({error})"),
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(FILE_MAX_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > FILE_MAX_BYTES {
        bail!("{option} {shown} is larger than 1 MiB, which no certificate is: name a file in PEM");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;
    use tokio::time::Instant;

    use super::*;

    /// A client that sends this and nothing more is left.
    async fn check(said: &[u8]) {
        let directory = tempfile::tempdir().unwrap();
        let [cert, key] = ["cert.pem", "key.pem"].map(|name| directory.path().join(name));
        let rcgen::CertifiedKey { cert: made, signing_key } =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(&cert, made.pem()).unwrap();
        std::fs::write(&key, signing_key.serialize_pem()).unwrap();
        let tls = Tls::load(TlsFiles { cert, key }).unwrap();
        let (server, mut client) = tokio::io::duplex(1024);
        client.write_all(said).await.unwrap();
        let begin = Instant::now();
        let shaken = tls.shake_hands(Box::new(server)).await;
        assert_eq!(shaken.map(|_| ()).unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(begin.elapsed(), HANDSHAKE_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_shake_hands_is_left() {
        check(b"").await;
        // The beginning of a message of its own.
        check(b"\x16\x03\x01\x02\0\x01").await;
    }
}
