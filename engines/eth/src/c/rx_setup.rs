//! Receive queues: contexts and their settings.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_eth_rxq.h and doca_eth_rxq_cpu_data_path.h"
)]

use super::rx_start::{self, Handlers, RxPart};
use super::{context, destroy, lock, null, part, put, refuse, set_part, within};
use crate::caps::RxCaps;
use crate::rxq::EthRxq;
use core::ptr::null as nil;
use softdpu_memory::handle::{MemoryMap, OpenDevice, checked};
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry::{guard, guard_unforked, guard_value};
use softdpu_status::{Code, Error, Result};

/// The context behind a handle, its part and its device's limits.
pub(super) unsafe fn queue(rxq: *const Core, call: &str) -> Result<(&'static Core, &'static RxPart, RxCaps)> {
    // SAFETY: a handle, or NULL; receive queues have a part of this type.
    unsafe {
        let core = context(rxq, EthRxq::INFO, call)?;
        Ok((core, part::<RxPart>(core), RxCaps::of(core.device().function())?))
    }
}

/// As [`queue`], for settings.
unsafe fn idle(rxq: *const Core, call: &str) -> Result<(&'static RxPart, RxCaps)> {
    // SAFETY: as for `queue`.
    let (core, part, caps) = unsafe { queue(rxq, call)? };
    core.require(State::Idle, call)?;
    Ok((part, caps))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_create(
    dev: *const OpenDevice,
    max_burst_size: u32,
    max_packet_size: u32,
    eth_rxq: *mut *const Core,
) -> i32 {
    const CALL: &str = "doca_eth_rxq_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device();
        if eth_rxq.is_null() {
            return null(CALL, "eth_rxq");
        }
        let caps = RxCaps::of(device.function())?;
        within(CALL, "burst size", max_burst_size.into(), 1, caps.max_burst_size.into())?;
        within(CALL, "packet size", max_packet_size.into(), 1, caps.max_packet_size.into())?;
        let core = Core::create(EthRxq::INFO, device.clone(), softdpu_room::board::of_process())?;
        set_part(core, RxPart::new(max_burst_size, max_packet_size));
        core.set_starter(rx_start::start);
        // SAFETY: a non-NULL out parameter.
        unsafe { eth_rxq.write(core) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_destroy(eth_rxq: *const Core) -> i32 {
    const CALL: &str = "doca_eth_rxq_destroy";
    // SAFETY: a handle, or NULL; receive queues have a part of this type.
    guard(|| unsafe { destroy::<RxPart>(context(eth_rxq, EthRxq::INFO, CALL)?, CALL) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_as_doca_ctx(eth_rxq: *const Core) -> *const Core {
    const CALL: &str = "doca_eth_rxq_as_doca_ctx";
    guard_value(nil(), || {
        if eth_rxq.is_null() {
            return nil();
        }
        // SAFETY: a handle.
        unsafe { context(eth_rxq, EthRxq::INFO, CALL) }.map_or(nil(), core::ptr::from_ref)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_set_type(eth_rxq: *const Core, r#type: u32) -> i32 {
    const CALL: &str = "doca_eth_rxq_set_type";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (part, caps) = unsafe { idle(eth_rxq, CALL)? };
        within(CALL, "type", r#type.into(), 0, 2)?;
        if !(r#type == 1 && caps.managed || r#type == 2 && caps.regular) {
            let line = format_args!("{CALL}: type {} is not for this device on the processor", r#type);
            return refuse(Code::NotSupported, "type of queue", line);
        }
        lock(&part.settings).managed = r#type == 1;
        Ok(())
    })
}

/// Settings that are numbers: name, argument, least and most, what to do with it.
macro_rules! setting {
    ($($name:ident($value:ident: $type:ty, $what:literal, $least:expr, $most:expr) $set:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(eth_rxq: *const Core, $value: $type) -> i32 {
            const CALL: &str = stringify!($name);
            guard(|| {
                // SAFETY: a handle, or NULL.
                let (part, caps) = unsafe { idle(eth_rxq, CALL)? };
                let most: fn(&RxCaps) -> u64 = $most;
                within(CALL, $what, $value.into(), $least, most(&caps))?;
                let set: fn(&mut rx_start::RxSettings, $type) = $set;
                set(&mut lock(&part.settings), $value);
                Ok(())
            })
        }
    )*};
}

setting! {
    doca_eth_rxq_set_max_burst_size(max_burst_size: u32, "burst size", 1, |c| c.max_burst_size.into())
        |s, v| s.max_burst = v;
    doca_eth_rxq_set_max_packet_size(max_packet_size: u32, "packet size", 1, |c| c.max_packet_size.into())
        |s, v| s.max_packet = v;
    doca_eth_rxq_set_metadata_num(metadata_num: u8, "words of metadata", 0, |c| c.max_metadata_num.into())
        |s, v| s.want.words = v;
    doca_eth_rxq_set_flow_tag(enable_flow_tag: u8, "flow tag", 0, |_| u8::MAX.into())
        |s, v| s.want.flow_tag = v != 0;
    doca_eth_rxq_set_rx_hash(enable_rx_hash: u8, "hash", 0, |_| u8::MAX.into())
        |s, v| s.want.hash = v != 0;
    doca_eth_rxq_set_timestamp(enable_timestamp: u8, "timestamp", 0, |_| u8::MAX.into())
        |s, v| s.want.timestamp = v != 0;
    doca_eth_rxq_set_packet_headroom(head_size: u16, "headroom", 0, |c| c.max_packet_headroom.into())
        |s, v| s.headroom = v;
    doca_eth_rxq_set_packet_tailroom(tail_size: u16, "tailroom", 0, |c| c.max_packet_tailroom.into())
        |s, v| s.tailroom = v;
    doca_eth_rxq_set_max_recv_buf_list_len(
        max_recv_buf_list_len: u32, "list length", 1, |c| c.max_recv_buf_list_len.into())
        |s, v| s.list_len = v;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_set_pkt_buf(
    eth_rxq: *const Core,
    mmap: *const MemoryMap,
    mmap_offset: u32,
    mmap_len: u32,
) -> i32 {
    const CALL: &str = "doca_eth_rxq_set_pkt_buf";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (part, region) = unsafe { (idle(eth_rxq, CALL)?.0, checked(mmap, CALL)?.region()) };
        if !region.is_open() {
            let line = format_args!("{CALL}: memory map {mmap:p} is not started");
            return refuse(Code::InvalidValue, "the memory map is not started", line);
        }
        let end = u64::from(mmap_offset) + u64::from(mmap_len);
        if mmap_len == 0 || end > region.len() as u64 {
            let line = format_args!(
                "{CALL}: bytes {mmap_offset} to {end} of a memory map of {} bytes",
                region.len()
            );
            return refuse(Code::InvalidValue, "range of the memory map", line);
        }
        lock(&part.settings).memory = Some((region, mmap_offset.into(), mmap_len.into()));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_set_notification_moderation(
    eth_rxq: *const Core,
    period_usec: u16,
    comp_count: u16,
) -> i32 {
    const CALL: &str = "doca_eth_rxq_set_notification_moderation";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (core, ..) = unsafe { queue(eth_rxq, CALL)? };
        core.require(State::Running, CALL)?;
        let line = format_args!(
            "{CALL}: {period_usec} us, {comp_count} packets: the first packet always notifies here"
        );
        refuse(Code::NotSupported, "notifications are not held back", line)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_apply_queue_id(eth_rxq: *const Core, queue_id: u16) -> i32 {
    const CALL: &str = "doca_eth_rxq_apply_queue_id";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (core, part, _) = unsafe { queue(eth_rxq, CALL)? };
        core.require(State::Running, CALL)?;
        part.queue(CALL)?.set_number(queue_id)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_get_flow_queue_id(
    eth_rxq: *const Core,
    flow_queue_id: *mut u16,
) -> i32 {
    const CALL: &str = "doca_eth_rxq_get_flow_queue_id";
    guard(|| {
        // SAFETY: a handle and an out parameter, or NULL.
        unsafe {
            let (_, part, _) = queue(eth_rxq, CALL)?;
            if flow_queue_id.is_null() {
                return null(CALL, "flow_queue_id");
            }
            put(CALL, "flow_queue_id", flow_queue_id, part.queue(CALL)?.number())
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_get_hw_queue_num(eth_rxq: *const Core, queue_num: *mut u32) -> i32 {
    const CALL: &str = "doca_eth_rxq_get_hw_queue_num";
    guard(|| {
        // SAFETY: a handle and an out parameter, or NULL.
        unsafe {
            let (_, part, _) = queue(eth_rxq, CALL)?;
            if queue_num.is_null() {
                return null(CALL, "queue_num");
            }
            part.queue(CALL)?;
            put(CALL, "queue_num", queue_num, part.hardware_number())
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_task_recv_set_conf(
    eth_rxq: *const Core,
    task_completion_cb: Option<Completion>,
    task_error_cb: Option<Completion>,
    task_recv_num: u32,
) -> i32 {
    const CALL: &str = "doca_eth_rxq_task_recv_set_conf";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (part, caps) = unsafe { idle(eth_rxq, CALL)? };
        let (Some(success), Some(error)) = (task_completion_cb, task_error_cb) else {
            return null(CALL, "a callback");
        };
        within(CALL, "number of tasks", task_recv_num.into(), 1, caps.max_burst_size.into())?;
        lock(&part.settings).tasks = task_recv_num;
        // SAFETY: as above.
        let (core, ..) = unsafe { queue(eth_rxq, CALL)? };
        core.set_callbacks(rx_start::RECV, success, error);
        Ok(())
    })
}

/// A handler for single packets: event, packet, the program's data.
pub type PacketHandler =
    unsafe extern "C" fn(*const crate::rxq::Report, *const softdpu_memory::node::Node, u64);
/// A handler for several: event, their number, the program's data, status, array.
pub type PacketsHandler = unsafe extern "C" fn(
    *const crate::rxq::Report,
    u16,
    u64,
    i32,
    *const crate::sync::AtomicPtr<softdpu_memory::node::Node>,
);

/// Registers handlers, of which a queue has one kind.
fn register(part: &RxPart, handlers: Handlers, call: &str) -> Result<()> {
    let mut settings = lock(&part.settings);
    let is_other = |known: &Handlers| known.is_batch() != handlers.is_batch();
    if settings.handlers.as_ref().is_some_and(is_other) {
        log::error!(target: crate::LOG, "{call}: the queue has handlers of the other kind; single packets and batches exclude \
             each other");
        return Err(Error::new(Code::InvalidValue, "handlers of the other kind"));
    }
    settings.handlers = Some(handlers);
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_event_managed_recv_register(
    eth_rxq: *const Core,
    user_data: u64,
    success_event_handler: Option<PacketHandler>,
    error_event_handler: Option<PacketHandler>,
) -> i32 {
    const CALL: &str = "doca_eth_rxq_event_managed_recv_register";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (part, _) = unsafe { idle(eth_rxq, CALL)? };
        let (Some(success), Some(error)) = (success_event_handler, error_event_handler) else {
            return null(CALL, "a handler");
        };
        register(part, Handlers::Single { calls: [success, error], user: user_data }, CALL)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_event_batch_managed_recv_register(
    eth_rxq: *const Core,
    events_number_max: u32,
    events_number_min: u32,
    user_data: u64,
    success_event_batch_handler: Option<PacketsHandler>,
    error_event_batch_handler: Option<PacketsHandler>,
) -> i32 {
    const CALL: &str = "doca_eth_rxq_event_batch_managed_recv_register";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let (part, _) = unsafe { idle(eth_rxq, CALL)? };
        let (Some(success), Some(error)) = (success_event_batch_handler, error_event_batch_handler) else {
            return null(CALL, "a handler");
        };
        within(CALL, "most events (as a logarithm)", events_number_max.into(), 0, 7)?;
        within(
            CALL,
            "fewest events (as a logarithm)",
            events_number_min.into(),
            0,
            events_number_max.into(),
        )?;
        let batch = (1 << events_number_min, 1 << events_number_max);
        register(part, Handlers::Batch { calls: [success, error], user: user_data, batch }, CALL)
    })
}
