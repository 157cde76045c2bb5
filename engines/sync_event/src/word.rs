//! Words of the program: where a value lives that the program keeps itself, and where results go.
//!
//! The C contract orders their lives: a cell given by address outlives the event, a place for a result the task.
#![expect(unsafe_code, reason = "words of the program are reached by address")]

use softdpu_link::sync::AtomicU64;

/// A cell of the program, changed through atomic instructions alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word(*mut u64);

// SAFETY: every access is atomic.
unsafe impl Send for Word {}
// SAFETY: as above.
unsafe impl Sync for Word {}

impl Word {
    /// # Safety
    /// Eight aligned bytes that live as long as this value and its copies are used, and that nobody touches otherwise than
    /// atomically meanwhile.
    #[cfg(feature = "capi")]
    pub(crate) unsafe fn new(at: *mut u64) -> Word {
        Word(at)
    }

    #[inline]
    pub(crate) fn get(&self) -> &AtomicU64 {
        // SAFETY: the promise given to `new`.
        unsafe { AtomicU64::from_ptr(self.0) }
    }
}

/// A place for a result; none in the Rust face, where results come with the completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out(*mut u64);

// SAFETY: written by whoever carries the task out, read by the program after the completion.
unsafe impl Send for Out {}
// SAFETY: as above.
unsafe impl Sync for Out {}

impl Out {
    /// No place.
    pub(crate) const NOWHERE: Out = Out(core::ptr::null_mut());

    /// # Safety
    /// NULL, or eight aligned bytes that stay writable, and the task's alone, until the task is back.
    #[cfg(feature = "capi")]
    pub(crate) unsafe fn new(at: *mut u64) -> Out {
        Out(at)
    }

    /// The address.
    #[cfg(feature = "capi")]
    pub(crate) fn address(self) -> *mut u64 {
        self.0
    }

    /// Stores a result, if there is a place.
    #[inline]
    pub(crate) fn put(self, value: u64) {
        if !self.0.is_null() {
            // SAFETY: the promise given to `new`.
            unsafe { self.0.write(value) };
        }
    }
}
