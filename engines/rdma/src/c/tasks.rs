//! Tasks.
#![expect(unsafe_code, reason = "C entry points")]

use super::connect::Handle;
use super::{context, control, null_argument, start};
use crate::engine::Rdma;
use crate::job::{ConnRef, Job, LOCAL_BAD, Op, Opcode, REMOTE_BAD};
use core::ptr::null;
use softdpu_memory::handle::{DEAD_BIT, Head, checked, explain, kind, live};
use softdpu_memory::node::{Lent, Node};
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry::guard;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};

pub(super) unsafe fn set_conf(
    rdma: *const Core,
    op: Op,
    callbacks: [Option<Completion>; 2],
    tasks: u32,
    call: &str,
) -> Result<()> {
    // SAFETY: a handle, or NULL.
    let core = unsafe { context(rdma, call)? }.as_static();
    let [Some(success), Some(error)] = callbacks else { return null_argument(call, "a callback") };
    core.require(State::Idle, call)?;
    control(core, call)?.configure(|settings, caps| settings.set_tasks(op, tasks, caps, call))?;
    core.set_callbacks(op as usize, success, error);
    core.set_starter(start);
    Ok(())
}

/// What a task is made of.
pub(super) struct Given {
    pub(super) op: Op,
    pub(super) connection: *const Handle,
    pub(super) local: *const Node,
    pub(super) remote: *const Node,
    pub(super) imm: [u8; 4],
    pub(super) words: [u64; 2],
}

unsafe fn lend(buffer: *const Node, bad: u8) -> (Lent, u8) {
    // SAFETY: a handle, or NULL.
    let lent = unsafe { Lent::from_handle(buffer) };
    (lent, if lent.handle() == buffer { 0 } else { bad })
}

/// The connection of a task, if it is one of the context's.
unsafe fn connection(core: &Core, connection: *const Handle, call: &str) -> Result<ConnRef> {
    // SAFETY: a handle, or NULL.
    let handle = unsafe { checked(connection, call)? };
    if !core::ptr::eq(handle.core(), core) {
        log::error!(target: crate::LOG, "{call}: connection {connection:p} belongs to another context");
        return Err(Error::new(Code::InvalidValue, "the connection belongs to another context"));
    }
    Ok(handle.which())
}

pub(super) unsafe fn allocate(
    rdma: *const Core,
    given: &Given,
    user: u64,
    task: *mut *const Slot,
    call: &str,
) -> i32 {
    let make = || -> Result<()> {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(rdma, call)? }.as_static();
        if task.is_null() {
            return null_argument(call, "task");
        }
        // SAFETY: a handle, or NULL.
        let conn = match given.op {
            Op::Receive => ConnRef::default(),
            // SAFETY: as above.
            _ => unsafe { connection(core, given.connection, call)? },
        };
        let slot = core.allocate_checked(given.op as usize, user, call)?;
        // SAFETY: handles, or NULL; buffers are only noted. The slot is the program's until it is submitted.
        unsafe {
            let (local, bad_local) = lend(given.local, LOCAL_BAD);
            let (remote, bad_remote) = lend(given.remote, REMOTE_BAD);
            slot.job::<Job>().write(Job {
                op: given.op,
                flags: bad_local | bad_remote,
                opcode: Opcode::Send,
                imm: given.imm,
                len: 0,
                conn,
                handle: given.connection as usize,
                local,
                remote,
                words: given.words,
                owned: None,
            });
            task.write(slot);
        }
        Ok(())
    };
    softdpu_room::entry::number(make())
}

/// The job of a task handle. Getters also work on a task that was just freed, whose memory stays while its context does.
pub(super) unsafe fn job(task: *const Slot, op: Op, call: &str, stale: bool) -> Option<*mut Job> {
    // SAFETY: a handle, or NULL; slots and contexts are never given back to the system. The slot of a living context of
    // this engine holds a job since it was first allocated.
    unsafe {
        let slot = match live(task) {
            Some(slot) => slot,
            None if stale && !task.is_null() && (*task.cast::<Head>()).is(kind::TASK | DEAD_BIT) => &*task,
            None => {
                explain(task, call);
                return None;
            }
        };
        let core = live(slot.context_of_stale().cast_const());
        if core.is_none_or(|core| !core.is_of(Rdma::INFO)) || slot.op() != op as usize {
            log::error!(target: "softdpu::handle", "{call}: {task:p} is no {} task of an rdma context", op.name());
            return None;
        }
        Some(slot.job::<Job>())
    }
}

