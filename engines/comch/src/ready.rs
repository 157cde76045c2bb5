//! The board of a server with many clients: whoever sends something marks its seat, so that the server looks at those
//! who have something to say and not at all of them.
//!
//! ```text
//!   0           is the board used?
//!   64          a bit per word of marks
//!   64 + 8 * s  a bit per seat
//! ```
//!
//! A client publishes its message first and looks at its mark then; the server clears the marks first and looks at the
//! rings then; both put a full fence between their two steps. While there are few clients the server looks at all rings
//! and leaves the marks alone, and marking costs a client one look.
//!
//! Every client can write the whole board. Marks too many cost the server a look; for marks that somebody wiped away it
//! looks at one seat after the other, one at each turn.

use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use crate::sync::{far_barrier, fence};
use softdpu_link::Segment;
use softdpu_status::Result;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

const SUMMARY: usize = 64;
/// Most seats.
pub(crate) const MOST_SEATS: u32 = 65535;

/// The board, at either end.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    segment: Arc<Segment>,
    seats: u32,
}

fn words(seats: u32) -> usize {
    seats.div_ceil(64) as usize
}

fn summaries(seats: u32) -> usize {
    words(seats).div_ceil(64)
}

fn bytes(seats: u32) -> usize {
    SUMMARY + 8 * (summaries(seats) + words(seats))
}

impl Ready {
    /// For at most `seats` clients.
    pub(crate) fn create(seats: u32) -> Result<Ready> {
        Ok(Ready { segment: Arc::new(Segment::create("softdpu-comch-ready", bytes(seats))?), seats })
    }

    /// From what a server sent.
    pub(crate) fn accept(fd: std::os::fd::OwnedFd, seats: u32) -> Result<Ready> {
        Ok(Ready { segment: Arc::new(Segment::from_fd(fd, bytes(seats))?), seats })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.segment.fd()
    }

    fn summary(&self, at: usize) -> usize {
        debug_assert!(at < summaries(self.seats));
        SUMMARY + 8 * at
    }

    fn word(&self, at: usize) -> usize {
        debug_assert!(at < words(self.seats));
        SUMMARY + 8 * (summaries(self.seats) + at)
    }

    /// Client: marks its seat, after it published something and a barrier towards the server. True when the mark is new.
    #[inline]
    pub(crate) fn mark(&self, seat: u32) -> bool {
        if self.segment.word32(0).load(Relaxed) == 0 {
            return false;
        }
        fence(SeqCst);
        let at = seat as usize / 64;
        let (word, bit) = (self.segment.word64(self.word(at)), 1 << (seat % 64));
        if word.load(Relaxed) & bit != 0 {
            return false;
        }
        word.fetch_or(bit, AcqRel);
        self.segment.word64(self.summary(at / 64)).fetch_or(1 << (at % 64), SeqCst);
        true
    }

    /// Server: from now on it goes by the marks, or not. It looks at all rings after this.
    pub(crate) fn use_marks(&self, on: bool) {
        self.segment.word32(0).store(u32::from(on), SeqCst);
        far_barrier();
    }

    /// Server: takes all marks away and names their seats.
    pub(crate) fn take(&self, mut seat: impl FnMut(u32)) {
        for at in 0..summaries(self.seats) {
            let summary = self.segment.word64(self.summary(at));
            if summary.load(Relaxed) == 0 {
                continue;
            }
            each(summary.swap(0, SeqCst), |bit| {
                let word = at * 64 + bit;
                if word < words(self.seats) {
                    each(self.segment.word64(self.word(word)).swap(0, SeqCst), |bit| {
                        seat((word * 64 + bit) as u32);
                    });
                }
            });
        }
    }

    /// Server: is anything marked?
    pub(crate) fn is_marked(&self) -> bool {
        (0..summaries(self.seats)).any(|at| self.segment.word64(self.summary(at)).load(Acquire) != 0)
    }
}

/// Calls `f` with the place of every bit that is set.
fn each(mut bits: u64, mut f: impl FnMut(usize)) {
    while bits != 0 {
        f(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(board: &Ready) -> Vec<u32> {
        let mut seats = Vec::new();
        board.take(|seat| seats.push(seat));
        seats
    }

    #[test]
    fn marks_are_taken_once() {
        let board = Ready::create(10_000).unwrap();
        let peer = Ready::accept(board.fd().try_clone_to_owned().unwrap(), 10_000).unwrap();
        assert!(!peer.mark(3), "nobody looks at the marks yet");
        board.use_marks(true);
        assert!(!board.is_marked());
        for seat in [9_999, 0, 63, 64, 4096] {
            assert!(peer.mark(seat));
            assert!(!peer.mark(seat));
        }
        assert!(board.is_marked());
        assert_eq!(taken(&board), [0, 63, 64, 4096, 9_999]);
        assert!(!board.is_marked() && taken(&board).is_empty());
        assert!(peer.mark(63));
        assert_eq!(taken(&board), [63]);
    }

    #[test]
    fn a_board_too_short_is_refused() {
        let board = Ready::create(64).unwrap();
        assert!(Ready::accept(board.fd().try_clone_to_owned().unwrap(), 10_000).is_err());
    }

    #[test]
    fn marks_behind_the_last_seat_hurt_nobody() {
        let board = Ready::create(65).unwrap();
        board.use_marks(true);
        board.segment.word64(board.summary(0)).store(u64::MAX, SeqCst);
        board.segment.word64(board.word(1)).store(u64::MAX, SeqCst);
        assert_eq!(taken(&board).len(), 64);
    }
}
