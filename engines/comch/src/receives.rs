//! The segment of a consumer: what it has posted, who took what, and what is done.
//!
//! ```text
//!     0  taken: receives that producers took, and CLOSED    192  (unused)
//!    64  posted: receives that the consumer posted          256  order: numbers of slots, as they were posted
//!   128  done: slots that producers are through with             through: numbers of slots, as they were done, and which one
//!                                                                slots
//! ```
//!
//! Producers take receives in the order of posting with a compare-and-swap on `taken`, without the consumer doing
//! anything; whoever took one has its slot to itself until it puts the slot's number into `through`. The consumer closes
//! with a bit in `taken`, after which nobody takes any.
//!
//! Each side checks what the other wrote: numbers of slots against their count, lengths against what was posted,
//! addresses against the memory that was lent.

use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release};
use softdpu_link::Segment;
use softdpu_status::{Code, Error, Result};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

const TAKEN: usize = 0;
const POSTED: usize = 64;
const DONE: usize = 128;
const ORDER: usize = 256;
/// Nobody takes a receive any more.
const CLOSED: u64 = 1 << 63;

/// How many receives ahead a producer looks.
const AHEAD: u64 = 8;

/// In a slot.
const ADDR: usize = 0;
const ROOM: usize = 8;
const BYTES: usize = 16;
const STATUS: usize = 24;
const PRODUCER: usize = 28;
const IMM_LEN: usize = 32;
const IMM: usize = 64;
const SLOT: usize = 128;

/// A receive as it was posted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Posted {
    pub(crate) slot: u32,
    pub(crate) addr: u64,
    pub(crate) room: u64,
}

/// What a producer says about a receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Filled {
    pub(crate) slot: u32,
    pub(crate) status: i32,
    pub(crate) bytes: u64,
    pub(crate) producer: u32,
    pub(crate) imm_len: u32,
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

/// The segment, at either end.
#[derive(Clone, Debug)]
pub(crate) struct Receives {
    segment: Arc<Segment>,
    slots: u32,
    mask: u64,
}

fn ring(slots: u32) -> usize {
    (slots as usize).next_power_of_two()
}

fn bytes(slots: u32) -> usize {
    slots_at(slots) + SLOT * slots as usize
}

fn slots_at(slots: u32) -> usize {
    (ORDER + 4 * ring(slots)).next_multiple_of(64) + 8 * ring(slots).next_multiple_of(8)
}

impl Receives {
    /// For so many receives at a time.
    pub(crate) fn create(slots: u32) -> Result<Receives> {
        let segment = Arc::new(Segment::create("softdpu-comch-receives", bytes(slots))?);
        Ok(Receives { segment, slots, mask: ring(slots) as u64 - 1 })
    }

    /// From what a peer sent.
    pub(crate) fn accept(fd: OwnedFd, slots: u32) -> Result<Receives> {
        if slots == 0 || slots > 1 << 20 {
            log::error!(target: crate::LOG, "a peer's consumer with {slots} receives, allowed 1 to {}", 1 << 20);
            return Err(Error::new(Code::InvalidValue, "receives of a peer's consumer"));
        }
        let segment = Arc::new(Segment::from_fd(fd, bytes(slots))?);
        Ok(Receives { segment, slots, mask: ring(slots) as u64 - 1 })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.segment.fd()
    }

    /// How many can be posted at a time.
    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    fn order(&self, index: u64) -> usize {
        ORDER + 4 * (index & self.mask) as usize
    }

    fn through(&self, index: u64) -> usize {
        (ORDER + 4 * ring(self.slots)).next_multiple_of(64) + 8 * (index & self.mask) as usize
    }

    /// The upper half of an entry of `through` that is valid: never that of the one before in the same place.
    fn stamp(&self, index: u64) -> u64 {
        (index / (self.mask + 1) + 1) << 32
    }

    fn slot(&self, slot: u32) -> usize {
        debug_assert!(slot < self.slots);
        slots_at(self.slots) + SLOT * slot as usize
    }

