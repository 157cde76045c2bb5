//! What a consumer has posted, and what is done: two rings in a segment, one in each direction.
//!
//! ```text
//!     0  closed, hungry, reaching      128  posts: address, room and slot of a receive
//!    64  posted: receives, ever             done: what became of one, by slot
//!                                           immediate data, by slot
//! ```
//!
//! The consumer writes posts and publishes many at a time by `posted`; the producers, which are all in one process, keep
//! what they have taken to themselves ([`Claims`]). What is done they write one after the other in whatever order it is
//! done; an entry is valid when it has the number of its round. A consumer that closes says so, after which nobody takes
//! any.
//!
//! A producer that found nothing posted, and wants to sleep, says that it is hungry and looks again; whoever posts looks
//! for that afterwards. Producers whose process pays for the barrier between these steps on both sides say so.
//!
//! Each side checks what the other wrote: numbers of slots against their count, lengths against what was posted,
//! addresses against the memory that was lent.

use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use crate::sync::{Segment, far_barrier, fence, is_reachable, light_barrier};
use std::sync::Arc;

const CLOSED: usize = 0;
const HUNGRY: usize = 4;
const REACHING: usize = 8;
const POSTED: usize = 64;
const POSTS: usize = 128;
/// Bytes of an entry of either ring.
const ENTRY: usize = 16;
/// Bytes of immediate data that a slot has room for.
pub(crate) const IMM: usize = 64;
/// Most slots: their numbers have 24 bits in an entry.
pub(crate) const MOST: u32 = 1 << 20;

/// How many entries ahead each side looks: two lines.
const AHEAD: u64 = 8;

/// A receive as it was posted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Posted {
    pub(crate) slot: u32,
    pub(crate) addr: u64,
    pub(crate) room: u32,
}

/// What a producer says about a receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Filled {
    pub(crate) slot: u32,
    pub(crate) status: u8,
    pub(crate) bytes: u32,
    pub(crate) producer: u32,
    pub(crate) imm_len: u8,
}

/// What came of trying to take a receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Take {
    Taken(Posted),
    /// None is posted.
    Empty,
    /// The consumer is gone.
    Closed,
    /// The consumer wrote nonsense.
    Broken,
}

/// How far the producers of a consumer are. One at a time uses it.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    taken: u64,
    /// Posted, as last seen.
    seen: u64,
    done: u64,
}

/// The rings, at either end.
#[derive(Clone, Debug)]
pub(crate) struct Rings {
    pub(crate) segment: Arc<Segment>,
    slots: u32,
    mask: u64,
}

fn ring(slots: u32) -> usize {
    // A line, so that the rings do not share one; the models want them short.
    (slots as usize).next_power_of_two().max(if cfg!(loom) { 1 } else { 4 })
}

/// Bytes of a segment for so many slots.
pub(crate) fn bytes(slots: u32) -> usize {
    POSTS + 2 * ENTRY * ring(slots) + IMM * slots as usize
}

impl Rings {
    /// In a segment of at least [`bytes`]`(slots)`, all zero at first.
    pub(crate) fn new(segment: Arc<Segment>, slots: u32) -> Rings {
        Rings { segment, slots, mask: ring(slots) as u64 - 1 }
    }

    /// Producer: whoever gets hungry here pays for the consumer's barrier, if its process can.
    pub(crate) fn reach(&self, can: bool) {
        self.segment.word32(REACHING).store(u32::from(can), Release);
    }

    /// How many can be posted at a time.
    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    #[inline(always)]
    fn post_at(&self, index: u64) -> usize {
        POSTS + ENTRY * (index & self.mask) as usize
    }

    #[inline(always)]
    fn done_at(&self, index: u64) -> usize {
        POSTS + ENTRY * (self.mask + 1 + (index & self.mask)) as usize
    }

    fn imm_at(&self, slot: u32) -> usize {
        debug_assert!(slot < self.slots);
        POSTS + 2 * ENTRY * (self.mask as usize + 1) + IMM * slot as usize
    }

    /// What stands in the upper 24 bits of a valid entry: never that of the one before in the same place.
    #[inline(always)]
    fn stamp(&self, index: u64) -> u64 {
        (index >> (self.mask + 1).trailing_zeros()).wrapping_add(1) << 40
    }

