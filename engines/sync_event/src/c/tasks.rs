//! The tasks of the asynchronous mode.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_sync_event.h"
)]

use super::object::{EventObject, Mode, bad_state};
use super::{null_argument, object};
use crate::caps::Caps;
use crate::cell::LOG;
use crate::condition::{Compare, Condition, is_task_mask};
use crate::hardware::SyncEvents;
use crate::task::{Job, What};
use crate::word::Out;
use core::ptr::null_mut;
use softdpu_memory::handle::{DEAD_BIT, Head, explain, kind, live};
use softdpu_room::calls::Completion;
use softdpu_room::context::State;
use softdpu_room::engine::Engine;
use softdpu_room::entry::{guard, guard_unforked};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};

const GET: usize = 0;
const SET: usize = 1;
const ADD: usize = 2;
const WAIT_EQ: usize = 3;
const WAIT_NEQ: usize = 4;

unsafe fn set_conf(
    event: *const EventObject,
    op: usize,
    calls: (Option<Completion>, Option<Completion>),
    count: u32,
    call: &str,
) -> i32 {
    guard_unforked(call, || {
        // SAFETY: a handle, or NULL.
        let object = unsafe { object(event, call)? };
        let (Some(success), Some(error)) = calls else {
            return null_argument(call, "a callback");
        };
        let not_permitted = |why: &str| {
            log::error!(target: LOG, "{call}: sync event {object:p} {why}");
            Err(Error::new(Code::NotPermitted, "not while it is used"))
        };
        if matches!(object.state().mode, Mode::Direct { .. }) {
            return not_permitted("is used synchronously");
        }
        let core = object.make_core(call)?;
        if core.state() != State::Idle {
            return not_permitted("is a context that is not idle");
        }
        let caps = Caps::of(core.device().function())?;
        Caps::demand(caps.local).inspect_err(|_| {
            log::error!(target: LOG, "{call}: device {} has no tasks on sync events", core.device().function().pci());
        })?;
        let limit = caps.max_num_tasks;
        if count > limit {
            log::error!(target: LOG, "{call}: {count} tasks asked for, limit {limit}");
            return Err(Error::new(Code::InvalidValue, "number of tasks out of range"));
        }
        core.set_callbacks(op, success, error);
        core.set(op as u32, count.into());
        Ok(())
    })
}

/// Takes a task out of the pool of its kind and fills it.
unsafe fn allocate(
    event: *const EventObject,
    op: usize,
    user_data: u64,
    task: *mut *const Slot,
    call: &str,
    job: impl FnOnce() -> Result<Job>,
) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let object = unsafe { object(event, call)? };
        if task.is_null() {
            return null_argument(call, "task");
        }
        let job = job()?;
        let Some(core) = object.core() else {
            return bad_state(call, object, "is no running context");
        };
        let slot = core.allocate_checked(op, user_data, call)?;
        // SAFETY: the slot is the program's until it is submitted, and its context of this engine; an out parameter.
        unsafe {
            slot.job::<Job>().write(job);
            task.write(slot);
        }
        Ok(())
    })
}