    /// Consumer: posts a slot as receive number `index`.
    #[inline]
    pub(crate) fn post(&self, index: u64, posted: Posted) {
        let at = self.slot(posted.slot);
        self.segment.word64(at + ADDR).store(posted.addr, Relaxed);
        self.segment.word64(at + ROOM).store(posted.room, Relaxed);
        self.segment.word32(self.order(index)).store(posted.slot, Relaxed);
        self.segment.word64(POSTED).store(index + 1, Release);
    }

    /// Consumer: nobody takes receives from now on. Returns how many were taken, as far as the peer tells the truth.
    pub(crate) fn close(&self) -> u64 {
        self.segment.word64(TAKEN).fetch_or(CLOSED, AcqRel) & !CLOSED
    }

    /// Producer: takes the next receive. `seen` is what it saw posted when it last looked: the consumer's word is looked at
    /// only when that is used up.
    #[inline]
    pub(crate) fn take(&self, seen: &mut u64) -> Take {
        let word = self.segment.word64(TAKEN);
        let mut taken = word.load(Acquire);
        loop {
            if taken & CLOSED != 0 {
                return Take::Closed;
            }
            // Ahead of what was seen: other producers saw more.
            if taken >= *seen {
                *seen = self.segment.word64(POSTED).load(Acquire);
            }
            let posted = *seen;
            if posted == taken {
                return Take::Empty;
            }
            if posted.wrapping_sub(taken) > self.mask + 1 {
                // Another producer was faster, or it is nonsense.
                let now = word.load(Acquire);
                if now == taken {
                    return Take::Broken;
                }
                taken = now;
                continue;
            }
            let slot = self.segment.word32(self.order(taken)).load(Relaxed);
            match word.compare_exchange_weak(taken, taken + 1, AcqRel, Acquire) {
                Ok(_) if slot < self.slots => {
                    self.expect(taken, *seen);
                    let at = self.slot(slot);
                    return Take::Taken(Posted {
                        slot,
                        addr: self.segment.word64(at + ADDR).load(Relaxed),
                        room: self.segment.word64(at + ROOM).load(Relaxed),
                    });
                }
                Ok(_) => return Take::Broken,
                Err(now) => taken = now,
            }
        }
    }

    /// Gets near what a producer needs for the receives after this one.
    #[inline]
    fn expect(&self, taken: u64, seen: u64) {
        if taken + 2 * AHEAD < seen {
            self.segment.expect(self.order(taken + 2 * AHEAD));
        }
        if taken + AHEAD < seen {
            let slot = self.segment.word32(self.order(taken + AHEAD)).load(Relaxed);
            self.segment.expect(slots_at(self.slots) + SLOT * slot as usize);
        }
    }

    /// Producer: immediate data for a slot it took.
    #[inline]
    pub(crate) fn put_imm(&self, slot: u32, imm: &[u8]) {
        let at = self.slot(slot);
        self.segment.put(at + IMM, &imm[..imm.len().min(SLOT - IMM)]);
        self.segment.word32(at + IMM_LEN).store(imm.len() as u32, Relaxed);
    }

    /// Producer: is through with a slot.
    #[inline]
    pub(crate) fn finish(&self, slot: u32, status: i32, bytes: u64, producer: u32) {
        let at = self.slot(slot);
        self.segment.word64(at + BYTES).store(bytes, Relaxed);
        self.segment.word32(at + STATUS).store(status as u32, Relaxed);
        self.segment.word32(at + PRODUCER).store(producer, Relaxed);
        let index = self.segment.word64(DONE).fetch_add(1, AcqRel);
        self.segment.word64(self.through(index)).store(self.stamp(index) | u64::from(slot), Release);
    }

    /// Consumer: is slot number `index` through, in the order they were done?
    #[inline]
    pub(crate) fn is_through(&self, index: u64) -> bool {
        self.segment.word64(self.through(index)).load(Relaxed) & !0xffff_ffff == self.stamp(index)
    }

    /// Consumer: what was done as number `index`.
    #[inline]
    pub(crate) fn filled(&self, index: u64) -> Option<Filled> {
        let word = self.segment.word64(self.through(index)).load(Acquire);
        if word & !0xffff_ffff != self.stamp(index) {
            return None;
        }
        let slot = word as u32;
        if slot >= self.slots {
            // Nobody's; whoever wrote it hurts nobody but its own receives.
            return Some(Filled { slot, status: 0, bytes: 0, producer: 0, imm_len: 0 });
        }
        let at = self.slot(slot);
        Some(Filled {
            slot,
            status: self.segment.word32(at + STATUS).load(Relaxed) as i32,
            bytes: self.segment.word64(at + BYTES).load(Relaxed),
            producer: self.segment.word32(at + PRODUCER).load(Relaxed),
            imm_len: self.segment.word32(at + IMM_LEN).load(Relaxed),
        })
    }

