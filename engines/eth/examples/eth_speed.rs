//! How many frames go through both queues of one process and core, over the wire of two ports: sends in batches of 128
//! and as single tasks, received in events of up to 128 packets and as single tasks; through the entry points of the C face.
//! Frames are UDP over IPv4; no more than 256 are on the way, so that every frame that is sent is received.
//!
//! `cargo run --release -p softdpu-eth --features capi --example eth_speed [between [LENGTH]]`: with `between` the sender is
//! another process on another core, and sends as fast as it can.
#![expect(unsafe_code, reason = "calls the C face as a program does")]

use softdpu_card::{EngineKind, Machine};
use softdpu_eth::c::*;
use softdpu_eth::rxq::Report;
use softdpu_memory::device::Device;
use softdpu_memory::handle::{Head, MemoryMap, OpenDevice};
use softdpu_memory::node::{Node, Store};
use softdpu_memory::region::{Access, CAN_READ, CAN_WRITE, Region};
use softdpu_net::steer::Rules;
use softdpu_room::context::Core;
use softdpu_room::pe::Pe;
use softdpu_room::slot::Slot;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64};
use std::time::{Duration, Instant};

/// How objects of the C face begin.
#[repr(C)]
struct Made<T> {
    head: Head,
    what: T,
}

fn handle<T, H>(kind: u32, what: T) -> *const H {
    let made = Box::leak(Box::new(Made { head: Head::unborn(), what }));
    made.head.wake(kind);
    core::ptr::from_ref(made).cast()
}

thread_local! {
    static RECEIVED: Cell<u64> = const { Cell::new(0) };
    static SENT: Cell<u64> = const { Cell::new(0) };
    /// Batches that wait until what was sent has arrived.
    static WAITING: RefCell<Vec<*const Batch>> = const { RefCell::new(Vec::new()) };
}

/// Frames on the way at most.
const MOST_ON_THE_WAY: u64 = 256;

fn add(counter: &'static std::thread::LocalKey<Cell<u64>>, n: u64) {
    counter.set(counter.get() + n);
}

extern "C" fn packets(_: *const Report, count: u16, _: u64, _: i32, array: *const AtomicPtr<Node>) {
    add(&RECEIVED, count.into());
    // SAFETY: the array of this event.
    unsafe { doca_eth_rxq_event_batch_managed_recv_pkt_array_free(array) };
    send_waiting();
}

extern "C" fn batch_sent(
    batch: *const Batch,
    count: u16,
    _: u64,
    _: u64,
    _: *const AtomicU64,
    _: *const AtomicPtr<Node>,
    _: *const AtomicI32,
) {
    add(&SENT, count.into());
    WAITING.with_borrow_mut(|waiting| waiting.push(batch));
    send_waiting();
}

/// Sends batches that wait, once there is room on the way.
fn send_waiting() {
    while SENT.get() < RECEIVED.get() + MOST_ON_THE_WAY
        && let Some(batch) = WAITING.with_borrow_mut(Vec::pop)
    {
        // SAFETY: a batch that has completed, which flies again.
        unsafe {
            if doca_task_batch_submit(batch) != 0 {
                doca_task_batch_free(batch);
            }
        }
    }
}

/// Sends the same task again.
extern "C" fn sent(task: *const Slot, _: u64, _: u64) {
    add(&SENT, 1);
    // SAFETY: the task of this completion.
    unsafe { again(&*task) };
}

/// Submits a task once more; a stopping queue takes none.
fn again(task: &Slot) {
    if task.context().submit(task.as_static()) != 0 {
        task.context().release(task.as_static());
    }
}

/// Receives into the same buffer again.
extern "C" fn received(task: *const Slot, buffer: u64, _: u64) {
    add(&RECEIVED, 1);
    // SAFETY: the task and its buffer.
    unsafe {
        let node = &*(buffer as *const Node);
        let _ = node.set_data(node.addr(), 0);
        again(&*task);
    }
    send_waiting();
}

extern "C" fn flushed(task: *const Slot, _: u64, _: u64) {
    // SAFETY: the task of this completion.
    unsafe { (*task).context().release((*task).as_static()) };
}

extern "C" fn batch_flushed(
    batch: *const Batch,
    _: u16,
    _: u64,
    _: u64,
    _: *const AtomicU64,
    _: *const AtomicPtr<Node>,
    _: *const AtomicI32,
) {
    // SAFETY: the batch of this completion.
    unsafe { doca_task_batch_free(batch) };
}

struct Rig {
    here: Arc<Device>,
    there: Arc<Device>,
    pe: &'static Pe,
    map: *const MemoryMap,
    region: &'static Region,
    store: &'static Store,
}