/// Of a task that the program owns: setters leave one in flight alone.
pub(super) unsafe fn own_job(task: *const Slot, op: Op, call: &str) -> Option<*mut Job> {
    // SAFETY: a handle, or NULL.
    let job = unsafe { job(task, op, call, false)? };
    // SAFETY: alive, as `job` found.
    if unsafe { &*task }.is_in_flight() {
        log::error!(target: crate::LOG, "{call}: task {task:p} is in flight; its fields stay as they are");
        return None;
    }
    Some(job)
}

macro_rules! common {
    ($op:ident, $conf:ident, $as_task:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $conf(
            rdma: *const Core,
            successful_task_completion_cb: Option<Completion>,
            error_task_completion_cb: Option<Completion>,
            num_tasks: u32,
        ) -> i32 {
            let callbacks = [successful_task_completion_cb, error_task_completion_cb];
            // SAFETY: a handle, or NULL.
            guard(|| unsafe { set_conf(rdma, Op::$op, callbacks, num_tasks, stringify!($conf)) })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $as_task(task: *const Slot) -> *const Slot {
            task
        }
    };
}

macro_rules! get {
    ($($op:ident: $name:ident -> $type:ty = $none:expr, |$job:ident| $read:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(task: *const Slot) -> $type {
            // SAFETY: a handle, or NULL; the slot holds a job since it was allocated.
            unsafe { job(task, Op::$op, stringify!($name), true).map_or($none, |$job| $read) }
        }
    )*};
}

macro_rules! set {
    ($($op:ident: $name:ident($value:ident: $type:ty) = |$job:ident| $write:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(task: *const Slot, $value: $type) {
            // SAFETY: the program owns the task while it is not in flight.
            unsafe {
                if let Some($job) = own_job(task, Op::$op, stringify!($name)) {
                    $write;
                }
            }
        }
    )*};
}

pub(super) unsafe fn set_local(job: *mut Job, buffer: *const Node) {
    // SAFETY: the caller owns the job.
    unsafe {
        let (lent, bad) = lend(buffer, LOCAL_BAD);
        (*job).local = lent;
        (*job).flags = (*job).flags & !LOCAL_BAD | bad;
    }
}

unsafe fn set_remote(job: *mut Job, buffer: *const Node) {
    // SAFETY: the caller owns the job.
    unsafe {
        let (lent, bad) = lend(buffer, REMOTE_BAD);
        (*job).remote = lent;
        (*job).flags = (*job).flags & !REMOTE_BAD | bad;
    }
}

pub(super) unsafe fn set_connection(task: *const Slot, job: *mut Job, to: *const Handle, call: &str) {
    // SAFETY: a task that is alive and the program's.
    unsafe {
        if let Ok(which) = connection((*task).context(), to, call) {
            ((*job).conn, (*job).handle) = (which, to as usize);
        }
    }
}

macro_rules! to_connection {
    ($($op:ident: $set:ident, $get:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(task: *const Slot, rdma_connection: *const Handle) {
            // SAFETY: the program owns the task while it is not in flight.
            unsafe {
                if let Some(job) = own_job(task, Op::$op, stringify!($set)) {
                    set_connection(task, job, rdma_connection, stringify!($set));
                }
            }
        }
        get! { $op: $get -> *const Handle = null(), |job| (*job).handle as *const Handle; }
    )*};
}

common!(Receive, doca_rdma_task_receive_set_conf, doca_rdma_task_receive_as_task);
common!(Send, doca_rdma_task_send_set_conf, doca_rdma_task_send_as_task);
common!(SendImm, doca_rdma_task_send_imm_set_conf, doca_rdma_task_send_imm_as_task);
common!(Read, doca_rdma_task_read_set_conf, doca_rdma_task_read_as_task);
common!(Write, doca_rdma_task_write_set_conf, doca_rdma_task_write_as_task);
common!(WriteImm, doca_rdma_task_write_imm_set_conf, doca_rdma_task_write_imm_as_task);
common!(CmpSwap, doca_rdma_task_atomic_cmp_swp_set_conf, doca_rdma_task_atomic_cmp_swp_as_task);
common!(FetchAdd, doca_rdma_task_atomic_fetch_add_set_conf, doca_rdma_task_atomic_fetch_add_as_task);

to_connection! {
    Send: doca_rdma_task_send_set_rdma_connection, doca_rdma_task_send_get_rdma_connection;
    SendImm: doca_rdma_task_send_imm_set_rdma_connection, doca_rdma_task_send_imm_get_rdma_connection;
    Read: doca_rdma_task_read_set_rdma_connection, doca_rdma_task_read_get_rdma_connection;
    Write: doca_rdma_task_write_set_rdma_connection, doca_rdma_task_write_get_rdma_connection;
    WriteImm: doca_rdma_task_write_imm_set_rdma_connection, doca_rdma_task_write_imm_get_rdma_connection;
    CmpSwap: doca_rdma_task_atomic_cmp_swp_set_rdma_connection, doca_rdma_task_atomic_cmp_swp_get_rdma_connection;
    FetchAdd: doca_rdma_task_atomic_fetch_add_set_rdma_connection, doca_rdma_task_atomic_fetch_add_get_rdma_connection;
}

get! {
    Receive: doca_rdma_task_receive_get_dst_buf -> *const Node = null(), |job| (*job).local.handle();
    Receive: doca_rdma_task_receive_get_result_opcode -> u32 = 0, |job| (*job).opcode as u32;
    Receive: doca_rdma_task_receive_get_result_len -> u32 = 0, |job| (*job).len;
    Receive: doca_rdma_task_receive_get_result_immediate_data -> u32 = 0, |job| u32::from_ne_bytes((*job).imm);
    Receive: doca_rdma_task_receive_get_result_rdma_connection -> *const Handle = null(), |job| (*job).handle as *const Handle;
    Send: doca_rdma_task_send_get_src_buf -> *const Node = null(), |job| (*job).local.handle();
    SendImm: doca_rdma_task_send_imm_get_src_buf -> *const Node = null(), |job| (*job).local.handle();
    SendImm: doca_rdma_task_send_imm_get_immediate_data -> u32 = 0, |job| u32::from_ne_bytes((*job).imm);
    Read: doca_rdma_task_read_get_src_buf -> *const Node = null(), |job| (*job).remote.handle();
    Read: doca_rdma_task_read_get_dst_buf -> *const Node = null(), |job| (*job).local.handle();
    Read: doca_rdma_task_read_get_result_len -> u32 = 0, |job| (*job).len;
    Write: doca_rdma_task_write_get_src_buf -> *const Node = null(), |job| (*job).local.handle();
    Write: doca_rdma_task_write_get_dst_buf -> *const Node = null(), |job| (*job).remote.handle();
    WriteImm: doca_rdma_task_write_imm_get_src_buf -> *const Node = null(), |job| (*job).local.handle();
    WriteImm: doca_rdma_task_write_imm_get_dst_buf -> *const Node = null(), |job| (*job).remote.handle();
    WriteImm: doca_rdma_task_write_imm_get_immediate_data -> u32 = 0, |job| u32::from_ne_bytes((*job).imm);
    CmpSwap: doca_rdma_task_atomic_cmp_swp_get_dst_buf -> *const Node = null(), |job| (*job).remote.handle();
    CmpSwap: doca_rdma_task_atomic_cmp_swp_get_result_buf -> *const Node = null(), |job| (*job).local.handle();
    CmpSwap: doca_rdma_task_atomic_cmp_swp_get_cmp_data -> u64 = 0, |job| (*job).words[0];
    CmpSwap: doca_rdma_task_atomic_cmp_swp_get_swap_data -> u64 = 0, |job| (*job).words[1];
    FetchAdd: doca_rdma_task_atomic_fetch_add_get_dst_buf -> *const Node = null(), |job| (*job).remote.handle();
    FetchAdd: doca_rdma_task_atomic_fetch_add_get_result_buf -> *const Node = null(), |job| (*job).local.handle();
    FetchAdd: doca_rdma_task_atomic_fetch_add_get_add_data -> u64 = 0, |job| (*job).words[0];
}

set! {
    Receive: doca_rdma_task_receive_set_dst_buf(dst_buf: *const Node) = |job| set_local(job, dst_buf);
    Send: doca_rdma_task_send_set_src_buf(src_buf: *const Node) = |job| set_local(job, src_buf);
    SendImm: doca_rdma_task_send_imm_set_src_buf(src_buf: *const Node) = |job| set_local(job, src_buf);
    SendImm: doca_rdma_task_send_imm_set_immediate_data(immediate_data: u32) = |job| (*job).imm = immediate_data.to_ne_bytes();
    Read: doca_rdma_task_read_set_src_buf(src_buf: *const Node) = |job| set_remote(job, src_buf);
    Read: doca_rdma_task_read_set_dst_buf(dst_buf: *const Node) = |job| set_local(job, dst_buf);
    Write: doca_rdma_task_write_set_src_buf(src_buf: *const Node) = |job| set_local(job, src_buf);
    Write: doca_rdma_task_write_set_dst_buf(dst_buf: *const Node) = |job| set_remote(job, dst_buf);
    WriteImm: doca_rdma_task_write_imm_set_src_buf(src_buf: *const Node) = |job| set_local(job, src_buf);
    WriteImm: doca_rdma_task_write_imm_set_dst_buf(dst_buf: *const Node) = |job| set_remote(job, dst_buf);
    WriteImm: doca_rdma_task_write_imm_set_immediate_data(immediate_data: u32) = |job| (*job).imm = immediate_data.to_ne_bytes();
    CmpSwap: doca_rdma_task_atomic_cmp_swp_set_dst_buf(dst_buf: *const Node) = |job| set_remote(job, dst_buf);
    CmpSwap: doca_rdma_task_atomic_cmp_swp_set_result_buf(result_buf: *const Node) = |job| set_local(job, result_buf);
    CmpSwap: doca_rdma_task_atomic_cmp_swp_set_cmp_data(cmp_data: u64) = |job| (*job).words[0] = cmp_data;
    CmpSwap: doca_rdma_task_atomic_cmp_swp_set_swap_data(swap_data: u64) = |job| (*job).words[1] = swap_data;
    FetchAdd: doca_rdma_task_atomic_fetch_add_set_dst_buf(dst_buf: *const Node) = |job| set_remote(job, dst_buf);
    FetchAdd: doca_rdma_task_atomic_fetch_add_set_result_buf(result_buf: *const Node) = |job| set_local(job, result_buf);
    FetchAdd: doca_rdma_task_atomic_fetch_add_set_add_data(add_data: u64) = |job| (*job).words[0] = add_data;
}

macro_rules! make {
    ($op:ident: $name:ident($($argument:ident: $type:ty),*) = $connection:expr, $local:expr, $remote:expr, $imm:expr, $words:expr;) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            rdma: *const Core,
            $($argument: $type,)*
            user_data: u64,
            task: *mut *const Slot,
        ) -> i32 {
            let (local, remote, imm, words) = ($local, $remote, $imm, $words);
            let given = Given { op: Op::$op, connection: $connection, local, remote, imm, words };
            // SAFETY: handles and an out parameter, or NULL.
            unsafe { allocate(rdma, &given, user_data, task, stringify!($name)) }
        }
    };
}

