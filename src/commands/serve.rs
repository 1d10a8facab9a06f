//! `skillserve stdio` and `skillserve http`: serve until told to stop.

use std::future::Future;
use std::io;
use std::sync::Arc;

use anyhow::bail;
use futures::Stream;

use crate::catalog::Catalog;
use crate::cli::{Listening, Serving, Source};
use crate::http::{Address, Listener, Tls};
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
    #[cfg(unix)]
    let passed = crate::http::Passed::take()?;
    let tls = listening.tls.map(Tls::load).transpose()?;
    run(async {
        #[cfg(unix)]
        let listener = match passed {
            Some(passed) => {
                tracing::info!("systemd passed a socket, which is taken in place of --listen");
                Listener::passed(passed, tls)?
            }
            None => Listener::bind(&listening.address, tls).await?,
        };
        #[cfg(not(unix))]
        let listener = Listener::bind(&listening.address, tls).await?;
        let (catalog, handler) = start(source, serving).await?;
        let url = listener.place().url(listening.http.path.as_str());
        tell_address(&url, matches!(&listening.address, Address::Network(name) if name.ends_with(":0")));
        let serve = async {
            crate::http::serve(listener, handler, listening.http, Signals::catch()?.all()).await;
            Ok(())
        };
        until_failure(&catalog, serve).await
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

/// Says where HTTP is listened for. A port that the system chose is told even if nothing but errors is: nobody could
/// connect otherwise.
fn tell_address(url: &str, is_chosen: bool) {
    if is_chosen {
        tracing::info!(target: log::RESULT, "listening on {url}");
    } else {
        tracing::info!("listening on {url}");
    }
}

/// What tells a process to stop. The signals are caught from here on.
struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

impl Signals {
    fn catch() -> io::Result<Self> {
        #[cfg(unix)]
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
            #[cfg(windows)]
            interrupt: tokio::signal::windows::ctrl_c()?,
        })
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        #[cfg(windows)]
        self.interrupt.recv().await;
    }

    /// One after the other.
    fn all(self) -> impl Stream<Item = ()> {
        futures::stream::unfold(self, |mut signals| async {
            signals.next().await;
            Some(((), signals))
        })
    }
}

/// A future that ends when the process is told to stop. The signals are caught from here on.
pub(super) fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::catch()?;
    Ok(async move { signals.next().await })
}
