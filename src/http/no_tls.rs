//! What stands in for TLS where it is not built in.

use std::convert::Infallible;
use std::io;

use super::TlsFiles;
use super::listen::Io;

/// There is none.
#[derive(Debug)]
pub struct Tls(Infallible);

impl Tls {
    /// Says that there is none.
    ///
    /// # Errors
    /// Always.
    pub fn load(_: TlsFiles) -> anyhow::Result<Self> {
        anyhow::bail!(
            "this skillserve is built without TLS: build it with the feature `tls`, or let a proxy before it encrypt"
        )
    }

    pub(super) async fn shake_hands(&self, _: Box<dyn Io>) -> io::Result<Box<dyn Io>> {
        match self.0 {}
    }

    pub(super) async fn follow(&self) -> Infallible {
        self.0
    }
}
