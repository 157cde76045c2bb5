//! The C entry points of the SHA engine.
//!
//! `struct doca_sha` is the context; `struct doca_sha_task_hash` and `struct doca_sha_task_partial_hash` are the task's
//! slot, told apart by its task kind. Thread rule: a context and its tasks belong to one thread at a time.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_sha.h"
)]

pub mod caps;
pub mod partial;

use crate::algorithm::Algorithm;
use crate::caps::Caps;
use crate::hardware::{Handlers, Sha};
use crate::state::HashState;
use crate::task::Job;
use softdpu_memory::handle::{DEAD_BIT, Head, OpenDevice, checked, kind};
use softdpu_memory::node::{Lent, Node};
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry::context_of;
use softdpu_room::entry::{guard, guard_unforked, guard_value};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// Task kinds, also the keys of their settings: number of tasks.
const HASH: usize = 0;
const PARTIAL: usize = 1;

unsafe fn context(sha: *const Core, call: &str) -> Result<&'static Core> {
    // SAFETY: handles of this library, as the contract demands.
    unsafe { context_of(sha, Sha::INFO, call) }
}

#[cold]
fn refuse<T>(call: &str, code: Code, what: &'static str) -> Result<T> {
    log::error!(target: "softdpu::sha", "{call}: {what}");
    Err(Error::new(code, what))
}

fn null<T>(call: &str) -> Result<T> {
    refuse(call, Code::InvalidValue, "an argument is NULL")
}

fn algorithm(number: u32, call: &str) -> Result<Algorithm> {
    match Algorithm::from_number(number) {
        Some(algorithm) => Ok(algorithm),
        None => {
            log::error!(target: "softdpu::sha", "{call}: algorithm {number} is none of 0 (SHA-1), 1 (SHA-256), 2 (SHA-512)");
            Err(Error::new(Code::InvalidValue, "unknown algorithm"))
        }
    }
}

// ---- Context ---------------------------------------------------------------------------------------

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_create(dev: *const OpenDevice, sha: *mut *const Core) -> i32 {
    const CALL: &str = "doca_sha_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device();
        if sha.is_null() {
            return null(CALL);
        }
        let core = Core::create(Sha::INFO, Arc::clone(device), softdpu_room::board::of_process())?;
        // SAFETY: non-NULL out parameter.
        unsafe { sha.write(core) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_destroy(sha: *const Core) -> i32 {
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { context(sha, "doca_sha_destroy") }?.destroy())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_as_ctx(sha: *const Core) -> *const Core {
    // SAFETY: a handle, or NULL.
    guard_value(core::ptr::null(), || match unsafe { context(sha, "doca_sha_as_ctx") } {
        Ok(core) => core,
        Err(_) => core::ptr::null(),
    })
}

unsafe fn set_conf(
    sha: *const Core,
    op: usize,
    success: Option<Completion>,
    error: Option<Completion>,
    log_tasks: u8,
    call: &str,
) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(sha, call)? };
        let (Some(success), Some(error)) = (success, error) else { return null(call) };
        core.require(State::Idle, call)?;
        let limit = Caps::of(core.device().function())?.max_num_tasks;
        let tasks = 1u32.checked_shl(log_tasks.into()).filter(|&n| n <= limit);
        let Some(tasks) = tasks else {
            log::error!(target: "softdpu::sha", "{call}: 2^{log_tasks} tasks asked for, allowed 1 to {limit}");
            return Err(Error::new(Code::InvalidValue, "number of tasks out of range"));
        };
        core.set_callbacks(op, success, error);
        core.set(op as u32, tasks.into());
        core.set_starter(start);
        Ok(())
    })
}

fn start(core: &'static Core) -> Result<softdpu_room::life::Equipment> {
    let pools =
        [HASH, PARTIAL].iter().filter_map(|&op| Some((op as u8, core.setting(op as u32)? as u32))).collect();
    Ok((Sha::on(core.device())?.work(Handlers::default()), pools))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_hash_set_conf(
    sha: *const Core,
    task_completion_cb: Option<Completion>,
    task_error_cb: Option<Completion>,
    log_num_tasks: u8,
) -> i32 {
    // SAFETY: a handle, or NULL.
    unsafe {
        set_conf(sha, HASH, task_completion_cb, task_error_cb, log_num_tasks, "doca_sha_task_hash_set_conf")
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_partial_hash_set_conf(
    sha: *const Core,
    task_completion_cb: Option<Completion>,
    task_error_cb: Option<Completion>,
    log_num_tasks: u8,
) -> i32 {
    const CALL: &str = "doca_sha_task_partial_hash_set_conf";
    // SAFETY: a handle, or NULL.
    unsafe { set_conf(sha, PARTIAL, task_completion_cb, task_error_cb, log_num_tasks, CALL) }
}

// ---- Tasks of both kinds ---------------------------------------------------------------------------

/// A task in the making: the arguments of both `alloc_init` calls.
struct Order {
    sha: *const Core,
    algorithm: u32,
    src: *const Node,
    dst: *const Node,
    user_data: u64,
    task: *mut *const Slot,
}

unsafe fn allocate(op: usize, order: Order, call: &str) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(order.sha, call)? };
        if order.task.is_null() {
            return null(call);
        }
        let algorithm = algorithm(order.algorithm, call)?;
        // SAFETY: handles, or NULL.
        let (src, dst) = unsafe { (buffer(order.src, call)?, buffer(order.dst, call)?) };
        let slot = core.allocate_checked(op, order.user_data, call)?;
        let hash = HashState::new(algorithm);
        // SAFETY: the slot is the program's until it is submitted; its context is of this engine.
        unsafe {
            slot.job::<Job>().write(Job { src, dst, hash, whole: op == HASH, owned: None });
            order.task.write(slot);
        }
        Ok(())
    })
}