    /// Consumer: the immediate data of a slot that is through.
    #[inline]
    pub(crate) fn imm(&self, slot: u32, into: &mut [u8]) {
        self.segment.get(self.slot(slot) + IMM, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(slot: u32) -> Posted {
        Posted { slot, addr: 0x1000 * u64::from(slot), room: 64 }
    }

    #[test]
    fn receives_are_taken_in_order_and_done_in_any() {
        let mine = Receives::create(3).unwrap();
        let peer = Receives::accept(mine.fd().try_clone_to_owned().unwrap(), 3).unwrap();
        let mut seen = 0;
        assert_eq!(peer.take(&mut seen), Take::Empty);
        for index in 0..3 {
            mine.post(index, posted(2 - index as u32));
        }
        let taken = [2, 1, 0].map(posted).map(Take::Taken);
        for taken in taken {
            assert_eq!(peer.take(&mut seen), taken);
        }
        assert_eq!(peer.take(&mut seen), Take::Empty);
        peer.put_imm(1, b"five!");
        peer.finish(1, 0, 17, 9);
        peer.put_imm(2, b"");
        peer.finish(2, 15, 0, 9);
        let filled = mine.filled(0).unwrap();
        assert_eq!(filled, Filled { slot: 1, status: 0, bytes: 17, producer: 9, imm_len: 5 });
        let mut imm = [0; 5];
        mine.imm(1, &mut imm);
        assert_eq!(&imm, b"five!");
        assert_eq!(mine.filled(1).unwrap().status, 15);
        assert!(mine.filled(2).is_none() && !mine.is_through(2));
        mine.post(3, posted(1));
        assert_eq!(mine.close(), 3);
        assert_eq!(peer.take(&mut seen), Take::Closed);
    }

    #[test]
    fn no_receive_is_taken_twice() {
        const COUNT: u64 = 20_000;
        let mine = Receives::create(8).unwrap();
        let peer = mine.clone();
        let takers: Vec<_> = (0..2)
            .map(|number| {
                let peer = peer.clone();
                std::thread::spawn(move || {
                    let mut seen = 0;
                    loop {
                        match peer.take(&mut seen) {
                            Take::Taken(posted) => peer.finish(posted.slot, 0, posted.addr, number),
                            Take::Empty => std::thread::yield_now(),
                            Take::Closed => break,
                            Take::Broken => panic!("broken"),
                        }
                    }
                })
            })
            .collect();
        let (mut free, mut next, mut done) = ((0..8).collect::<Vec<u32>>(), 0, 0);
        let mut seen = vec![false; COUNT as usize];
        while done < COUNT {
            while next < COUNT
                && let Some(slot) = free.pop()
            {
                mine.post(next, Posted { slot, addr: next, room: 0 });
                next += 1;
            }
            match mine.filled(done) {
                Some(filled) => {
                    assert!(!core::mem::replace(&mut seen[filled.bytes as usize], true));
                    free.push(filled.slot);
                    done += 1;
                }
                None => std::thread::yield_now(),
            }
        }
        assert_eq!(mine.close(), COUNT);
        takers.into_iter().for_each(|taker| taker.join().unwrap());
    }

    #[test]
    fn nonsense_is_noticed() {
        let mine = Receives::create(4).unwrap();
        mine.segment.word64(POSTED).store(1 << 40, Release);
        assert_eq!(mine.take(&mut 0), Take::Broken);
        mine.segment.word64(POSTED).store(1, Release);
        mine.segment.word32(mine.order(0)).store(77, Relaxed);
        assert_eq!(mine.take(&mut 0), Take::Broken);
        mine.segment.word64(mine.through(0)).store(mine.stamp(0) | 0xffff_ffff, Relaxed);
        assert_eq!(mine.filled(0).unwrap().slot, u32::MAX);
    }
}
