//! How an owner takes lent memory back while others use it.
//!
//! Words in memory that owner and borrower share: the owner says in `lent` whether the memory may be used, the borrower
//! counts in `active` its accesses under way. Each writes its own word first and looks at the other's afterwards, with a
//! full barrier in between: so either the borrower sees that it is too late, or the owner sees the access and waits for
//! it.
//!
//! A borrower has a word for all its threads, changed by locked steps ([`enter`]), and words for single threads, which
//! are plainly stored to ([`enter_alone`]). With the latter even the borrower's barrier can go, where the owner pays for
//! both: it reaches into the borrower's running threads when it takes the memory back.

use crate::sync::{AtomicU32, Ordering, far_barrier, fence, fence_after_step, light_barrier};

/// The memory may be used. Without this bit it may not.
pub(crate) const LENT: u32 = 1;
/// It may be used, and the owner's barrier reaches the borrower's threads where they let it.
pub(crate) const LENT_BY_REACHING: u32 = LENT | 2;
/// A value that `lent` never has.
pub(crate) const NEVER: u32 = 4;

/// Borrower, before an access, in a word of several threads: may it go on? If so, [`leave`] ends the access.
#[inline]
pub(crate) fn enter(lent: &AtomicU32, active: &AtomicU32) -> bool {
    active.fetch_add(1, Ordering::Relaxed);
    fence_after_step();
    if is_lent(lent) {
        return true;
    }
    leave(active);
    false
}

/// Borrower, before an access, in a word that this thread alone writes. `fast`: the value of `lent` with which the barrier
/// may be left out, which is [`LENT_BY_REACHING`] or [`NEVER`]. If it may go on, [`leave_alone`] ends the access.
#[inline(always)]
pub(crate) fn enter_alone(lent: &AtomicU32, active: &AtomicU32, fast: u32) -> bool {
    active.store(active.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    light_barrier();
    lent.load(Ordering::Acquire) == fast || enter_alone_slowly(lent, active)
}

#[cold]
#[inline(never)]
fn enter_alone_slowly(lent: &AtomicU32, active: &AtomicU32) -> bool {
    fence(Ordering::SeqCst);
    if is_lent(lent) {
        return true;
    }
    leave_alone(active);
    false
}

/// Borrower: would an access be let in now? The answer may be wrong a moment later.
#[inline]
pub(crate) fn is_lent(lent: &AtomicU32) -> bool {
    lent.load(Ordering::Acquire) & LENT != 0
}

/// Borrower: the access is over.
#[inline]
pub(crate) fn leave(active: &AtomicU32) {
    active.fetch_sub(1, Ordering::Release);
}

/// Borrower: the access that [`enter_alone`] let in is over.
#[inline(always)]
pub(crate) fn leave_alone(active: &AtomicU32) {
    active.store(active.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Release);
}

/// Owner: later accesses are refused. Those under way end when [`is_quiet`] says so.
pub(crate) fn recall<'a>(lent: impl Iterator<Item = &'a AtomicU32>) {
    lent.for_each(|word| word.store(0, Ordering::Release));
    far_barrier();
}

/// Owner, after [`recall`]: has the borrower no access under way, by this word?
pub(crate) fn is_quiet(active: &AtomicU32) -> bool {
    active.load(Ordering::Acquire) == 0
}
