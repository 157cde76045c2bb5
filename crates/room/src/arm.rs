//! Arming a progress engine, and signalling it: the protocol of [`armed`], for one word that an engine keeps.

use crate::armed;
use crate::sync::{AtomicU32, Ordering};

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
        armed::arm(&self.armed);
    }

    /// No more signals wanted.
    pub fn disarm(&self) {
        armed::disarm(&self.armed);
    }

    /// Called after something was published. True for exactly one caller per arming: that one signals.
    #[inline]
    pub fn published(&self) -> bool {
        armed::wants_ring(&self.armed)
    }

    /// Is it armed now?
    pub fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed) != 0
    }
}
