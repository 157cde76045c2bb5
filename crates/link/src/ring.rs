//! Messages from one process to another through a [`Segment`]: one sender, one receiver, no system call.
//!
//! ```text
//!   at         tail: bytes ever written, stored by the sender
//!   at + 64    head: bytes ever read, stored by the receiver
//!   at + 128   data: records, each `len: u32, tag: u32, payload, padding to 8`
//! ```
//!
//! A record never wraps: where the rest of the data area is too short, a record that is padding fills it. A message is
//! visible when the tail says so (release), its place is free again when the head says so.
//!
//! The peer may write anything anywhere at any time. Each side keeps its own index to itself, checks the other's, and
//! looks at a record's header once: what does not fit is [`Broken`], and no access leaves the data area.

use crate::segment::Segment;
use crate::sync::Ordering;
use std::fmt;
use std::sync::Arc;

/// Offset of the receiver's index.
const HEAD: usize = 64;
/// Offset of the data.
const DATA: usize = 128;
/// Bytes of a record's header.
const HEADER: usize = 8;
/// Length of a record that fills the end of the data area.
const PADDING: u32 = u32::MAX;
/// The smallest and the largest data area.
const SIZES: core::ops::RangeInclusive<usize> = 64..=1 << 31;

/// Bytes of a segment that a ring with `data` bytes of data takes.
pub const fn ring_bytes(data: usize) -> usize {
    DATA + data
}

/// The longest message that a ring with `data` bytes of data takes: one of up to half the area fits wherever the indices
/// stand.
pub const fn max_message(data: usize) -> usize {
    data / 2 - HEADER
}

/// Bytes of a record with `len` bytes of payload.
#[inline(always)]
const fn record(len: usize) -> usize {
    (len + HEADER + 7) & !7
}

/// The peer wrote what no peer of ours writes. The ring is of no use any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken {
    what: &'static str,
    value: u64,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ring broken by the peer: {} {:#x}", self.what, self.value)
    }
}

impl std::error::Error for Broken {}

#[cold]
fn broken<T>(what: &'static str, value: u64) -> Result<T, Broken> {
    Err(Broken { what, value })
}

/// A ring's place, and what both ends do alike.
#[derive(Debug)]
struct Place {
    segment: Arc<Segment>,
    at: usize,
    data: usize,
}

impl Place {
    fn new(segment: Arc<Segment>, at: usize, data: usize) -> Place {
        assert!(data.is_power_of_two() && SIZES.contains(&data), "ring with {data} bytes of data");
        assert!(at.is_multiple_of(64), "ring at {at}");
        let end = at.checked_add(ring_bytes(data));
        assert!(
            end.is_some_and(|end| end <= segment.len()),
            "ring [{at}, +{data}) in {} bytes",
            segment.len()
        );
        Place { segment, at, data }
    }

    /// Where in the data area an index points.
    #[inline(always)]
    fn offset(&self, index: u64) -> usize {
        index as usize & (self.data - 1)
    }

    /// Where in the segment.
    #[inline(always)]
    fn byte(&self, index: u64) -> usize {
        self.at + DATA + self.offset(index)
    }

    /// Bytes up to the end of the data area.
    #[inline(always)]
    fn rest(&self, index: u64) -> usize {
        self.data - self.offset(index)
    }

    #[inline(always)]
    fn load(&self, word: usize) -> u64 {
        self.segment.word64(self.at + word).load(Ordering::Acquire)
    }

    #[inline(always)]
    fn publish(&self, word: usize, index: u64) {
        self.segment.word64(self.at + word).store(index, Ordering::Release);
    }
}

/// The writing end. One per ring.
#[derive(Debug)]
pub struct Sender {
    place: Place,
    /// Written, published or not.
    tail: u64,
    /// Published.
    published: u64,
    /// The receiver's index as last seen.
    head: u64,
}

impl Sender {
    /// The writing end of a ring that is all zero yet, at offset `at` of the segment with `data` bytes of data.
    ///
    /// # Panics
    /// `data` is no power of two from 64 to 2^31, `at` no multiple of 64, or the segment too short: places are ours, never
    /// a peer's.
    pub fn new(segment: Arc<Segment>, at: usize, data: usize) -> Sender {
        Sender { place: Place::new(segment, at, data), tail: 0, published: 0, head: 0 }
    }

