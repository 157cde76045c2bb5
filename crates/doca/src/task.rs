//! Tasks: `doca_task_*`. `struct doca_task` is the room's slot itself.
//!
//! These are the hot entry points: one compare finds out NULL, foreign and dead handles, nothing is guarded.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_pe.h"
)]

use softdpu_memory::handle::{DEAD_BIT, Head, explain, kind, live};
use softdpu_room::context::Core;
use softdpu_room::slot::Slot;
use softdpu_status::Code;
use std::ffi::c_int;

#[cold]
#[inline(never)]
unsafe fn refuse(task: *const Slot, call: &str) -> c_int {
    // SAFETY: a handle of this library, or NULL.
    unsafe { explain(task, call) }.code().number()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_submit(task: *const Slot) -> c_int {
    // SAFETY: a handle, or NULL.
    match unsafe { live(task) } {
        Some(slot) => slot.context().submit(slot.as_static()),
        // SAFETY: as above.
        None => unsafe { refuse(task, "doca_task_submit") },
    }
}

/// All flags are hints; tasks are carried out and reported at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_submit_ex(task: *const Slot, flags: u32) -> c_int {
    const KNOWN: u32 = 0b11;
    if flags & !KNOWN != 0 {
        log::error!(target: "softdpu::task", "doca_task_submit_ex: undefined flags {:#x}", flags & !KNOWN);
        return Code::InvalidValue.number();
    }
    // SAFETY: a handle, or NULL.
    match unsafe { live(task) } {
        Some(slot) => slot.context().submit(slot.as_static()),
        // SAFETY: as above.
        None => unsafe { refuse(task, "doca_task_submit_ex") },
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_try_submit(task: *const Slot) -> c_int {
    // SAFETY: a handle, or NULL.
    match unsafe { live(task) } {
        Some(slot) => slot.context().try_submit(slot.as_static()),
        // SAFETY: as above.
        None => unsafe { refuse(task, "doca_task_try_submit") },
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_free(task: *const Slot) {
    // SAFETY: a handle, or NULL.
    match unsafe { live(task) } {
        Some(slot) => slot.context().release(slot.as_static()),
        None if task.is_null() => (),
        None => {
            // SAFETY: as above.
            let _ = unsafe { refuse(task, "doca_task_free") };
        }
    }
}

/// While the task flies, it says so: what a worker has carried out is not over before it is reported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_get_status(task: *const Slot) -> c_int {
    // SAFETY: a handle, or NULL.
    match unsafe { live(task) } {
        Some(slot) if slot.is_in_flight() => Code::InProgress.number(),
        Some(slot) => slot.status(),
        // SAFETY: as above.
        None => unsafe { refuse(task, "doca_task_get_status") },
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_set_user_data(task: *const Slot, user_data: u64) {
    // SAFETY: a handle, or NULL.
    match unsafe { live(task) } {
        Some(slot) => slot.set_user_data(user_data),
        None => {
            // SAFETY: as above.
            let _ = unsafe { refuse(task, "doca_task_set_user_data") };
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_get_user_data(task: *const Slot) -> u64 {
    // SAFETY: a handle, or NULL.
    match unsafe { live(task) } {
        Some(slot) => slot.user_data(),
        None => {
            // SAFETY: as above.
            unsafe { refuse(task, "doca_task_get_user_data") };
            0
        }
    }
}

/// Works on a task that was just freed, too: programs stop the context that way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_get_ctx(task: *const Slot) -> *const Core {
    // SAFETY: a handle, or NULL; tasks are never given back to the system.
    unsafe {
        if task.is_null()
            || !((*task.cast::<Head>()).is(kind::TASK) || (*task.cast::<Head>()).is(kind::TASK | DEAD_BIT))
        {
            refuse(task, "doca_task_get_ctx");
            return core::ptr::null();
        }
        live((*task).context_of_stale()).map_or(core::ptr::null(), core::ptr::from_ref)
    }
}
