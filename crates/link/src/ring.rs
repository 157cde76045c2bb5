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
//! uses of a record's header what it has checked, not what stands there later: what does not fit is [`Broken`], and no access leaves the data area.

#[path = "ring/receiver.rs"]
mod receiver;
#[path = "ring/sender.rs"]
mod sender;

use crate::segment::Segment;
use crate::sync::Ordering;
use std::fmt;
use std::sync::Arc;

pub use receiver::{Front, Receiver};
pub use sender::Sender;

/// Offset of the receiver's index.
const HEAD: usize = 64;
/// Offset of the data.
const DATA: usize = 128;
/// Bytes of a record's header.
const HEADER: usize = 8;
/// How far ahead of what it writes a sender asks for lines, in bytes: until one comes from the other processor, so many go
/// through.
const AHEAD: usize = 512;
/// Records up to this size have lines asked for; what is longer takes longer than its lines.
const SHORT: usize = 128;
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

#[cfg(all(test, not(loom)))]
#[path = "ring_tests.rs"]
mod tests;
