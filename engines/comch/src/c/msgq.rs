//! Message queues inside a process.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_comch_msgq.h"
)]

use super::streams::make;
use super::{null, put, refuse};
use crate::caps::Caps;
use crate::engine::{ComchConsumer, ComchProducer};
use crate::msgq::Queue;
use core::ptr::NonNull;
use softdpu_memory::device::Device;
use softdpu_memory::handle::{Head, Object, OpenDevice, Slab, checked, kind};
use softdpu_room::context::Core;
use softdpu_room::engine::Engine;
use softdpu_room::entry::{guard, guard_unforked};
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// `struct doca_comch_msgq`.
#[derive(Debug)]
#[repr(C)]
pub struct Msgq {
    head: Head,
    device: Arc<Device>,
    state: Mutex<Settings>,
}

#[derive(Debug)]
struct Settings {
    producers: u32,
    consumers: u32,
    /// While started.
    queue: Option<Arc<Queue>>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Msgq {
    const KIND: u32 = kind::COMCH_MSGQ;
    const NAME: &'static str = "message queue";
}

static QUEUES: Slab<Msgq> = Slab::new();

impl Msgq {
    fn state(&self) -> MutexGuard<'_, Settings> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn members(&self) -> u32 {
        self.state().queue.as_ref().map_or(0, |queue| queue.members())
    }

    fn started(&self, call: &str) -> Result<Arc<Queue>> {
        let queue = self.state().queue.clone();
        queue.ok_or_else(|| {
            log::error!(target: crate::LOG, "{call}: message queue {self:p} is not started");
            Error::new(Code::BadState, "the queue is not started")
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_msgq_create(dev: *const OpenDevice, msgq: *mut *const Msgq) -> i32 {
    const CALL: &str = "doca_comch_msgq_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device();
        if msgq.is_null() {
            return null(CALL, "msgq");
        }
        let caps = Caps::of(device.function())?;
        if !caps.producer || !caps.consumer {
            return Err(Error::new(Code::NotSupported, "the device has no producers and consumers"));
        }
        let (producers, consumers) = (caps.max_streams, caps.max_streams);
        let state = Mutex::new(Settings { producers, consumers, queue: None });
        let made = QUEUES.make(Msgq { head: Head::unborn(), device: device.clone(), state })?;
        // SAFETY: checked above.
        unsafe { put(CALL, "msgq", msgq, made.as_ptr().cast_const()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_msgq_destroy(msgq: *const Msgq) -> i32 {
    const CALL: &str = "doca_comch_msgq_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let found = unsafe { checked(msgq, CALL)? };
        if found.state().queue.is_some() {
            let line =
                format_args!("{CALL}: message queue {msgq:p} is started, with {} members", found.members());
            return refuse(Code::InUse, "the queue is started", line);
        }
        if let Some(queue) = NonNull::new(msgq.cast_mut()) {
            // SAFETY: alive, from this slab; members hold the queue inside, and there are none.
            unsafe { QUEUES.retire(queue) };
        }
        Ok(())
    })
}

unsafe fn set(msgq: *const Msgq, call: &str, count: u32, change: impl FnOnce(&mut Settings)) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let mut state = unsafe { checked(msgq, call)? }.state();
        if state.queue.is_some() {
            let line = format_args!("{call}: message queue {msgq:p} is started");
            return refuse(Code::BadState, "the queue is started", line);
        }
        if count == 0 {
            return refuse(
                Code::InvalidValue,
                "out of range",
                format_args!("{call}: 0, allowed is 1 or more"),
            );
        }
        change(&mut state);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_msgq_set_max_num_consumers(
    msgq: *const Msgq,
    max_num_consumers: u32,
) -> i32 {
    const CALL: &str = "doca_comch_msgq_set_max_num_consumers";
    // SAFETY: a handle, or NULL.
    unsafe { set(msgq, CALL, max_num_consumers, |state| state.consumers = max_num_consumers) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_msgq_set_max_num_producers(
    msgq: *const Msgq,
    max_num_producers: u32,
) -> i32 {
    const CALL: &str = "doca_comch_msgq_set_max_num_producers";
    // SAFETY: a handle, or NULL.
    unsafe { set(msgq, CALL, max_num_producers, |state| state.producers = max_num_producers) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_msgq_start(msgq: *const Msgq) -> i32 {
    const CALL: &str = "doca_comch_msgq_start";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let found = unsafe { checked(msgq, CALL)? };
        let mut state = found.state();
        if state.queue.is_some() {
            let line = format_args!("{CALL}: message queue {msgq:p} is started already");
            return refuse(Code::BadState, "the queue is started", line);
        }
        state.queue = Some(Queue::new(&found.device, state.producers, state.consumers)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_msgq_stop(msgq: *const Msgq) -> i32 {
    const CALL: &str = "doca_comch_msgq_stop";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let found = unsafe { checked(msgq, CALL)? };
        found.started(CALL)?;
        let members = found.members();
        if members != 0 {
            let line = format_args!("{CALL}: message queue {msgq:p} has {members} producers and consumers");
            return refuse(Code::InUse, "producers or consumers are left", line);
        }
        found.state().queue = None;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_msgq_consumer_create(
    msgq: *const Msgq,
    consumer: *mut *const Core,
) -> i32 {
    const CALL: &str = "doca_comch_msgq_consumer_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let found = unsafe { checked(msgq, CALL)? };
        if consumer.is_null() {
            return null(CALL, "consumer");
        }
        let queue = found.started(CALL)?;
        // SAFETY: checked above.
        unsafe { make(ComchConsumer::INFO, queue.device(), queue.consumer()?, None, consumer) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_msgq_producer_create(
    msgq: *const Msgq,
    producer: *mut *const Core,
) -> i32 {
    const CALL: &str = "doca_comch_msgq_producer_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let found = unsafe { checked(msgq, CALL)? };
        if producer.is_null() {
            return null(CALL, "producer");
        }
        let queue = found.started(CALL)?;
        // SAFETY: checked above.
        unsafe { make(ComchProducer::INFO, queue.device(), queue.producer()?, None, producer) }
    })
}
