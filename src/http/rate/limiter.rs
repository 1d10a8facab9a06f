//! How often each of many may come, in bounded memory.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash};
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::{Clock as _, MonotonicClock};
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;
use governor::{Quota, RateLimiter};

/// The most that are told apart at once, some megabytes of them. One that has waited as long as it has to is forgotten and
/// makes room, so that only so many different ones within seconds fill the table.
const KEYS_MAX: usize = 65_536;
/// In how many groups those count for whom there is no room. Whoever is in the table stays there with what they have
/// spent: a flood from many places neither clears its own account nor anybody else's.
const GROUPS: u64 = 256;

/// Counts how often each `K` comes, and says when it is too often.
#[derive(Debug)]
pub(in crate::http) struct Limiter<K: Hash + Eq + Clone> {
    limiter: RateLimiter<K, Table<K>, MonotonicClock>,
    clock: MonotonicClock,
}

impl<K: Hash + Eq + Clone> Limiter<K> {
    /// Lets each come so often a minute, and as often at once.
    pub(in crate::http) fn per_minute(times: NonZeroU32) -> Self {
        let (table, clock) = (Table { accounts: Mutex::default() }, MonotonicClock);
        Self { limiter: RateLimiter::new(Quota::per_minute(times), table, clock.clone()), clock }
    }

    /// Counts one time more.
    ///
    /// # Errors
    /// How long to wait, if that is too often. It does not count then.
    pub(in crate::http) fn count(&self, key: &K) -> Result<(), Duration> {
        self.limiter.check_key(key).map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Forgets those who may come as often as one who has never come.
    pub(in crate::http) fn sweep(&self) {
        self.limiter.retain_recent();
    }
}

/// When each has waited as long as it has to.
#[derive(Debug)]
struct Table<K> {
    accounts: Mutex<HashMap<Account<K>, Nanos>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Account<K> {
    Own(K),
    Shared(u64),
}

impl<K> Table<K> {
    fn lock(&self) -> MutexGuard<'_, HashMap<Account<K>, Nanos>> {
        // No more than plain values is written under the lock, so what a panicking thread left is whole.
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone> StateStore for Table<K> {
    type Key = K;

    fn measure_and_replace<T, F, E>(&self, key: &K, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut accounts = self.lock();
        let mut account = Account::Own(key.clone());
        if accounts.len() >= KEYS_MAX && !accounts.contains_key(&account) {
            account = Account::Shared(accounts.hasher().hash_one(key) % GROUPS);
        }
        let (result, until) = measure(accounts.get(&account).copied())?;
        accounts.insert(account, until);
        Ok(result)
    }
}

impl<K: Hash + Eq + Clone> ShrinkableKeyedStateStore<K> for Table<K> {
    fn retain_recent(&self, drop_below: Nanos) {
        self.lock().retain(|_, until| *until > drop_below);
    }

    fn shrink_to_fit(&self) {
        self.lock().shrink_to_fit();
    }

    fn len(&self) -> usize {
        self.lock().len()
    }

    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: NonZeroU32 = NonZeroU32::new(5).unwrap();

    fn spend(limiter: &Limiter<u32>, key: u32) -> usize {
        (0..10).filter(|_| limiter.count(&key).is_ok()).count()
    }

    #[test]
    fn each_has_a_limit_of_its_own() {
        let limiter = Limiter::per_minute(TIMES);
        assert_eq!((spend(&limiter, 1), spend(&limiter, 1), spend(&limiter, 2)), (5, 0, 5));
        let wait = limiter.count(&1).unwrap_err();
        assert!(wait > Duration::from_secs(5) && wait <= Duration::from_secs(12), "{wait:?}");
    }

    #[test]
    fn a_flood_from_many_places_clears_no_account() {
        let limiter = Limiter::per_minute(TIMES);
        assert_eq!(spend(&limiter, 0), 5);
        let flood: usize = (1..200_000).filter(|key| limiter.count(key).is_ok()).count();
        assert!(limiter.limiter.len() <= KEYS_MAX + GROUPS as usize);
        // Each of those in the table has come once, and the others share what is left.
        assert_eq!(flood, KEYS_MAX - 1 + 5 * GROUPS as usize);
        assert_eq!((spend(&limiter, 0), spend(&limiter, 1), spend(&limiter, 300_000)), (0, 4, 0));
    }

    #[test]
    fn those_who_have_waited_are_forgotten() {
        let often = Limiter::per_minute(NonZeroU32::MAX);
        let rarely = Limiter::per_minute(TIMES);
        for limiter in [&often, &rarely] {
            limiter.count(&1).unwrap();
            std::thread::sleep(Duration::from_millis(1));
            limiter.sweep();
        }
        assert_eq!((often.limiter.len(), rarely.limiter.len()), (0, 1));
    }
}
