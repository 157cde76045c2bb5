//! Send queues: contexts and their settings.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_eth_txq.h and doca_eth_txq_cpu_data_path.h"
)]

use super::tx_start::{self, BATCH_LSO_SEND, BATCH_SEND, Batches, LSO_SEND, SEND, TxPart};
use super::{context, destroy, lock, null, part, put, refuse, set_part, within};
use crate::batch::Batch;
use crate::caps::TxCaps;
use crate::lent::Gather;
use crate::sync::{AtomicI32, AtomicPtr, AtomicU64};
use crate::txq::EthTxq;
use core::ptr::null as nil;
use softdpu_memory::handle::{OpenDevice, checked};
use softdpu_memory::node::Node;
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry::{guard, guard_unforked, guard_value};
use softdpu_status::{Code, Result};

/// The context behind a handle, its part and its device's limits.
pub(super) unsafe fn queue(txq: *const Core, call: &str) -> Result<(&'static Core, &'static TxPart, TxCaps)> {
    // SAFETY: a handle, or NULL; send queues have a part of this type.
    unsafe {
        let core = context(txq, EthTxq::INFO, call)?;
        Ok((core, part::<TxPart>(core), TxCaps::of(core.device().function())?))
    }
}

/// As [`queue`], for settings.
unsafe fn idle(txq: *const Core, call: &str) -> Result<(&'static Core, &'static TxPart, TxCaps)> {
    // SAFETY: as for `queue`.
    let found = unsafe { queue(txq, call)? };
    found.0.require(State::Idle, call)?;
    Ok(found)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_create(
    dev: *const OpenDevice,
    max_burst_size: u32,
    eth_txq: *mut *const Core,
) -> i32 {
    const CALL: &str = "doca_eth_txq_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device();
        if eth_txq.is_null() {
            return null(CALL, "eth_txq");
        }
        let caps = TxCaps::of(device.function())?;
        within(CALL, "burst size", max_burst_size.into(), 1, caps.max_burst_size.into())?;
        let core = Core::create(EthTxq::INFO, device.clone(), softdpu_room::board::of_process())?;
        set_part(core, TxPart::new(max_burst_size));
        core.set_starter(tx_start::start);
        // SAFETY: a non-NULL out parameter.
        unsafe { eth_txq.write(core) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_destroy(eth_txq: *const Core) -> i32 {
    const CALL: &str = "doca_eth_txq_destroy";
    // SAFETY: a handle, or NULL; send queues have a part of this type.
    guard(|| unsafe { destroy::<TxPart>(context(eth_txq, EthTxq::INFO, CALL)?, CALL) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_as_doca_ctx(eth_txq: *const Core) -> *const Core {
    const CALL: &str = "doca_eth_txq_as_doca_ctx";
    guard_value(nil(), || {
        if eth_txq.is_null() {
            return nil();
        }
        // SAFETY: a handle.
        unsafe { context(eth_txq, EthTxq::INFO, CALL) }.map_or(nil(), core::ptr::from_ref)
    })
}

/// Settings that are numbers: name, argument, least and most, what to do with it.
macro_rules! setting {
    ($($name:ident($value:ident: $type:ty, $what:literal, $least:expr, $most:expr) $set:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(eth_txq: *const Core, $value: $type) -> i32 {
            const CALL: &str = stringify!($name);
            guard(|| {
                // SAFETY: a handle, or NULL.
                let (_, part, caps) = unsafe { idle(eth_txq, CALL)? };
                let most: fn(&TxCaps) -> u64 = $most;
                within(CALL, $what, $value.into(), $least, most(&caps))?;
                let set: fn(&mut tx_start::TxSettings, $type) = $set;
                set(&mut lock(&part.settings), $value);
                Ok(())
            })
        }
    )*};
}

setting! {
    doca_eth_txq_set_type(r#type: u32, "type", 0, |_| 0)
        |_, _| ();
    doca_eth_txq_set_max_burst_size(max_burst_size: u32, "burst size", 1, |c| c.max_burst_size.into())
        |s, v| s.max_burst = v;
    doca_eth_txq_set_max_send_buf_list_len(
        max_send_buf_list_len: u32, "list length", 1, |c| c.max_send_buf_list_len.into())
        |s, v| s.list_len = v;
    doca_eth_txq_set_metadata_num(metadata_num: u8, "words of metadata", 0, |c| c.max_metadata_num.into())
        |s, v| s.words = v;
    doca_eth_txq_set_mss(mss: u16, "segment size", 1, |c| u64::from(c.max_packet_size).min(u16::MAX.into()))
        |s, v| s.mss = v;
    doca_eth_txq_set_max_lso_header_size(
        max_lso_header_size: u16, "header size", 1, |c| c.max_lso_header_size.into())
        |s, v| s.max_header = v;
}

unsafe fn set_checksum(txq: *const Core, enable: u8, flag: u16, has: fn(&TxCaps) -> bool, call: &str) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (_, part, caps) = unsafe { idle(txq, call)? };
        if enable != 0 && !has(&caps) {
            return refuse(
                Code::NotSupported,
                "checksum",
                format_args!("{call}: the device fills in no such checksum"),
            );
        }
        let mut settings = lock(&part.settings);
        settings.flags = if enable != 0 { settings.flags | flag } else { settings.flags & !flag };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_set_l3_chksum_offload(
    eth_txq: *const Core,
    enable_l3_chksum: u8,
) -> i32 {
    // SAFETY: a handle, or NULL.
    unsafe {
        set_checksum(eth_txq, enable_l3_chksum, 1, |c| c.l3_checksum, "doca_eth_txq_set_l3_chksum_offload")
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_set_l4_chksum_offload(
    eth_txq: *const Core,
    enable_l4_chksum: u8,
) -> i32 {
    // SAFETY: a handle, or NULL.
    unsafe {
        set_checksum(eth_txq, enable_l4_chksum, 2, |c| c.l4_checksum, "doca_eth_txq_set_l4_chksum_offload")
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_set_wait_on_time_offload(eth_txq: *const Core) -> i32 {
    const CALL: &str = "doca_eth_txq_set_wait_on_time_offload";
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { idle(eth_txq, CALL)? };
        refuse(
            Code::NotSupported,
            "waiting sends",
            format_args!("{CALL}: sends do not wait for a point in time here"),
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_calculate_timestamp(
    eth_txq: *const Core,
    timestamp_ns: u64,
    wait_on_time_value: *mut u64,
) -> i32 {
    const CALL: &str = "doca_eth_txq_calculate_timestamp";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (core, ..) = unsafe { queue(eth_txq, CALL)? };
        if wait_on_time_value.is_null() {
            return null(CALL, "wait_on_time_value");
        }
        core.require(State::Running, CALL)?;
        let line = format_args!("{CALL}: no value for {timestamp_ns} ns: waiting sends are off");
        refuse(Code::NotPermitted, "waiting sends are off", line)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_apply_queue_id(eth_txq: *const Core, queue_id: u16) -> i32 {
    const CALL: &str = "doca_eth_txq_apply_queue_id";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (core, part, _) = unsafe { queue(eth_txq, CALL)? };
        core.require(State::Running, CALL)?;
        part.terms(CALL)?.set_number(queue_id)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_get_flow_queue_id(
    eth_txq: *const Core,
    flow_queue_id: *mut u16,
) -> i32 {
    const CALL: &str = "doca_eth_txq_get_flow_queue_id";
    guard(|| {
        // SAFETY: a handle and an out parameter, or NULL.
        unsafe {
            let (_, part, _) = queue(eth_txq, CALL)?;
            if flow_queue_id.is_null() {
                return null(CALL, "flow_queue_id");
            }
            match part.terms(CALL)?.number() {
                Some(number) => put(CALL, "flow_queue_id", flow_queue_id, number),
                None => {
                    refuse(Code::BadState, "not started", format_args!("{CALL}: the queue is not started"))
                }
            }
        }
    })
}

unsafe fn set_conf(
    txq: *const Core,
    calls: [Option<Completion>; 2],
    tasks: u32,
    op: usize,
    call: &str,
) -> Result<()> {
    // SAFETY: a handle, or NULL.
    let (core, part, caps) = unsafe { idle(txq, call)? };
    let [Some(success), Some(error)] = calls else { return null(call, "a callback") };
    if op == LSO_SEND {
        large(&caps, call)?;
    }
    within(call, "number of tasks", tasks.into(), 1, caps.max_burst_size.into())?;
    lock(&part.settings).tasks[op] = tasks;
    core.set_callbacks(op, success, error);
    Ok(())
}

/// Refuses large sends where the device cannot cut them.
fn large(caps: &TxCaps, call: &str) -> Result<()> {
    if caps.lso {
        return Ok(());
    }
    refuse(Code::NotSupported, "large sends", format_args!("{call}: the device cuts no large sends"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_send_set_conf(
    eth_txq: *const Core,
    task_completion_cb: Option<Completion>,
    task_error_cb: Option<Completion>,
    task_send_num: u32,
) -> i32 {
    const CALL: &str = "doca_eth_txq_task_send_set_conf";
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { set_conf(eth_txq, [task_completion_cb, task_error_cb], task_send_num, SEND, CALL) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_lso_send_set_conf(
    eth_txq: *const Core,
    task_completion_cb: Option<Completion>,
    task_error_cb: Option<Completion>,
    task_lso_send_num: u32,
) -> i32 {
    const CALL: &str = "doca_eth_txq_task_lso_send_set_conf";
    // SAFETY: a handle, or NULL.
    guard(|| unsafe {
        set_conf(eth_txq, [task_completion_cb, task_error_cb], task_lso_send_num, LSO_SEND, CALL)
    })
}

/// Completion of a batch of sends: batch, number of tasks, data of context and batch, and the arrays.
pub type BatchCallback = unsafe extern "C" fn(
    *const Batch,
    u16,
    u64,
    u64,
    *const AtomicU64,
    *const AtomicPtr<Node>,
    *const AtomicI32,
);
/// The same for large sends, with the array of header lists.
pub type LargeBatchCallback = unsafe extern "C" fn(
    *const Batch,
    u16,
    u64,
    u64,
    *const AtomicU64,
    *const AtomicPtr<Node>,
    *const AtomicPtr<Gather>,
    *const AtomicI32,
);

/// Sixteen, and so on, by the contract's numbers.
fn most_tasks(call: &str, number: u32) -> Result<u16> {
    within(call, "most tasks of a batch (as the contract numbers it)", number.into(), 0, 3)?;
    Ok(16 << number)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_batch_send_set_conf(
    eth_txq: *const Core,
    max_tasks_number: u32,
    num_task_batches: u16,
    success_completion_cb: Option<BatchCallback>,
    error_completion_cb: Option<BatchCallback>,
) -> i32 {
    const CALL: &str = "doca_eth_txq_task_batch_send_set_conf";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (core, part, _) = unsafe { idle(eth_txq, CALL)? };
        let (Some(success), Some(error)) = (success_completion_cb, error_completion_cb) else {
            return null(CALL, "a callback");
        };
        let most = most_tasks(CALL, max_tasks_number)?;
        within(CALL, "number of batches", num_task_batches.into(), 1, u16::MAX.into())?;
        let mut settings = lock(&part.settings);
        settings.batches = Some(Batches { most, calls: [success, error] });
        settings.tasks[BATCH_SEND] = num_task_batches.into();
        core.set_callbacks(BATCH_SEND, tx_start::landed, tx_start::landed);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_batch_lso_send_set_conf(
    eth_txq: *const Core,
    max_tasks_number: u32,
    num_task_batches: u16,
    success_completion_cb: Option<LargeBatchCallback>,
    error_completion_cb: Option<LargeBatchCallback>,
) -> i32 {
    const CALL: &str = "doca_eth_txq_task_batch_lso_send_set_conf";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (core, part, caps) = unsafe { idle(eth_txq, CALL)? };
        let (Some(success), Some(error)) = (success_completion_cb, error_completion_cb) else {
            return null(CALL, "a callback");
        };
        large(&caps, CALL)?;
        let most = most_tasks(CALL, max_tasks_number)?;
        within(CALL, "number of batches", num_task_batches.into(), 1, u16::MAX.into())?;
        let mut settings = lock(&part.settings);
        settings.large_batches = Some(Batches { most, calls: [success, error] });
        settings.tasks[BATCH_LSO_SEND] = num_task_batches.into();
        core.set_callbacks(BATCH_LSO_SEND, tx_start::landed, tx_start::landed);
        Ok(())
    })
}

unsafe fn expand(txq: *const Core, op: usize, count: u32, call: &str) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (core, part, _) = unsafe { queue(txq, call)? };
        core.require(State::Running, call)?;
        within(call, "number of tasks", count.into(), 1, u32::MAX.into())?;
        if lock(&part.settings).tasks[op] == 0 {
            let line = format_args!("{call}: the queue was not set up for such tasks");
            return refuse(Code::InvalidValue, "no such tasks", line);
        }
        part.expand(core, op, count)
    })
}

macro_rules! expansions {
    ($($op:ident: $name:ident($count:ident: $type:ty);)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(eth_txq: *const Core, $count: $type) -> i32 {
            // SAFETY: a handle, or NULL.
            unsafe { expand(eth_txq, $op, $count.into(), stringify!($name)) }
        }
    )*};
}

expansions! {
    SEND: doca_eth_txq_task_send_num_expand(task_send_num: u32);
    LSO_SEND: doca_eth_txq_task_lso_send_num_expand(task_lso_send_num: u32);
    BATCH_SEND: doca_eth_txq_task_batch_send_num_expand(task_batches_num: u16);
    BATCH_LSO_SEND: doca_eth_txq_task_batch_lso_send_num_expand(task_batches_num: u16);
}
