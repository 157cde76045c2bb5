//! The C entry points of the DMA engine.
//!
//! `struct doca_dma` is the context, `struct doca_dma_task_memcpy` the task's slot. Thread rule: a context and its tasks
//! belong to one thread at a time.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_dma.h"
)]

use crate::caps::Caps;
use crate::hardware::{Config, Dma};
use crate::task::Job;
use softdpu_memory::handle::{DEAD_BIT, Head, OpenDevice, checked, explain, kind, live};
use softdpu_memory::node::pair::Pair;
use softdpu_memory::node::{Lent, Node};
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry::context_of;
use softdpu_room::entry::{self, guard, guard_unforked, guard_value};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

const MEMCPY: usize = 0;
/// Keys of the context's settings.
const NUM_TASKS: u32 = 0;
const ORDERED: u32 = softdpu_room::instrument::ORDERED;

unsafe fn context<'a>(dma: *const Core, call: &str) -> Result<&'a Core> {
    // SAFETY: handles of this library, as the contract demands.
    unsafe { context_of(dma, Dma::INFO, call) }
}

fn null<T>(call: &str, what: &str) -> Result<T> {
    entry::null("softdpu::dma", call, what)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_create(dev: *const OpenDevice, dma: *mut *const Core) -> i32 {
    guard_unforked("doca_dma_create", || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, "doca_dma_create")? }.device();
        if dma.is_null() {
            return null("doca_dma_create", "dma");
        }
        let core = Core::create(Dma::INFO, Arc::clone(device), softdpu_room::board::of_process())?;
        // SAFETY: non-NULL out parameter.
        unsafe { dma.write(core) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_destroy(dma: *const Core) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { context(dma, "doca_dma_destroy")? }.as_static().destroy()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_as_ctx(dma: *const Core) -> *const Core {
    // SAFETY: a handle, or NULL.
    guard_value(core::ptr::null(), || match unsafe { context(dma, "doca_dma_as_ctx") } {
        Ok(core) => core,
        Err(_) => core::ptr::null(),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_task_memcpy_set_conf(
    dma: *const Core,
    task_completion_cb: Option<Completion>,
    task_error_cb: Option<Completion>,
    num_memcpy_tasks: u32,
) -> i32 {
    const CALL: &str = "doca_dma_task_memcpy_set_conf";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(dma, CALL)? }.as_static();
        let (Some(success), Some(error)) = (task_completion_cb, task_error_cb) else {
            return null(CALL, "a callback");
        };
        core.require(State::Idle, CALL)?;
        let limit = Caps::of(core.device().function())?.max_num_tasks;
        if num_memcpy_tasks == 0 || num_memcpy_tasks > limit {
            log::error!(target: "softdpu::dma", "{CALL}: {num_memcpy_tasks} tasks asked for, allowed 1 to {limit}");
            return Err(Error::new(Code::InvalidValue, "number of tasks out of range"));
        }
        core.set_callbacks(MEMCPY, success, error);
        core.set(NUM_TASKS, num_memcpy_tasks.into());
        core.set_starter(start);
        Ok(())
    })
}

fn start(core: &'static Core) -> Result<softdpu_room::life::Equipment> {
    let tasks = core.setting(NUM_TASKS).unwrap_or(0) as u32;
    Ok((Dma::on(core.device())?.work(Config::default()), vec![(MEMCPY as u8, tasks)]))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_set_ordered_completions(dma: *const Core, ordered_completions: u8) -> i32 {
    const CALL: &str = "doca_dma_set_ordered_completions";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(dma, CALL)? };
        if ordered_completions > 1 {
            log::error!(target: "softdpu::dma", "{CALL}: {ordered_completions} is neither 0 nor 1");
            return Err(Error::new(Code::InvalidValue, "neither 0 nor 1"));
        }
        core.set(ORDERED, ordered_completions.into());
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_get_ordered_completions(
    dma: *const Core,
    ordered_completions: *mut u8,
) -> i32 {
    const CALL: &str = "doca_dma_get_ordered_completions";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(dma, CALL)? };
        if ordered_completions.is_null() {
            return null(CALL, "ordered_completions");
        }
        // SAFETY: non-NULL out parameter.
        unsafe { ordered_completions.write(core.setting(ORDERED).unwrap_or(0) as u8) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_cap_get_max_num_tasks(dma: *const Core, max_num_tasks: *mut u32) -> i32 {
    const CALL: &str = "doca_dma_cap_get_max_num_tasks";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(dma, CALL)? };
        if max_num_tasks.is_null() {
            return null(CALL, "max_num_tasks");
        }
        // SAFETY: non-NULL out parameter.
        unsafe { max_num_tasks.write(Caps::of(core.device().function())?.max_num_tasks) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_task_memcpy_alloc_init(
    dma: *const Core,
    src: *const Node,
    dst: *const Node,
    user_data: u64,
    task: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_dma_task_memcpy_alloc_init";
    // SAFETY: a handle, or NULL.
    let core = match unsafe { live(dma) } {
        Some(core) if core.is_of(Dma::INFO) && !task.is_null() => core.as_static(),
        _ => {
            // SAFETY: a handle, or NULL.
            let refusal = unsafe { context(dma, CALL) }.and_then(|_| null::<()>(CALL, "task"));
            return entry::number(refusal.map(|_| ()));
        }
    };
    let slot = match core.allocate_checked(MEMCPY, user_data, CALL) {
        Ok(slot) => slot,
        Err(e) => return e.code().number(),
    };
    // SAFETY: the slot is the program's until it is submitted; its context is of this engine. Buffers are only noted.
    unsafe {
        let job = Job(Pair::lent(Lent::from_handle(src), Lent::from_handle(dst)));
        slot.job::<Job>().write(job);
        task.write(slot);
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_task_memcpy_as_task(task: *const Slot) -> *const Slot {
    task
}

/// The job of a task handle. Getters also work on a task that was just freed, whose memory stays.
unsafe fn job(task: *const Slot, call: &str, stale: bool) -> Option<*mut Job> {
    // SAFETY: a handle, or NULL; slots are never given back to the system.
    unsafe {
        match live(task) {
            Some(slot) if slot.context().is_of(Dma::INFO) => Some(slot.job::<Job>()),
            Some(slot) => {
                log::error!(target: "softdpu::handle", "{call}: task {task:p} is a {} task, not a dma task",
                    slot.context().info().name);
                None
            }
            None if stale && !task.is_null() && (*task.cast::<Head>()).is(kind::TASK | DEAD_BIT) => {
                Some((*task).job::<Job>())
            }
            None => {
                explain(task, call);
                None
            }
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_task_memcpy_set_src(task: *const Slot, src: *const Node) {
    // SAFETY: the program owns the task while it is not in flight.
    unsafe {
        if let Some(job) = job(task, "doca_dma_task_memcpy_set_src", false) {
            job.write(Job(Pair::lent(Lent::from_handle(src), (*job).dst())));
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_task_memcpy_set_dst(task: *const Slot, dst: *const Node) {
    // SAFETY: the program owns the task while it is not in flight.
    unsafe {
        if let Some(job) = job(task, "doca_dma_task_memcpy_set_dst", false) {
            job.write(Job(Pair::lent((*job).src(), Lent::from_handle(dst))));
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_task_memcpy_get_src(task: *const Slot) -> *const Node {
    // SAFETY: a handle, or NULL.
    unsafe { job(task, "doca_dma_task_memcpy_get_src", true) }
        // SAFETY: the slot holds a job since it was allocated.
        .map_or(core::ptr::null(), |job| unsafe { (*job).src().handle() })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_task_memcpy_get_dst(task: *const Slot) -> *const Node {
    // SAFETY: a handle, or NULL.
    unsafe { job(task, "doca_dma_task_memcpy_get_dst", true) }
        // SAFETY: the slot holds a job since it was allocated.
        .map_or(core::ptr::null(), |job| unsafe { (*job).dst().handle() })
}
