//! A large task is carried out in parts that anybody may claim: the progressing thread and the card's workers.
//!
//! One word holds generation, kind, next part and number of parts; a claim is one compare-and-swap on it. The generation
//! makes a late claimer harmless: either it gets a part of the task that is there now, and of the kind it looked for, or
//! nothing.

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// The claim word of a slot and the count of parts not finished.
#[derive(Debug)]
pub struct Parts {
    word: AtomicU64,
    left: AtomicU32,
}

const NEXT: u32 = 16;
const KIND: u32 = 32;
const GENERATION: u32 = 34;
/// Most parts of one task.
pub const MOST: u64 = 0xffff;

impl Parts {
    /// Nothing to claim.
    #[allow(clippy::new_without_default, reason = "loom's atomics have no const constructor")]
    pub fn new() -> Parts {
        Parts { word: AtomicU64::new(0), left: AtomicU32::new(0) }
    }

    /// Whoever has the task: `count` parts (1 to [`MOST`]) of this kind (0 to 3) may be claimed from now on.
    pub fn open(&self, count: u16, kind: u8) {
        self.left.store(u32::from(count), Ordering::Relaxed);
        let generation = (self.word.load(Ordering::Relaxed) >> GENERATION).wrapping_add(1);
        let kind = u64::from(kind & 3) << KIND;
        self.word.store(generation << GENERATION | kind | u64::from(count), Ordering::Release);
    }

    /// Of which kind the parts are.
    #[inline]
    pub fn kind(&self) -> u8 {
        (self.word.load(Ordering::Acquire) >> KIND) as u8 & 3
    }

    /// Are all parts claimed?
    #[inline]
    pub fn exhausted(&self) -> bool {
        let w = self.word.load(Ordering::Acquire);
        (w >> NEXT & 0xffff) >= (w & 0xffff)
    }

    /// Claims the next part, if the parts are of this kind.
    #[inline]
    pub fn claim(&self, kind: u8) -> Option<u16> {
        let mut w = self.word.load(Ordering::Acquire);
        loop {
            let next = w >> NEXT & 0xffff;
            if next >= w & 0xffff || (w >> KIND) as u8 & 3 != kind {
                return None;
            }
            match self.word.compare_exchange_weak(w, w + (1 << NEXT), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(next as u16),
                Err(now) => w = now,
            }
        }
    }

    /// One claimed part is finished; true for whoever finished the last.
    #[inline]
    pub fn finished(&self) -> bool {
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }
}
