//! What servers and clients both have: settings, callbacks, and the task that sends.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_comch.h"
)]

use super::ends::{Part, Settings, start_client, start_server};
use super::face::{ConsumerCallback, MessageCallback};
use super::{context, null, owner, part, put, refuse};
use crate::caps::Caps;
use crate::engine::{ComchClient, ComchServer};
use crate::lent::{Handle, LentBytes, LentConnection};
use crate::send::SendJob;
use softdpu_memory::handle::{checked, live};
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, Starter, State};
use softdpu_room::engine::{Engine, EngineInfo};
use softdpu_room::entry::{guard, number};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Result};

/// The one kind of task.
const SEND: usize = 0;

/// Changes a setting of an idle context.
unsafe fn set(
    core: *const Core,
    info: &EngineInfo,
    call: &str,
    change: impl FnOnce(&Caps, &mut Settings) -> Result<()>,
) -> Result<&'static Core> {
    // SAFETY: a handle, or NULL; contexts of both kinds have a part of this type.
    let core = unsafe { context(core, info, call)? };
    core.require(State::Idle, call)?;
    // SAFETY: as above.
    let mut settings = unsafe { part::<Part>(core) }.settings();
    change(&Caps::of(core.device().function())?, &mut settings)?;
    Ok(core)
}

/// A number from 1 to `limit`.
fn within(value: u32, limit: u32, what: &str, call: &str) -> Result<u32> {
    if value == 0 || value > limit {
        return refuse(
            Code::InvalidValue,
            "out of range",
            format_args!("{call}: {what} of {value}, allowed 1 to {limit}"),
        );
    }
    Ok(value)
}

unsafe fn get(
    core: *const Core,
    info: &EngineInfo,
    call: &str,
    out: *mut u32,
    read: fn(&Settings) -> u32,
) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL; contexts of both kinds have a part of this type.
        let value = read(&unsafe { part::<Part>(context(core, info, call)?) }.settings());
        // SAFETY: an out parameter, or NULL.
        unsafe { put(call, "size", out, value) }
    })
}

unsafe fn set_conf(
    core: *const Core,
    info: &EngineInfo,
    call: &str,
    calls: [Option<Completion>; 2],
    tasks: u32,
    starter: Starter,
) -> Result<()> {
    // SAFETY: a handle, or NULL.
    let core = unsafe { context(core, info, call)? };
    let [Some(success), Some(error)] = calls else { return null(call, "a callback") };
    // SAFETY: a handle, see above.
    unsafe {
        set(core, info, call, |caps, settings| {
            settings.tasks = within(tasks, caps.max_send_tasks, "a pool", call)?;
            Ok(())
        })?;
    }
    core.set_callbacks(SEND, success, error);
    core.set_starter(starter);
    Ok(())
}

