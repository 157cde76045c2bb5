//! The end of a send queue: batches of frames.

use crate::counters::PortCounters;
use crate::headers::MIN_FRAME;
use crate::port::Port;
use crate::way::{Way, WayBatch};
use std::sync::Arc;

/// What became of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// It leaves with the batch.
    Yes,
    /// The kernel takes no more now; the frame was not taken. End the batch and come again later.
    Full,
    /// Shorter than a header, or longer than the port takes; counted.
    Bad,
}

/// The end of a send queue.
#[derive(Debug)]
pub struct Outlet {
    way: Way,
    port: Arc<Port>,
    longest: usize,
}

impl Outlet {
    pub(crate) fn new(port: &Arc<Port>, way: Way) -> Outlet {
        Outlet { way, longest: port.longest_frame(), port: Arc::clone(port) }
    }

    /// Its port.
    pub fn port(&self) -> &Arc<Port> {
        &self.port
    }

    /// Frames that leave together. One lock that only other send queues of the same port take, for as long as the batch
    /// lives.
    #[inline]
    pub fn batch(&mut self) -> Batch<'_> {
        Batch {
            way: self.way.batch(),
            counts: PortCounters::default(),
            longest: self.longest,
            port: &self.port,
        }
    }
}

/// Frames that leave together when this is dropped.
#[derive(Debug)]
pub struct Batch<'a> {
    way: WayBatch<'a>,
    counts: PortCounters,
    longest: usize,
    port: &'a Arc<Port>,
}

impl Batch<'_> {
    /// One frame, gathered from pieces. A frame that left may be lost on its way, as on a wire.
    #[inline]
    pub fn send(&mut self, pieces: &[&[u8]]) -> Sent {
        let len = pieces.iter().fold(0usize, |sum, piece| sum.saturating_add(piece.len()));
        if len < MIN_FRAME || len > self.longest {
            self.counts.tx_bad += 1;
            return Sent::Bad;
        }
        if !self.way.send(pieces, len, &mut self.counts) {
            return Sent::Full;
        }
        self.counts.tx_frames += 1;
        self.counts.tx_bytes += len as u64;
        Sent::Yes
    }
}

impl Drop for Batch<'_> {
    #[inline]
    fn drop(&mut self) {
        self.way.settle(&mut self.counts);
        if self.counts != PortCounters::default() {
            self.port.totals().add(&mut self.counts);
        }
    }
}