    /// The longest message.
    pub fn max_message(&self) -> usize {
        max_message(self.place.data)
    }

    /// Is there room for a message of `len` bytes now?
    ///
    /// # Errors
    /// Broken: the receiver's index is impossible.
    ///
    /// # Panics
    /// `len` is above [`Sender::max_message`].
    #[inline]
    pub fn fits(&mut self, len: usize) -> Result<bool, Broken> {
        assert!(len <= self.max_message(), "message of {len} bytes, at most {}", self.max_message());
        let (record, rest) = (record(len), self.place.rest(self.tail));
        let need = if record <= rest { record } else { rest + record };
        let end = self.tail.wrapping_add(need as u64);
        if end.wrapping_sub(self.head) <= self.place.data as u64 {
            return Ok(true);
        }
        self.look()?;
        Ok(end.wrapping_sub(self.head) <= self.place.data as u64)
    }

    /// Looks at the receiver's index.
    fn look(&mut self) -> Result<(), Broken> {
        let head = self.place.load(HEAD);
        // It moves forward, over what was published, in steps of records.
        if head.wrapping_sub(self.head) > self.published.wrapping_sub(self.head) || !head.is_multiple_of(8) {
            return broken("receiver's index", head);
        }
        self.head = head;
        Ok(())
    }

    /// Sends a message whose payload is `parts`, one after the other. False: the ring is full, nothing was written.
    ///
    /// # Errors
    /// As [`Sender::fits`].
    ///
    /// # Panics
    /// The parts are longer than [`Sender::max_message`] together.
    #[inline]
    pub fn push(&mut self, tag: u32, parts: &[&[u8]]) -> Result<bool, Broken> {
        let room = self.stage(tag, parts)?;
        if room {
            self.publish();
        }
        Ok(room)
    }

    /// Like [`Sender::push`], but the receiver does not see the message before [`Sender::publish`].
    ///
    /// # Errors
    /// As [`Sender::fits`].
    ///
    /// # Panics
    /// As [`Sender::push`].
    #[inline]
    pub fn stage(&mut self, tag: u32, parts: &[&[u8]]) -> Result<bool, Broken> {
        let len = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        if !self.fits(len)? {
            return Ok(false);
        }
        let (record, rest) = (record(len), self.place.rest(self.tail));
        if record > rest {
            self.header(PADDING, 0);
            self.tail = self.tail.wrapping_add(rest as u64);
        }
        self.header(len as u32, tag);
        let mut at = self.place.byte(self.tail) + HEADER;
        for part in parts {
            self.place.segment.put(at, part);
            at += part.len();
        }
        self.tail = self.tail.wrapping_add(record as u64);
        Ok(true)
    }

    #[inline(always)]
    fn header(&self, len: u32, tag: u32) {
        let word = u64::from(len) | u64::from(tag) << 32;
        self.place.segment.word64(self.place.byte(self.tail)).store(word, Ordering::Relaxed);
    }

    /// Makes all staged messages visible.
    #[inline]
    pub fn publish(&mut self) {
        self.published = self.tail;
        self.place.publish(0, self.tail);
    }

    /// Has the receiver taken everything that was published?
    ///
    /// # Errors
    /// As [`Sender::fits`].
    pub fn is_drained(&mut self) -> Result<bool, Broken> {
        self.look()?;
        Ok(self.head == self.published)
    }
}

/// A message at the front.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Front {
    /// What the sender wrote beside the payload.
    pub tag: u32,
    /// Bytes of the payload.
    pub len: usize,
}

/// The reading end. One per ring.
#[derive(Debug)]
pub struct Receiver {
    place: Place,
    /// Read.
    head: u64,
    /// Read, and told to the sender.
    published: u64,
    /// The sender's index as last seen.
    tail: u64,
    /// The message at the front, if its header was looked at.
    front: Option<Front>,
}

impl Receiver {
    /// The reading end of a ring; see [`Sender::new`].
    ///
    /// # Panics
    /// As [`Sender::new`].
    pub fn new(segment: Arc<Segment>, at: usize, data: usize) -> Receiver {
        Receiver { place: Place::new(segment, at, data), head: 0, published: 0, tail: 0, front: None }
    }

