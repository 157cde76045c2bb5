//! The word between somebody who sleeps and somebody who wakes: arm, then look again; publish, then look whether armed.
//!
//! Both sides put a full fence between their two steps, so that one of them sees the other.

use crate::sync::{AtomicU32, Ordering, fence};

/// The sleeper wants to be rung. It looks for work *after* this; what it does not see will ring.
#[inline]
pub fn arm(word: &AtomicU32) {
    word.store(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
}

/// The sleeper no longer wants to be rung. A ring may be under way.
#[inline]
pub fn disarm(word: &AtomicU32) {
    word.store(0, Ordering::Relaxed);
}

/// Called after something was published. True for exactly one caller per arming: that one rings.
#[inline]
pub fn wants_ring(word: &AtomicU32) -> bool {
    fence(Ordering::SeqCst);
    word.load(Ordering::Relaxed) != 0 && word.swap(0, Ordering::AcqRel) != 0
}