/// The job of a task handle of this kind. Getters also work on a task that was just freed, whose memory stays.
unsafe fn job(task: *const Slot, op: usize, call: &str, stale: bool) -> Option<*mut Job> {
    let refuse = |name: &str, op: usize| {
        log::error!(target: "softdpu::handle", "{call}: task {task:p} is another task (number {op} of a {name} context)");
    };
    // SAFETY: a handle, or NULL; slots are never given back to the system.
    unsafe {
        match live(task) {
            Some(slot) if !slot.context().is_of(SyncEvents::INFO) || slot.op() != op => {
                refuse(slot.context().info().name, slot.op());
                None
            }
            Some(slot) => Some(slot.job::<Job>()),
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

macro_rules! configuration {
    ($($name:ident: $op:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            event: *const EventObject,
            completion_cb: Option<Completion>,
            error_cb: Option<Completion>,
            num_tasks: u32,
        ) -> i32 {
            // SAFETY: a handle, or NULL.
            unsafe { set_conf(event, $op, (completion_cb, error_cb), num_tasks, stringify!($name)) }
        }
    )*};
}

configuration! {
    doca_sync_event_task_get_set_conf: GET;
    doca_sync_event_task_notify_set_set_conf: SET;
    doca_sync_event_task_notify_add_set_conf: ADD;
    doca_sync_event_task_wait_eq_set_conf: WAIT_EQ;
    doca_sync_event_task_wait_neq_set_conf: WAIT_NEQ;
}

macro_rules! conversions {
    ($($name:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(task: *const Slot) -> *const Slot {
            task
        }
    )*};
}

conversions! {
    doca_sync_event_task_get_as_doca_task;
    doca_sync_event_task_notify_set_as_doca_task;
    doca_sync_event_task_notify_add_as_doca_task;
    doca_sync_event_task_wait_eq_as_doca_task;
    doca_sync_event_task_wait_neq_as_doca_task;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_task_get_alloc_init(
    event: *const EventObject,
    ret_val_ptr: *mut u64,
    user_data: u64,
    task: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_sync_event_task_get_alloc_init";
    let job = || {
        if ret_val_ptr.is_null() {
            return null_argument(CALL, "ret_val_ptr");
        }
        // SAFETY: the program keeps the place until the task is back.
        Ok(Job { what: What::Get, out: unsafe { Out::new(ret_val_ptr) } })
    };
    // SAFETY: a handle and an out parameter, or NULL.
    unsafe { allocate(event, GET, user_data, task, CALL, job) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_task_notify_set_alloc_init(
    event: *const EventObject,
    set_val: u64,
    user_data: u64,
    task: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_sync_event_task_notify_set_alloc_init";
    let job = || Ok(Job { what: What::Set(set_val), out: Out::NOWHERE });
    // SAFETY: a handle and an out parameter, or NULL.
    unsafe { allocate(event, SET, user_data, task, CALL, job) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_task_notify_add_alloc_init(
    event: *const EventObject,
    inc_val: u64,
    fetched_val_ptr: *mut u64,
    user_data: u64,
    task: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_sync_event_task_notify_add_alloc_init";
    let job = || {
        if fetched_val_ptr.is_null() {
            return null_argument(CALL, "fetched_val_ptr");
        }
        // SAFETY: the program keeps the place until the task is back.
        Ok(Job { what: What::Add(inc_val), out: unsafe { Out::new(fetched_val_ptr) } })
    };
    // SAFETY: a handle and an out parameter, or NULL.
    unsafe { allocate(event, ADD, user_data, task, CALL, job) }
}

/// A wait, if its mask is one that tasks take.
fn wait(compare: Compare, value: u64, mask: u64, call: &str) -> Result<Job> {
    if !is_task_mask(mask) {
        log::error!(target: LOG, "{call}: mask {mask:#018x}, allowed are 0, 1, 2, 4 or 8 whole bytes 0xff in a row");
        return Err(Error::new(Code::InvalidValue, "a mask that wait tasks do not take"));
    }
    Ok(Job { what: What::Wait(Condition { compare, value, mask }), out: Out::NOWHERE })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_task_wait_eq_alloc_init(
    event: *const EventObject,
    wait_val: u64,
    mask: u64,
    user_data: u64,
    task: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_sync_event_task_wait_eq_alloc_init";
    let job = || wait(Compare::Equal, wait_val, mask, CALL);
    // SAFETY: a handle and an out parameter, or NULL.
    unsafe { allocate(event, WAIT_EQ, user_data, task, CALL, job) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_task_wait_neq_alloc_init(
    event: *const EventObject,
    wait_val: u64,
    mask: u64,
    user_data: u64,
    task: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_sync_event_task_wait_neq_alloc_init";
    let job = || wait(Compare::NotEqual, wait_val, mask, CALL);
    // SAFETY: a handle and an out parameter, or NULL.
    unsafe { allocate(event, WAIT_NEQ, user_data, task, CALL, job) }
}

/// A setter and a getter of one number of a task.
macro_rules! numbers {
    ($($set:ident, $get:ident: $op:expr, $what:pat => $field:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(task: *const Slot, value: u64) {
            // SAFETY: the program owns the task while it is not in flight; its slot holds a job since it was allocated.
            if let Some(job) = unsafe { job(task, $op, stringify!($set), false).and_then(|j| j.as_mut()) }
                && let $what = &mut job.what
            {
                *$field = value;
            }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(task: *const Slot) -> u64 {
            // SAFETY: a handle, or NULL; its slot holds a job since it was allocated.
            let mut what = match unsafe { job(task, $op, stringify!($get), true).and_then(|j| j.as_ref()) } {
                Some(job) => job.what,
                None => return 0,
            };
            match &mut what {
                $what => *$field,
                _ => 0,
            }
        }
    )*};
}

numbers! {
    doca_sync_event_task_notify_set_set_set_val, doca_sync_event_task_notify_set_get_set_val:
        SET, What::Set(value) => value;
    doca_sync_event_task_notify_add_set_inc_val, doca_sync_event_task_notify_add_get_inc_val:
        ADD, What::Add(value) => value;
    doca_sync_event_task_wait_eq_set_wait_val, doca_sync_event_task_wait_eq_get_wait_val:
        WAIT_EQ, What::Wait(condition) => &mut condition.value;
    doca_sync_event_task_wait_eq_set_mask, doca_sync_event_task_wait_eq_get_mask:
        WAIT_EQ, What::Wait(condition) => &mut condition.mask;
    doca_sync_event_task_wait_neq_set_wait_val, doca_sync_event_task_wait_neq_get_wait_val:
        WAIT_NEQ, What::Wait(condition) => &mut condition.value;
    doca_sync_event_task_wait_neq_set_mask, doca_sync_event_task_wait_neq_get_mask:
        WAIT_NEQ, What::Wait(condition) => &mut condition.mask;
}

/// A setter and a getter of the place of a task's result.
macro_rules! places {
    ($($set:ident, $get:ident: $op:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(task: *const Slot, place: *mut u64) {
            // SAFETY: the program owns the task while it is not in flight, and keeps the place until it is back.
            unsafe {
                if let Some(job) = job(task, $op, stringify!($set), false) {
                    (*job).out = Out::new(place);
                }
            }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(task: *const Slot) -> *mut u64 {
            // SAFETY: a handle, or NULL; its slot holds a job since it was allocated.
            unsafe { job(task, $op, stringify!($get), true).map_or(null_mut(), |job| (*job).out.address()) }
        }
    )*};
}

places! {
    doca_sync_event_task_get_set_ret_val_ptr, doca_sync_event_task_get_get_ret_val_ptr: GET;
    doca_sync_event_task_notify_add_set_fetched_val_ptr, doca_sync_event_task_notify_add_get_fetched_val_ptr: ADD;
}
