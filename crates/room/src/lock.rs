//! Who turns a lane: a lock biased to the thread that calls progress.
//!
//! That thread enters with two plain accesses and no locked instruction. A card worker that wants the lane says so, pays
//! for a heavy barrier, and gets it once the other side is out. (Dekker's protocol with asymmetric barriers; modelled in
//! `models`.)

use crate::sync::{AtomicU32, Ordering, fence, heavy_barrier, is_asymmetric, light_barrier, spin};

/// The lock of a lane.
#[derive(Debug)]
pub struct LaneLock {
    busy: AtomicU32,
    wanted: AtomicU32,
}

/// A worker has, or wants, the lane.
const TAKEN: u32 = 1;
/// This machine has no asymmetric barrier: entering needs a full one.
const STRICT: u32 = 2;

impl LaneLock {
    /// A lock nobody holds.
    #[allow(clippy::new_without_default, reason = "loom's atomics have no const constructor")]
    pub fn new() -> LaneLock {
        let wanted = if is_asymmetric() { 0 } else { STRICT };
        LaneLock { busy: AtomicU32::new(0), wanted: AtomicU32::new(wanted) }
    }

    /// The progressing thread takes the lane; false when a worker has it.
    #[inline(always)]
    pub fn enter(&self) -> bool {
        self.busy.store(1, Ordering::Relaxed);
        light_barrier();
        if self.wanted.load(Ordering::Acquire) != 0 {
            return self.enter_slowly();
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn enter_slowly(&self) -> bool {
        if self.wanted.load(Ordering::Acquire) & TAKEN == 0 {
            fence(Ordering::SeqCst);
            if self.wanted.load(Ordering::Acquire) & TAKEN == 0 {
                return true;
            }
        }
        self.busy.store(0, Ordering::Release);
        false
    }

    /// The progressing thread gives the lane back.
    #[inline(always)]
    pub fn leave(&self) {
        self.busy.store(0, Ordering::Release);
    }

    /// A worker takes the lane; false when somebody else has it, which is no reason to wait.
    pub fn take(&self) -> bool {
        if self.wanted.fetch_or(TAKEN, Ordering::AcqRel) & TAKEN != 0 {
            return false;
        }
        heavy_barrier();
        for _ in 0..TRIES {
            if self.busy.load(Ordering::Acquire) == 0 {
                return true;
            }
            spin();
        }
        self.give();
        false
    }

    /// A worker gives the lane back.
    pub fn give(&self) {
        self.wanted.fetch_and(!TAKEN, Ordering::AcqRel);
    }
}

#[cfg(not(loom))]
const TRIES: u32 = 1000;
#[cfg(loom)]
const TRIES: u32 = 1;
