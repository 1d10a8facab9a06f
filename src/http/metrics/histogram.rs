//! How long requests took, in steps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper ends of the steps in nanoseconds: from a tenth of a millisecond, in which a listing can be answered, to the time
/// for which a request waits for its turn at most.
const STEPS_NS: [u64; 16] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// Counts of durations.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    /// One for each step, and one for what is above all of them.
    counts: [AtomicU64; STEPS_NS.len() + 1],
    sum_ns: AtomicU64,
}

impl Histogram {
    /// Counts a duration.
    pub(super) fn observe(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let step = STEPS_NS.partition_point(|end| *end < ns);
        self.counts[step].fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// The sum in seconds, how many there are, and how many in each step of which this is the upper end.
    pub(super) fn read(&self) -> (f64, u64, Vec<(f64, u64)>) {
        let ends = STEPS_NS.iter().map(|ns| seconds(*ns)).chain([f64::INFINITY]);
        let steps: Vec<_> =
            ends.zip(&self.counts).map(|(end, count)| (end, count.load(Ordering::Relaxed))).collect();
        let count = steps.iter().map(|(_, count)| count).sum();
        (seconds(self.sum_ns.load(Ordering::Relaxed)), count, steps)
    }
}

fn seconds(ns: u64) -> f64 {
    Duration::from_nanos(ns).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_counted_in_its_step() {
        let histogram = Histogram::default();
        for ms in [0, 1, 2, 60_000] {
            histogram.observe(Duration::from_millis(ms));
        }
        let (sum, count, steps) = histogram.read();
        assert_eq!((sum, count), (60.003, 4));
        let counted: Vec<_> = steps.into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [(0.0001, 1), (0.001, 1), (0.0025, 1), (f64::INFINITY, 1)]);
    }
}
