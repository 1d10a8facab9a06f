//! `skillserve stdio` and `skillserve http`: serve until told to stop.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use tokio::net::TcpListener;

use crate::catalog::Catalog;
use crate::cli::{Listening, Serving, Source};
use crate::http::Listeners;
use crate::log;
use crate::mcp::Handler;

use super::Exit;
use super::looker::Looker;

/// Serves the host that started this process, until it closes stdin or a signal comes.
///
/// # Errors
/// A sentence for what keeps it from serving.
pub fn stdio(source: Source, serving: Serving) -> anyhow::Result<Exit> {
    run(async {
        let (catalog, handler) = start(source, serving).await?;
        until_failure(&catalog, crate::stdio::serve(handler, stopped()?)).await
    })
}

/// Serves everybody who may connect, until a signal comes.
///
/// # Errors
/// A sentence for what keeps it from serving.
pub fn http(source: Source, serving: Serving, listening: Listening) -> anyhow::Result<Exit> {
    run(async {
        let main = bind("--listen", &listening.address).await?;
        let admin = match &listening.admin {
            Some(address) => Some(bind("--admin-listen", address).await?),
            None => None,
        };
        let (catalog, handler) = start(source, serving).await?;
        tell_address("listening on", main.local_addr()?, crate::http::ENDPOINT, &listening.address);
        if let (Some(admin), Some(typed)) = (&admin, &listening.admin) {
            tell_address("metrics and status are on", admin.local_addr()?, "/", typed);
        }
        let listeners = Listeners { main, admin };
        until_failure(&catalog, crate::http::serve(listeners, handler, listening.http, stopped()?)).await
    })
}

/// Runs a command that goes on until it is told to stop.
pub(super) fn run(serve: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve);
    // A blocking read of stdin cannot be cancelled, so nothing is waited for.
    runtime.shutdown_background();
    served.map(|()| Exit::Clean)
}

/// Starts building the catalog. Without `--strict` it is not waited for, because hosts probe a server with a request that
/// needs no catalog and give up on a slow one.
async fn start(source: Source, serving: Serving) -> anyhow::Result<(Catalog, Handler)> {
    let looker = Arc::new(Looker::new(source, serving.wait_for_root, serving.strict, serving.watch)?);
    let looking = looker.clone();
    let catalog = Catalog::start(move |hint| looking.look(hint));
    if serving.strict && catalog.snapshot().await.is_err() {
        bail!("{}", catalog.failure().await);
    }
    tokio::spawn(follow(catalog.clone(), looker));
    let handler = Handler::new(catalog.clone(), serving.mcp);
    Ok((catalog, handler))
}

/// Looks again whenever there is a reason to.
async fn follow(catalog: Catalog, looker: Arc<Looker>) {
    // The first look is the catalog's own.
    if catalog.snapshot().await.is_err() {
        return;
    }
    if let Some(period) = looker.period() {
        tracing::info!("looking for changes every {} s", period.as_secs());
    }
    loop {
        catalog.set_next_look(looker.next_look());
        let hint = looker.reason().await;
        catalog.refresh(hint).await;
    }
}

/// Serves until that ends, or until it is clear that there is nothing to serve.
async fn until_failure(
    catalog: &Catalog,
    serve: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    tokio::select! {
        served = serve => served,
        why = catalog.failure() => bail!("{why}"),
    }
}

/// Says where is listened, which was typed as `typed`. A port that the system chose is told even if nothing but errors is: nobody could
/// connect otherwise.
fn tell_address(what: &str, address: SocketAddr, path: &str, typed: &str) {
    if typed.ends_with(":0") {
        tracing::info!(target: log::RESULT, "{what} http://{address}{path}");
    } else {
        tracing::info!("{what} http://{address}{path}");
    }
}

/// Listens on the address that was given to `option`.
async fn bind(option: &str, address: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            anyhow!("{address} is in use: stop the program that has it, or take another port with {option}")
        }
        _ => anyhow!(
            "cannot listen on {address}: {error}; {option} takes an address of this machine as HOST:PORT"
        ),
    })
}

/// A future that ends when the process is told to stop. The signals are caught from here on.
pub(super) fn stopped() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let mut terminated = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::terminate())?
    };
    Ok(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = terminated.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    })
}
