//! Arming a progress engine, and signalling it: publish, then look whether armed; arm, then look again.

use crate::sync::{AtomicU32, Ordering, fence};

/// Whether somebody sleeps, or is about to sleep, on the event descriptor.
#[derive(Debug)]
pub struct Arm {
    armed: AtomicU32,
}

impl Arm {
    /// Not armed.
    #[allow(clippy::new_without_default, reason = "loom's atomics have no const constructor")]
    pub fn new() -> Arm {
        Arm { armed: AtomicU32::new(0) }
    }

    /// Asks to be signalled. The caller looks for work *after* this; what it does not see will signal.
    pub fn arm(&self) {
        self.armed.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// No more signals wanted.
    pub fn disarm(&self) {
        self.armed.store(0, Ordering::Relaxed);
    }

    /// Called after something was published. True for exactly one caller per arming: that one signals.
    #[inline]
    pub fn published(&self) -> bool {
        fence(Ordering::SeqCst);
        self.armed.load(Ordering::Relaxed) != 0 && self.armed.swap(0, Ordering::AcqRel) != 0
    }

    /// Is it armed now?
    pub fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed) != 0
    }
}
