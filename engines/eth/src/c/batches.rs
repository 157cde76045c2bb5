//! Task batches: `doca_task_batch_*`. Send queues are the only ones that have them.
//!
//! These are hot entry points: one compare finds out NULL, foreign and dead handles, nothing is guarded.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_pe.h"
)]

use super::part;
use super::tx_start::TxPart;
use crate::batch::Batch;
use crate::sync::Ordering::Relaxed;
use core::ptr::{from_ref, null};
use softdpu_memory::handle::{explain, live};
use softdpu_room::context::Core;
use softdpu_room::slot::Slot;
use softdpu_status::Code;

/// The batch behind a handle, and its task.
unsafe fn batch(task_batch: *const Batch, call: &str) -> Result<(&'static Batch, &'static Slot), i32> {
    // SAFETY: a handle, or NULL; places of batches and slots are never given back, a batch that lives has a task.
    unsafe {
        match live(task_batch) {
            Some(batch) => {
                let batch: &'static Batch = &*from_ref(batch);
                Ok((batch, &*batch.slot.load(Relaxed)))
            }
            None => Err(explain(task_batch, call).code().number()),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_batch_submit(task_batch: *const Batch) -> i32 {
    // SAFETY: a handle, or NULL.
    match unsafe { batch(task_batch, "doca_task_batch_submit") } {
        Ok((batch, slot)) => batch.core.submit(slot),
        Err(number) => number,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_batch_try_submit(task_batch: *const Batch) -> i32 {
    // SAFETY: a handle, or NULL.
    match unsafe { batch(task_batch, "doca_task_batch_try_submit") } {
        Ok((batch, slot)) => batch.core.try_submit(slot),
        Err(number) => number,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_batch_free(task_batch: *const Batch) {
    if task_batch.is_null() {
        return;
    }
    // SAFETY: a handle; the queues of batches have a part of this type.
    unsafe {
        let Ok((batch, slot)) = batch(task_batch, "doca_task_batch_free") else { return };
        batch.head.kill();
        if slot.is_in_flight() {
            log::warn!(target: "softdpu::task",
                "batch {task_batch:p} freed while in flight: it is recycled when it lands, without a callback");
            return;
        }
        batch.core.release(slot);
        part::<TxPart>(batch.core).put(batch);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_batch_get_status(task_batch: *const Batch) -> i32 {
    // SAFETY: a handle, or NULL.
    match unsafe { batch(task_batch, "doca_task_batch_get_status") } {
        Ok((_, slot)) if slot.is_in_flight() => Code::InProgress.number(),
        Ok((_, slot)) => slot.status(),
        Err(number) => number,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_batch_get_tasks_num(task_batch: *const Batch) -> u16 {
    // SAFETY: a handle, or NULL.
    unsafe { batch(task_batch, "doca_task_batch_get_tasks_num") }
        .map_or(0, |(batch, _)| batch.count.load(Relaxed))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_batch_set_user_data(task_batch: *const Batch, user_data: u64) {
    // SAFETY: a handle, or NULL.
    if let Ok((batch, _)) = unsafe { batch(task_batch, "doca_task_batch_set_user_data") } {
        batch.user.store(user_data, Relaxed);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_batch_get_user_data(task_batch: *const Batch) -> u64 {
    // SAFETY: a handle, or NULL.
    unsafe { batch(task_batch, "doca_task_batch_get_user_data") }
        .map_or(0, |(batch, _)| batch.user.load(Relaxed))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_batch_get_ctx(task_batch: *const Batch) -> *const Core {
    // SAFETY: a handle, or NULL.
    unsafe { batch(task_batch, "doca_task_batch_get_ctx") }.map_or(null(), |(batch, _)| from_ref(batch.core))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_task_batch_get_ctx_user_data(task_batch: *const Batch) -> u64 {
    // SAFETY: a handle, or NULL.
    unsafe { batch(task_batch, "doca_task_batch_get_ctx_user_data") }
        .map_or(0, |(batch, _)| batch.core.user_data())
}