fn must(status: i32) {
    assert_eq!(status, 0);
}

impl Rig {
    fn new() -> Rig {
        softdpu_room::board::choose_for_process(softdpu_board::inline());
        let machine = Machine::builder().config_text("[[card]]\nname = \"speed\"\n").build().unwrap();
        let mut ports = machine.functions().iter().filter(|f| f.supports(EngineKind::EthRxq));
        let here = Device::open(ports.next().unwrap().clone()).unwrap();
        let there = Device::open(ports.next().unwrap().clone()).unwrap();
        let memory: &'static mut [u64] = Vec::leak(vec![0u64; 4 << 20]);
        let region: &'static Region = Box::leak(Box::new(Region::closed()));
        region.grant(Access::LOCAL_READ_WRITE);
        let word = CAN_READ | CAN_WRITE | here.bit() | there.bit();
        region.open(memory.as_ptr().addr(), memory.len() * 8, 0, word);
        let store: &'static Store = Box::leak(Box::new(Store::new()));
        store.expand(1024).unwrap();
        let pe = Pe::create(softdpu_room::board::of_process()).unwrap();
        Rig { here, there, pe, map: handle(softdpu_memory::handle::kind::MMAP, region), region, store }
    }

    /// A buffer of 2 KiB in the first half of the memory.
    fn buffer(&self, at: usize, data: usize) -> &'static Node {
        let node = self.store.take(self.region).unwrap();
        let addr = self.region.base() + at * 2048;
        node.reuse(addr, 2048, addr, data).unwrap();
        node
    }

    fn device(&self, device: &Arc<Device>) -> *const OpenDevice {
        handle(softdpu_memory::handle::kind::DEV, device.clone())
    }

    fn start(&self, core: *const Core) {
        // SAFETY: a context that was made here.
        let core = unsafe { &*core }.as_static();
        core.connect(self.pe).unwrap();
        core.start(|| core.starter().unwrap()(core)).unwrap();
    }

    /// Frames per second and core.
    fn measure(&self) -> f64 {
        let (mut best, end) = (0.0f64, Instant::now() + Duration::from_secs(2));
        while Instant::now() < end {
            let (from, start) = (RECEIVED.get(), Instant::now());
            while start.elapsed() < Duration::from_millis(100) {
                for _ in 0..1000 {
                    self.pe.step();
                }
            }
            best = best.max((RECEIVED.get() - from) as f64 / start.elapsed().as_secs_f64());
        }
        best
    }

    /// Until frames arrive.
    fn warm(&self) {
        let (from, end) = (RECEIVED.get(), Instant::now() + Duration::from_secs(10));
        while RECEIVED.get() < from + 100_000 && Instant::now() < end {
            self.pe.step();
        }
    }

    /// Stops a queue and waits until it is idle.
    fn stop(&self, core: *const Core) {
        // SAFETY: a context that was made here.
        let core = unsafe { &*core }.as_static();
        let _ = core.stop().unwrap();
        while core.state() != softdpu_room::context::State::Idle {
            self.pe.step();
        }
    }
}

/// A receive queue, of either type, to which everything goes.
unsafe fn receiver(rig: &Rig, managed: bool) -> *const Core {
    // SAFETY: handles that were made here.
    unsafe {
        let mut rxq = core::ptr::null();
        must(doca_eth_rxq_create(rig.device(&rig.there), 1024, 1600, &mut rxq));
        if managed {
            must(doca_eth_rxq_set_type(rxq, 1));
            must(doca_eth_rxq_set_pkt_buf(rxq, rig.map, 16 << 20, 1 << 20));
            must(doca_eth_rxq_event_batch_managed_recv_register(rxq, 7, 0, 0, Some(packets), Some(packets)));
        } else {
            must(doca_eth_rxq_task_recv_set_conf(rxq, Some(received), Some(flushed), 256));
        }
        rig.start(rxq);
        must(doca_eth_rxq_apply_queue_id(rxq, 0));
        softdpu_net::port(rig.there.function()).steer(Some(Arc::new(Rules::all_to(0).compile().unwrap())));
        if !managed {
            for n in 0..256 {
                let (node, mut task) = (rig.buffer(n, 0), core::ptr::null());
                let user = core::ptr::from_ref(node) as u64;
                must(doca_eth_rxq_task_recv_allocate_init(rxq, node, user, &mut task));
                must((*rxq).as_static().submit((*task).as_static()));
            }
        }
        rxq
    }
}

