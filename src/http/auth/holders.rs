//! Those who hold a token, as the file of tokens has them now.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use anyhow::{anyhow, bail};
use sha2::{Digest as _, Sha256};

use crate::http::caller::Network;
use crate::http::rate::Limiter;

use super::file::{self, Entry, Fault};
use super::token::Token;

/// How often the file is looked at. It is taken up once it has been the same twice, so that half a file, in the middle of
/// being written, is not.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// How many tokens may be tried a minute from one network where they have not been right before. With this, the weakest token
/// that a file may hold is far out of reach, and a group of people who all begin at once from one address is not.
const TRIES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(120).unwrap();
/// How many wrong tokens are remembered, so that a client that goes on with one does not count as one that tries many.
const WRONG_MAX: usize = 256;
/// From how many networks a token is remembered to have been right.
const NETWORKS_MAX: usize = 64;

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Stranger {
    /// Nobody holds that token.
    Wrong,
    /// It has not been looked at, because so many have been tried. How long to wait.
    Tried(Duration),
}

/// Those who hold a token.
#[derive(Debug)]
pub(in crate::http) struct Holders {
    path: PathBuf,
    /// The file as it was read at first.
    first: Mark,
    all: RwLock<Arc<[Arc<Holder>]>>,
    tries: Limiter<Network>,
    /// What was tried and wrong, the last first.
    wrong: Mutex<VecDeque<(Network, Token)>>,
}

#[derive(Debug)]
struct Holder {
    name: Arc<str>,
    token: Token,
    /// Where it was right before, the last first.
    networks: Mutex<VecDeque<Network>>,
}

/// By what two readings of the file are compared: its digest, or why it could not be read.
type Mark = Result<[u8; 32], String>;

impl Holders {
    /// Those of the file at `path`.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub(in crate::http) fn read(path: PathBuf) -> anyhow::Result<Self> {
        let shown = path.display();
        let bytes = file::read(&path).map_err(|why| {
            anyhow!("cannot read the token file {shown}: {why}; write one NAME:TOKEN a line into it")
        })?;
        let entries = file::parse(&bytes).map_err(|fault| anyhow!("{}", sentence(&path, fault)))?;
        if entries.is_empty() {
            bail!("the token file {shown} holds no token: write one NAME:TOKEN a line into it");
        }
        warn_of_mode(&path);
        let all = RwLock::new(holders(entries, &[]));
        let first = Ok(Sha256::digest(&bytes).into());
        Ok(Self { path, first, all, tries: Limiter::per_minute(TRIES_PER_MINUTE), wrong: Mutex::default() })
    }

    /// The name of whoever holds this token.
    ///
    /// Where many wrong ones have been tried, no other is looked at for a while, or else they could be tried at any speed.
    /// A token that has been right there before is, so that nobody is shut out by what others do at the same address.
    pub(in crate::http) fn name(&self, token: &Token, network: Network) -> Result<Arc<str>, Stranger> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut found = None;
        // To the end, so that the time taken does not tell which one it was.
        for holder in &*all {
            if holder.token.is(token) {
                found = Some(holder);
            }
        }
        if let Some(holder) = found
            && lock(&holder.networks).contains(&network)
        {
            return Ok(holder.name.clone());
        }
        if found.is_none()
            && lock(&self.wrong).iter().any(|(other, wrong)| *other == network && wrong.is(token))
        {
            return Err(Stranger::Wrong);
        }
        self.tries.count(&network).map_err(Stranger::Tried)?;
        let Some(holder) = found else {
            push(&self.wrong, (network, token.clone()), WRONG_MAX);
            return Err(Stranger::Wrong);
        };
        push(&holder.networks, network, NETWORKS_MAX);
        Ok(holder.name.clone())
    }

    /// Makes room.
    pub(in crate::http) fn sweep(&self) {
        self.tries.sweep();
    }

    /// Takes up what changes in the file, for ever.
    pub(in crate::http) async fn follow(&self) -> Infallible {
        let (mut taken, mut before) = (self.first.clone(), self.first.clone());
        loop {
            tokio::time::sleep(LOOK_INTERVAL).await;
            let path = self.path.clone();
            // A thread that is lost was a thread that read nothing.
            let Ok(read) = tokio::task::spawn_blocking(move || file::read(&path)).await else { continue };
            let mark = read.as_ref().map(|bytes| Sha256::digest(bytes).into()).map_err(Clone::clone);
            if mark == before && mark != taken {
                self.take_up(read);
                taken = mark.clone();
            }
            before = mark;
        }
    }

    /// Takes up what was read. If it is of no use, those who were let in before still are.
    fn take_up(&self, read: Result<Vec<u8>, String>) {
        let path = self.path.display();
        let entries = match read.map(|bytes| file::parse(&bytes)) {
            Ok(Ok(entries)) => entries,
            Ok(Err(fault)) => {
                return tracing::error!(
                    "{}; until then, the tokens from before hold",
                    sentence(&self.path, fault)
                );
            }
            Err(why) => {
                return tracing::error!(
                    "cannot read the token file {path}: {why}; the tokens from before hold"
                );
            }
        };
        match entries.len() {
            0 => tracing::warn!("the token file {path} holds no token: nobody can ask"),
            1 => tracing::info!("the token file {path} has changed and holds 1 token"),
            count => tracing::info!("the token file {path} has changed and holds {count} tokens"),
        }
        warn_of_mode(&self.path);
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        *all = holders(entries, &all);
    }
}

