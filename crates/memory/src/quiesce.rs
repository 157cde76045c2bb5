//! How an owner takes lent memory back while others use it.
//!
//! Two words in memory that owner and borrower share: the owner says in `lent` whether the memory may be used, the
//! borrower counts in `active` its accesses under way. Each writes its own word first and looks at the other's
//! afterwards, with a full barrier in between: so either the borrower sees that it is too late, or the owner sees the
//! access and waits for it.

use crate::sync::{AtomicU32, Ordering, fence, fence_after_step};

/// The memory may be used. Every other value says that it may not.
pub(crate) const LENT: u32 = 1;

/// Borrower, before an access: may it go on? If so, [`leave`] ends the access.
#[inline]
pub(crate) fn enter(lent: &AtomicU32, active: &AtomicU32) -> bool {
    active.fetch_add(1, Ordering::Relaxed);
    fence_after_step();
    if lent.load(Ordering::Acquire) == LENT {
        return true;
    }
    leave(active);
    false
}

/// Borrower: would [`enter`] let an access in now? The answer may be wrong a moment later.
#[inline]
pub(crate) fn is_lent(lent: &AtomicU32) -> bool {
    lent.load(Ordering::Acquire) == LENT
}

/// Borrower: the access is over.
#[inline]
pub(crate) fn leave(active: &AtomicU32) {
    active.fetch_sub(1, Ordering::Release);
}

/// Owner: later accesses are refused. Those under way end when [`is_quiet`] says so.
pub(crate) fn recall(lent: &AtomicU32) {
    lent.store(0, Ordering::Release);
    fence(Ordering::SeqCst);
}

/// Owner, after [`recall`]: has the borrower no access under way?
pub(crate) fn is_quiet(active: &AtomicU32) -> bool {
    active.load(Ordering::Acquire) == 0
}
