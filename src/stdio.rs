//! The protocol over standard input and output, one message a line.
//!
//! A client that subscribes is told of changes, in both eras. A session ends with its input or when it is told to stop;
//! either way the requests in hand are answered first, within bounds ([`drain`]). stdin is read on a thread that nothing
//! can interrupt, so a process is over only when `main` leaves through [`std::process::exit`] after [`serve`] has returned.

mod answers;
mod beside;
mod drain;
mod in_hand;
mod lines;
mod transport;

use anyhow::Context as _;
use rmcp::handler::server::ServerHandler;
use rmcp::service::{QuitReason, ServerInitializeError, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::catalog::Catalog;
use crate::mcp::Handler;
use crate::mcp::direct::Direct;
use crate::mcp::session::Session;

use transport::{End, Transport};

/// How a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every request has been answered, or the client is gone or has told the session to stop.
    Well,
    /// The input has ended, and requests that came before it have not been answered.
    Unanswered,
}

/// Serves one client over this process's standard input and output, until the input ends or `shutdown` does.
///
/// # Errors
/// When the session breaks down. A client that leaves, also before its first request, is no error.
pub async fn serve(handler: Handler, shutdown: impl Future<Output = ()>) -> anyhow::Result<Ended> {
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
) -> anyhow::Result<Ended> {
    let end = End::new();
    let peer = Session::new(catalog.clone());
    let (transport, answers) =
        Transport::new(input, output, direct, catalog.clone(), peer.clone(), end.clone());
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
        Ok(Ended::Well)
    };
    tokio::select! {
        result = session => result,
        () = drain::stopped(shutdown, &end) => {
            tracing::warn!("the session ended with requests unanswered");
            Ok(Ended::Well)
        }
        () = drain::stalled(&answers, &catalog, &end) => {
            tracing::error!("answers are left unsent: nothing of them was taken for long after the end of the input");
            Ok(Ended::Unanswered)
        }
    }
}

#[cfg(test)]
mod tests;
