//! What all looks cost, since the start.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::standing::Look;

/// What looks cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookCounts {
    /// Those that found what is served.
    pub succeeded: u64,
    /// Those that found nothing that could be served instead of what was.
    pub failed: u64,
    /// How long those that succeeded took in sum.
    pub took: Duration,
    /// How many directories were listed for them in sum.
    pub directories: u64,
}

/// The sum, to which each look adds.
#[derive(Debug, Default)]
pub(super) struct Looks(Mutex<LookCounts>);

impl Looks {
    /// Adds a look; none is one that failed.
    pub(super) fn count(&self, look: Option<&Look>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match look {
            Some(look) => {
                counts.succeeded += 1;
                counts.took += look.took;
                counts.directories += look.directories;
            }
            None => counts.failed += 1,
        }
    }

    /// The sum until now.
    pub(super) fn read(&self) -> LookCounts {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn looks_are_added_up() {
        let looks = Looks::default();
        let look = Look { at: SystemTime::now(), took: Duration::from_millis(5), directories: 3 };
        looks.count(Some(&look));
        looks.count(None);
        looks.count(Some(&look));
        let sum = LookCounts { succeeded: 2, failed: 1, took: Duration::from_millis(10), directories: 6 };
        assert_eq!(looks.read(), sum);
    }
}
