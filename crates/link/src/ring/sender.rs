//! The writing end of a ring.

use super::{AHEAD, Broken, HEAD, HEADER, PADDING, Place, SHORT, Segment, broken, max_message, record};
use crate::sync::Ordering;
use std::sync::Arc;

/// The writing end. One per ring.
#[derive(Debug)]
pub struct Sender {
    pub(super) place: Place,
    /// Written, published or not.
    pub(super) tail: u64,
    /// Published.
    pub(super) published: u64,
    /// The receiver's index as last seen.
    pub(super) head: u64,
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
        // As it goes most of the time: room in front of the end of the data area, and in front of what is unread.
        let is_long = len > self.max_message();
        let record = record(len);
        let end = self.tail.wrapping_add(record as u64);
        let is_plain = !is_long
            && record <= self.place.rest(self.tail)
            && end.wrapping_sub(self.head) <= self.place.data as u64;
        if !is_plain && !self.make_room(len)? {
            return Ok(false);
        }
        let end = self.tail.wrapping_add(record as u64);
        self.header(len as u32, tag);
        let mut at = self.place.byte(self.tail) + HEADER;
        for part in parts {
            self.place.segment.put(at, part);
            at += part.len();
        }
        self.tail = end;
        self.own_ahead(record);
        Ok(true)
    }

    /// Takes the lines that the records to come will be written to from the receiver, which read them a round ago: a write
    /// that has to wait for its line holds up the next barrier. Not those that were not read yet.
    #[inline(always)]
    fn own_ahead(&self, record: usize) {
        let end = self.tail.wrapping_add(AHEAD as u64);
        if record <= SHORT && end.wrapping_sub(self.head) <= self.place.data as u64 {
            // The last bytes of the two halves: every line in between.
            self.place.segment.expect_own(self.place.byte(end.wrapping_sub(record as u64 / 2)));
            self.place.segment.expect_own(self.place.byte(end.wrapping_sub(1)));
        }
    }

    /// Looks for room for a message, and fills up the end of the data area where that is too short for it.
    #[inline(never)]
    fn make_room(&mut self, len: usize) -> Result<bool, Broken> {
        if !self.fits(len)? {
            return Ok(false);
        }
        let rest = self.place.rest(self.tail);
        if record(len) > rest {
            self.header(PADDING, 0);
            self.tail = self.tail.wrapping_add(rest as u64);
        }
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
