//! The C entry points that ask what a device can do. Any thread.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_sha.h"
)]

use super::{context, null};
use crate::caps::Caps;
use softdpu_memory::handle::{DeviceRecord, checked};
use softdpu_room::context::Core;
use softdpu_room::entry::guard;
use softdpu_status::{Code, Error, Result};

/// Asks the capabilities of the device behind an information record.
unsafe fn ask(devinfo: *const DeviceRecord, call: &str, question: impl FnOnce(Caps) -> Result<()>) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let record = unsafe { checked(devinfo, call)? };
        Caps::of(record.function()).and_then(question)
    })
}

/// As [`ask`], for an answer that is a number; `out` may be NULL, which is refused.
unsafe fn tell<T>(
    devinfo: *const DeviceRecord,
    out: *mut T,
    call: &str,
    answer: impl FnOnce(Caps) -> Result<T>,
) -> i32 {
    // SAFETY: the caller's handle; a non-NULL out parameter.
    unsafe {
        ask(devinfo, call, |caps| {
            if out.is_null() {
                return null(call);
            }
            out.write(answer(caps)?);
            Ok(())
        })
    }
}

fn supported(able: bool) -> Result<()> {
    // Asking is no fault: no log line.
    if able {
        Ok(())
    } else {
        Err(Error::new(Code::NotSupported, "the device does not compute this function"))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_cap_task_hash_get_supported(
    devinfo: *const DeviceRecord,
    algorithm: u32,
) -> i32 {
    const CALL: &str = "doca_sha_cap_task_hash_get_supported";
    // SAFETY: a handle, or NULL.
    unsafe { ask(devinfo, CALL, |caps| supported(caps.hashes(super::algorithm(algorithm, CALL)?))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_cap_task_partial_hash_get_supported(
    devinfo: *const DeviceRecord,
    algorithm: u32,
) -> i32 {
    const CALL: &str = "doca_sha_cap_task_partial_hash_get_supported";
    // SAFETY: a handle, or NULL.
    unsafe { ask(devinfo, CALL, |caps| supported(caps.hashes_pieces(super::algorithm(algorithm, CALL)?))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_cap_get_max_list_buf_num_elem(
    devinfo: *const DeviceRecord,
    max_list_buf_num_elem: *mut u32,
) -> i32 {
    const CALL: &str = "doca_sha_cap_get_max_list_buf_num_elem";
    // SAFETY: a handle, or NULL.
    unsafe { tell(devinfo, max_list_buf_num_elem, CALL, |caps| Ok(caps.max_buf_list_len)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_cap_get_max_src_buf_size(
    devinfo: *const DeviceRecord,
    max_src_buf_size: *mut u64,
) -> i32 {
    const CALL: &str = "doca_sha_cap_get_max_src_buf_size";
    // SAFETY: a handle, or NULL.
    unsafe { tell(devinfo, max_src_buf_size, CALL, |caps| Ok(caps.max_src_buf_size)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_cap_get_min_dst_buf_size(
    devinfo: *const DeviceRecord,
    algorithm: u32,
    min_dst_buf_size: *mut u32,
) -> i32 {
    const CALL: &str = "doca_sha_cap_get_min_dst_buf_size";
    // SAFETY: a handle, or NULL.
    unsafe {
        tell(devinfo, min_dst_buf_size, CALL, |_| Ok(super::algorithm(algorithm, CALL)?.digest_len() as u32))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_cap_get_partial_hash_block_size(
    devinfo: *const DeviceRecord,
    algorithm: u32,
    partial_block_size: *mut u32,
) -> i32 {
    const CALL: &str = "doca_sha_cap_get_partial_hash_block_size";
    // SAFETY: a handle, or NULL.
    unsafe {
        tell(devinfo, partial_block_size, CALL, |_| Ok(super::algorithm(algorithm, CALL)?.block_len() as u32))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_cap_get_max_num_tasks(sha: *const Core, max_num_tasks: *mut u32) -> i32 {
    const CALL: &str = "doca_sha_cap_get_max_num_tasks";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(sha, CALL)? };
        if max_num_tasks.is_null() {
            return null(CALL);
        }
        // SAFETY: non-NULL out parameter.
        unsafe { max_num_tasks.write(Caps::of(core.device().function())?.max_num_tasks) };
        Ok(())
    })
}
