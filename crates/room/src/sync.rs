//! The primitives the hand-made concurrency is built from; the loom models put loom's in their place.
//!
//! Two barriers that belong together: [`light_barrier`] on the side that runs per task, [`heavy_barrier`] on the side
//! that runs rarely. Where the kernel has `membarrier`, the light one only stops the compiler and the heavy one makes
//! every running thread of the process execute a full barrier; elsewhere ([`is_asymmetric`] is false) the per-task side
//! is kept on its slow path.

pub use core::sync::atomic::{
    AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

static ASYMMETRIC: AtomicU32 = AtomicU32::new(0);

/// Finds out which pair of barriers this machine has. Called before the first lane exists; repeating it is harmless.
pub fn init() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        if crate::sys::membarrier_register() {
            ASYMMETRIC.store(1, Ordering::SeqCst);
        }
    });
}

/// Does the heavy barrier reach into running threads? Where it does not, the side that runs per task must be told to take
/// its slow path, which has a full barrier.
pub fn is_asymmetric() -> bool {
    ASYMMETRIC.load(Ordering::Relaxed) != 0
}

/// The cheap half: a store before it is seen by anybody whose heavy barrier comes later (see [`is_asymmetric`]).
#[inline(always)]
pub fn light_barrier() {
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
}

/// The dear half (a system call).
pub fn heavy_barrier() {
    if ASYMMETRIC.load(Ordering::Relaxed) != 0 {
        crate::sys::membarrier();
    } else {
        fence(Ordering::SeqCst);
    }
}

/// What a waiting thread does between two looks.
#[inline(always)]
pub fn spin() {
    core::hint::spin_loop();
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
