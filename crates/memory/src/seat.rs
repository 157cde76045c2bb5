//! A thread's seat: where it says what it is about to touch, in places that it alone writes.
//!
//! A thread puts something into a place and looks afterwards whether it may be touched; whoever ends that thing shuts it
//! first, reaches into all running threads with a heavy barrier, and looks at the places afterwards. So one of them sees
//! the other, and the thread pays two plain stores.

use crate::sync::{AtomicPtr, Ordering, light_barrier};

/// What one thread may touch at the same time.
pub(crate) const PLACES: usize = 4;

/// One cache line, so that threads do not disturb each other.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Seat<T> {
    pub(crate) places: [AtomicPtr<T>; PLACES],
}

impl<T> Seat<T> {
    /// The thread it belongs to: a place without anything in it.
    #[inline(always)]
    pub(crate) fn free_place(&self) -> Option<usize> {
        (0..PLACES).find(|&at| self.places[at].load(Ordering::Relaxed).is_null())
    }

    /// The thread it belongs to: may `what` be touched? `is_open` looks whether it was shut. If so, [`Seat::leave`] ends
    /// the access.
    #[inline(always)]
    pub(crate) fn enter(&self, at: usize, what: *mut T, is_open: impl FnOnce() -> bool) -> bool {
        self.places[at].store(what, Ordering::Relaxed);
        light_barrier();
        let open = is_open();
        if !open {
            self.leave(at);
        }
        open
    }

    /// The thread it belongs to: the access is over.
    #[inline(always)]
    pub(crate) fn leave(&self, at: usize) {
        self.places[at].store(core::ptr::null_mut(), Ordering::Release);
    }

    /// Anybody, after a heavy barrier: is `what` being touched?
    pub(crate) fn holds(&self, what: *mut T) -> bool {
        self.places.iter().any(|place| core::ptr::eq(place.load(Ordering::Acquire), what))
    }
}
