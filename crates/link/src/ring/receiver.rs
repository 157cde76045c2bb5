//! The reading end of a ring.

use super::{Broken, HEAD, HEADER, PADDING, Place, Segment, broken, record};
use crate::sync::Ordering;
use std::sync::Arc;

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
    pub(super) place: Place,
    /// Read.
    pub(super) head: u64,
    /// Read, and told to the sender.
    pub(super) published: u64,
    /// The sender's index as last seen.
    pub(super) tail: u64,
    /// The message at the front, if its header was looked at.
    pub(super) front: Option<Front>,
}

impl Receiver {
    /// The reading end of a ring; see [`Sender::new`](super::Sender::new).
    ///
    /// # Panics
    /// As [`Sender::new`](super::Sender::new).
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
    #[inline(always)]
    pub fn front(&mut self) -> Result<Option<Front>, Broken> {
        if let Some(front) = self.front {
            return Ok(Some(front));
        }
        if self.head != self.tail {
            // As it goes most of the time: a message that was seen already, and no padding, which no length is as long as.
            let (len, tag) = self.header();
            let size = record(len as usize);
            if size <= self.place.rest(self.head) && size as u64 <= self.unread() {
                let front = Front { tag, len: len as usize };
                self.front = Some(front);
                return Ok(Some(front));
            }
        }
        self.find_front()
    }

    /// [`Receiver::front`] where the sender's index or the end of the data area has to be looked at.
    #[inline(never)]
    fn find_front(&mut self) -> Result<Option<Front>, Broken> {
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

    /// Bytes of records that were published and not dropped, as far as was seen; their headers count.
    #[inline(always)]
    pub fn unread(&self) -> u64 {
        self.tail.wrapping_sub(self.head)
    }

    fn look(&mut self) -> Result<(), Broken> {
        self.tail = self.sent()?;
        Ok(())
    }

    /// The sender's index.
    fn sent(&self) -> Result<u64, Broken> {
        let tail = self.place.load(0);
        if tail.wrapping_sub(self.head) > self.place.data as u64 || !tail.is_multiple_of(8) {
            return broken("sender's index", tail);
        }
        Ok(tail)
    }

    #[inline(always)]
    fn header(&self) -> (u32, u32) {
        self.header_at(self.head)
    }

    #[inline(always)]
    fn header_at(&self, index: u64) -> (u32, u32) {
        let word = self.place.segment.word64(self.place.byte(index)).load(Ordering::Relaxed);
        (word as u32, (word >> 32) as u32)
    }

    /// Looks at every message that was published, from the front on, and takes none: its tag, and as much of its payload as
    /// `into` has room for. For whoever must find one among many that nobody takes; it goes through all of them.
    ///
    /// # Errors
    /// Broken: the sender's index or the header of a message is impossible.
    pub fn look_ahead<const N: usize>(&self, mut each: impl FnMut(Front, [u8; N])) -> Result<(), Broken> {
        let tail = self.sent()?;
        let mut at = self.head;
        while at != tail {
            let (rest, unread) = (self.place.rest(at), tail.wrapping_sub(at));
            let (len, tag) = self.header_at(at);
            // Padding ends where the data area does, so that none follows it.
            let size = if len == PADDING { rest } else { record(len as usize) };
            if size > rest || size as u64 > unread {
                return broken("message length", u64::from(len));
            }
            if len != PADDING {
                let (mut bytes, front) = ([0; N], Front { tag, len: len as usize });
                self.place.segment.get(self.place.byte(at) + HEADER, &mut bytes[..front.len.min(N)]);
                each(front, bytes);
            }
            at = at.wrapping_add(size as u64);
        }
        Ok(())
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
        let to = (to as u64).min(self.unread()) as usize;
        if from >= to {
            return;
        }
        // What lies behind the end of the data area is not asked for: those are few.
        let at = self.head.wrapping_add(from as u64);
        let len = (to - from).min(self.place.rest(at));
        self.place.segment.expect_all(self.place.byte(at), len);
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