    /// Consumer: writes receive number `index`. Nobody sees it before [`Rings::publish`].
    #[inline]
    pub(crate) fn post(&self, index: u64, posted: Posted) {
        let at = self.post_at(index);
        self.segment.word64(at).store(posted.addr, Relaxed);
        let rest = u64::from(posted.room) << 32 | u64::from(posted.slot);
        self.segment.word64(at + 8).store(rest, Relaxed);
    }

    /// Consumer: so many receives were written by now. True: somebody is hungry, and wants to be told.
    #[inline]
    pub(crate) fn publish(&self, posted: u64) -> bool {
        self.segment.word64(POSTED).store(posted, Release);
        if self.segment.word32(REACHING).load(Relaxed) != 0 && is_reachable() {
            light_barrier();
        } else {
            fence(SeqCst);
        }
        let hungry = self.segment.word32(HUNGRY);
        hungry.load(Relaxed) != 0 && hungry.swap(0, AcqRel) != 0
    }

    /// Consumer: nobody takes receives from now on.
    pub(crate) fn close(&self) {
        self.segment.word32(CLOSED).store(1, Release);
    }

    /// Producer: wants to be told when receives are posted. It looks for them after this.
    pub(crate) fn hunger(&self) {
        self.segment.word32(HUNGRY).store(1, Relaxed);
        far_barrier();
    }

    /// Producer: takes the next receive. The consumer's word is looked at only when what was seen is used up.
    #[inline]
    pub(crate) fn take(&self, claims: &mut Claims) -> Take {
        if self.segment.word32(CLOSED).load(Relaxed) != 0 {
            return Take::Closed;
        }
        if claims.taken == claims.seen {
            claims.seen = self.segment.word64(POSTED).load(Acquire);
            if claims.taken == claims.seen {
                return Take::Empty;
            }
            if claims.seen.wrapping_sub(claims.taken) > self.mask + 1 {
                claims.seen = claims.taken;
                return Take::Broken;
            }
        }
        let at = self.post_at(claims.taken);
        let addr = self.segment.word64(at).load(Relaxed);
        let rest = self.segment.word64(at + 8).load(Relaxed);
        self.segment.expect(self.post_at(claims.taken + AHEAD));
        claims.taken += 1;
        let (slot, room) = (rest as u32, (rest >> 32) as u32);
        if slot < self.slots { Take::Taken(Posted { slot, addr, room }) } else { Take::Broken }
    }

    /// Producer: immediate data for a slot it took.
    #[inline]
    pub(crate) fn put_imm(&self, slot: u32, imm: &[u8]) {
        self.segment.put(self.imm_at(slot), &imm[..imm.len().min(IMM)]);
    }

    /// Producer: is through with a slot.
    #[inline]
    pub(crate) fn finish(&self, claims: &mut Claims, filled: Filled) {
        let at = self.done_at(claims.done);
        self.segment.expect_own(self.done_at(claims.done + AHEAD));
        let what = u64::from(filled.producer) << 32 | u64::from(filled.bytes);
        self.segment.word64(at).store(what, Relaxed);
        let slot = u64::from(filled.status) << 32 | u64::from(filled.imm_len) << 24 | u64::from(filled.slot);
        self.segment.word64(at + 8).store(self.stamp(claims.done) | slot, Release);
        claims.done += 1;
    }

    /// Consumer: is there what was done as number `index`?
    #[inline]
    pub(crate) fn is_through(&self, index: u64) -> bool {
        self.segment.word64(self.done_at(index) + 8).load(Relaxed) >> 40 == self.stamp(index) >> 40
    }

    /// Consumer: what was done as number `index`.
    #[inline]
    pub(crate) fn filled(&self, index: u64) -> Option<Filled> {
        let at = self.done_at(index);
        let word = self.segment.word64(at + 8).load(Acquire);
        if word >> 40 != self.stamp(index) >> 40 {
            return None;
        }
        self.segment.expect(self.done_at(index + AHEAD / 2));
        let what = self.segment.word64(at).load(Relaxed);
        Some(Filled {
            slot: word as u32 & 0xff_ffff,
            status: (word >> 32) as u8,
            bytes: what as u32,
            producer: (what >> 32) as u32,
            imm_len: (word >> 24) as u8,
        })
    }

    /// Consumer: the immediate data of a slot that is through.
    #[inline]
    pub(crate) fn imm(&self, slot: u32, into: &mut [u8]) {
        if slot < self.slots {
            self.segment.get(self.imm_at(slot), into);
        }
    }
}

#[cfg(all(test, not(loom)))]
#[path = "rings_tests.rs"]
mod tests;
