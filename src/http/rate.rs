//! How often one caller may ask, so that one which asks without end leaves the server to the others.

mod limiter;

use std::num::NonZeroU32;
use std::sync::Arc;

use super::caller::{Caller, Network};
use super::refusal::Refused;

pub(super) use limiter::Limiter;

/// The limits of all callers.
#[derive(Debug)]
pub(super) struct Rates {
    named: Option<Limiter<Arc<str>>>,
    nameless: Option<Limiter<Network>>,
}

impl Rates {
    /// Lets each caller ask so often a minute, or as often as it likes.
    pub(super) fn new(per_minute: Option<NonZeroU32>) -> Self {
        Self { named: per_minute.map(Limiter::per_minute), nameless: per_minute.map(Limiter::per_minute) }
    }

    /// Counts a request. One that has said who it is counts as that, wherever it comes from; one that has not, as where it
    /// comes from. Programs of this machine are not told apart: they may all be behind one proxy that nobody has named.
    ///
    /// # Errors
    /// The refusal of one too many.
    pub(super) fn count(&self, caller: &Caller) -> Result<(), Refused> {
        let counted = match (&caller.name, &self.named, &self.nameless) {
            (Some(name), Some(named), _) => named.count(name),
            (None, _, Some(nameless)) if !caller.is_local() => nameless.count(&caller.network()),
            _ => Ok(()),
        };
        counted.map_err(|wait| {
            Refused::too_often("this is more often than one caller may ask; wait a moment", wait)
        })
    }

    /// Makes room.
    pub(super) fn sweep(&self) {
        self.named.iter().for_each(Limiter::sweep);
        self.nameless.iter().for_each(Limiter::sweep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(name: Option<&str>, address: Option<&str>, is_proxied: bool) -> Caller {
        Caller {
            name: name.map(Into::into),
            address: address.map(|address| address.parse().unwrap()),
            is_proxied,
        }
    }

    #[test]
    fn a_name_counts_wherever_it_comes_from() {
        let rates = Rates::new(NonZeroU32::new(2));
        let ask = |name, address| rates.count(&caller(name, Some(address), false)).is_ok();
        assert!(ask(Some("a"), "192.0.2.1") && ask(Some("a"), "192.0.2.2") && !ask(Some("a"), "192.0.2.3"));
        assert!(ask(Some("b"), "192.0.2.1"));
        assert!(ask(None, "192.0.2.1") && ask(None, "192.0.2.1") && !ask(None, "192.0.2.1"));
        assert!(ask(None, "2001:db8::1") && ask(None, "2001:db8::2") && !ask(None, "2001:db8::3"));
        assert!(ask(None, "2001:db8:0:1::1"));
    }

    #[test]
    fn nameless_programs_of_this_machine_are_not_counted() {
        let rates = Rates::new(NonZeroU32::new(1));
        for address in [Some("127.0.0.1"), Some("::1"), None] {
            let ask = |name, is_proxied| rates.count(&caller(name, address, is_proxied)).is_ok();
            assert!(ask(None, false) && ask(None, false), "{address:?}");
            // What comes through a proxy does not come from this machine, whatever it says.
            assert!(ask(None, true) && !ask(None, true), "{address:?}");
        }
        let ask = || rates.count(&caller(Some("a"), None, false)).is_ok();
        assert!(ask() && !ask());
    }

    #[test]
    fn without_a_limit_nothing_is_counted() {
        let rates = Rates::new(None);
        assert!((0..100).all(|_| rates.count(&caller(Some("a"), Some("192.0.2.1"), true)).is_ok()));
    }
}
