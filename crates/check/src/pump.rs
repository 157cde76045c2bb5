//! What a progress engine is doing: kept in atomics, since every call of progress and every callback passes here.

use crate::place::Place;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// One progress engine. Its address stays, also when the engine is gone and another one gets its handle. `struct pump` of
/// `shim.h`, where it is written; only the thread inside writes anything but the owner.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Pump {
    /// The thread inside progress; 0 for none.
    owner: AtomicI32,
    /// Where progress was called last.
    place: AtomicUsize,
    calls: AtomicU64,
    /// Callbacks begun and ended; odd while one runs.
    callbacks: AtomicU64,
    /// The handle.
    pub(crate) at: usize,
}

/// What the watchdog saw of an engine last, and for how many of its looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) counts: (u64, u64),
    pub(crate) same: u32,
    /// The program has its notification handle, and has armed it since it cleared it last.
    pub(crate) handle: bool,
    pub(crate) armed: bool,
    /// Arming clears, by the event mode.
    pub(crate) clears: bool,
    /// Callbacks at the last arming; armings in a row after some, without a clear.
    pub(crate) heard: u64,
    pub(crate) stale: u32,
    /// It was cleared once; calls of progress without a callback at the last arming.
    pub(crate) cleared: bool,
    pub(crate) vain: u64,
}

impl Pump {
    pub(crate) fn new(at: usize) -> Pump {
        Pump { at, ..Pump::default() }
    }

    /// The thread inside progress.
    pub(crate) fn owner(&self) -> i32 {
        self.owner.load(Relaxed)
    }

    /// Whether a thread is inside one of its callbacks.
    pub(crate) fn is_in_callback_of(&self, me: i32) -> bool {
        self.owner.load(Relaxed) == me && self.is_in_callback()
    }

    /// Whether a callback is running.
    pub(crate) fn is_in_callback(&self) -> bool {
        self.callbacks.load(Relaxed) % 2 == 1
    }

    /// Where progress was called last.
    pub(crate) fn place(&self) -> Place {
        Place(self.place.load(Relaxed))
    }

    /// Calls, and callbacks begun and ended.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.calls.load(Relaxed), self.callbacks.load(Relaxed))
    }

    /// An engine of the same handle begins anew.
    pub(crate) fn reset(&self) {
        self.owner.store(0, Relaxed);
        self.callbacks.store(0, Relaxed);
    }
}
