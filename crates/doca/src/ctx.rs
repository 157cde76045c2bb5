//! Contexts: `doca_ctx_*`. `struct doca_ctx` is the room's context itself.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_ctx.h"
)]

use crate::dev::{DevInfo, function};
use softdpu_memory::handle::{checked, live};
use softdpu_room::calls::StateChanged;
use softdpu_room::context::{Core, State};
use softdpu_room::entry::{self, guard, guard_unforked, guard_value};
use softdpu_status::{Code, Error, Result};
use std::ffi::c_int;

unsafe fn ctx(ctx: *const Core, call: &str) -> Result<&'static Core> {
    // SAFETY: a handle of this library, or NULL.
    unsafe { checked(ctx, call) }.map(Core::as_static)
}

const LOG: &str = "softdpu::ctx";

unsafe fn put<T>(call: &str, to: *mut T, value: T) -> Result<()> {
    // SAFETY: an out parameter of the program, or NULL.
    unsafe { entry::put(LOG, call, "the output", to, value) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ctx_start(context: *const Core) -> c_int {
    const CALL: &str = "doca_ctx_start";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let core = unsafe { ctx(context, CALL)? };
        core.require(State::Idle, CALL)?;
        let Some(starter) = core.starter() else {
            log::error!(target: LOG,
                "{CALL}: {} context {core:p} is not configured: set_conf of its tasks ({}) is missing",
                core.info().name, core.info().tasks.join(", "));
            return Err(Error::new(Code::InvalidValue, "mandatory configuration is missing"));
        };
        match core.start(|| starter(core))? {
            true => Ok(()),
            false => Err(Error::new(Code::InProgress, "starting")),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ctx_stop(context: *const Core) -> c_int {
    guard_unforked("doca_ctx_stop", || {
        // SAFETY: a handle, or NULL.
        match unsafe { ctx(context, "doca_ctx_stop")? }.stop()? {
            true => Ok(()),
            false => Err(Error::new(Code::InProgress, "stopping")),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ctx_get_num_inflight_tasks(context: *const Core, num: *mut usize) -> c_int {
    const CALL: &str = "doca_ctx_get_num_inflight_tasks";
    // SAFETY: handles and out parameters of the contract.
    guard(|| unsafe { put(CALL, num, ctx(context, CALL)?.in_flight() as usize) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ctx_set_user_data(context: *const Core, user_data: u64) -> c_int {
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { ctx(context, "doca_ctx_set_user_data") }.map(|core| core.set_user_data(user_data)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ctx_get_user_data(context: *const Core, user_data: *mut u64) -> c_int {
    const CALL: &str = "doca_ctx_get_user_data";
    // SAFETY: handles and out parameters of the contract.
    guard(|| unsafe { put(CALL, user_data, ctx(context, CALL)?.user_data()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ctx_set_state_changed_cb(
    context: *const Core,
    cb: Option<StateChanged>,
) -> c_int {
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { ctx(context, "doca_ctx_set_state_changed_cb") }.map(|core| core.set_state_callback(cb)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ctx_get_state(context: *const Core, state: *mut u32) -> c_int {
    const CALL: &str = "doca_ctx_get_state";
    // SAFETY: handles and out parameters of the contract.
    guard(|| unsafe { put(CALL, state, ctx(context, CALL)?.state() as u32) })
}

/// Every submit is carried out by itself, so there is never anything to push.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ctx_flush_tasks(context: *const Core) {
    // SAFETY: a handle, or NULL.
    if unsafe { live(context) }.is_none() {
        guard_value((), || {
            // SAFETY: as above; this names the refusal in the log.
            let _ = unsafe { ctx(context, "doca_ctx_flush_tasks") };
        });
    }
}

/// Completion vectors are a placement hint; this many are told.
const COMPLETION_VECTORS: u32 = 1;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ctx_set_completion_vector(context: *const Core, comp_vector: u32) -> c_int {
    const CALL: &str = "doca_ctx_set_completion_vector";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { ctx(context, CALL)? };
        core.require(State::Idle, CALL)?;
        if comp_vector >= COMPLETION_VECTORS {
            log::error!(target: LOG, "{CALL}: vector {comp_vector}, allowed 0 to {}", COMPLETION_VECTORS - 1);
            return Err(Error::new(Code::InvalidValue, "no such completion vector"));
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ctx_cap_get_num_completion_vectors(
    devinfo: *const DevInfo,
    num: *mut u32,
) -> c_int {
    const CALL: &str = "doca_ctx_cap_get_num_completion_vectors";
    // SAFETY: handles and out parameters of the contract.
    guard(|| unsafe {
        function(devinfo, CALL)?;
        put(CALL, num, COMPLETION_VECTORS)
    })
}
