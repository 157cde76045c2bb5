//! Receive events of managed queues, single and in batches.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_eth_rxq_cpu_data_path.h"
)]

use super::rx_start::array_of;
use super::{asked, null, put};
use crate::rxq::{Report, Want};
use crate::sync::{AtomicPtr, Ordering::Relaxed};
use core::ptr::null as nil;
use softdpu_memory::handle::{checked, explain, live};
use softdpu_memory::node::Node;
use softdpu_room::context::Core;
use softdpu_room::entry::number;
use softdpu_status::Result;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_event_managed_recv_get_status(event: *const Report) -> i32 {
    const CALL: &str = "doca_eth_rxq_event_managed_recv_get_status";
    // SAFETY: a handle, or NULL.
    match unsafe { checked(event, CALL) } {
        Ok(report) => report.status.load(Relaxed),
        Err(error) => error.code().number(),
    }
}

unsafe fn ctx(event: *const Report, call: &str) -> *const Core {
    // SAFETY: a handle, or NULL.
    unsafe { checked(event, call) }.map_or(nil(), |report| core::ptr::from_ref(report.core))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_event_managed_recv_get_ctx(event: *const Report) -> *const Core {
    // SAFETY: a handle, or NULL.
    unsafe { ctx(event, "doca_eth_rxq_event_managed_recv_get_ctx") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_event_batch_managed_recv_get_ctx(event: *const Report) -> *const Core {
    // SAFETY: a handle, or NULL.
    unsafe { ctx(event, "doca_eth_rxq_event_batch_managed_recv_get_ctx") }
}

/// The report behind an event, for a getter.
unsafe fn read<'a, T>(event: *const Report, out: *mut T, name: &str, call: &str) -> Result<&'a Report> {
    // SAFETY: a handle, or NULL.
    let report = unsafe { checked(event, call)? };
    if out.is_null() { null(call, name) } else { Ok(report) }
}

macro_rules! getters {
    ($($name:ident($out:ident: $type:ty) $(if $what:literal $wanted:expr)? => |$report:ident| $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(event: *const Report, $out: *mut $type) -> i32 {
            const CALL: &str = stringify!($name);
            // SAFETY: a handle and an out parameter, or NULL.
            let get = || unsafe {
                let $report = read(event, $out, stringify!($out), CALL)?;
                $(
                    let wanted: fn(Want) -> bool = $wanted;
                    asked(wanted($report.want), CALL, $what)?;
                )?
                put(CALL, stringify!($out), $out, $value)
            };
            number(get())
        }
    )*};
}

getters! {
    doca_eth_rxq_event_managed_recv_get_l3_ok(l3_ok: u8) => |report| report.l3[0].load(Relaxed);
    doca_eth_rxq_event_managed_recv_get_l4_ok(l4_ok: u8) => |report| report.l4[0].load(Relaxed);
    doca_eth_rxq_event_managed_recv_get_metadata_array(metadata_array: *const u32)
        if "metadata" |want| want.words > 0 => |report| report.metadata.as_ptr().cast();
    doca_eth_rxq_event_managed_recv_get_flow_tag(flow_tag: u32)
        if "flow tag" |want| want.flow_tag => |report| report.tags[0].load(Relaxed);
    doca_eth_rxq_event_managed_recv_get_rx_hash(rx_hash: u32)
        if "hash" |want| want.hash => |report| report.hashes[0].load(Relaxed);
    doca_eth_rxq_event_managed_recv_get_timestamp(timestamp: u64)
        if "timestamp" |want| want.timestamp => |report| report.stamps[0].load(Relaxed);
    doca_eth_rxq_event_batch_managed_recv_get_l3_ok_array(l3_ok_array: *const u8) => |report| report.l3.as_ptr().cast();
    doca_eth_rxq_event_batch_managed_recv_get_l4_ok_array(l4_ok_array: *const u8) => |report| report.l4.as_ptr().cast();
    doca_eth_rxq_event_batch_managed_recv_get_metadata_array(metadata_array: *const u32)
        if "metadata" |want| want.words > 0 => |report| report.metadata.as_ptr().cast();
    doca_eth_rxq_event_batch_managed_recv_get_flow_tag_array(flow_tag_array: *const u32)
        if "flow tag" |want| want.flow_tag => |report| report.tags.as_ptr().cast();
    doca_eth_rxq_event_batch_managed_recv_get_rx_hash_array(rx_hash_array: *const u32)
        if "hash" |want| want.hash => |report| report.hashes.as_ptr().cast();
    doca_eth_rxq_event_batch_managed_recv_get_timestamp_array(timestamp_array: *const u64)
        if "timestamp" |want| want.timestamp => |report| report.stamps.as_ptr().cast();
}

/// Packets that the program took further references to lose one, as if it had dropped each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_event_batch_managed_recv_pkt_array_free(
    pkt_array: *const AtomicPtr<Node>,
) {
    const CALL: &str = "doca_eth_rxq_event_batch_managed_recv_pkt_array_free";
    // SAFETY: NULL, or an array of this library.
    unsafe {
        let array = array_of(pkt_array);
        let Some(array) = live(array) else {
            explain(array, CALL);
            return;
        };
        if array.count.load(Relaxed) == 0 {
            log::error!(target: crate::LOG, "{CALL}: array {pkt_array:p} was given back already");
            return;
        }
        for node in array.live() {
            match node.refs() {
                0 | 1 => node.give_back_list(),
                more => node.set_refs(more - 1),
            }
        }
        // Places of slabs are never given back.
        let array: &'static crate::rxq::Packets = &*core::ptr::from_ref(array);
        array.shelf.put(array);
    }
}
