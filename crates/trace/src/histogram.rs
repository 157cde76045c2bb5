//! How long things take: a histogram whose buckets are an eighth of a power of two wide, so that every duration is known
//! to an eighth, from nanoseconds to hours, in 2.5 KiB.

use crate::sync::{AtomicU64, Ordering};

/// Buckets per power of two, as a power of two.
const FINE: u32 = 3;
/// Longest duration with a bucket of its own: about five hours in nanoseconds. Longer ones are in the last bucket.
const MOST: u32 = 44;
/// Buckets.
pub const BUCKETS: usize = ((MOST - FINE + 1) << FINE) as usize;

/// A histogram of nanoseconds. One thread adds at a time (two that meet may lose a count), any thread reads.
#[derive(Debug)]
pub struct Histogram {
    buckets: Box<[AtomicU64]>,
    sum: AtomicU64,
    longest: AtomicU64,
    /// What was added last, and for how many in all.
    last: AtomicU64,
    added: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        let buckets = (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        let [sum, longest, last, added] = [const { AtomicU64::new(0) }; 4];
        Histogram { buckets, sum, longest, last, added }
    }
}

/// The bucket of a duration.
#[inline(always)]
#[must_use]
pub fn bucket(nanos: u64) -> usize {
    let nanos = nanos.min((1 << MOST) - 1);
    let shift = (63 - (nanos | 1 << FINE).leading_zeros()).saturating_sub(FINE);
    ((nanos >> shift) as usize) + ((shift as usize) << FINE)
}

/// The first duration that is too long for a bucket.
#[must_use]
pub fn bucket_end(bucket: usize) -> u64 {
    let shift = (bucket >> FINE).saturating_sub(1) as u32;
    let within = (bucket - ((shift as usize) << FINE)) as u64;
    (within + 1) << shift
}

/// One thread writes at a time: no locked instruction is needed.
#[inline(always)]
fn grow(place: &AtomicU64, by: u64) {
    place.store(place.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

impl Histogram {
    /// Adds the duration of the last of `many` in all. Those that were not measured since the one before count as that one
    /// did, where there was one: as [`Histogram::rest`] shows them meanwhile.
    #[inline(always)]
    pub fn add_up_to(&self, nanos: u64, many: u64) {
        // Of engines with peers, two threads may come at once: who is first has them.
        let before = self.added.fetch_max(many, Ordering::Relaxed);
        let mut count = many.saturating_sub(before);
        if count == 0 {
            return;
        }
        let last = self.last.load(Ordering::Relaxed);
        self.last.store(nanos, Ordering::Relaxed);
        if before > 0 && count > 1 {
            grow(&self.buckets[bucket(last)], count - 1);
            grow(&self.sum, last.wrapping_mul(count - 1));
            count = 1;
        }
        grow(&self.buckets[bucket(nanos)], count);
        grow(&self.sum, nanos.wrapping_mul(count));
        if nanos > self.longest.load(Ordering::Relaxed) {
            self.longest.store(nanos, Ordering::Relaxed);
        }
    }

    /// Adds a duration. One thread at a time.
    pub fn add(&self, nanos: u64) {
        self.add_up_to(nanos, self.added.load(Ordering::Relaxed) + 1);
    }

    /// The duration of the last one that was measured, if it is to stand for others that were not: for how many of `many`,
    /// and the duration.
    pub fn rest(&self, many: u64) -> (u64, u64) {
        let added = self.added.load(Ordering::Relaxed);
        let rest = if added == 0 { 0 } else { many.saturating_sub(added) };
        (rest, self.last.load(Ordering::Relaxed))
    }

    /// How many durations each bucket has.
    pub fn buckets(&self) -> impl Iterator<Item = u64> + '_ {
        self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed))
    }

    /// How many durations were added.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets().sum()
    }

    /// The sum of all durations.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }

    /// The longest duration.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.longest.load(Ordering::Relaxed)
    }

    /// The duration that this share of all are no longer than (0.5 is the median), to an eighth; 0 when there are none.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (self.count() as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (at, count) in self.buckets().enumerate() {
            seen += count;
            if seen >= wanted && count > 0 {
                return (bucket_end(at) - 1).min(self.longest());
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        let mut last = 0;
        for bits in 0..=63 {
            for nanos in [(1u64 << bits) - 1, 1 << bits, (1 << bits) + (1 << bits) / 3] {
                let at = bucket(nanos);
                assert!(at >= last && at < BUCKETS, "{nanos}");
                last = at.max(last);
                if bits < MOST {
                    let begin = at.checked_sub(1).map_or(0, bucket_end);
                    assert!(
                        (begin..bucket_end(at)).contains(&nanos),
                        "{nanos}: {begin} to {}",
                        bucket_end(at)
                    );
                    assert!(bucket_end(at) - begin <= (nanos / 8).max(1), "an eighth: {nanos}");
                }
            }
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert!((1..BUCKETS).all(|at| bucket(bucket_end(at - 1)) == at));
    }

    #[test]
    fn one_stands_for_many() {
        let times = Histogram::default();
        assert_eq!(times.rest(5), (0, 0), "nothing is known");
        times.add_up_to(100, 1);
        times.add_up_to(1000, 4);
        assert_eq!((times.count(), times.sum(), times.rest(6)), (4, 1300, (2, 1000)));
        times.add_up_to(7, 4);
        assert_eq!((times.count(), times.rest(4)), (4, (0, 1000)), "as many as there are");
    }

    #[test]
    fn quantiles() {
        let times = Histogram::default();
        assert_eq!((times.quantile(0.5), times.count()), (0, 0));
        (1..=1000).for_each(|n| times.add(n * 1000));
        assert_eq!((times.count(), times.sum(), times.longest()), (1000, 500_500_000, 1_000_000));
        for (share, true_one) in [(0.5, 500_000), (0.99, 990_000), (1.0, 1_000_000), (0.0, 1000)] {
            let found = times.quantile(share);
            assert!(found >= true_one && found <= true_one + true_one / 8, "{share}: {found}");
        }
    }
}
