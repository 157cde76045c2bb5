//! The word between somebody who sleeps and somebody who wakes: arm, then look again; publish, then look whether armed.
//!
//! Both sides put a full fence between their two steps, so that one of them sees the other. Where the sleeper's barrier
//! reaches into the waker's process, it stands for both.

use crate::sync::{AtomicU32, Ordering, far_barrier, fence, light_barrier};

/// The sleeper wants to be rung. It looks for work *after* this; what it does not see will ring.
#[inline]
pub fn arm(word: &AtomicU32) {
    word.store(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
}

/// As [`arm`], for wakers that leave the barrier to the sleeper ([`wants_ring_light`]).
pub fn arm_far(word: &AtomicU32) {
    word.store(1, Ordering::Relaxed);
    far_barrier();
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
    take_wish(word)
}

/// As [`wants_ring`], where the sleeper arms by [`arm_far`] and its barrier reaches this process.
#[inline]
pub fn wants_ring_light(word: &AtomicU32) -> bool {
    light_barrier();
    take_wish(word)
}

#[inline]
fn take_wish(word: &AtomicU32) -> bool {
    word.load(Ordering::Relaxed) != 0 && word.swap(0, Ordering::AcqRel) != 0
}
