//! Claims on the bytes of one memory: exclusive ones overlap nothing, aliases overlap only aliases.

use crate::error::WindowError;
use crate::memory::Memory;
use crate::region::Region;
use softdpu_status::Code;
use std::collections::BTreeMap;

/// The claims of one memory, as ranges `start -> end` that never overlap each other.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    exclusive: BTreeMap<usize, usize>,
    /// Stretches under one or more aliases, with how many. Neighbours differ in that number or do not touch, so there
    /// are at most twice as many as aliases.
    aliased: BTreeMap<usize, (usize, u32)>,
}

impl Claims {
    /// Claims `[start, end)`, not empty.
    ///
    /// # Errors
    /// A claimed range that is in the way.
    pub(crate) fn add(&mut self, start: usize, end: usize, exclusive: bool) -> Result<(), (usize, usize)> {
        debug_assert!(start < end);
        // Ranges are disjoint, so that the last one that begins before `end` reaches furthest.
        if let Some((&s, &e)) = self.exclusive.range(..end).next_back()
            && e > start
        {
            return Err((s, e));
        }
        if !exclusive {
            self.cover(start, end, 1);
            return Ok(());
        }
        if let Some((&s, &(e, _))) = self.aliased.range(..end).next_back()
            && e > start
        {
            return Err((s, e));
        }
        self.exclusive.insert(start, end);
        Ok(())
    }

    /// Lets go of what [`Claims::add`] claimed with the same arguments.
    pub(crate) fn remove(&mut self, start: usize, end: usize, exclusive: bool) {
        if exclusive {
            let gone = self.exclusive.remove(&start);
            debug_assert_eq!(gone, Some(end));
        } else {
            self.cover(start, end, -1);
        }
    }

    /// Are there none?
    pub(crate) fn is_empty(&self) -> bool {
        self.exclusive.is_empty() && self.aliased.is_empty()
    }

    /// Adds `by` to the number of aliases on every byte of the range.
    fn cover(&mut self, start: usize, end: usize, by: i32) {
        self.split(start);
        self.split(end);
        let mut at = start;
        while at < end {
            let next = self.aliased.range(at..end).next().map(|(&s, &v)| (s, v));
            match next {
                Some((s, (e, n))) if s == at => {
                    let n = n.wrapping_add_signed(by);
                    if n == 0 {
                        self.aliased.remove(&s);
                    } else {
                        self.aliased.insert(s, (e, n));
                    }
                    at = e;
                }
                gap => {
                    debug_assert!(by > 0, "only what was claimed is let go");
                    let e = gap.map_or(end, |(s, _)| s);
                    self.aliased.insert(at, (e, 1));
                    at = e;
                }
            }
        }
        self.join(start);
        self.join(end);
    }

    /// Makes `at` a border.
    fn split(&mut self, at: usize) {
        if let Some((&s, &(e, n))) = self.aliased.range(..at).next_back()
            && e > at
        {
            self.aliased.insert(s, (at, n));
            self.aliased.insert(at, (e, n));
        }
    }

    /// Removes the border at `at` if both sides are alike.
    fn join(&mut self, at: usize) {
        let Some(&(e, n)) = self.aliased.get(&at) else { return };
        if let Some((&s, &(before, m))) = self.aliased.range(..at).next_back()
            && before == at
            && m == n
        {
            self.aliased.remove(&at);
            self.aliased.insert(s, (e, n));
        }
    }
}

/// A claim that lasts as long as this value, on a memory that stays as long.
#[derive(Debug)]
pub(crate) struct Claim {
    memory: Memory,
    start: usize,
    end: usize,
    exclusive: bool,
}

impl Claim {
    /// Claims a range of `memory`.
    pub(crate) fn new(memory: &Memory, range: (usize, usize), exclusive: bool) -> Result<Claim, WindowError> {
        let (start, end) = range;
        let refuse = |what, against| {
            let object = format_args!("memory {:#x}", memory.host_addr());
            Err(WindowError::new(Code::InvalidValue, what, object, range, against))
        };
        let whole = (0, memory.len());
        if start > end || end > memory.len() {
            return refuse("window leaves the memory", whole);
        }
        if start == end {
            return refuse("window is empty", whole);
        }
        // The lock is let go before the refusal is told.
        let added = memory.claims().add(start, end, exclusive);
        match added {
            Ok(()) => Ok(Claim { memory: memory.clone(), start, end, exclusive }),
            Err(taken) => refuse("window overlaps one that is held", taken),
        }
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn start(&self) -> usize {
        self.start
    }

    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    pub(crate) fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    /// The region that descriptors of this claim stand on.
    pub(crate) fn region(&self) -> &Region {
        self.memory.region(self.exclusive)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.memory.claims().remove(self.start, self.end, self.exclusive);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator (xorshift), so that a failure can be repeated.
    struct Dice(u64);
    impl Dice {
        fn roll(&mut self, sides: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % sides as u64) as usize
        }
    }

    /// Per byte: -1 exclusive, else the number of aliases.
    fn free(model: &[i32], start: usize, end: usize, exclusive: bool) -> bool {
        model[start..end].iter().all(|&n| if exclusive { n == 0 } else { n >= 0 })
    }

    #[test]
    fn random_claims_follow_a_model_of_single_bytes() {
        const BYTES: usize = 48;
        for seed in 1..200u64 {
            let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let (mut claims, mut model, mut held) = (Claims::default(), [0i32; BYTES], Vec::new());
            for step in 0..300 {
                if dice.roll(5) < 3 {
                    let start = dice.roll(BYTES);
                    let end = start + 1 + dice.roll((BYTES - start).min(12));
                    let exclusive = dice.roll(3) == 0;
                    let got = claims.add(start, end, exclusive);
                    let want = free(&model, start, end, exclusive);
                    assert_eq!(
                        got.is_ok(),
                        want,
                        "seed {seed} step {step}: [{start}, {end}) exclusive {exclusive}"
                    );
                    match got {
                        Ok(()) => {
                            held.push((start, end, exclusive));
                            model[start..end]
                                .iter_mut()
                                .for_each(|n| if exclusive { *n = -1 } else { *n += 1 });
                        }
                        Err((s, e)) => {
                            assert!(s < end && start < e, "the range named is in the way");
                            assert!(!free(&model, s, e, true), "the range named is claimed");
                        }
                    }
                } else if !held.is_empty() {
                    let (start, end, exclusive) = held.swap_remove(dice.roll(held.len()));
                    claims.remove(start, end, exclusive);
                    model[start..end].iter_mut().for_each(|n| if exclusive { *n = 0 } else { *n -= 1 });
                }
                let aliases = held.iter().filter(|h| !h.2).count();
                assert!(claims.aliased.len() <= 2 * aliases, "seed {seed} step {step}: stretches pile up");
            }
            for (start, end, exclusive) in held {
                claims.remove(start, end, exclusive);
            }
            assert!(claims.is_empty(), "seed {seed}: something is left: {claims:?}");
        }
    }
}