unsafe fn alloc_init(
    core: *const Core,
    info: &EngineInfo,
    call: &str,
    (peer, msg, len): (*const Handle, *const u8, u32),
    task: *mut *const Slot,
) -> Result<()> {
    // SAFETY: handles, or NULL; contexts of both kinds have a part of this type.
    let (core, handle) = unsafe { (context(core, info, call)?, live(peer)) };
    let Some(handle) = handle else {
        // A connection ends with its context's run.
        if !peer.is_null() {
            core.require(State::Running, call)?;
        }
        // SAFETY: as above; this names the refusal in the log.
        return unsafe { checked(peer, call) }.map(|_| ());
    };
    if !core::ptr::eq(owner(handle), core) {
        let line = format_args!("{call}: connection {peer:p} is not one of context {core:p}");
        return refuse(Code::InvalidValue, "connection of another context", line);
    }
    if msg.is_null() || task.is_null() {
        return null(call, "msg or task");
    }
    let limit = handle.connection().max_msg_size();
    if len == 0 || len > limit {
        let line = format_args!("{call}: a message of {len} bytes, allowed 1 to {limit}");
        return refuse(Code::InvalidValue, "length of the message", line);
    }
    let slot = core.allocate_checked(SEND, 0, call)?;
    // SAFETY: the slot is the program's until it is submitted; its context is of this engine. The message is only noted.
    unsafe {
        let job = SendJob::new(LentConnection::from_handle(peer), LentBytes::new(msg, len));
        slot.job::<SendJob>().write(job);
        task.write(slot);
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_task_send_as_task(task: *const Slot) -> *const Slot {
    task
}

macro_rules! both {
    ($engine:ident, $start:ident:
     $set_msg:ident, $get_msg:ident, $set_queue:ident, $get_queue:ident, $set_conf:ident, $alloc_init:ident,
     $on_message:ident, $on_consumer:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_msg(core: *const Core, size: u32) -> i32 {
            const CALL: &str = stringify!($set_msg);
            guard(|| {
                let change = |caps: &Caps, settings: &mut Settings| {
                    settings.msg = within(size, caps.max_msg_size, "a largest message", CALL)?;
                    Ok(())
                };
                // SAFETY: a handle, or NULL.
                unsafe { set(core, $engine::INFO, CALL, change) }.map(|_| ())
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get_msg(core: *const Core, size: *mut u32) -> i32 {
            // SAFETY: a handle and an out parameter, or NULL.
            unsafe { get(core, $engine::INFO, stringify!($get_msg), size, |settings| settings.msg) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_queue(core: *const Core, size: u32) -> i32 {
            const CALL: &str = stringify!($set_queue);
            guard(|| {
                let change = |caps: &Caps, settings: &mut Settings| {
                    settings.queue = within(size, caps.max_recv_queue_size, "a receive queue", CALL)?;
                    Ok(())
                };
                // SAFETY: a handle, or NULL.
                unsafe { set(core, $engine::INFO, CALL, change) }.map(|_| ())
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get_queue(core: *const Core, size: *mut u32) -> i32 {
            // SAFETY: a handle and an out parameter, or NULL.
            unsafe { get(core, $engine::INFO, stringify!($get_queue), size, |settings| settings.queue) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_conf(
            core: *const Core,
            task_completion_cb: Option<Completion>,
            task_error_cb: Option<Completion>,
            num_send_tasks: u32,
        ) -> i32 {
            let calls = [task_completion_cb, task_error_cb];
            // SAFETY: a handle, or NULL.
            guard(|| unsafe {
                set_conf(core, $engine::INFO, stringify!($set_conf), calls, num_send_tasks, $start)
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $alloc_init(
            core: *const Core,
            peer: *const Handle,
            msg: *const u8,
            len: u32,
            task: *mut *const Slot,
        ) -> i32 {
            // SAFETY: handles and an out parameter, or NULL.
            number(unsafe {
                alloc_init(core, $engine::INFO, stringify!($alloc_init), (peer, msg, len), task)
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $on_message(
            core: *const Core,
            recv_event_cb: Option<MessageCallback>,
        ) -> i32 {
            const CALL: &str = stringify!($on_message);
            guard(|| {
                // SAFETY: a handle, or NULL.
                unsafe { context(core, $engine::INFO, CALL)? };
                let Some(call) = recv_event_cb else { return null(CALL, "the callback") };
                let change = |_: &Caps, settings: &mut Settings| {
                    settings.calls.message = Some(call);
                    Ok(())
                };
                // SAFETY: a handle, or NULL.
                unsafe { set(core, $engine::INFO, CALL, change) }.map(|_| ())
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $on_consumer(
            core: *const Core,
            new_consumer_event_cb: Option<ConsumerCallback>,
            expired_consumer_event_cb: Option<ConsumerCallback>,
        ) -> i32 {
            const CALL: &str = stringify!($on_consumer);
            guard(|| {
                // SAFETY: a handle, or NULL.
                unsafe { context(core, $engine::INFO, CALL)? };
                let (Some(new), Some(expired)) = (new_consumer_event_cb, expired_consumer_event_cb) else {
                    return null(CALL, "a callback");
                };
                let change = |_: &Caps, settings: &mut Settings| {
                    settings.calls.consumer = Some([new, expired]);
                    Ok(())
                };
                // SAFETY: a handle, or NULL.
                unsafe { set(core, $engine::INFO, CALL, change) }.map(|_| ())
            })
        }
    };
}

both! {
    ComchServer, start_server:
    doca_comch_server_set_max_msg_size, doca_comch_server_get_max_msg_size, doca_comch_server_set_recv_queue_size,
    doca_comch_server_get_recv_queue_size, doca_comch_server_task_send_set_conf,
    doca_comch_server_task_send_alloc_init, doca_comch_server_event_msg_recv_register,
    doca_comch_server_event_consumer_register
}

both! {
    ComchClient, start_client:
    doca_comch_client_set_max_msg_size, doca_comch_client_get_max_msg_size, doca_comch_client_set_recv_queue_size,
    doca_comch_client_get_recv_queue_size, doca_comch_client_task_send_set_conf,
    doca_comch_client_task_send_alloc_init, doca_comch_client_event_msg_recv_register,
    doca_comch_client_event_consumer_register
}
