//! The memory of a connection's buffers.
#![expect(unsafe_code, reason = "places in memory that the library writes to")]

use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// How many buffers of which kind, and how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape;

impl Shape {
    pub(crate) const BYTES: usize = 256 << 10;
    pub(crate) const REQUESTS: u32 = 8;
    pub(crate) const ANSWERS: u32 = 8;
    pub(crate) const RECEIVES: u32 = 20;
    pub(super) const ALL: u32 = Self::REQUESTS + Self::ANSWERS + Self::RECEIVES;
    pub(super) const FIRST_RECEIVE: u32 = Self::REQUESTS + Self::ANSWERS;
}

/// Room that some providers want beside each operation.
type Scratch = [u64; 8];

/// Memory for buffers, and for what goes beside operations.
pub(super) struct Store {
    start: NonNull<u8>,
}

// SAFETY: memory of our own.
unsafe impl Send for Store {}

impl Store {
    pub(super) const SCRATCH: usize = Shape::ALL as usize * Shape::BYTES;
    const LEN: usize = Self::SCRATCH + Shape::ALL as usize * size_of::<Scratch>();

    fn layout() -> Option<Layout> {
        Layout::from_size_align(Self::LEN, 4096).ok()
    }

    pub(super) fn new() -> Option<Store> {
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc_zeroed(Self::layout()?) }).map(|start| Store { start })
    }

    pub(super) fn buffer(&self, slot: u32) -> *mut u8 {
        assert!(slot < Shape::ALL, "no such buffer");
        // SAFETY: inside.
        unsafe { self.start.as_ptr().add(slot as usize * Shape::BYTES) }
    }

    pub(super) fn scratch(&self, slot: u32) -> *mut core::ffi::c_void {
        // SAFETY: inside.
        unsafe { self.start.as_ptr().add(Self::SCRATCH + slot as usize * size_of::<Scratch>()).cast() }
    }

    /// Whose scratch that is.
    pub(super) fn slot(&self, scratch: *mut core::ffi::c_void) -> Option<u32> {
        let at = (scratch as usize).checked_sub(self.start.as_ptr() as usize + Self::SCRATCH)?;
        let slot = at / size_of::<Scratch>();
        (slot < Shape::ALL as usize).then_some(slot as u32)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout() {
            // SAFETY: allocated so.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}
