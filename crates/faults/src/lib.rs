//! Failures that happen on purpose, and schedules that happen again.
//!
//! Both are [deciders](softdpu_room::instrument::Decider): they sit between a program and the engines, and no engine knows of
//! them. [`plan`] reads what is to fail and refuses what cannot be meant; [`inject`] makes it fail; [`schedule`] decides
//! from a seed how long tasks wait and which pass which; [`start`] installs what the environment asks for.
//!
//! Every decision is a hash of the seed, the number of the context, and the number of the task, so that a run can be
//! replayed, and a part of it left out ([`schedule::Only`]) without changing the rest. No clock is read when there is a
//! seed.

mod choose;
pub mod inject;
pub mod plan;
mod record;
pub mod schedule;
pub mod start;
mod sync;

pub use plan::{Plan, PlanError};
pub use schedule::Schedule;

/// Spreads `parts` over 64 bits, so that each of them changes all of it.
pub(crate) fn mix(parts: &[u64]) -> u64 {
    // The finisher of SplitMix64, once per part.
    parts.iter().fold(0x9e37_79b9_7f4a_7c15, |sum: u64, &part| {
        let mut x =
            sum.wrapping_mul(0xd129_0ddf_7b5b_4c4d).wrapping_add(part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_part_counts() {
        let base = super::mix(&[1, 2, 3]);
        for other in [[0, 2, 3], [1, 0, 3], [1, 2, 0], [2, 1, 3]] {
            let changed = (base ^ super::mix(&other)).count_ones();
            assert!((12..=52).contains(&changed), "{changed} bits change");
        }
    }
}