/// A datagram in a frame of `len` bytes, without a checksum of its own, as many senders leave it.
fn datagram(len: usize) -> Vec<u8> {
    let mut frame = vec![0; len];
    let size = |header: usize| ((len - header) as u16).to_be_bytes();
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]);
    frame[14..16].copy_from_slice(&[0x45, 0]);
    frame[16..18].copy_from_slice(&size(14));
    frame[22..24].copy_from_slice(&[64, 17]);
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    frame[38..40].copy_from_slice(&size(34));
    softdpu_net::checksum::fill(&mut frame, true, false);
    frame
}

/// A send queue with frames of `len` bytes that go round and round.
unsafe fn sender(rig: &Rig, batches: bool, len: usize) -> *const Core {
    // SAFETY: handles that were made here.
    unsafe {
        let mut txq = core::ptr::null();
        must(doca_eth_txq_create(rig.device(&rig.here), 1024, &mut txq));
        if batches {
            must(doca_eth_txq_task_batch_send_set_conf(txq, 3, 4, Some(batch_sent), Some(batch_flushed)));
        } else {
            must(doca_eth_txq_task_send_set_conf(txq, Some(sent), Some(flushed), 128));
        }
        rig.start(txq);
        let frame = |n: usize| {
            let node = rig.buffer(256 + n % 256, len);
            std::slice::from_raw_parts_mut(node.data() as *mut u8, len).copy_from_slice(&datagram(len));
            node
        };
        for n in 0..if batches { 2 } else { 64 } {
            if batches {
                let (mut array, mut users, mut batch) =
                    (core::ptr::null_mut(), core::ptr::null_mut(), core::ptr::null());
                must(doca_eth_txq_task_batch_send_allocate(txq, 128, 0, &mut array, &mut users, &mut batch));
                for at in 0..128 {
                    *array.add(at) = frame(n * 128 + at);
                }
                must(doca_task_batch_submit(batch));
            } else {
                let mut task = core::ptr::null();
                must(doca_eth_txq_task_send_allocate_init(txq, frame(n), 0, &mut task));
                must((*txq).as_static().submit((*task).as_static()));
            }
        }
        txq
    }
}

/// All ways in one process, or the one with this number.
fn within(only: Option<usize>) {
    let mut number = 0;
    for len in [64, 1514] {
        for (batches, managed) in [(true, true), (false, true), (true, false), (false, false)] {
            number += 1;
            if only.is_some_and(|only| only != number) {
                continue;
            }
            let rig = Rig::new();
            // SAFETY: handles of this program alone.
            let (rxq, txq) = unsafe { (receiver(&rig, managed), sender(&rig, batches, len)) };
            tell(len, batches, managed, rig.measure());
            rig.stop(txq);
            for batch in WAITING.with_borrow_mut(std::mem::take) {
                // SAFETY: a batch that has completed.
                unsafe { doca_task_batch_free(batch) };
            }
            rig.stop(rxq);
            RECEIVED.set(0);
            SENT.set(0);
        }
    }
}

fn tell(len: usize, batches: bool, managed: bool, rate: f64) {
    let sends = if batches { "batches of 128" } else { "single tasks" };
    let receives = if managed { "events of up to 128" } else { "single tasks" };
    let (million, each) = (rate / 1e6, 1e9 / rate);
    println!(
        "{len:5} bytes, sent in {sends}, received in {receives}: {million:.1} million frames/s, {each:.0} ns each"
    );
}

fn pin(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu % std::thread::available_parallelism().map_or(1, usize::from));
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

/// From a process on another core, which sends as fast as it can.
fn between(lengths: &[usize]) {
    pin(1);
    for &len in lengths {
        for (batches, managed) in [(true, true), (false, true), (false, false)] {
            let myself = std::env::current_exe().unwrap();
            let mut other = std::process::Command::new(myself)
                .args(["send", &len.to_string(), if batches { "batches" } else { "tasks" }])
                .spawn()
                .unwrap();
            let rig = Rig::new();
            // SAFETY: handles of this program alone.
            let rxq = unsafe { receiver(&rig, managed) };
            rig.warm();
            tell(len, batches, managed, rig.measure());
            let _ = other.kill();
            let _ = other.wait();
            rig.stop(rxq);
        }
    }
}

/// The other process.
fn send(len: usize, batches: bool) {
    pin(0);
    let rig = Rig::new();
    // Nobody tells what has arrived.
    RECEIVED.set(u64::MAX / 2);
    // SAFETY: handles of this program alone.
    unsafe { sender(&rig, batches, len) };
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        for _ in 0..1000 {
            rig.pe.step();
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => within(None),
        ["between"] => between(&[64, 1514]),
        ["between", len] => between(&[len.parse().unwrap()]),
        ["send", len, how] => send(len.parse().unwrap(), how == "batches"),
        [number] => within(Some(number.parse().unwrap())),
        _ => panic!("nothing, `between`, or the number of a way"),
    }
}
