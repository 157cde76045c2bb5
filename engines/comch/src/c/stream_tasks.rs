//! The tasks of producers and consumers.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_comch_producer.h, doca_comch_consumer.h"
)]

use super::streams::TASK;
use super::{context, null, refuse};
use crate::caps::Caps;
use crate::consumer::ReceiveJob;
use crate::engine::{ComchConsumer, ComchProducer};
use crate::lent::LentBytes;
use crate::producer::ProduceJob;
use core::ptr::null as nil;
use softdpu_memory::handle::{DEAD_BIT, Head, checked, explain, kind, live};
use softdpu_memory::node::{Lent, Node};
use softdpu_room::context::Core;
use softdpu_room::engine::{Engine, EngineInfo};
use softdpu_room::entry::number;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Result};

/// The job of a task handle. Getters also work on a task that was just freed, whose memory stays.
unsafe fn job<J>(task: *const Slot, info: &EngineInfo, call: &str, stale: bool) -> Option<*mut J> {
    // SAFETY: a handle, or NULL; slots are never given back to the system.
    unsafe {
        match live(task) {
            Some(slot) if slot.context().is_of(info) => Some(slot.job::<J>()),
            Some(slot) => {
                log::error!(target: "softdpu::handle", "{call}: task {task:p} is a {} task, not a {} task",
                    slot.context().info().name, info.name);
                None
            }
            None if stale && !task.is_null() && (*task.cast::<Head>()).is(kind::TASK | DEAD_BIT) => {
                Some((*task).job::<J>())
            }
            None => {
                explain(task, call);
                None
            }
        }
    }
}

