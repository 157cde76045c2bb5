//! What the cold entry points of the memory family share: the panic border with the look at forks, and outputs.
#![expect(unsafe_code, reason = "looks at pointers handed in by C")]

use crate::dev::check_fork;
use crate::entry::{Slot, guard, out};
use softdpu_status::Result;
use std::ffi::c_int;

/// Runs the body of a cold entry point: panics stay inside, a child forked after the first device was opened is
/// refused.
pub(crate) fn enter(call: &str, body: impl FnOnce() -> Result<()>) -> c_int {
    guard(|| {
        check_fork(call)?;
        body()
    })
}

/// An output of `call`; NULL is refused with a log line.
///
/// # Safety
/// NULL, or good for one write and for nobody else during the call.
pub(crate) unsafe fn output<'a, T>(pointer: *mut T, call: &str) -> Result<&'a mut Slot<T>> {
    // SAFETY: the caller's promise.
    unsafe { out(pointer, "an output pointer is NULL") }.inspect_err(|_| {
        log::error!(target: "softdpu::handle", "{call}: an output pointer is NULL");
    })
}
