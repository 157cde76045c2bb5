//! Whether large copies should go past the cache: found out by trying.
//!
//! Which way is faster depends on the processor, on its caches and on what the program does with the data, and none of
//! that can be asked for. So every part of a large copy is timed, and the way that costs less per byte is taken, except
//! for one part in [`TRY_EVERY`], which tries the other. Both ways move the same bytes.

use softdpu_room::sync::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

const TRY_EVERY: u32 = 32;

/// What both ways cost lately. Any thread; a lost update costs nothing but a little precision.
#[derive(Debug, Default)]
pub(crate) struct Taste {
    /// Picoseconds per KiB, `[through the cache, past it]`; 0: not tried yet.
    cost: [AtomicU32; 2],
    parts: AtomicU32,
}

impl Taste {
    /// Should the next part go past the cache?
    pub(crate) fn past_cache(&self) -> bool {
        let [through, past] = [self.cost[0].load(Relaxed), self.cost[1].load(Relaxed)];
        let better = past <= through;
        let turn = self.parts.fetch_add(1, Relaxed);
        if through == 0 || past == 0 {
            return turn.is_multiple_of(2);
        }
        better != turn.is_multiple_of(TRY_EVERY)
    }

    /// What a part of `bytes` cost.
    pub(crate) fn learn(&self, past_cache: bool, bytes: u64, took: Duration) {
        let now = took.as_nanos().saturating_mul(1000 << 10) / u128::from(bytes.max(1));
        let now = u32::try_from(now).unwrap_or(u32::MAX).max(1);
        let cost = &self.cost[usize::from(past_cache)];
        let old = cost.load(Relaxed);
        // One eighth of the news: a part that was interrupted changes little, and is capped besides.
        let next = if old == 0 { now } else { old - old / 8 + now.min(old.saturating_mul(4)) / 8 };
        cost.store(next.max(1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(taste: &Taste, through: u64, past: u64) -> usize {
        (0..320)
            .filter(|_| {
                let choice = taste.past_cache();
                taste.learn(choice, 1 << 18, Duration::from_nanos(if choice { past } else { through }));
                choice
            })
            .count()
    }

    #[test]
    fn the_cheaper_way_is_taken_and_the_other_still_tried() {
        let taste = Taste::default();
        let past = rounds(&taste, 10_000, 20_000);
        assert!((5..40).contains(&past), "{past}");
        // The program's habits change.
        rounds(&taste, 40_000, 20_000);
        let past = rounds(&taste, 40_000, 20_000);
        assert!((280..316).contains(&past), "{past}");
    }
}
