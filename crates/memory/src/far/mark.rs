//! The marks of accesses under way, in a page that lender and borrower of memory share.

use crate::quiesce;
use crate::seats::SEATS;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use softdpu_link::{Mapping, barrier};

/// The page that this process shares with somebody who lends it memory: the lender's word, and the marks of accesses
/// under way. See [`quiesce`].
#[derive(Debug)]
pub(crate) struct Mark {
    page: Mapping,
    /// The lender's word when threads with a seat need no barrier.
    fast: u32,
}

/// Distance of words: one to a cache line. The first is the lender's, the second counts for threads without a seat, and
/// each seat has one of its own.
const STRIDE: usize = 64;
pub(super) const COUNTED: usize = STRIDE;

pub(super) fn word_of_seat(number: usize) -> usize {
    COUNTED + STRIDE + STRIDE * number
}

impl Mark {
    pub(crate) const BYTES: usize = STRIDE * (SEATS + 2);

    /// The marks in a page of at least [`Mark::BYTES`] bytes.
    pub(crate) fn new(page: Mapping) -> Option<Mark> {
        let fast = if barrier::is_reachable() { quiesce::LENT_BY_REACHING } else { quiesce::NEVER };
        (page.len() >= Mark::BYTES).then_some(Mark { page, fast })
    }

    /// The lender: what its word says at the beginning.
    pub(crate) fn lend(page: &Mapping) {
        let reaches = barrier::can_reach_others();
        let word = if reaches { quiesce::LENT_BY_REACHING } else { quiesce::LENT };
        page.word32(0).store(word, Relaxed);
    }

    /// The lender: its word.
    pub(crate) fn lent(page: &Mapping) -> &AtomicU32 {
        page.word32(0)
    }

    /// The lender, after a recall: is no access under way?
    pub(crate) fn is_quiet(page: &Mapping) -> bool {
        let mut seats = (0..SEATS).map(word_of_seat);
        quiesce::is_quiet(page.word32(COUNTED)) && seats.all(|at| quiesce::is_quiet(page.word32(at)))
    }

    #[inline(always)]
    pub(super) fn enter(&self, seat: Option<usize>) -> bool {
        let lent = self.page.word32(0);
        match seat {
            Some(number) => quiesce::enter_alone(lent, self.page.word32(word_of_seat(number)), self.fast),
            None => quiesce::enter(lent, self.page.word32(COUNTED)),
        }
    }

    #[inline(always)]
    pub(super) fn leave(&self, seat: Option<usize>) {
        match seat {
            Some(number) => quiesce::leave_alone(self.page.word32(word_of_seat(number))),
            None => quiesce::leave(self.page.word32(COUNTED)),
        }
    }

    pub(super) fn is_lent(&self) -> bool {
        quiesce::is_lent(self.page.word32(0))
    }
}

#[inline(never)]
pub(super) fn enter_all(marks: &[Mark], seat: Option<usize>) -> bool {
    for (at, mark) in marks.iter().enumerate() {
        if !mark.enter(seat) {
            marks[..at].iter().for_each(|mark| mark.leave(seat));
            return false;
        }
    }
    true
}
