//! Tasks on sync events of peers.
#![expect(unsafe_code, reason = "C entry points")]

use super::connect::Handle;
use super::tasks::{Given, allocate, job, own_job, set_conf, set_connection, set_local};
use crate::job::{Job, Op};
use core::ptr::null;
use softdpu_memory::handle::checked;
use softdpu_memory::node::Node;
use softdpu_room::calls::Completion;
use softdpu_room::context::Core;
use softdpu_room::entry::guard;
use softdpu_room::slot::Slot;
use softdpu_status::Result;
use softdpu_sync_event::RemoteEvent;
use softdpu_sync_event::c::{RemoteObject, remote};

/// Which of a job's numbers is the event's handle.
const EVENT: usize = 1;

/// The handle in a job.
fn handle(job: &Job) -> *const RemoteObject {
    core::ptr::with_exposed_provenance(job.words[EVENT] as usize)
}

/// The event of a C program's job, if it was not destroyed.
#[inline]
pub(crate) fn event_of(job: &Job) -> Option<&RemoteEvent> {
    // SAFETY: this file alone makes such jobs, with handles that the program gave; those of destroyed events are told apart.
    unsafe { remote(handle(job)) }
}

/// The event's handle as a job has it. The value is looked for here, where waiting for another process does no harm.
unsafe fn event_word(event: *const RemoteObject, call: &str) -> Result<u64> {
    // SAFETY: a handle, or NULL.
    unsafe {
        checked(event, call)?;
        if let Some(event) = remote(event) {
            crate::event::prepare(event);
        }
    }
    Ok(event.expose_provenance() as u64)
}

unsafe fn allocate_event(
    rdma: *const Core,
    mut given: Given,
    event: *const RemoteObject,
    user: u64,
    task: *mut *const Slot,
    call: &str,
) -> i32 {
    let mut fits = || {
        // SAFETY: a handle, or NULL.
        given.words[EVENT] = unsafe { event_word(event, call)? };
        Ok(())
    };
    match guard(&mut fits) {
        // SAFETY: handles and an out parameter, or NULL.
        0 => unsafe { allocate(rdma, &given, user, task, call) },
        refused => refused,
    }
}

unsafe fn set_event(job: *mut Job, event: *const RemoteObject, call: &str) {
    // SAFETY: the caller owns the job; a handle, or NULL.
    unsafe {
        // A wrong handle is kept, so that the task fails rather than reaching the event it had.
        (*job).words[EVENT] = event_word(event, call).unwrap_or_else(|_| event.expose_provenance() as u64);
    }
}

common!(
    EventGet,
    doca_rdma_task_remote_net_sync_event_get_set_conf,
    doca_rdma_task_remote_net_sync_event_get_as_task
);
common!(
    EventSet,
    doca_rdma_task_remote_net_sync_event_notify_set_set_conf,
    doca_rdma_task_remote_net_sync_event_notify_set_as_task
);
common!(
    EventAdd,
    doca_rdma_task_remote_net_sync_event_notify_add_set_conf,
    doca_rdma_task_remote_net_sync_event_notify_add_as_task
);

to_connection! {
    EventGet: doca_rdma_task_remote_net_sync_event_get_set_rdma_connection,
        doca_rdma_task_remote_net_sync_event_get_get_rdma_connection;
    EventSet: doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection,
        doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection;
    EventAdd: doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection,
        doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection;
}

get! {
    EventGet: doca_rdma_task_remote_net_sync_event_get_get_sync_event -> *const RemoteObject = null(), |job| handle(&*job);
    EventGet: doca_rdma_task_remote_net_sync_event_get_get_dst_buf -> *const Node = null(), |job| (*job).local.handle();
    EventGet: doca_rdma_task_remote_net_sync_event_get_get_result_len -> u32 = 0, |job| (*job).len;
    EventSet: doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event -> *const RemoteObject = null(), |job| handle(&*job);
    EventSet: doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf -> *const Node = null(), |job| (*job).local.handle();
    EventAdd: doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event -> *const RemoteObject = null(), |job| handle(&*job);
    EventAdd: doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf -> *const Node = null(), |job| (*job).local.handle();
    EventAdd: doca_rdma_task_remote_net_sync_event_notify_add_get_add_data -> u64 = 0, |job| (*job).words[0];
}

set! {
    EventGet: doca_rdma_task_remote_net_sync_event_get_set_sync_event(event: *const RemoteObject)
        = |job| set_event(job, event, "doca_rdma_task_remote_net_sync_event_get_set_sync_event");
    EventGet: doca_rdma_task_remote_net_sync_event_get_set_dst_buf(dst_buf: *const Node) = |job| set_local(job, dst_buf);
    EventSet: doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(event: *const RemoteObject)
        = |job| set_event(job, event, "doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event");
    EventSet: doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(src_buf: *const Node) = |job| set_local(job, src_buf);
    EventAdd: doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(event: *const RemoteObject)
        = |job| set_event(job, event, "doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event");
    EventAdd: doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(result_buf: *const Node) = |job| set_local(job, result_buf);
    EventAdd: doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(add_data: u64) = |job| (*job).words[0] = add_data;
}

macro_rules! make_event {
    ($op:ident: $name:ident($local:ident $(, $word:ident)?);) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            rdma: *const Core,
            rdma_connection: *const Handle,
            event: *const RemoteObject,
            $local: *const Node,
            $($word: u64,)?
            user_data: u64,
            task: *mut *const Slot,
        ) -> i32 {
            let given = Given {
                op: Op::$op,
                connection: rdma_connection,
                local: $local,
                remote: null(),
                imm: [0; 4],
                words: [0 $(+ $word)?, 0],
            };
            // SAFETY: handles and an out parameter, or NULL.
            unsafe { allocate_event(rdma, given, event, user_data, task, stringify!($name)) }
        }
    };
}

make_event! { EventGet: doca_rdma_task_remote_net_sync_event_get_allocate_init(dst_buf); }
make_event! { EventSet: doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(src_buf); }
make_event! { EventAdd: doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(result_buf, add_data); }
