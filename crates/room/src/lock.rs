//! Who turns a lane: a lock biased to the thread that calls progress.
//!
//! That thread enters with two plain accesses and no locked instruction. A card worker that wants the lane says so, pays
//! for a heavy barrier, and gets it once the other side is out. (Dekker's protocol with asymmetric barriers; modelled in
//! `models`.)

use crate::sync::{AtomicU32, Ordering, heavy_barrier, light_barrier, spin};

/// The lock of a lane.
#[derive(Debug)]
pub struct LaneLock {
    busy: AtomicU32,
    wanted: AtomicU32,
}

impl LaneLock {
    /// A lock nobody holds.
    #[allow(clippy::new_without_default, reason = "loom's atomics have no const constructor")]
    pub fn new() -> LaneLock {
        LaneLock { busy: AtomicU32::new(0), wanted: AtomicU32::new(0) }
    }

    /// The progressing thread takes the lane; false when a worker has it.
    #[inline(always)]
    pub fn enter(&self) -> bool {
        self.busy.store(1, Ordering::Relaxed);
        light_barrier();
        if self.wanted.load(Ordering::Acquire) != 0 {
            self.busy.store(0, Ordering::Release);
            return false;
        }
        true
    }

    /// The progressing thread gives the lane back.
    #[inline(always)]
    pub fn leave(&self) {
        self.busy.store(0, Ordering::Release);
    }

    /// A worker takes the lane; false when somebody else has it, which is no reason to wait.
    pub fn take(&self) -> bool {
        if self.wanted.swap(1, Ordering::AcqRel) != 0 {
            return false;
        }
        heavy_barrier();
        for _ in 0..TRIES {
            if self.busy.load(Ordering::Acquire) == 0 {
                return true;
            }
            spin();
        }
        self.wanted.store(0, Ordering::Release);
        false
    }

    /// A worker gives the lane back.
    pub fn give(&self) {
        self.wanted.store(0, Ordering::Release);
    }
}

#[cfg(not(loom))]
const TRIES: u32 = 1000;
#[cfg(loom)]
const TRIES: u32 = 1;