    /// Nothing to read, as far as one load tells.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.front.is_none() && self.head == self.tail && self.place.load(0) == self.tail
    }

    /// Is there a message that was seen already, so that finding it takes no look at the sender's index?
    #[inline]
    pub fn has_more(&self) -> bool {
        self.front.is_some() || self.head != self.tail
    }

    /// The message at the front, if there is one.
    ///
    /// # Errors
    /// Broken: the sender's index or the header of the message is impossible.
    #[inline]
    pub fn front(&mut self) -> Result<Option<Front>, Broken> {
        if self.front.is_some() {
            return Ok(self.front);
        }
        if self.head == self.tail {
            self.look()?;
            if self.head == self.tail {
                return Ok(None);
            }
        }
        let (mut len, mut tag) = self.header();
        if len == PADDING {
            let rest = self.place.rest(self.head) as u64;
            // A message follows: padding is published together with it.
            if rest >= self.unread() {
                return broken("padding up to", self.tail);
            }
            self.head = self.head.wrapping_add(rest);
            (len, tag) = self.header();
        }
        let size = record(len as usize);
        if len == PADDING || size > self.place.rest(self.head) || size as u64 > self.unread() {
            return broken("message length", u64::from(len));
        }
        self.front = Some(Front { tag, len: len as usize });
        Ok(self.front)
    }

    #[inline(always)]
    fn unread(&self) -> u64 {
        self.tail.wrapping_sub(self.head)
    }

    fn look(&mut self) -> Result<(), Broken> {
        let tail = self.place.load(0);
        if tail.wrapping_sub(self.head) > self.place.data as u64 || !tail.is_multiple_of(8) {
            return broken("sender's index", tail);
        }
        self.tail = tail;
        Ok(())
    }

    #[inline(always)]
    fn header(&self) -> (u32, u32) {
        let word = self.place.segment.word64(self.place.byte(self.head)).load(Ordering::Relaxed);
        (word as u32, (word >> 32) as u32)
    }

    /// Copies the payload of the front message, or as much of it as there is room for; the message stays. Returns the
    /// bytes copied; none without a front message ([`Receiver::front`] looks for one).
    #[inline]
    pub fn take(&mut self, into: &mut [u8]) -> usize {
        let Some(front) = self.front else { return 0 };
        let n = front.len.min(into.len());
        self.place.segment.get(self.place.byte(self.head) + HEADER, &mut into[..n]);
        n
    }

    /// Bytes of the front message that [`Receiver::front`] found; 0 without one.
    #[inline]
    pub fn len_of_front(&self) -> usize {
        self.front.map_or(0, |front| front.len)
    }

    /// As [`Receiver::take`], from byte `from` of the payload on.
    #[inline]
    pub fn take_from(&self, from: usize, into: &mut [u8]) -> usize {
        let Some(front) = self.front else { return 0 };
        let n = front.len.saturating_sub(from).min(into.len());
        if n > 0 {
            self.place.segment.get(self.place.byte(self.head) + HEADER + from, &mut into[..n]);
        }
        n
    }

    /// Asks for the lines from `from` to `to` bytes behind the front, as far as they were published: for whoever goes
    /// through message after message. No more than a hint.
    #[inline]
    pub fn expect(&self, from: usize, to: usize) {
        let end = self.head.wrapping_add((to as u64).min(self.unread()));
        let mut at = self.head.wrapping_add(from as u64) & !63;
        while end.wrapping_sub(at) as i64 > 0 {
            self.place.segment.expect(self.place.byte(at));
            at = at.wrapping_add(64);
        }
    }

    /// Drops the front message, if [`Receiver::front`] found one. The sender learns of the room when the ring is empty or
    /// a quarter of it was read; true says that it was told now, and may have to be rung.
    #[inline]
    pub fn pop(&mut self) -> bool {
        let Some(front) = self.front.take() else { return false };
        self.head = self.head.wrapping_add(record(front.len) as u64);
        let tell =
            self.head == self.tail || self.head.wrapping_sub(self.published) >= self.place.data as u64 / 4;
        if tell {
            self.published = self.head;
            self.place.publish(HEAD, self.head);
        }
        tell
    }
}

#[cfg(all(test, not(loom)))]
#[path = "ring_tests.rs"]
mod tests;