make! { Receive: doca_rdma_task_receive_allocate_init(dst_buf: *const Node) = null(), dst_buf, null(), [0; 4], [0; 2]; }
make! {
    Send: doca_rdma_task_send_allocate_init(rdma_connection: *const Handle, src_buf: *const Node)
        = rdma_connection, src_buf, null(), [0; 4], [0; 2];
}
make! {
    SendImm: doca_rdma_task_send_imm_allocate_init(
        rdma_connection: *const Handle, src_buf: *const Node, immediate_data: u32)
        = rdma_connection, src_buf, null(), immediate_data.to_ne_bytes(), [0; 2];
}
make! {
    Read: doca_rdma_task_read_allocate_init(
        rdma_connection: *const Handle, src_buf: *const Node, dst_buf: *const Node)
        = rdma_connection, dst_buf, src_buf, [0; 4], [0; 2];
}
make! {
    Write: doca_rdma_task_write_allocate_init(
        rdma_connection: *const Handle, src_buf: *const Node, dst_buf: *const Node)
        = rdma_connection, src_buf, dst_buf, [0; 4], [0; 2];
}
make! {
    WriteImm: doca_rdma_task_write_imm_allocate_init(
        rdma_connection: *const Handle, src_buf: *const Node, dst_buf: *const Node, immediate_data: u32)
        = rdma_connection, src_buf, dst_buf, immediate_data.to_ne_bytes(), [0; 2];
}
make! {
    CmpSwap: doca_rdma_task_atomic_cmp_swp_allocate_init(
        rdma_connection: *const Handle, dst_buf: *const Node, result_buf: *const Node, cmp_data: u64, swap_data: u64)
        = rdma_connection, result_buf, dst_buf, [0; 4], [cmp_data, swap_data];
}
make! {
    FetchAdd: doca_rdma_task_atomic_fetch_add_allocate_init(
        rdma_connection: *const Handle, dst_buf: *const Node, result_buf: *const Node, add_data: u64)
        = rdma_connection, result_buf, dst_buf, [0; 4], [add_data, 0];
}
