//! The primitives the hand-made concurrency is built from; the loom models put loom's in their place.

pub use core::sync::atomic::{
    AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
pub use std::sync::Mutex;

pub use softdpu_link::barrier::{heavy_barrier, init, is_asymmetric, light_barrier};

/// What a waiting thread does between two looks.
#[inline(always)]
pub fn spin() {
    core::hint::spin_loop();
}

/// What a thread does that waits for another one to get on.
pub fn stand_back() {
    std::thread::yield_now();
}

/// A number that no other living thread has; never 0.
#[inline(always)]
pub fn this_thread() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| core::ptr::from_ref(place) as usize)
}

/// A cell that one party at a time has to itself; which one is decided by the protocol around it.
#[derive(Debug)]
pub struct ProtocolCell<T>(core::cell::UnsafeCell<T>);

impl<T> ProtocolCell<T> {
    /// A cell with `value` in it.
    pub const fn new(value: T) -> ProtocolCell<T> {
        ProtocolCell(core::cell::UnsafeCell::new(value))
    }

    /// The place, for the party that has it.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
