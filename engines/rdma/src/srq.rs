//! The shared receive queue: receives of all connections of a context, in a segment that senders map.
//!
//! ```text
//!     0  magic, version        64  posted: receives ever posted, stored by the owner
//!     8  state: 1 open, else   128 hint: where a claim may succeed, stored by senders
//!        closed                192 waiters: not zero when a sender waits for a receive
//!    12  rights of the context 256 ready: a bit per sender that published something
//!    16  number of places      ... places of 32 bytes each
//!    20  words of `ready`
//! ```
//!
//! A place holds one posted receive: who has it (its number in the upper half, the sender that claimed it in the lower,
//! 0 for nobody), its room, and what the sender says of its message. A sender claims the next free receive before it
//! sends anything, so a message that is under way always has its receive, and the sender knows whether it fits. Receives
//! whose place is still taken by an older one are given the next number whose place is free; claims step over the gap.
//!
//! Everything in the segment is foreign to both sides: nothing read from it is used as an offset or a length before it
//! was checked against what the reader knows itself.

use crate::sync::{AtomicU64, Ordering, fence};
use softdpu_link::Segment;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

const MAGIC: u64 = u64::from_le_bytes(*b"SDPURQ1\0");
const STATE: usize = 8;
const RIGHTS: usize = 12;
const PLACES: usize = 16;
const WORDS: usize = 20;
const POSTED: usize = 64;
const HINT: usize = 128;
const WAITERS: usize = 192;
const READY: usize = 256;
/// Bytes of a place.
const PLACE: usize = 32;
/// How many places ahead a line is asked for that will be needed soon.
pub(crate) const AHEAD: u64 = 6;
/// Most places, and most words of `ready`, that are believed.
const MOST_PLACES: u32 = 1 << 21;
const MOST_WORDS: u32 = 1 << 10;

/// What a sender says of its message in the place it claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Letter {
    /// Bytes of the message.
    pub(crate) len: u32,
    /// Immediate data.
    pub(crate) imm: [u8; 4],
    /// [`Opcode`](crate::job::Opcode) by number, or [`TOO_LONG`].
    pub(crate) kind: u32,
}

/// The message does not fit; no bytes follow.
pub(crate) const TOO_LONG: u32 = 0x100;

/// A claimed receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    number: u64,
    /// Which place.
    pub(crate) place: u32,
    /// Bytes it takes.
    pub(crate) room: u32,
}

fn word(number: u64, owner: u32) -> u64 {
    number << 32 | u64::from(owner)
}

/// What both ends know.
#[derive(Clone, Copy, Debug)]
struct Shape {
    places: u32,
    words: u32,
}

impl Shape {
    fn base(self) -> usize {
        (READY + self.words as usize * 8).next_multiple_of(64)
    }
    fn bytes(self) -> usize {
        self.base() + self.places as usize * PLACE
    }
    fn place(self, number: u64) -> u32 {
        number as u32 & (self.places - 1)
    }
    fn at(self, place: u32) -> usize {
        self.base() + (place & (self.places - 1)) as usize * PLACE
    }
}

/// A receive that is posted.
#[derive(Debug)]
struct Posted<T> {
    number: u64,
    what: T,
}

/// The owner's end.
#[derive(Debug)]
pub(crate) struct Srq<T> {
    segment: Arc<Segment>,
    shape: Shape,
    posted: u64,
    receives: Box<[Option<Posted<T>>]>,
    count: usize,
}

