//! The C entry points of the advice engine.
//!
//! `struct doca_mmap_advise` is the context, its task the slot. Thread rule: a context and its tasks belong to one thread
//! at a time.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "documented by their declarations in doca_mmap_advise.h"
)]

use crate::hardware::{Caps, MmapAdvise};
use crate::task::Job;
use softdpu_memory::handle::{DeviceRecord, OpenDevice, checked, live};
use softdpu_memory::node::{Lent, Node};
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry::context_of;
use softdpu_room::entry::{self, guard, guard_unforked, number};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

const INVALIDATE: usize = 0;
const NUM_TASKS: u32 = 0;

unsafe fn context(advise: *const Core, call: &str) -> Result<&'static Core> {
    // SAFETY: handles of this library, as the contract demands.
    unsafe { context_of(advise, MmapAdvise::INFO, call) }
}

fn null<T>(call: &str, what: &str) -> Result<T> {
    entry::null("softdpu::mmap_advise", call, what)
}

unsafe fn caps(devinfo: *const DeviceRecord, call: &str) -> Result<Caps> {
    // SAFETY: a handle, or NULL.
    Caps::of(unsafe { checked(devinfo, call)? }.function())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_advise_create(
    dev: *const OpenDevice,
    mmap_advise: *mut *const Core,
) -> i32 {
    const CALL: &str = "doca_mmap_advise_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device();
        if mmap_advise.is_null() {
            return null(CALL, "mmap_advise");
        }
        Caps::of(device.function()).inspect_err(|_| {
            log::error!(target: "softdpu::mmap_advise", "{CALL}: device {} has no caches to invalidate (card side only)",
                device.function().pci());
        })?;
        let core = Core::create(MmapAdvise::INFO, Arc::clone(device), softdpu_room::board::of_process())?;
        // SAFETY: non-NULL out parameter.
        unsafe { mmap_advise.write(core) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_advise_destroy(mmap_advise: *const Core) -> i32 {
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { context(mmap_advise, "doca_mmap_advise_destroy") }?.destroy())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_advise_as_ctx(mmap_advise: *const Core) -> *const Core {
    // SAFETY: a handle, or NULL.
    match unsafe { context(mmap_advise, "doca_mmap_advise_as_ctx") } {
        Ok(core) => core,
        Err(_) => core::ptr::null(),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_advise_cap_task_cache_invalidate_is_supported(
    devinfo: *const DeviceRecord,
) -> i32 {
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { caps(devinfo, "doca_mmap_advise_cap_task_cache_invalidate_is_supported") }.map(|_| ()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_advise_task_cache_invalidate_get_max_buf_size(
    devinfo: *const DeviceRecord,
    buf_size: *mut u64,
) -> i32 {
    const CALL: &str = "doca_mmap_advise_task_cache_invalidate_get_max_buf_size";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let caps = unsafe { caps(devinfo, CALL)? };
        if buf_size.is_null() {
            return null(CALL, "buf_size");
        }
        // SAFETY: non-NULL out parameter.
        unsafe { buf_size.write(caps.max_buf_size) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_advise_task_invalidate_cache_set_conf(
    mmap_advise: *const Core,
    completion_cb: Option<Completion>,
    error_cb: Option<Completion>,
    num_tasks: u32,
) -> i32 {
    const CALL: &str = "doca_mmap_advise_task_invalidate_cache_set_conf";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(mmap_advise, CALL)? };
        let (Some(success), Some(error)) = (completion_cb, error_cb) else {
            return null(CALL, "a callback");
        };
        if core.state() != State::Idle {
            log::error!(target: "softdpu::ctx", "{CALL}: context {core:p} is {:?}, must be Idle", core.state());
            return Err(Error::new(Code::NotPermitted, "the context is not idle"));
        }
        let limit = Caps::of(core.device().function())?.max_num_tasks;
        if num_tasks == 0 || num_tasks > limit {
            log::error!(target: "softdpu::mmap_advise", "{CALL}: {num_tasks} tasks asked for, allowed 1 to {limit}");
            return Err(Error::new(Code::InvalidValue, "number of tasks out of range"));
        }
        core.set_callbacks(INVALIDATE, success, error);
        core.set(NUM_TASKS, num_tasks.into());
        core.set_starter(start);
        Ok(())
    })
}

fn start(core: &'static Core) -> Result<softdpu_room::life::Equipment> {
    let tasks = core.setting(NUM_TASKS).unwrap_or(0) as u32;
    Ok((MmapAdvise::on(core.device())?.work(None), vec![(INVALIDATE as u8, tasks)]))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_advise_task_invalidate_cache_alloc_init(
    mmap_advise: *const Core,
    buf: *const Node,
    user_data: u64,
    task: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_mmap_advise_task_invalidate_cache_alloc_init";
    number((|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(mmap_advise, CALL)? };
        if task.is_null() {
            return null(CALL, "task");
        }
        let slot = core.allocate_checked(INVALIDATE, user_data, CALL)?;
        // SAFETY: the slot is the program's until it is submitted; its context is of this engine.
        unsafe {
            slot.job::<Job>().write(Job { buf: Lent::from_handle(buf), owned: None });
            task.write(slot);
        }
        Ok(())
    })())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_advise_task_invalidate_cache_as_doca_task(
    task: *const Slot,
) -> *const Slot {
    task
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_advise_task_invalidate_cache_set_buf(task: *const Slot, buf: *const Node) {
    // SAFETY: a handle, or NULL; the program owns the task while it is not in flight.
    unsafe {
        match live(task) {
            Some(slot) => (*slot.job::<Job>()).buf = Lent::from_handle(buf),
            None => {
                softdpu_memory::handle::explain(task, "doca_mmap_advise_task_invalidate_cache_set_buf");
            }
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_advise_task_invalidate_cache_get_buf(task: *const Slot) -> *const Node {
    // SAFETY: a handle, or NULL.
    unsafe {
        match live(task) {
            Some(slot) => (*slot.job::<Job>()).buf.handle(),
            None => {
                softdpu_memory::handle::explain(task, "doca_mmap_advise_task_invalidate_cache_get_buf");
                core::ptr::null()
            }
        }
    }
}
