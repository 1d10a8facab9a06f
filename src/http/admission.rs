//! Who may ask, and how often: what stands before all routes but those of probes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use axum::extract::Request;
use axum::http::HeaderValue;

use crate::log;

use super::Options;
use super::asker::Asker;
use super::auth::{Authenticator, CallerCheck};
use super::guard::{FromPage, Guard};
use super::listen::Place;
use super::rate::Rates;
use super::refusal::Refused;

/// How often what is no longer needed of callers is forgotten.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The checks that a request has to pass.
#[derive(Clone, Debug)]
pub struct Admission {
    guard: Arc<Guard>,
    callers: CallerCheck,
}

impl Admission {
    /// What `options` say for a server that listens at `place`.
    ///
    /// # Errors
    /// A sentence, if everybody would be let in and nobody has said that this is meant, or if the tokens cannot be read.
    pub fn new(place: &Place, options: &Options) -> anyhow::Result<Self> {
        check(place, options)?;
        if options.anonymous {
            tracing::warn!(target: log::RESULT, "--anonymous: whoever reaches this server may read all of its skills");
        }
        let authenticator = Arc::new(Authenticator::new(options.token_file.clone())?);
        let rates = Arc::new(Rates::new(options.rate_limit));
        let callers = CallerCheck { authenticator, rates };
        Ok(Self { guard: Arc::new(Guard::new(place, options)), callers })
    }

    /// The same for another place at which this server listens. Whoever asks there is counted together with here.
    ///
    /// # Errors
    /// As for the first place.
    pub fn also_at(&self, place: &Place, options: &Options) -> anyhow::Result<Self> {
        check(place, options)?;
        Ok(Self { guard: Arc::new(Guard::new(place, options)), callers: self.callers.clone() })
    }

    /// Lets a request, to the endpoint or not, through or refuses it: first by where it comes from, then by who sends it,
    /// then by how often. Who that is stands in `asker`. Gives also the origin of the page that
    /// may read the answer, if there is one.
    pub(super) fn admit(
        &self,
        request: &mut Request,
        is_of_endpoint: bool,
        asker: &mut Asker,
    ) -> (Option<HeaderValue>, Result<(), Refused>) {
        let caller = self.guard.caller(asker.peer(), request.headers());
        let caller = asker.caller.insert(caller);
        let origin = match self.guard.check(request.uri(), request.headers()) {
            Ok(origin) => origin.cloned(),
            Err(refused) => return (None, Err(refused)),
        };
        if origin.is_some() {
            request.extensions_mut().insert(FromPage);
        }
        (origin, self.callers.admit(request, is_of_endpoint, caller))
    }

    /// Keeps up with the tokens, and forgets who has not asked for long, for ever.
    pub(super) async fn keep(&self) -> Infallible {
        let sweep = async {
            loop {
                tokio::time::sleep(SWEEP_INTERVAL).await;
                self.callers.rates.sweep();
                self.callers.authenticator.sweep();
            }
        };
        tokio::select! {
            never = self.callers.authenticator.follow() => never,
            never = sweep => never,
        }
    }
}

/// Lets a server listen where others can reach it only if it is said who may ask.
fn check(place: &Place, options: &Options) -> anyhow::Result<()> {
    if options.anonymous || options.token_file.is_some() || place.is_local() {
        return Ok(());
    }
    bail!(
        "{} can be reached from other machines: say with --token-file FILE who may ask, or with --anonymous that everybody may",
        place.name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: Option<&str>, options: &Options, expected: bool) {
        let place = match address {
            Some(address) => Place::network(address.parse().unwrap(), false),
            #[cfg(unix)]
            None => Place::file(None, false),
            #[cfg(not(unix))]
            None => Place::network(([127, 0, 0, 1], 80).into(), false),
        };
        assert_eq!(Admission::new(&place, options).is_ok(), expected, "{address:?} {options:?}");
    }

    #[test]
    fn others_are_let_in_only_if_that_is_meant() {
        let options = Options::default();
        for address in [
            None,
            Some("127.0.0.1:80"),
            Some("127.9.9.9:80"),
            Some("[::1]:80"),
            Some("[::ffff:127.0.0.1]:80"),
        ] {
            check(address, &options, true);
        }
        let anonymous = Options { anonymous: true, ..Options::default() };
        let token_file = Some("no/such/file".into());
        let with_tokens = Options { token_file, ..Options::default() };
        for address in ["0.0.0.0:80", "[::]:80", "192.0.2.1:80", "10.0.0.1:80", "[2001:db8::1]:80"] {
            check(Some(address), &options, false);
            check(Some(address), &anonymous, true);
            check(Some(address), &with_tokens, false);
        }
        check(None, &with_tokens, false);
    }
}
