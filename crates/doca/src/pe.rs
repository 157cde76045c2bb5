//! Progress engines: `doca_pe_*`. `struct doca_pe` is the room's progress engine itself.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_pe.h"
)]

use softdpu_memory::handle::{checked, explain, live};
use softdpu_room::context::Core;
use softdpu_room::entry::{self, guard, guard_unforked};
use softdpu_room::pe::Pe;
use softdpu_status::{Code, Error, Result};
use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd};

const LOG: &str = "softdpu::pe";

unsafe fn pe(pe: *const Pe, call: &str) -> Result<&'static Pe> {
    // SAFETY: a handle of this library, or NULL.
    unsafe { checked(pe, call) }.map(Pe::as_static)
}

fn null<T>(call: &str) -> Result<T> {
    entry::null(LOG, call, "the output")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_pe_create(engine: *mut *const Pe) -> c_int {
    const CALL: &str = "doca_pe_create";
    guard_unforked(CALL, || {
        if engine.is_null() {
            return null(CALL);
        }
        crate::log::softdpu_log_init();
        crate::prepare();
        // SAFETY: non-NULL out parameter.
        unsafe { engine.write(Pe::create(softdpu_room::board::of_process())?) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_pe_destroy(engine: *const Pe) -> c_int {
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { pe(engine, "doca_pe_destroy")? }.destroy())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_pe_connect_ctx(engine: *const Pe, ctx: *const Core) -> c_int {
    const CALL: &str = "doca_pe_connect_ctx";
    // SAFETY: handles, or NULL.
    guard_unforked(CALL, || unsafe {
        let engine = pe(engine, CALL)?;
        checked(ctx, CALL)?.as_static().connect(engine)
    })
}

/// Hot: no guard; nothing in it unwinds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_pe_progress(engine: *const Pe) -> u8 {
    // SAFETY: a handle, or NULL.
    match unsafe { live(engine) } {
        Some(engine) => u8::from(engine.as_static().step()),
        // SAFETY: as above.
        None => unsafe { refuse_progress(engine) },
    }
}

#[cold]
#[inline(never)]
unsafe fn refuse_progress(engine: *const Pe) -> u8 {
    // SAFETY: a handle, or NULL.
    unsafe { explain(engine, "doca_pe_progress") };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_pe_get_num_inflight_tasks(engine: *const Pe, num: *mut usize) -> c_int {
    const CALL: &str = "doca_pe_get_num_inflight_tasks";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let engine = unsafe { pe(engine, CALL)? };
        if num.is_null() {
            return null(CALL);
        }
        // SAFETY: non-NULL out parameter.
        unsafe { num.write(engine.in_flight()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_pe_get_notification_handle(engine: *const Pe, handle: *mut c_int) -> c_int {
    const CALL: &str = "doca_pe_get_notification_handle";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let engine = unsafe { pe(engine, CALL)? };
        if handle.is_null() {
            return null(CALL);
        }
        // SAFETY: non-NULL out parameter.
        unsafe { handle.write(engine.signal().as_fd().as_raw_fd()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_pe_request_notification(engine: *const Pe) -> c_int {
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { pe(engine, "doca_pe_request_notification") }.map(|engine| {
            // Whether there was something already makes no difference here: the descriptor is readable then.
            engine.arm();
        })
    })
}

/// `handle` has no meaning on Linux.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_pe_clear_notification(engine: *const Pe, _handle: c_int) -> c_int {
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { pe(engine, "doca_pe_clear_notification") }.map(Pe::disarm))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_pe_set_event_mode(engine: *const Pe, event_mode: u32) -> c_int {
    const CALL: &str = "doca_pe_set_event_mode";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let engine = unsafe { pe(engine, CALL)? };
        if event_mode > 1 {
            log::error!(target: LOG, "{CALL}: {event_mode} is no event mode");
            return Err(Error::new(Code::InvalidValue, "no such event mode"));
        }
        engine.set_mode(event_mode as u8);
        Ok(())
    })
}
