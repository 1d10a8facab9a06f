//! `skillserve stdio` and `skillserve http`: serve until told to stop.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use futures::{Stream, StreamExt as _};

use crate::catalog::Catalog;
use crate::cli::{Listening, Serving, Source};
use crate::http::{self, Address, Admission, GuardedListener, Listener, Listeners, Remark, Tls};
use crate::log;
use crate::mcp::Handler;
use crate::progress;
use crate::stdio::{self, Ended};

use super::Exit;
use super::keeper::{Keeper, check_place};
use super::looker::Looker;

/// Serves the host that started this process, until it closes stdin or a signal comes.
///
/// # Errors
/// A sentence for what keeps it from serving.
pub fn stdio(source: Source, serving: Serving) -> anyhow::Result<Exit> {
    // Its stderr is the host's.
    progress::allow(false);
    run(async {
        let (catalog, handler, keeper) = start(source, serving).await?;
        let served = until_failure(&catalog, stdio::serve(handler, stopped()?)).await;
        finish(&catalog, keeper).await;
        Ok(match served? {
            Ended::Well => Exit::Clean,
            Ended::Unanswered => Exit::Errors,
        })
    })
}

/// Serves everybody who may connect, until a signal comes.
///
/// # Errors
/// A sentence for what keeps it from serving.
pub fn http(source: Source, serving: Serving, listening: Box<Listening>) -> anyhow::Result<Exit> {
    http::check_files()?;
    #[cfg(unix)]
    let passed = crate::http::Passed::take()?;
    let Listening { address, tls, admin, http: options } = *listening;
    let key = tls.as_ref().map(|files| files.key.clone());
    let tls = tls.map(Tls::load).transpose()?.map(Arc::new);
    run(async {
        #[cfg(unix)]
        let listener = match passed {
            Some(passed) => {
                tracing::info!("systemd passed a socket, which is taken in place of --listen");
                Listener::passed(passed, tls.clone())?
            }
            None => Listener::bind("--listen", &address, tls.clone()).await?,
        };
        #[cfg(not(unix))]
        let listener = Listener::bind("--listen", &address, tls.clone()).await?;
        let admission = Admission::new(listener.place(), &options)?;
        let admin_listener = match &admin {
            Some(address) => {
                let listener = Listener::bind("--admin-listen", address, tls).await?;
                let admission = admission.also_at(listener.place(), &options)?;
                Some(GuardedListener { listener, admission })
            }
            None => None,
        };
        let admin_place = admin_listener.as_ref().map(|own| own.listener.place());
        let places: Vec<_> = std::iter::once(listener.place()).chain(admin_place).collect();
        for remark in http::remarks(&places, &options, key.as_deref()) {
            match remark {
                Remark::Fact(remark) => tracing::info!("{remark}"),
                Remark::Risk(remark) => tracing::warn!("{remark}"),
            }
        }
        let (catalog, handler, keeper) = start(source, serving).await?;
        tell_address("listening on", &listener, options.path.as_str(), &address);
        match (&admin_listener, &admin) {
            (Some(own), Some(typed)) => {
                tell_address("page, metrics and status are at", &own.listener, "/", typed);
            }
            _ if options.page => tracing::info!("a page for people is at {}", listener.place().url("/")),
            _ => {}
        }
        let listeners = Listeners { main: GuardedListener { listener, admission }, admin: admin_listener };
        let serve = async {
            let signals = told(Signals::catch()?.all(), options.drain);
            http::serve(listeners, handler, options, signals).await;
            Ok(Exit::Clean)
        };
        let served = until_failure(&catalog, serve).await;
        finish(&catalog, keeper).await;
        served
    })
}

/// Runs a command that goes on until it is told to stop.
pub(super) fn run(serve: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve);
    // A blocking read of stdin cannot be cancelled, so nothing is waited for.
    runtime.shutdown_background();
    served
}

/// Starts building the catalog. Without `--strict` it is not waited for, because hosts probe a server with a request that
/// needs no catalog and give up on a slow one.
async fn start(source: Source, serving: Serving) -> anyhow::Result<(Catalog, Handler, Option<Arc<Keeper>>)> {
    if let Some(index) = &serving.index {
        check_place(index, &source)?;
    }
    let keeper = serving.index.map(|path| Arc::new(Keeper::new(path)));
    let cache = source.catalog.cache.clone();
    let looker = Looker::new(source, serving.wait_for_root, serving.strict, serving.watch)?;
    let looker = Arc::new(looker.with_index(keeper.clone()));
    let looking = looker.clone();
    let catalog = Catalog::start(cache, move |hint| looking.look(hint));
    if serving.strict && catalog.snapshot().await.is_err() {
        bail!("{}", catalog.failure().await);
    }
    tokio::spawn(follow(catalog.clone(), looker));
    if let Some(keeper) = keeper.clone() {
        tokio::spawn(keeper.keep(catalog.clone()));
    }
    let handler = Handler::new(catalog.clone(), serving.mcp);
    Ok((catalog, handler, keeper))
}

/// Leaves behind what the next start can take over.
async fn finish(catalog: &Catalog, keeper: Option<Arc<Keeper>>) {
    if let Some(keeper) = keeper {
        keeper.finish(catalog).await;
    }
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
async fn until_failure<T>(
    catalog: &Catalog,
    serve: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    tokio::select! {
        served = serve => served,
        why = catalog.failure() => bail!("{why}"),
    }
}

/// Says where is listened, which was typed as `typed`. A port that the system chose is told even if nothing but errors is:
/// nobody could connect otherwise.
fn tell_address(what: &str, listener: &Listener, path: &str, typed: &Address) {
    let url = listener.place().url(path);
    if typed.takes_free_port() {
        tracing::info!(target: log::RESULT, "{what} {url}");
    } else {
        tracing::info!("{what} {url}");
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

/// The signals, at the first of which it is told what comes of it.
fn told(signals: impl Stream<Item = ()>, drain: Duration) -> impl Stream<Item = ()> {
    signals.enumerate().map(move |(number, ())| {
        if number == 0 {
            tracing::info!("stopping: what is in hand is answered for at most {} s", drain.as_secs());
        }
    })
}

/// A future that ends when the process is told to stop. The signals are caught from here on.
pub(super) fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::catch()?;
    Ok(async move { signals.next().await })
}