impl<T> Srq<T> {
    /// For at most `receives` receives at a time and senders with numbers below `senders`; open to peers with these
    /// rights.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn new(receives: u32, senders: u32, rights: u32) -> Result<Srq<T>> {
        let shape = Shape {
            places: (receives.max(1) * 2).next_power_of_two().min(MOST_PLACES),
            words: senders.div_ceil(64).clamp(1, MOST_WORDS),
        };
        let segment = Segment::create("softdpu-receives", shape.bytes())?;
        segment.word32(RIGHTS).store(rights, Ordering::Relaxed);
        segment.word32(PLACES).store(shape.places, Ordering::Relaxed);
        segment.word32(WORDS).store(shape.words, Ordering::Relaxed);
        segment.word32(STATE).store(1, Ordering::Relaxed);
        segment.word64(0).store(MAGIC, Ordering::Release);
        let mut list = Vec::new();
        list.try_reserve_exact(shape.places as usize)
            .map_err(|_| Error::new(Code::NoMemory, "no memory for receives"))?;
        list.resize_with(shape.places as usize, || None);
        Ok(Srq { segment: Arc::new(segment), shape, posted: 0, receives: list.into(), count: 0 })
    }

    /// The segment, for senders.
    pub(crate) fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// Posts a receive for messages of up to `room` bytes; gives it back when all places are taken. Senders see it after
    /// [`Srq::publish`].
    pub(crate) fn post(&mut self, what: T, room: u32) -> Result<(), T> {
        if self.count == self.receives.len() {
            return Err(what);
        }
        let mut number = self.posted;
        while self.receives[self.shape.place(number) as usize].is_some() {
            number += 1;
        }
        let place = self.shape.place(number);
        let at = self.shape.at(place);
        self.segment.word32(at + 8).store(room, Ordering::Relaxed);
        self.segment.word64(at).store(word(number, 0), Ordering::Release);
        self.receives[place as usize] = Some(Posted { number, what });
        self.count += 1;
        self.posted = number + 1;
        Ok(())
    }

    /// Makes posted receives visible. True when a sender waits for one, which has to be rung.
    pub(crate) fn publish(&mut self) -> bool {
        self.segment.word64(POSTED).store(self.posted, Ordering::Release);
        fence(Ordering::SeqCst);
        let waiters = self.segment.word32(WAITERS);
        waiters.load(Ordering::Relaxed) != 0 && waiters.swap(0, Ordering::AcqRel) != 0
    }

    /// What the sender `owner` says of the receive it claimed; `None` when it did not claim that one.
    pub(crate) fn letter(&self, place: u32, owner: u32) -> Option<Letter> {
        let posted = self.receives.get(place as usize)?.as_ref()?;
        let at = self.shape.at(place);
        if self.segment.word64(at).load(Ordering::Acquire) != word(posted.number, owner) {
            return None;
        }
        Some(Letter {
            len: self.segment.word32(at + 12).load(Ordering::Relaxed),
            imm: self.segment.word32(at + 16).load(Ordering::Relaxed).to_ne_bytes(),
            kind: self.segment.word32(at + 20).load(Ordering::Relaxed),
        })
    }

    /// The receive in a place.
    pub(crate) fn get(&mut self, place: u32) -> Option<&mut T> {
        Some(&mut self.receives.get_mut(place as usize)?.as_mut()?.what)
    }

    /// Takes the receive out of a place, which is free afterwards.
    pub(crate) fn take(&mut self, place: u32) -> Option<T> {
        let posted = self.receives.get_mut(place as usize)?.take()?;
        // Whoever still looks at the place finds a number that is never asked for again.
        self.segment.word64(self.shape.at(place)).store(word(posted.number, u32::MAX), Ordering::Relaxed);
        self.count -= 1;
        Some(posted.what)
    }

    /// A place that the sender `owner` has claimed, if there is one: for when it is gone.
    pub(crate) fn claimed_by(&self, owner: u32) -> Option<u32> {
        (0..self.shape.places).find(|&place| {
            self.receives[place as usize].as_ref().is_some_and(|posted| {
                self.segment.word64(self.shape.at(place)).load(Ordering::Acquire)
                    == word(posted.number, owner)
            })
        })
    }

    /// The messages in the places behind this one are there already: the line of one of them is asked for.
    #[inline]
    pub(crate) fn expect_behind(&self, place: u32) {
        self.segment.expect_own(self.shape.at(place.wrapping_add(AHEAD as u32)));
    }

    /// Any place that is taken.
    pub(crate) fn first(&self) -> Option<u32> {
        self.receives.iter().position(Option::is_some).map(|place| place as u32)
    }

    /// Has any sender published something?
    pub(crate) fn is_ready(&self) -> bool {
        (0..self.shape.words as usize).any(|w| self.ready_word(w).load(Ordering::Acquire) != 0)
    }

    /// Words of `ready`.
    pub(crate) fn ready_words(&self) -> usize {
        self.shape.words as usize
    }

    /// Takes the bits of senders that published since the last time.
    #[inline]
    pub(crate) fn take_ready(&self, w: usize) -> u64 {
        let word = self.ready_word(w);
        if word.load(Ordering::Relaxed) == 0 { 0 } else { word.swap(0, Ordering::SeqCst) }
    }

    /// As if the sender had published: for what was left for later.
    pub(crate) fn mark_ready(&self, index: u32) {
        self.ready_word((index / 64) as usize % self.shape.words as usize)
            .fetch_or(1 << (index % 64), Ordering::Relaxed);
    }

    #[inline]
    fn ready_word(&self, w: usize) -> &AtomicU64 {
        self.segment.word64(READY + w * 8)
    }

    /// No sender claims anything any more.
    pub(crate) fn close(&self) {
        self.segment.word32(STATE).store(0, Ordering::SeqCst);
    }
}

/// A sender's end.
#[derive(Debug)]
pub(crate) struct RemoteSrq {
    segment: Arc<Segment>,
    shape: Shape,
    rights: u32,
}

