//! The protocol over standard input and output, one message a line.
//!
//! A client that subscribes is told of changes, in both eras. A session ends with its input or when it is told to stop; either way the requests in hand are answered first, within
//! a bound. stdin is read on a thread that nothing can interrupt, so a process is over only when `main` leaves through
//! [`std::process::exit`] after [`serve`] has returned.

mod answers;
mod beside;
mod lines;
mod transport;

use std::time::Duration;

use anyhow::Context as _;
use rmcp::handler::server::ServerHandler;
use rmcp::service::{QuitReason, ServerInitializeError, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::catalog::Catalog;
use crate::mcp::Handler;
use crate::mcp::direct::Direct;
use crate::mcp::session::Session;

use transport::{End, Transport};

/// How long the requests in hand may take once the session is to end. Hosts kill a process that is still there 2 s after
/// they have closed its input.
const DRAIN_MAX: Duration = Duration::from_millis(1500);

/// Serves one client over this process's standard input and output, until the input ends or `shutdown` does.
///
/// # Errors
/// When the session breaks down. A client that leaves, also before its first request, is no error.
pub async fn serve(handler: Handler, shutdown: impl Future<Output = ()>) -> anyhow::Result<()> {
    let (input, output) = rmcp::transport::stdio_pipes();
    let catalog = handler.catalog().clone();
    let direct = Direct::new(handler.clone(), "\n");
    run(handler, direct, catalog, input, output, shutdown).await
}

/// [`serve`] over any pair of streams.
async fn run(
    handler: impl ServerHandler,
    direct: Direct,
    catalog: Catalog,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let end = End::new();
    let peer = Session::new(catalog.clone());
    let (transport, answers) = Transport::new(input, output, direct, catalog, peer.clone(), end.clone());
    let session = async {
        match handler.serve(transport).await {
            Ok(service) => {
                let telling = peer.tell(service.peer().clone());
                let quit = tokio::select! {
                    quit = service.waiting() => quit,
                    never = telling => match never {},
                };
                if let Ok(QuitReason::JoinError(error)) | Err(error) = quit {
                    return Err(error).context("the session broke down");
                }
            }
            Err(
                ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::TransportError { .. },
            ) => {}
            Err(error) => return Err(error).context("the session could not begin"),
        }
        answers.all_written().await;
        Ok(())
    };
    let deadline = async {
        tokio::select! {
            () = shutdown => end.stopped.cancel(),
            () = end.ending.cancelled() => {}
        }
        tokio::time::sleep(DRAIN_MAX).await;
    };
    tokio::select! {
        result = session => result,
        () = deadline => {
            tracing::warn!("the session ended with requests unanswered");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
