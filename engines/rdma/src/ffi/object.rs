//! Objects of the library. Each is closed when its owner is dropped; whoever is made of others is dropped first.
#![expect(unsafe_code, reason = "calls through tables of functions of the library")]

use super::abi::{Fid, GET_WAIT};
use core::ptr::NonNull;
use std::os::fd::{BorrowedFd, RawFd};

/// What C objects begin with a [`Fid`].
///
/// # Safety
/// The type is `repr(C)` and begins with a [`Fid`].
pub(super) unsafe trait Begins {}

/// An object that is ours.
#[derive(Debug)]
pub(super) struct Own<T: Begins>(NonNull<T>);

// SAFETY: the library is asked for thread-safe objects; what one object must not do at the same time is serialised by its
// owner, which needs `&mut`.
unsafe impl<T: Begins> Send for Own<T> {}
// SAFETY: as above; what is called through a shared reference is safe for threads.
unsafe impl<T: Begins> Sync for Own<T> {}

impl<T: Begins> Own<T> {
    /// From what a function of the library stored.
    ///
    /// # Safety
    /// Null, or an open object that nobody else closes.
    pub(super) unsafe fn new(raw: *mut T) -> Option<Own<T>> {
        NonNull::new(raw).map(Own)
    }

    pub(super) fn raw(&self) -> *mut T {
        self.0.as_ptr()
    }

    pub(super) fn fid(&self) -> *mut Fid {
        self.0.as_ptr().cast()
    }

    /// Ties another object to it.
    pub(super) fn bind<U: Begins>(&self, other: &Own<U>, flags: u64) -> i32 {
        // SAFETY: both are open objects.
        unsafe { ((*(*self.fid()).ops).bind)(self.fid(), other.fid(), flags) }
    }

    /// A command without argument.
    pub(super) fn command(&self, command: i32) -> i32 {
        // SAFETY: an open object; the command takes no argument.
        unsafe { ((*(*self.fid()).ops).control)(self.fid(), command, core::ptr::null_mut()) }
    }

    /// The descriptor that wakes who waits for it; it belongs to the object.
    pub(super) fn wait_fd(&self) -> Option<BorrowedFd<'_>> {
        let mut fd: RawFd = -1;
        // SAFETY: an open object; the command stores a descriptor.
        let code = unsafe { ((*(*self.fid()).ops).control)(self.fid(), GET_WAIT, (&raw mut fd).cast()) };
        // SAFETY: open as long as the object, which is borrowed.
        (code == 0 && fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) })
    }
}

impl<T: Begins> Drop for Own<T> {
    fn drop(&mut self) {
        // SAFETY: an open object of ours, which nobody uses afterwards.
        let code = unsafe { ((*(*self.fid()).ops).close)(self.fid()) };
        if code != 0 {
            log::warn!(target: crate::LOG, "libfabric: an object could not be closed: {}", text(code));
        }
    }
}

/// What a negative code of the library means.
pub(super) fn text(code: i32) -> String {
    let code = code.abs();
    if code < 256 {
        return std::io::Error::from_raw_os_error(code).to_string();
    }
    format!("error {code} of libfabric")
}
