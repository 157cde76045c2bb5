//! References without end, as the room has them into memory that is never given back; here it is, at the end of a round.
#![expect(unsafe_code, reason = "references that outlive their borrow, ended by `Kept`")]

use crate::context::Core;
use crate::pe::Pe;
use crate::slot::Slot;
use crate::sync::{AtomicU8, AtomicU32};
use softdpu_status::Result;
use std::ptr::NonNull;

/// Something that everybody may refer to until the round is over.
pub(crate) struct Kept<T: 'static>(NonNull<T>);

// SAFETY: as a reference and a box together.
unsafe impl<T: Send + Sync> Send for Kept<T> {}

impl<T> Kept<T> {
    pub(crate) fn new(value: T) -> Kept<T> {
        Kept(NonNull::from(Box::leak(Box::new(value))))
    }

    /// Lasts as long as this value, which the round's main thread drops after joining all others.
    pub(crate) fn get(&self) -> &'static T {
        // SAFETY: see above.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: came from a box; nobody uses it any more.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl Kept<Pe> {
    /// A progress engine of the room.
    pub(crate) fn pe() -> Kept<Pe> {
        Kept(NonNull::from(Pe::create(crate::board::none()).expect("there is memory")))
    }
}

pub(crate) fn make_pe(pe: Pe) -> Result<&'static Pe> {
    Ok(Box::leak(Box::new(pe)))
}

pub(crate) fn retire_pe(_: &'static Pe) {}

pub(crate) fn forever_pe(pe: &Pe) -> &'static Pe {
    // SAFETY: kept until the round is over.
    unsafe { &*std::ptr::from_ref(pe) }
}

pub(crate) fn slot_ref(ptr: *mut Slot) -> &'static Slot {
    assert!(!ptr.is_null(), "a ring cell was read before it was written");
    // SAFETY: kept until the round is over.
    unsafe { &*ptr }
}

pub(crate) fn core_ref(ptr: *mut Core) -> Option<&'static Core> {
    // SAFETY: kept until the round is over.
    unsafe { ptr.as_ref() }
}

pub(crate) fn pe_ref(ptr: *mut Pe) -> Option<&'static Pe> {
    // SAFETY: kept until the round is over.
    unsafe { ptr.as_ref() }
}

/// Loom checks that nobody else writes the word.
pub(crate) fn own32(word: &AtomicU32) -> u32 {
    word.load_own()
}

/// As [`own32`].
#[expect(dead_code, reason = "for files that come to use it")]
pub(crate) fn own8(byte: &AtomicU8) -> u8 {
    byte.load_own()
}