/// A buffer that is noted in a task.
unsafe fn buffer(buf: *const Node, call: &str) -> Result<Lent> {
    // SAFETY: a handle, or NULL.
    unsafe {
        checked(buf, call)?;
        Ok(Lent::from_handle(buf))
    }
}

/// The live task behind a handle, if it is of this kind.
unsafe fn task(task: *const Slot, op: usize, call: &str) -> Result<&'static Slot> {
    // SAFETY: a handle of this library, or NULL.
    let slot = unsafe { checked(task, call)? }.as_static();
    if slot.context().info().kind != Sha::INFO.kind || slot.op() != op {
        log::error!(target: "softdpu::handle", "{call}: task {task:p} is a task of another kind");
        return Err(Error::new(Code::InvalidValue, "not a task of this kind"));
    }
    Ok(slot)
}

/// Changes a task that is not in flight.
unsafe fn change(
    handle: *const Slot,
    op: usize,
    call: &str,
    with: impl FnOnce(&mut Job) -> Result<()>,
) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let slot = unsafe { task(handle, op, call)? };
        if slot.is_in_flight() {
            return refuse(call, Code::BadState, "the task is in flight");
        }
        // SAFETY: the program owns the task while it is not in flight; it holds a job since it was allocated.
        with(unsafe { &mut *slot.job::<Job>() })
    })
}

/// Reads of a task. One that was just freed can still be read: its memory stays. Of one in flight only what the engine
/// does not write may be read, hence no reference to the job is formed.
unsafe fn look<T>(
    handle: *const Slot,
    op: usize,
    call: &str,
    none: T,
    with: impl FnOnce(*const Job) -> T,
) -> T {
    guard_value(None, || {
        // SAFETY: a handle of this library, or NULL; slots are never given back to the system.
        let slot = unsafe {
            let stale = !handle.is_null() && (*handle.cast::<Head>()).is(kind::TASK | DEAD_BIT);
            if stale { (*handle).as_static() } else { task(handle, op, call).ok()? }
        };
        let of_sha = !slot.context_of_stale().is_null() && slot.context().info().kind == Sha::INFO.kind;
        // A slot of this engine that was allocated once holds a job.
        (of_sha && slot.op() == op).then(|| with(slot.job::<Job>()))
    })
    .unwrap_or(none)
}

fn same(task: *const Slot, call: &str, op: usize) -> *const Slot {
    // SAFETY: a handle, or NULL.
    guard_value(core::ptr::null(), || match unsafe { self::task(task, op, call) } {
        Ok(slot) => core::ptr::from_ref::<Slot>(slot),
        Err(_) => core::ptr::null(),
    })
}

// ---- Hash tasks ------------------------------------------------------------------------------------

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_hash_alloc_init(
    sha: *const Core,
    algorithm: u32,
    src_buf: *const Node,
    dst_buf: *const Node,
    user_data: u64,
    task: *mut *const Slot,
) -> i32 {
    let order = Order { sha, algorithm, src: src_buf, dst: dst_buf, user_data, task };
    // SAFETY: handles, or NULL.
    unsafe { allocate(HASH, order, "doca_sha_task_hash_alloc_init") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_hash_as_task(task: *const Slot) -> *const Slot {
    same(task, "doca_sha_task_hash_as_task", HASH)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_hash_set_src(task: *const Slot, src_buf: *const Node) -> i32 {
    const CALL: &str = "doca_sha_task_hash_set_src";
    // SAFETY: handles, or NULL.
    unsafe {
        change(task, HASH, CALL, |job| {
            job.src = buffer(src_buf, CALL)?;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_hash_get_src(task: *const Slot) -> *const Node {
    // SAFETY: a handle, or NULL.
    unsafe { look(task, HASH, "doca_sha_task_hash_get_src", core::ptr::null(), |job| (*job).src.handle()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_hash_set_dst(task: *const Slot, dst_buf: *const Node) -> i32 {
    const CALL: &str = "doca_sha_task_hash_set_dst";
    // SAFETY: handles, or NULL.
    unsafe {
        change(task, HASH, CALL, |job| {
            job.dst = buffer(dst_buf, CALL)?;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_hash_get_dst(task: *const Slot) -> *const Node {
    // SAFETY: a handle, or NULL.
    unsafe { look(task, HASH, "doca_sha_task_hash_get_dst", core::ptr::null(), |job| (*job).dst.handle()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_hash_set_algorithm(task: *const Slot, algorithm: u32) -> i32 {
    const CALL: &str = "doca_sha_task_hash_set_algorithm";
    // SAFETY: a handle, or NULL.
    unsafe {
        change(task, HASH, CALL, |job| {
            job.hash = HashState::new(self::algorithm(algorithm, CALL)?);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sha_task_hash_get_algorithm(task: *const Slot) -> u32 {
    // SAFETY: a handle, or NULL.
    unsafe { look(task, HASH, "doca_sha_task_hash_get_algorithm", 0, |job| (*job).hash.algorithm() as u32) }
}
