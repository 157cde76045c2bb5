//! The receive task.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_eth_rxq_cpu_data_path.h"
)]

use super::rx_setup::queue;
use super::rx_start::{RECV, RxPart};
use super::{asked, job, lock, null, part, put, resting};
use crate::rxq::{EthRxq, RecvJob, Want};
use softdpu_memory::handle::checked;
use softdpu_memory::node::{Lent, Node};
use softdpu_room::context::Core;
use softdpu_room::engine::Engine;
use softdpu_room::entry::number;
use softdpu_room::slot::Slot;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_task_recv_allocate_init(
    eth_rxq: *const Core,
    pkt: *const Node,
    user_data: u64,
    task_recv: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_eth_rxq_task_recv_allocate_init";
    // SAFETY: handles and an out parameter, or NULL; the slot is the program's until it is submitted, its context is of this
    // engine.
    let made = || unsafe {
        let (core, ..) = queue(eth_rxq, CALL)?;
        checked(pkt, CALL)?;
        if task_recv.is_null() {
            return null(CALL, "task_recv");
        }
        let slot = core.allocate_checked(RECV, user_data, CALL)?;
        slot.job::<RecvJob>().write(RecvJob::new(Lent::from_handle(pkt)));
        task_recv.write(slot);
        Ok(())
    };
    number(made())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_task_recv_set_pkt(task_recv: *const Slot, pkt: *const Node) {
    const CALL: &str = "doca_eth_rxq_task_recv_set_pkt";
    // SAFETY: handles, or NULL; the program owns a task that is not in flight. What is wrong is in the log.
    unsafe {
        if let Ok(job) = resting::<RecvJob>(task_recv, EthRxq::INFO, RECV, CALL) {
            (*job).packet = Lent::from_handle(pkt);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_task_recv_as_doca_task(task_recv: *const Slot) -> *const Slot {
    task_recv
}

unsafe fn want(task: *const Slot) -> Want {
    // SAFETY: a task of a receive queue, whose part is of this type; settings do not change while it runs.
    unsafe { lock(&part::<RxPart>((*task).context()).settings).want }
}

macro_rules! read {
    ($($name:ident($out:ident: $type:ty) $(if $what:literal $wanted:expr)? => |$job:ident| $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(task_recv: *const Slot, $out: *mut $type) -> i32 {
            const CALL: &str = stringify!($name);
            // SAFETY: a handle and an out parameter, or NULL; the slot holds a job of this type since it was allocated.
            let read = || unsafe {
                let $job = job::<RecvJob>(task_recv, EthRxq::INFO, None, CALL, true)?;
                if $out.is_null() {
                    return null(CALL, stringify!($out));
                }
                $(
                    let wanted: fn(Want) -> bool = $wanted;
                    asked(wanted(want(task_recv)), CALL, $what)?;
                )?
                put(CALL, stringify!($out), $out, $value)
            };
            number(read())
        }
    )*};
}

read! {
    doca_eth_rxq_task_recv_get_pkt(pkt: *const Node) => |job| (*job).packet.handle();
    doca_eth_rxq_task_recv_get_l3_ok(l3_ok: u8) => |job| (*job).info.l3_ok.into();
    doca_eth_rxq_task_recv_get_l4_ok(l4_ok: u8) => |job| (*job).info.l4_ok.into();
    doca_eth_rxq_task_recv_get_metadata_array(metadata_array: *const u32)
        if "metadata" |want| want.words > 0 => |job| (&raw const (*job).info.metadata).cast();
    doca_eth_rxq_task_recv_get_flow_tag(flow_tag: u32) if "flow tag" |want| want.flow_tag => |job| (*job).info.flow_tag;
    doca_eth_rxq_task_recv_get_rx_hash(rx_hash: u32) if "hash" |want| want.hash => |job| (*job).info.hash;
    doca_eth_rxq_task_recv_get_timestamp(timestamp: u64)
        if "timestamp" |want| want.timestamp => |job| (*job).info.timestamp;
}
