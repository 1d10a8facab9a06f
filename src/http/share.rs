//! What many callers share, so that none of them can hold all of it.
//!
//! Whoever holds something already may take more only while at least as much as they would then hold is still left for
//! others. So one caller never holds more than half, two never more than two thirds, and there is always something left for
//! the next one. Whoever holds nothing may take whatever is there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::caller::{Caller, Network};

/// Whom something is shared among.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sharer {
    /// The holder of a token, wherever they are.
    Named(Arc<str>),
    /// Somebody who has not said who they are.
    At(Network),
}

impl From<&Caller> for Sharer {
    fn from(caller: &Caller) -> Self {
        caller.name.clone().map_or_else(|| Self::At(caller.network()), Self::Named)
    }
}

/// Why something cannot be had right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// Others hold it.
    Taken,
    /// The one who wants it holds as much as one may.
    Share,
}

/// Who holds how much.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Below 0 if what was taken has turned out to be more than was thought.
    free: i64,
    held: HashMap<Sharer, i64>,
}

impl Ledger {
    /// So much for everybody together.
    pub(super) fn new(all: i64) -> Self {
        Self { free: all, held: HashMap::new() }
    }

    /// Writes down that somebody takes so much.
    ///
    /// # Errors
    /// Why they may not.
    pub(super) fn take(&mut self, sharer: &Sharer, much: i64) -> Result<(), Lack> {
        let left = self.free - much;
        match self.held.get(sharer) {
            None if left < 0 => return Err(Lack::Taken),
            Some(held) if held + much > left => return Err(Lack::Share),
            _ => {}
        }
        self.change(sharer, much);
        Ok(())
    }

    /// Writes down that somebody holds so much more, or less, whatever is left.
    pub(super) fn change(&mut self, sharer: &Sharer, more: i64) {
        self.free -= more;
        match self.held.get_mut(sharer) {
            Some(held) if *held + more <= 0 => {
                self.held.remove(sharer);
            }
            Some(held) => *held += more,
            None => {
                self.held.insert(sharer.clone(), more);
            }
        }
    }
}

/// Something of which there are so many, to be had at once or not at all.
#[derive(Clone, Debug)]
pub(super) struct Slots(Arc<Mutex<Ledger>>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Slots,
    sharer: Sharer,
}

impl Slots {
    /// So many for everybody together.
    pub(super) fn new(all: u32) -> Self {
        Self(Arc::new(Mutex::new(Ledger::new(all.into()))))
    }

    /// One for somebody, if they may have it.
    pub(super) fn take(&self, sharer: &Sharer) -> Option<Slot> {
        self.lock().take(sharer, 1).ok()?;
        Some(Slot { slots: self.clone(), sharer: sharer.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        // Nothing that is done under the lock can be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Who holds it.
    pub(super) fn sharer(&self) -> &Sharer {
        &self.sharer
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().change(&self.sharer, -1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Sharer {
        Sharer::from(&Caller { address: Some(address.parse().unwrap()), ..Caller::default() })
    }

    /// How many each of so many callers gets of 120, if each takes what they can in turn.
    #[track_caller]
    fn check(callers: usize, expected: usize) {
        let slots = Slots::new(120);
        let names: Vec<_> = (0..callers).map(|number| Sharer::Named(number.to_string().into())).collect();
        let held: Vec<_> = (0..120).flat_map(|_| names.iter().filter_map(|name| slots.take(name))).collect();
        for name in &names {
            assert_eq!(held.iter().filter(|slot| slot.sharer == *name).count(), expected, "{name:?}");
        }
        // The next one has a slot all the same, and all are free again in the end.
        assert!(slots.take(&Sharer::At(Network::Unix)).is_some());
        drop(held);
        let ledger = slots.lock();
        assert_eq!((ledger.free, ledger.held.len()), (120, 0));
    }

    #[test]
    fn there_is_always_something_left() {
        check(1, 60);
        check(2, 40);
        check(5, 20);
    }

    #[test]
    fn whoever_holds_nothing_may_take_what_is_there() {
        let mut ledger = Ledger::new(100);
        assert_eq!(ledger.take(&at("192.0.2.1"), 90), Ok(()));
        assert_eq!(ledger.take(&at("192.0.2.1"), 1), Err(Lack::Share));
        assert_eq!(ledger.take(&at("192.0.2.2"), 11), Err(Lack::Taken));
        assert_eq!(ledger.take(&at("192.0.2.2"), 10), Ok(()));
        // What turned out to be more is missed until it is given back.
        ledger.change(&at("192.0.2.2"), 5);
        ledger.change(&at("192.0.2.1"), -90);
        assert_eq!(ledger.take(&at("192.0.2.3"), 86), Err(Lack::Taken));
        assert_eq!(ledger.take(&at("192.0.2.3"), 85), Ok(()));
    }

    #[test]
    fn a_token_counts_before_an_address_and_a_network_as_one() {
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_ne!(at("192.0.2.1"), at("192.0.2.2"));
        let caller = Caller { name: Some("ci".into()), ..Caller::default() };
        assert_eq!(Sharer::from(&caller), Sharer::Named("ci".into()));
    }
}
