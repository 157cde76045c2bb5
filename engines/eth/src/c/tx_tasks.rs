//! The send task and the large send task.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_eth_txq_cpu_data_path.h"
)]

use super::tx_setup::queue;
use super::tx_start::{LSO_SEND, SEND, TxPart};
use super::{asked, job, lock, null, part, put, resting, within};
use crate::lent::{Gather, LentHeaders};

use crate::txq::{EthTxq, SendJob};
use softdpu_memory::handle::checked;
use softdpu_memory::node::{Lent, Node};
use softdpu_room::context::Core;
use softdpu_room::engine::Engine;
use softdpu_room::entry::number;
use softdpu_room::slot::Slot;
use softdpu_status::Result;

/// All checksum flags there are.
const FLAGS: u64 = 3;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_send_allocate_init(
    eth_txq: *const Core,
    pkt: *const Node,
    user_data: u64,
    task_send: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_eth_txq_task_send_allocate_init";
    // SAFETY: handles and an out parameter, or NULL; the slot is the program's until it is submitted, its context is of this
    // engine.
    let made = || unsafe {
        let (core, part, _) = queue(eth_txq, CALL)?;
        checked(pkt, CALL)?;
        if task_send.is_null() {
            return null(CALL, "task_send");
        }
        let slot = core.allocate_checked(SEND, user_data, CALL)?;
        let flags = lock(&part.settings).flags;
        slot.job::<SendJob>().write(SendJob::frame(Lent::from_handle(pkt), flags));
        task_send.write(slot);
        Ok(())
    };
    number(made())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_lso_send_allocate_init(
    eth_txq: *const Core,
    pkt_payload: *const Node,
    headers: *const Gather,
    user_data: u64,
    task_lso_send: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_eth_txq_task_lso_send_allocate_init";
    // SAFETY: as above; header pieces are only noted.
    let made = || unsafe {
        let (core, part, _) = queue(eth_txq, CALL)?;
        checked(pkt_payload, CALL)?;
        if headers.is_null() {
            return null(CALL, "headers");
        }
        if task_lso_send.is_null() {
            return null(CALL, "task_lso_send");
        }
        let slot = core.allocate_checked(LSO_SEND, user_data, CALL)?;
        let (flags, mss) = {
            let settings = lock(&part.settings);
            (settings.flags, settings.mss)
        };
        let (payload, headers) = (Lent::from_handle(pkt_payload), LentHeaders::new(headers));
        slot.job::<SendJob>().write(SendJob::large(payload, headers, mss, flags));
        task_lso_send.write(slot);
        Ok(())
    };
    number(made())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_send_as_doca_task(task_send: *const Slot) -> *const Slot {
    task_send
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_lso_send_as_doca_task(task_lso_send: *const Slot) -> *const Slot {
    task_lso_send
}

macro_rules! write {
    ($($op:ident: $name:ident($value:ident: $type:ty) |$job:ident| $set:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(task: *const Slot, $value: $type) {
            // SAFETY: handles, or NULL; the program owns a task that is not in flight. What is wrong is in the log.
            unsafe {
                if let Ok($job) = resting::<SendJob>(task, EthTxq::INFO, $op, stringify!($name)) {
                    $set;
                }
            }
        }
    )*};
}

write! {
    SEND: doca_eth_txq_task_send_set_pkt(pkt: *const Node) |job| (*job).packet = Lent::from_handle(pkt);
    LSO_SEND: doca_eth_txq_task_lso_send_set_pkt_payload(pkt_payload: *const Node)
        |job| (*job).packet = Lent::from_handle(pkt_payload);
    LSO_SEND: doca_eth_txq_task_lso_send_set_headers(headers: *const Gather)
        |job| (*job).headers = LentHeaders::new(headers);
    LSO_SEND: doca_eth_txq_task_lso_send_set_mss(mss: u16) |job| (*job).mss = mss;
    SEND: doca_eth_txq_task_send_set_ol_flags(ol_flags: u16) |job| if known("doca_eth_txq_task_send_set_ol_flags", ol_flags) {
        (*job).flags = ol_flags;
    };
    LSO_SEND: doca_eth_txq_task_lso_send_set_ol_flags(ol_flags: u16)
        |job| if known("doca_eth_txq_task_lso_send_set_ol_flags", ol_flags) {
            (*job).flags = ol_flags;
        };
}

/// Are these flags that exist? Others are refused with a log line.
fn known(call: &str, flags: u16) -> bool {
    within(call, "checksum flags", flags.into(), 0, FLAGS).is_ok()
}

macro_rules! read {
    ($($op:ident: $name:ident($out:ident: $type:ty) |$job:ident| $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(task: *const Slot, $out: *mut $type) -> i32 {
            const CALL: &str = stringify!($name);
            // SAFETY: a handle and an out parameter, or NULL; the slot holds a job of this type since it was allocated.
            let read = || unsafe {
                let $job = job::<SendJob>(task, EthTxq::INFO, Some($op), CALL, true)?;
                put(CALL, stringify!($out), $out, $value)
            };
            number(read())
        }
    )*};
}

read! {
    SEND: doca_eth_txq_task_send_get_pkt(pkt: *const Node) |job| (*job).packet.handle();
    LSO_SEND: doca_eth_txq_task_lso_send_get_pkt_payload(pkt_payload: *const Node) |job| (*job).packet.handle();
    LSO_SEND: doca_eth_txq_task_lso_send_get_headers(headers: *const Gather) |job| (*job).headers.handle();
}

unsafe fn metadata(task: *const Slot, op: usize, out: *mut *mut u32, call: &str) -> Result<()> {
    // SAFETY: a handle and an out parameter, or NULL; send queues have a part of this type.
    unsafe {
        let job = job::<SendJob>(task, EthTxq::INFO, Some(op), call, false)?;
        if out.is_null() {
            return null(call, "metadata_array");
        }
        asked(lock(&part::<TxPart>((*task).context()).settings).words > 0, call, "metadata")?;
        put(call, "metadata_array", out, (&raw mut (*job).words).cast())
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_send_get_metadata_array(
    task_send: *const Slot,
    metadata_array: *mut *mut u32,
) -> i32 {
    const CALL: &str = "doca_eth_txq_task_send_get_metadata_array";
    // SAFETY: a handle and an out parameter, or NULL.
    number(unsafe { metadata(task_send, SEND, metadata_array, CALL) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_lso_send_get_metadata_array(
    task_lso_send: *const Slot,
    metadata_array: *mut *mut u32,
) -> i32 {
    const CALL: &str = "doca_eth_txq_task_lso_send_get_metadata_array";
    // SAFETY: a handle and an out parameter, or NULL.
    number(unsafe { metadata(task_lso_send, LSO_SEND, metadata_array, CALL) })
}
