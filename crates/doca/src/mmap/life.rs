//! The life of a map: create, destroy, start, stop, its devices, thread safety.
#![expect(unsafe_code, reason = "C entry points")]

use super::all;
use super::state::Mmap;
use crate::call::{enter, output};
use crate::dev::{Dev, device};
use softdpu_memory::handle::checked;
use softdpu_status::Result;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// An empty map.
///
/// # Safety
/// `mmap` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_create(mmap: *mut *mut Mmap) -> c_int {
    const CALL: &str = "doca_mmap_create";
    crate::log::softdpu_log_init();
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let slot = unsafe { output(mmap, CALL) }?;
        slot.set(all::make(Mmap::empty()?)?.as_ptr());
        Ok(())
    })
}

/// Stops the map if needed, ends it, and calls the free callback on this thread.
///
/// # Safety
/// NULL or a handle of this library that no other thread uses. The free callback is good for the call it asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_destroy(mmap: *mut Mmap) -> c_int {
    const CALL: &str = "doca_mmap_destroy";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(mmap, CALL) }?;
        let farewell = this.finish()?;
        // SAFETY: alive, and by the caller's promise nobody else uses it. Buffers that are still out point at its
        // region, which stays.
        unsafe { all::retire(NonNull::from(this)) };
        if let Some((farewell, base, len)) = farewell {
            // SAFETY: what the program asked for when it set the callback; no lock is held.
            unsafe { (farewell.callback)(base as *mut c_void, len, farewell.cookie) };
        }
        Ok(())
    })
}

/// Registers the range with every device of the map.
///
/// # Safety
/// NULL or a handle of this library. The range stays mapped while the map is started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_start(mmap: *mut Mmap) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { with(mmap, "doca_mmap_start", Mmap::start) }
}

/// Ends exports and registration; the map can be configured again.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_stop(mmap: *mut Mmap) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { with(mmap, "doca_mmap_stop", Mmap::stop) }
}

/// Lets several threads use the map.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_enable_thread_safety(mmap: *mut Mmap) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { with(mmap, "doca_mmap_enable_thread_safety", Mmap::share) }
}

/// Adds a device; it stays open while it is a member.
///
/// # Safety
/// NULL or handles of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_add_dev(mmap: *mut Mmap, dev: *mut Dev) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { with(mmap, "doca_mmap_add_dev", |map| map.add(device(dev, "doca_mmap_add_dev")?)) }
}

/// Takes a device out again.
///
/// # Safety
/// NULL or handles of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_rm_dev(mmap: *mut Mmap, dev: *mut Dev) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { with(mmap, "doca_mmap_rm_dev", |map| map.remove(device(dev, "doca_mmap_rm_dev")?)) }
}

/// Runs `body` on the map behind a handle.
///
/// # Safety
/// NULL or a handle of this library.
unsafe fn with(mmap: *mut Mmap, call: &str, body: impl FnOnce(&Mmap) -> Result<()>) -> c_int {
    // SAFETY: the caller's promise.
    enter(call, || body(unsafe { checked(mmap, call) }?))
}
