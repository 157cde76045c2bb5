//! The C entry points of tasks that hash a message in pieces.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_sha.h"
)]

use super::{Order, PARTIAL, allocate, buffer, change, look, refuse, same};
use crate::task::Job;
use softdpu_memory::node::Node;
use softdpu_room::context::Core;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Result};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_alloc_init(
    sha: *const Core,
    algorithm: u32,
    src_buf: *const Node,
    dst_buf: *const Node,
    user_data: u64,
    task: *mut *const Slot,
) -> i32 {
    let order = Order { sha, algorithm, src: src_buf, dst: dst_buf, user_data, task };
    // SAFETY: handles, or NULL.
    unsafe { allocate(PARTIAL, order, "doca_sha_task_partial_hash_alloc_init") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_as_task(task: *const Slot) -> *const Slot {
    same(task, "doca_sha_task_partial_hash_as_task", PARTIAL)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_set_src(task: *const Slot, src_buf: *const Node) -> i32 {
    const CALL: &str = "doca_sha_task_partial_hash_set_src";
    // SAFETY: handles, or NULL.
    unsafe {
        change(task, PARTIAL, CALL, |job| {
            job.src = buffer(src_buf, CALL)?;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_get_src(task: *const Slot) -> *const Node {
    // SAFETY: a handle, or NULL.
    unsafe {
        look(task, PARTIAL, "doca_sha_task_partial_hash_get_src", core::ptr::null(), |job| {
            (*job).src.handle()
        })
    }
}

fn fresh(job: &Job, call: &str) -> Result<()> {
    if job.hash.is_under_way() {
        return refuse(call, Code::BadState, "a hash is under way; reset the task first");
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_set_dst(task: *const Slot, dst_buf: *const Node) -> i32 {
    const CALL: &str = "doca_sha_task_partial_hash_set_dst";
    // SAFETY: handles, or NULL.
    unsafe {
        change(task, PARTIAL, CALL, |job| {
            let dst = buffer(dst_buf, CALL)?;
            fresh(job, CALL)?;
            job.dst = dst;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_get_dst(task: *const Slot) -> *const Node {
    // SAFETY: a handle, or NULL.
    unsafe {
        look(task, PARTIAL, "doca_sha_task_partial_hash_get_dst", core::ptr::null(), |job| {
            (*job).dst.handle()
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_set_algorithm(task: *const Slot, algorithm: u32) -> i32 {
    const CALL: &str = "doca_sha_task_partial_hash_set_algorithm";
    // SAFETY: a handle, or NULL.
    unsafe {
        change(task, PARTIAL, CALL, |job| {
            let algorithm = super::algorithm(algorithm, CALL)?;
            fresh(job, CALL)?;
            job.hash.set_algorithm(algorithm);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_get_algorithm(task: *const Slot) -> u32 {
    const CALL: &str = "doca_sha_task_partial_hash_get_algorithm";
    // SAFETY: a handle, or NULL.
    unsafe { look(task, PARTIAL, CALL, 0, |job| (*job).hash.algorithm() as u32) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_set_is_final_buf(task: *const Slot) -> i32 {
    // SAFETY: a handle, or NULL.
    unsafe {
        change(task, PARTIAL, "doca_sha_task_partial_hash_set_is_final_buf", |job| {
            job.hash.last = true;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_get_is_final(task: *const Slot) -> u8 {
    // SAFETY: a handle, or NULL.
    unsafe {
        look(task, PARTIAL, "doca_sha_task_partial_hash_get_is_final", 0, |job| (*job).hash.last.into())
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_get_has_result(task: *const Slot) -> u8 {
    const CALL: &str = "doca_sha_task_partial_hash_get_has_result";
    // SAFETY: a handle, or NULL. In flight there is no result yet, and the engine may be about to write the mark.
    unsafe {
        if super::task(task, PARTIAL, CALL).is_ok_and(|slot| slot.is_in_flight()) {
            return 0;
        }
        look(task, PARTIAL, CALL, 0, |job| (*job).hash.finished.into())
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_reset(task: *const Slot) -> i32 {
    // SAFETY: a handle, or NULL.
    unsafe {
        change(task, PARTIAL, "doca_sha_task_partial_hash_reset", |job| {
            job.hash.reset();
            Ok(())
        })
    }
}
