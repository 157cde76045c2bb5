//! Where the words of [`quiesce`](crate::quiesce) and [`seat`](crate::seat) come from; their models put those of the
//! model checker in their place.

pub(crate) use softdpu_link::barrier::{far_barrier, heavy_barrier, light_barrier};
pub(crate) use softdpu_link::sync::{AtomicU32, Ordering, fence};

pub(crate) use core::sync::atomic::AtomicPtr;

/// A full barrier behind a word that was just changed in one step with reading it. On x86 such a step is a full barrier
/// itself, so that only the compiler has to be told.
#[inline(always)]
pub(crate) fn fence_after_step() {
    if cfg!(target_arch = "x86_64") {
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}
