//! The receiving half of a connection.

use crate::outlet::tag;
use crate::sync::Ordering;
use softdpu_link::{Broken, Front, Receiver, Segment};
use std::sync::Arc;

const LINE: usize = 64;
/// How far ahead lines are asked for: until one comes from the sender's processor, so many messages go through.
const AHEAD: usize = 8 * LINE;
/// Messages of which each brings no more than one more line into reach.
const SHORT: usize = LINE;

/// Reads what the peer sends, and tells it what was taken.
#[derive(Debug)]
pub(crate) struct Inlet {
    receiver: Receiver,
    segment: Arc<Segment>,
    taken_at: usize,
    taken: u64,
    told: u64,
    /// Messages after which the sender is told.
    step: u64,
    /// Counters of the connection.
    pub(crate) bytes: u64,
}

impl Inlet {
    pub(crate) fn new(receiver: Receiver, segment: Arc<Segment>, taken_at: usize, queue: u32) -> Inlet {
        let step = u64::from(queue / 4).max(1);
        Inlet { receiver, segment, taken_at, taken: 0, told: 0, step, bytes: 0 }
    }

    /// Messages taken, ever.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Nothing there, as far as one look tells.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.receiver.is_empty()
    }

    /// Is there more that was seen already?
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.receiver.has_more()
    }

    /// What is at the front.
    #[inline]
    pub(crate) fn front(&mut self) -> Result<Option<Front>, Broken> {
        let looks = !self.receiver.has_more();
        let front = self.receiver.front();
        if looks {
            self.receiver.expect(LINE, AHEAD);
        }
        front
    }

    /// Copies the message at the front.
    #[inline]
    pub(crate) fn copy(&mut self, into: &mut [u8]) -> usize {
        self.receiver.take(into)
    }

    /// The number in the record at the front.
    pub(crate) fn number(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.receiver.take(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// The numbers in the records of this kind that wait here, wherever in the stream; none when the stream is broken, which
    /// its reader will find out.
    #[cold]
    pub(crate) fn numbers_ahead(&self, tag: u32) -> Vec<u32> {
        let mut numbers = Vec::new();
        let looked = self.receiver.look_ahead(|front, bytes| {
            if front.tag == tag {
                numbers.push(u32::from_le_bytes(bytes));
            }
        });
        if looked.is_ok() { numbers } else { Vec::new() }
    }

    /// Drops the record at the front. True: the sender was told of room, and may wait for it.
    #[inline]
    pub(crate) fn pop(&mut self, front: Front) -> bool {
        let told = self.receiver.pop();
        if front.len <= SHORT {
            // What has come into reach with this one gone.
            self.receiver.expect(AHEAD - LINE, AHEAD);
        }
        if front.tag == tag::MESSAGE {
            self.taken += 1;
            self.bytes += front.len as u64;
        }
        if self.taken - self.told >= self.step || told && self.taken != self.told {
            self.told = self.taken;
            self.segment.word64(self.taken_at).store(self.taken, Ordering::Release);
            return true;
        }
        told
    }
}