/// A buffer handle that is NULL or alive.
unsafe fn usable(buf: *const Node, call: &str) -> Result<Lent> {
    if !buf.is_null() {
        // SAFETY: a handle.
        unsafe { checked(buf, call)? };
    }
    // SAFETY: NULL or a handle.
    Ok(unsafe { Lent::from_handle(buf) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_producer_task_send_alloc_init(
    producer: *const Core,
    buf: *const Node,
    imm_data: *const u8,
    imm_data_len: u32,
    consumer_id: u32,
    task: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_comch_producer_task_send_alloc_init";
    // SAFETY: handles and an out parameter, or NULL; the slot is the program's until it is submitted, its context is of this
    // engine; immediate data is only noted.
    let made = || unsafe {
        let core = context(producer, ComchProducer::INFO, CALL)?;
        let src = usable(buf, CALL)?;
        if task.is_null() {
            return null(CALL, "task");
        }
        if imm_data_len != 0 {
            let limit = Caps::of(core.device().function())?.max_imm_data_len;
            if imm_data_len > limit || imm_data.is_null() {
                let line = format_args!(
                    "{CALL}: {imm_data_len} bytes of immediate data at {imm_data:p}, at most {limit}"
                );
                return refuse(Code::InvalidValue, "immediate data", line);
            }
        }
        if buf.is_null() && imm_data_len == 0 {
            return refuse(
                Code::InvalidValue,
                "nothing to send",
                format_args!("{CALL}: neither buffer nor immediate data"),
            );
        }
        let slot = core.allocate_checked(TASK, 0, CALL)?;
        let imm = if imm_data_len == 0 { LentBytes::NONE } else { LentBytes::new(imm_data, imm_data_len) };
        slot.job::<ProduceJob>().write(ProduceJob::new(src, imm, consumer_id));
        task.write(slot);
        Ok(())
    };
    number(made())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_consumer_task_post_recv_alloc_init(
    consumer: *const Core,
    buf: *const Node,
    task: *mut *const Slot,
) -> i32 {
    const CALL: &str = "doca_comch_consumer_task_post_recv_alloc_init";
    // SAFETY: handles and an out parameter, or NULL; the slot is the program's until it is submitted, its context is of this
    // engine.
    let made = || unsafe {
        let core = context(consumer, ComchConsumer::INFO, CALL)?;
        let dst = usable(buf, CALL)?;
        if task.is_null() {
            return null(CALL, "task");
        }
        let slot = core.allocate_checked(TASK, 0, CALL)?;
        slot.job::<ReceiveJob>().write(ReceiveJob::new(dst));
        task.write(slot);
        Ok(())
    };
    number(made())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_producer_task_send_as_task(task: *const Slot) -> *const Slot {
    task
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_consumer_task_post_recv_as_task(task: *const Slot) -> *const Slot {
    task
}

macro_rules! read {
    ($($engine:ident, $job_type:ident: $get:ident -> $type:ty = $none:expr, |$job:ident| $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(task: *const Slot) -> $type {
            // SAFETY: a handle, or NULL; the slot holds a job of this type since it was allocated.
            unsafe {
                job::<$job_type>(task, $engine::INFO, stringify!($get), true).map_or($none, |$job| $value)
            }
        }
    )*};
}

read! {
    ComchProducer, ProduceJob: doca_comch_producer_task_send_get_buf -> *const Node = nil(), |job| (*job).src.handle();
    ComchProducer, ProduceJob: doca_comch_producer_task_send_get_consumer_id -> u32 = 0, |job| (*job).consumer;
    ComchProducer, ProduceJob: doca_comch_producer_task_send_get_imm_data -> *const u8 = nil(), |job| (*job).imm.as_ptr();
    ComchProducer, ProduceJob: doca_comch_producer_task_send_get_imm_data_len -> u32 = 0, |job| (*job).imm.len();
    ComchConsumer, ReceiveJob: doca_comch_consumer_task_post_recv_get_buf -> *const Node = nil(), |job| (*job).dst.handle();
    ComchConsumer, ReceiveJob: doca_comch_consumer_task_post_recv_get_producer_id -> u32 = 0, |job| (*job).producer();
    ComchConsumer, ReceiveJob: doca_comch_consumer_task_post_recv_get_imm_data -> *const u8 = nil(),
        |job| (*job).imm_address();
    ComchConsumer, ReceiveJob: doca_comch_consumer_task_post_recv_get_imm_data_len -> u32 = 0,
        |job| (*job).imm().len() as u32;
}

/// The job of a task that is not in flight.
unsafe fn resting<J>(task: *const Slot, info: &EngineInfo, call: &str) -> Option<*mut J> {
    // SAFETY: a handle, or NULL.
    unsafe {
        let job = job::<J>(task, info, call, false)?;
        if (*task).is_in_flight() {
            log::error!(target: "softdpu::task", "{call}: task {task:p} is in flight");
            return None;
        }
        Some(job)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_producer_task_send_set_buf(task: *const Slot, buf: *const Node) {
    const CALL: &str = "doca_comch_producer_task_send_set_buf";
    // SAFETY: handles, or NULL; the program owns a task that is not in flight.
    unsafe {
        if let Some(job) = resting::<ProduceJob>(task, ComchProducer::INFO, CALL) {
            (*job).src = Lent::from_handle(buf);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_producer_task_send_set_consumer_id(task: *const Slot, consumer_id: u32) {
    const CALL: &str = "doca_comch_producer_task_send_set_consumer_id";
    // SAFETY: as above.
    unsafe {
        if let Some(job) = resting::<ProduceJob>(task, ComchProducer::INFO, CALL) {
            (*job).consumer = consumer_id;
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_producer_task_send_set_imm_data(
    task: *const Slot,
    imm_data: *const u8,
    imm_data_len: u32,
) {
    const CALL: &str = "doca_comch_producer_task_send_set_imm_data";
    // SAFETY: as above; immediate data is only noted.
    unsafe {
        if let Some(job) = resting::<ProduceJob>(task, ComchProducer::INFO, CALL) {
            (*job).imm = LentBytes::new(imm_data, imm_data_len);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_consumer_task_post_recv_set_buf(task: *const Slot, buf: *const Node) {
    const CALL: &str = "doca_comch_consumer_task_post_recv_set_buf";
    // SAFETY: as above.
    unsafe {
        if let Some(job) = resting::<ReceiveJob>(task, ComchConsumer::INFO, CALL) {
            (*job).dst = Lent::from_handle(buf);
        }
    }
}
