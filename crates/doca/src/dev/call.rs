//! What the entry points of this family share: the border, outputs, sizes of outputs.
#![expect(unsafe_code, reason = "writes through pointers that C hands in")]

use super::fork;
use super::object::{DevInfo, RepInfo, function};
use crate::entry::guard;
use softdpu_card::{Function, Representor};
use softdpu_memory::handle::checked;
use softdpu_room::entry;
use softdpu_status::{Code, Error, Result};
use std::ffi::{c_char, c_int};

/// Runs the body of an entry point: panics stay inside, forked children are refused.
pub(super) fn enter(call: &str, body: impl FnOnce() -> Result<()>) -> c_int {
    guard(|| {
        fork::check(call)?;
        body()
    })
}

/// Refuses an argument, with the reason in one log line.
#[cold]
pub(super) fn invalid(call: &str, reason: std::fmt::Arguments<'_>) -> Error {
    log::error!(target: "softdpu::device", "{call}: {reason}");
    Error::new(Code::InvalidValue, "invalid argument")
}

/// Stores an output.
///
/// # Safety
/// `to` is NULL or good for one write.
pub(super) unsafe fn put<T>(call: &str, to: *mut T, value: T) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { entry::put("softdpu::device", call, "the output", to, value) }
}

/// Copies bytes into a buffer of which C told the size; less than `least` is refused even if it would do.
///
/// # Safety
/// `to` is NULL or good for `size` bytes.
pub(super) unsafe fn put_bytes(call: &str, to: *mut u8, size: u32, least: usize, bytes: &[u8]) -> Result<()> {
    if to.is_null() {
        return Err(invalid(call, format_args!("the output is NULL")));
    }
    if (size as usize) < least {
        return Err(invalid(call, format_args!("size {size} is below the {least} bytes the call needs")));
    }
    debug_assert!(bytes.len() <= least, "the card crate bounds its names");
    let length = bytes.len().min(least);
    // SAFETY: `to` is good for `size` bytes, which are at least `least`, which is at least `length`.
    unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), length) };
    Ok(())
}

/// As [`put_bytes`], for a text and its terminating zero.
///
/// # Safety
/// `to` is NULL or good for `size` bytes.
pub(super) unsafe fn put_text(
    call: &str,
    to: *mut c_char,
    size: u32,
    least: usize,
    text: &str,
) -> Result<()> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.truncate(least - 1);
    bytes.push(0);
    // SAFETY: the caller's promise.
    unsafe { put_bytes(call, to.cast(), size, least, &bytes) }
}

/// An entry point that reads one value of a device information record.
///
/// # Safety
/// The handle as [`softdpu_memory::handle::live`] demands; `to` is NULL or good for one write.
pub(super) unsafe fn of_device<T>(
    call: &str,
    info: *const DevInfo,
    to: *mut T,
    read: impl FnOnce(&Function) -> Result<T>,
) -> c_int {
    enter(call, || {
        // SAFETY: the caller's promise.
        let function = unsafe { function(info, call)? };
        if to.is_null() {
            return Err(invalid(call, format_args!("the output is NULL")));
        }
        let value = read(function)?;
        // SAFETY: the caller's promise.
        unsafe { put(call, to, value) }
    })
}

/// As [`of_device`], for a representor information record.
///
/// # Safety
/// As [`of_device`].
pub(super) unsafe fn of_rep<T>(
    call: &str,
    info: *const RepInfo,
    to: *mut T,
    read: impl FnOnce(&Representor) -> Result<T>,
) -> c_int {
    enter(call, || {
        // SAFETY: the caller's promise.
        let info = unsafe { checked(info, call)? };
        if to.is_null() {
            return Err(invalid(call, format_args!("the output is NULL")));
        }
        let value = read(&info.representor)?;
        // SAFETY: the caller's promise.
        unsafe { put(call, to, value) }
    })
}
