//! Producers and consumers.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_comch_producer.h, doca_comch_consumer.h"
)]

use super::{context, destroy, null, part, put, refuse, set_part};
use crate::caps::Caps;
use crate::consumer::{ConsumerSetup, check_memory};
use crate::engine::{ComchConsumer, ComchProducer, ProducerSetup};
use crate::lent::Handle;
use crate::streams::Member;
use crate::sync::{AtomicU32, Ordering::Relaxed};
use core::ptr::null as nil;
use softdpu_memory::device::Device;
use softdpu_memory::handle::{MemoryMap, checked};
use softdpu_memory::region::Region;
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::{Engine, EngineInfo};
use softdpu_room::entry::{guard, guard_unforked, guard_value};
use softdpu_room::life::Equipment;
use softdpu_status::{Code, Result};
use std::sync::Arc;

/// The one kind of task of either.
pub(super) const TASK: usize = 0;

/// What the program said of a producer or consumer.
#[derive(Debug)]
pub(super) struct StreamPart {
    member: Arc<Member>,
    region: Option<&'static Region>,
    tasks: AtomicU32,
    imm: AtomicU32,
}

/// A context for a member of a connection or queue.
pub(super) unsafe fn make(
    info: &'static EngineInfo,
    device: &Arc<Device>,
    member: Member,
    region: Option<&'static Region>,
    out: *mut *const Core,
) -> Result<()> {
    let imm = Caps::of(device.function())?.max_imm_data_len;
    let core = Core::create(info, device.clone(), softdpu_room::board::of_process())?;
    set_part(
        core,
        StreamPart { member: Arc::new(member), region, tasks: AtomicU32::new(0), imm: AtomicU32::new(imm) },
    );
    // SAFETY: the caller's promise.
    unsafe { out.write(core) };
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_producer_create(
    comch_connection: *const Handle,
    producer: *mut *const Core,
) -> i32 {
    const CALL: &str = "doca_comch_producer_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let connection = unsafe { checked(comch_connection, CALL)? }.connection();
        if producer.is_null() {
            return null(CALL, "producer");
        }
        // SAFETY: checked above.
        unsafe { make(ComchProducer::INFO, &connection.device()?, connection.producer()?, None, producer) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_consumer_create(
    comch_connection: *const Handle,
    buf_mmap: *const MemoryMap,
    consumer: *mut *const Core,
) -> i32 {
    const CALL: &str = "doca_comch_consumer_create";
    guard_unforked(CALL, || {
        // SAFETY: handles, or NULL.
        let (connection, map) =
            unsafe { (checked(comch_connection, CALL)?.connection(), checked(buf_mmap, CALL)?) };
        if consumer.is_null() {
            return null(CALL, "consumer");
        }
        check_memory(map.region())?;
        let (device, member) = (connection.device()?, connection.consumer()?);
        // SAFETY: checked above.
        unsafe { make(ComchConsumer::INFO, &device, member, Some(map.region()), consumer) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_producer_destroy(producer: *const Core) -> i32 {
    const CALL: &str = "doca_comch_producer_destroy";
    // SAFETY: a handle, or NULL; producers have a part of this type.
    guard(|| unsafe { destroy::<StreamPart>(context(producer, ComchProducer::INFO, CALL)?) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_consumer_destroy(consumer: *const Core) -> i32 {
    const CALL: &str = "doca_comch_consumer_destroy";
    // SAFETY: a handle, or NULL; consumers have a part of this type.
    guard(|| unsafe { destroy::<StreamPart>(context(consumer, ComchConsumer::INFO, CALL)?) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_producer_as_ctx(producer: *const Core) -> *const Core {
    const CALL: &str = "doca_comch_producer_as_ctx";
    guard_value(nil(), || {
        // SAFETY: a handle, or NULL.
        unsafe { context(producer, ComchProducer::INFO, CALL) }.map_or(nil(), core::ptr::from_ref)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_consumer_as_ctx(consumer: *const Core) -> *const Core {
    const CALL: &str = "doca_comch_consumer_as_ctx";
    guard_value(nil(), || {
        // SAFETY: a handle, or NULL.
        unsafe { context(consumer, ComchConsumer::INFO, CALL) }.map_or(nil(), core::ptr::from_ref)
    })
}

unsafe fn id_of(core: *const Core, info: &EngineInfo, id: *mut u32, call: &str) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL; contexts of both kinds have a part of this type.
        let number = unsafe { part::<StreamPart>(context(core, info, call)?) }.member.id();
        // SAFETY: an out parameter, or NULL.
        unsafe { put(call, "id", id, number) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_producer_get_id(producer: *const Core, id: *mut u32) -> i32 {
    // SAFETY: a handle and an out parameter, or NULL.
    unsafe { id_of(producer, ComchProducer::INFO, id, "doca_comch_producer_get_id") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_consumer_get_id(consumer: *const Core, id: *mut u32) -> i32 {
    // SAFETY: a handle and an out parameter, or NULL.
    unsafe { id_of(consumer, ComchConsumer::INFO, id, "doca_comch_consumer_get_id") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_consumer_set_imm_data_len(
    consumer: *const Core,
    imm_data_len: u32,
) -> i32 {
    const CALL: &str = "doca_comch_consumer_set_imm_data_len";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(consumer, ComchConsumer::INFO, CALL)? };
        core.require(State::Idle, CALL)?;
        let limit = Caps::of(core.device().function())?.max_imm_data_len;
        if imm_data_len > limit {
            let line = format_args!("{CALL}: {imm_data_len} bytes of immediate data, allowed 0 to {limit}");
            return refuse(Code::InvalidValue, "out of range", line);
        }
        // SAFETY: consumers have a part of this type.
        unsafe { part::<StreamPart>(core) }.imm.store(imm_data_len, Relaxed);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_consumer_get_imm_data_len(
    consumer: *const Core,
    imm_data_len: *mut u32,
) -> i32 {
    const CALL: &str = "doca_comch_consumer_get_imm_data_len";
    guard(|| {
        // SAFETY: a handle, or NULL; consumers have a part of this type.
        let len =
            unsafe { part::<StreamPart>(context(consumer, ComchConsumer::INFO, CALL)?) }.imm.load(Relaxed);
        // SAFETY: an out parameter, or NULL.
        unsafe { put(CALL, "imm_data_len", imm_data_len, len) }
    })
}

unsafe fn set_conf(
    core: *const Core,
    info: &EngineInfo,
    calls: [Option<Completion>; 2],
    tasks: u32,
    call: &str,
) -> Result<()> {
    // SAFETY: a handle, or NULL.
    let core = unsafe { context(core, info, call)? };
    let [Some(success), Some(error)] = calls else { return null(call, "a callback") };
    core.require(State::Idle, call)?;
    let limit = Caps::of(core.device().function())?.max_stream_tasks;
    if tasks == 0 || tasks > limit {
        let line = format_args!("{call}: {tasks} tasks asked for, allowed 1 to {limit}");
        return refuse(Code::InvalidValue, "number of tasks out of range", line);
    }
    // SAFETY: contexts of both kinds have a part of this type.
    unsafe { part::<StreamPart>(core) }.tasks.store(tasks, Relaxed);
    core.set_callbacks(TASK, success, error);
    core.set_starter(start);
    Ok(())
}

/// Makes the engine when it starts.
fn start(core: &'static Core) -> Result<Equipment> {
    // SAFETY: set as the starter of producers and consumers alone, which have a part of this type.
    let part = unsafe { part::<StreamPart>(core) };
    let (member, tasks) = (part.member.clone(), part.tasks.load(Relaxed));
    let (work, _) = if core.is_of(ComchProducer::INFO) {
        ComchProducer::build(core.device(), Some(ProducerSetup { member, tasks }))?
    } else {
        let (region, imm) = (part.region, part.imm.load(Relaxed));
        ComchConsumer::build(core.device(), Some(ConsumerSetup { member, region, memory: None, tasks, imm }))?
    };
    Ok((work, vec![(TASK as u8, tasks)]))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_producer_task_send_set_conf(
    producer: *const Core,
    task_completion_cb: Option<Completion>,
    task_error_cb: Option<Completion>,
    num_send_tasks: u32,
) -> i32 {
    const CALL: &str = "doca_comch_producer_task_send_set_conf";
    let calls = [task_completion_cb, task_error_cb];
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { set_conf(producer, ComchProducer::INFO, calls, num_send_tasks, CALL) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_consumer_task_post_recv_set_conf(
    consumer: *const Core,
    task_completion_cb: Option<Completion>,
    task_error_cb: Option<Completion>,
    num_post_recv_tasks: u32,
) -> i32 {
    const CALL: &str = "doca_comch_consumer_task_post_recv_set_conf";
    let calls = [task_completion_cb, task_error_cb];
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { set_conf(consumer, ComchConsumer::INFO, calls, num_post_recv_tasks, CALL) })
}