/// Adds what came last, and forgets what came long ago.
fn push<T>(recent: &Mutex<VecDeque<T>>, last: T, max: usize) {
    let mut recent = lock(recent);
    recent.truncate(max - 1);
    recent.push_front(last);
}

fn lock<T>(recent: &Mutex<VecDeque<T>>) -> MutexGuard<'_, VecDeque<T>> {
    // Nothing is left half done under the lock.
    recent.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The holders of these tokens. One who was there before is still known where they were.
fn holders(entries: Vec<Entry>, before: &[Arc<Holder>]) -> Arc<[Arc<Holder>]> {
    let before: HashMap<_, _> = before.iter().map(|holder| (&*holder.name, holder)).collect();
    let holder = |Entry { name, token }: Entry| match before.get(&*name) {
        Some(known) if known.token.is(&token) => Arc::clone(known),
        _ => Arc::new(Holder { name, token, networks: Mutex::default() }),
    };
    entries.into_iter().map(holder).collect()
}

fn sentence(path: &Path, Fault { line, what }: Fault) -> String {
    let line = line.map_or(String::new(), |line| format!(", line {line},"));
    format!("the token file {}{line} {what}", path.display())
}

fn warn_of_mode(path: &Path) {
    if file::is_open_to_all(path) {
        let path = path.display();
        tracing::warn!("everybody on this machine can read the token file {path}: `chmod o-r` it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: Network = Network::V4([192, 0, 2, 1]);
    const TOKENS: [&str; 2] = ["a-token-of-alice-1", "a-token-of-bob-123"];

    fn two() -> (tempfile::NamedTempFile, Holders) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("alice:{}\nbob:{}\n", TOKENS[0], TOKENS[1])).unwrap();
        let holders = Holders::read(file.path().to_owned()).unwrap();
        (file, holders)
    }

    fn name(holders: &Holders, token: &str, network: Network) -> Result<String, Stranger> {
        holders.name(&Token::of(token.as_bytes()), network).map(|name| name.to_string())
    }

    fn tries(holders: &Holders) -> usize {
        let times = TRIES_PER_MINUTE.get() as usize;
        let is_looked_at =
            |n: &usize| name(holders, &format!("no-such-token-{n}"), NETWORK) == Err(Stranger::Wrong);
        (0..2 * times).filter(is_looked_at).count()
    }

    #[test]
    fn tokens_cannot_be_tried_at_speed() {
        let (_file, holders) = two();
        assert_eq!(name(&holders, TOKENS[0], NETWORK).unwrap(), "alice");
        assert_eq!(tries(&holders), TRIES_PER_MINUTE.get() as usize - 1);
        // Whoever was right there before still is; all others wait, also with a token that is right.
        assert_eq!(name(&holders, TOKENS[0], NETWORK).unwrap(), "alice");
        assert!(matches!(name(&holders, TOKENS[1], NETWORK), Err(Stranger::Tried(_))));
        assert_eq!(name(&holders, TOKENS[1], Network::Unix).unwrap(), "bob");
    }

    #[test]
    fn to_go_on_with_a_wrong_token_is_no_try() {
        let (_file, holders) = two();
        for _ in 0..2 * TRIES_PER_MINUTE.get() {
            assert_eq!(name(&holders, "no-such-token", NETWORK), Err(Stranger::Wrong));
        }
        assert_eq!(name(&holders, TOKENS[1], NETWORK).unwrap(), "bob");
        // Once it is somebody's, it is right.
        holders.take_up(Ok(b"carol:no-such-token-1234".to_vec()));
        assert_eq!(name(&holders, "no-such-token-1234", NETWORK).unwrap(), "carol");
        tries(&holders);
        assert!(lock(&holders.wrong).len() <= WRONG_MAX);
    }

    #[test]
    fn a_token_is_known_in_few_networks() {
        let (_file, holders) = two();
        for last in 0..=255 {
            name(&holders, TOKENS[0], Network::V4([198, 51, 100, last])).unwrap();
        }
        assert_eq!(lock(&holders.all.read().unwrap()[0].networks).len(), NETWORKS_MAX);
    }

    #[test]
    fn a_file_that_is_of_no_use_changes_nothing() {
        let (_file, holders) = two();
        name(&holders, TOKENS[0], NETWORK).unwrap();
        holders.take_up(Err("it is gone".into()));
        holders.take_up(Ok(b"alice".to_vec()));
        assert_eq!(name(&holders, TOKENS[1], NETWORK).unwrap(), "bob");
        holders.take_up(Ok(format!("alice:{}\n", TOKENS[0]).into_bytes()));
        assert_eq!(name(&holders, TOKENS[1], NETWORK), Err(Stranger::Wrong));
        // Alice is still known where she was.
        tries(&holders);
        assert_eq!(name(&holders, TOKENS[0], NETWORK).unwrap(), "alice");
        // With another token she is another one.
        holders.take_up(Ok(format!("alice:{}\n", TOKENS[1]).into_bytes()));
        assert!(name(&holders, TOKENS[0], Network::Unix).is_err());
        holders.take_up(Ok(Vec::new()));
        assert!(name(&holders, TOKENS[1], Network::Unix).is_err());
    }

    #[test]
    fn nothing_of_a_token_is_printed() {
        let (_file, holders) = two();
        name(&holders, TOKENS[0], NETWORK).unwrap();
        name(&holders, &TOKENS[0][1..], NETWORK).unwrap_err();
        let printed = format!("{holders:?}");
        assert!(TOKENS.iter().all(|token| !printed.contains(&token[1..])), "{printed}");
        // The digest of the file is of no use to anybody.
        assert_eq!(printed.matches("token: Token,").count(), 2, "{printed}");
    }
}