impl RemoteSrq {
    /// Over a segment of the owner.
    ///
    /// # Errors
    /// InvalidValue, with one log line, when it is none.
    pub(crate) fn new(segment: Arc<Segment>) -> Result<RemoteSrq> {
        let refuse = |what: &str, value: u64| {
            log::error!(target: crate::LOG, "receive queue of a peer refused: {what} {value:#x}");
            Error::new(Code::InvalidValue, "receive queue of a peer")
        };
        if segment.len() < READY + 64 {
            return Err(refuse("length", segment.len() as u64));
        }
        let magic = segment.word64(0).load(Ordering::Acquire);
        if magic != MAGIC {
            return Err(refuse("magic", magic));
        }
        let shape = Shape {
            places: segment.word32(PLACES).load(Ordering::Relaxed),
            words: segment.word32(WORDS).load(Ordering::Relaxed),
        };
        if !shape.places.is_power_of_two() || shape.places > MOST_PLACES {
            return Err(refuse("places", shape.places.into()));
        }
        if shape.words == 0 || shape.words > MOST_WORDS || shape.bytes() > segment.len() {
            return Err(refuse("words", shape.words.into()));
        }
        let rights = segment.word32(RIGHTS).load(Ordering::Relaxed);
        Ok(RemoteSrq { segment, shape, rights })
    }

    /// What the context grants its peers.
    #[inline]
    pub(crate) fn rights(&self) -> u32 {
        self.rights
    }

    /// Does the owner's context run?
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.segment.word32(STATE).load(Ordering::Acquire) == 1
    }

    /// How many senders it can tell apart.
    pub(crate) fn senders(&self) -> u32 {
        self.shape.words * 64
    }

    /// Claims the next receive for the sender `me`.
    pub(crate) fn claim(&self, me: u32) -> Option<Claim> {
        self.claim_seen(me, &mut 0)
    }

    /// As [`RemoteSrq::claim`], for who keeps in `posted` how many it has seen: most claims need not look again, and leave
    /// that line to the owner.
    #[inline]
    pub(crate) fn claim_seen(&self, me: u32, posted: &mut u64) -> Option<Claim> {
        let hint = self.segment.word64(HINT);
        let mut number = hint.load(Ordering::Relaxed);
        let mut looked = false;
        loop {
            if number >= *posted {
                if looked {
                    return None;
                }
                *posted = self.segment.word64(POSTED).load(Ordering::Acquire);
                looked = true;
            }
            // Older ones have lost their places.
            let oldest = posted.saturating_sub(u64::from(self.shape.places));
            if number < oldest || number > *posted {
                number = oldest;
            }
            while number < *posted {
                let place = self.shape.place(number);
                let at = self.shape.at(place);
                let taken = self.segment.word64(at).compare_exchange(
                    word(number, 0),
                    word(number, me),
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
                if taken.is_ok() {
                    hint.store(number + 1, Ordering::Relaxed);
                    if number.saturating_add(AHEAD) < *posted {
                        // Comes from the owner's cache while the places before it are written.
                        self.segment.expect_own(self.shape.at(self.shape.place(number + AHEAD)));
                    }
                    let room = self.segment.word32(at + 8).load(Ordering::Relaxed);
                    return Some(Claim { number, place, room });
                }
                number += 1;
            }
        }
    }

    /// Says what the message is.
    pub(crate) fn write(&self, claim: Claim, letter: Letter) {
        let at = self.shape.at(claim.place);
        self.segment.word32(at + 12).store(letter.len, Ordering::Relaxed);
        self.segment.word32(at + 16).store(u32::from_ne_bytes(letter.imm), Ordering::Relaxed);
        self.segment.word32(at + 20).store(letter.kind, Ordering::Relaxed);
    }

    /// Gives a claim back of which nothing was told.
    pub(crate) fn unclaim(&self, claim: Claim, me: u32) {
        let owner = self.segment.word64(self.shape.at(claim.place));
        let back = word(claim.number, 0);
        let _ = owner.compare_exchange(word(claim.number, me), back, Ordering::AcqRel, Ordering::Relaxed);
        self.segment.word64(HINT).fetch_min(claim.number, Ordering::Relaxed);
    }

    /// Asks to be rung when a receive is posted; look again afterwards.
    pub(crate) fn wait(&self) {
        self.segment.word32(WAITERS).store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Is there a receive that nobody claimed? A hint.
    pub(crate) fn has_receives(&self) -> bool {
        let posted = self.segment.word64(POSTED).load(Ordering::Acquire);
        self.segment.word64(HINT).load(Ordering::Relaxed) != posted
    }

    /// Sender `index` published something. The caller's fence stands between the publication and this.
    #[inline]
    pub(crate) fn set_ready(&self, index: u32) {
        let word = self.segment.word64(READY + (index / 64 % self.shape.words) as usize * 8);
        let bit = 1 << (index % 64);
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
#[path = "srq_tests.rs"]
mod tests;
