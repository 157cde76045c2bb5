//! Frames from a send queue, of this process or another, through a ring.

use crate::drain::Feed;
use crate::headers::HEAD;
use crate::sync::{AtomicBool, Ordering};
use softdpu_link::{LineHandle, Receiver, Segment};
use std::sync::{Arc, Mutex, PoisonError};

/// The line to the process that sends, once it is there.
pub(crate) type LinePlace = Arc<Mutex<Option<LineHandle>>>;

/// How far ahead lines are asked for.
const AHEAD: usize = 1024;

/// The reading end of a sender's ring.
#[derive(Debug)]
pub(crate) struct RingSource {
    ring: Receiver,
    /// The sender is gone: what is in the ring is the last.
    gone: Arc<AtomicBool>,
    /// The sender wrote what no sender of ours writes.
    is_broken: bool,
    line: LinePlace,
}

impl RingSource {
    pub(crate) fn new(
        segment: Arc<Segment>,
        data: usize,
        gone: Arc<AtomicBool>,
        line: LinePlace,
    ) -> RingSource {
        RingSource { ring: Receiver::new(segment, 0, data), gone, is_broken: false, line }
    }

    pub(crate) fn is_ready(&self) -> bool {
        !self.is_broken && !self.ring.is_empty()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_broken || self.gone.load(Ordering::Acquire) && self.ring.is_empty()
    }

    #[cold]
    fn give_up(&mut self, what: softdpu_link::Broken) {
        log::error!(target: crate::LOG, "frames from a peer: {what}");
        self.is_broken = true;
    }
}

impl Feed for RingSource {
    #[inline(always)]
    fn front(&mut self) -> Option<usize> {
        match self.ring.front() {
            Ok(front) => front.map(|front| front.len),
            Err(what) => {
                self.give_up(what);
                None
            }
        }
    }

    #[inline(always)]
    fn look<'a>(&'a self, head: Option<&'a mut [u8; HEAD]>) -> (&'a [u8], Option<&'a Receiver>) {
        let Some(head) = head else { return (&[], Some(&self.ring)) };
        let n = self.ring.take_from(0, head);
        let whole = self.ring.len_of_front() <= HEAD;
        (&head[..n], (!whole).then_some(&self.ring))
    }

    #[inline(always)]
    fn pop(&mut self) {
        // The lines behind come from another core: asked for now, they are here when it is their turn.
        let record = self.ring.len_of_front() + 8;
        self.ring.expect(AHEAD, AHEAD + record);
        self.ring.pop();
    }
}

impl Drop for RingSource {
    fn drop(&mut self) {
        if let Some(line) = self.line.lock().unwrap_or_else(PoisonError::into_inner).take() {
            line.hang_up();
        }
    }
}
