//! The page that an intake shares with whoever sends to it: whether somebody sleeps there, and what was lost.

use crate::sync::{AtomicU32, Ordering};
use softdpu_link::{Segment, armed};
use softdpu_status::Result;
use std::os::fd::{BorrowedFd, OwnedFd};

const PAGE: usize = 4096;
/// Offset of the word that says whether somebody sleeps.
const ARMED: usize = 0;
/// Offset of the count of frames that found no room.
const MISSED: usize = 64;

/// The page, mapped. Whoever has it can write it: a sender that plays foul can spoil the count and keep its own frames
/// from waking anybody.
#[derive(Debug)]
pub(crate) struct Bell(Segment);

impl Bell {
    pub(crate) fn new() -> Result<Bell> {
        Ok(Bell(Segment::create("softdpu-port", PAGE)?))
    }

    /// From a peer.
    pub(crate) fn accept(fd: OwnedFd) -> Result<Bell> {
        Ok(Bell(Segment::from_fd(fd, PAGE)?))
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd()
    }

    fn word(&self) -> &AtomicU32 {
        self.0.word32(ARMED)
    }

    /// Somebody is about to sleep.
    pub(crate) fn arm(&self) {
        armed::arm(self.word());
    }

    /// A sender has published: does it have to wake?
    #[inline]
    pub(crate) fn wants_ring(&self) -> bool {
        armed::wants_ring(self.word())
    }

    /// A sender had no room for frames.
    #[cold]
    pub(crate) fn miss(&self, frames: u64) {
        self.0.word64(MISSED).fetch_add(frames, Ordering::Relaxed);
    }

    /// Frames that senders had no room for.
    pub(crate) fn missed(&self) -> u64 {
        self.0.word64(MISSED).load(Ordering::Relaxed)
    }
}
