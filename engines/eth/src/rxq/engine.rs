//! The engine of receive queues: its settings, and what submits and the faces look at.

use super::hardware::{Event, ReceiveQueue};
use super::packets::{Packets, Shelf};
use super::pool::Pool;
use super::report::{Report, Want};
use super::task::RecvJob;
use crate::caps::RxCaps;
use crate::face::Inbox;
use crate::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};
use softdpu_card::{EngineKind, Function};
use softdpu_memory::copy::Gate;
use softdpu_memory::device::Device;
use softdpu_net::Queue;
use softdpu_room::engine::{Engine, EngineInfo, Work};
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// The receive queue engine.
#[derive(Debug)]
pub struct EthRxq;

/// How packets get to the program.
#[derive(Debug)]
pub enum Mode {
    /// Into buffers that the program posts as tasks, lists of at most so many elements.
    Posted {
        /// Most elements.
        list_len: u32,
    },
    /// C: in events, with buffers of the queue's own memory.
    Managed(Managed),
    /// Rust: into an inbox, in buffers of a pool.
    Stream(Arc<Inbox>),
}

/// What a managed queue of the C face works with.
#[derive(Debug)]
pub struct Managed {
    /// Packet memory.
    pub pool: Pool,
    /// What events tell.
    pub report: &'static Report,
    /// Arrays for events of several packets; none for single ones.
    pub shelf: Option<Arc<Shelf>>,
    /// Fewest and most packets of an event.
    pub batch: (usize, usize),
}

/// What a receive queue is asked to be, by either face.
#[derive(Debug)]
pub struct RxSetup {
    /// How packets get to the program.
    pub mode: Mode,
    /// Longest frame that is delivered.
    pub max_packet: u32,
    /// Most packets at once.
    pub max_burst: u32,
    /// What is told about packets.
    pub want: Want,
}

/// Configuration of a receive queue of the Rust face that works with tasks ([`Receive`](super::Receive)). 0 stands for the
/// default.
#[derive(Clone, Copy, Debug, Default)]
pub struct RxConfig {
    /// Receives in flight; 256.
    pub tasks: u32,
    /// Longest frame; what the device can do.
    pub max_packet: u32,
    /// What is told about packets besides the verdict on their checksums.
    pub want: Want,
}

/// Counters of a receive queue, since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RxCounters {
    /// Frames delivered.
    pub frames: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Frames longer than the queue takes, dropped.
    pub oversize: u64,
}

/// What submits and the faces see of a queue.
#[derive(Debug)]
pub struct RxDesk {
    pub(crate) gate: Gate,
    pub(crate) setup: RxSetup,
    /// Packets taken from the pool that the program was not told of yet.
    pub(crate) gathered: AtomicU32,
    pub(crate) frames: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) oversize: AtomicU64,
    queue: Mutex<Option<Arc<Queue>>>,
}

impl RxDesk {
    /// For a queue on `device`.
    ///
    /// # Errors
    /// NotSupported when the device has no receive queues.
    pub fn new(device: &Device, setup: RxSetup) -> Result<Arc<RxDesk>> {
        let caps = RxCaps::of(device.function())?;
        let list_len = if let Mode::Posted { list_len } = setup.mode { list_len } else { 1 };
        Ok(Arc::new(RxDesk {
            gate: Gate::new(device.bit(), caps.max_packet_size.into(), list_len),
            setup,
            gathered: AtomicU32::new(0),
            frames: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            oversize: AtomicU64::new(0),
            queue: Mutex::new(None),
        }))
    }

    /// The queue of the port, while it runs.
    pub fn queue(&self) -> Option<Arc<Queue>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_queue(&self, queue: Option<Arc<Queue>>) {
        *self.queue.lock().unwrap_or_else(PoisonError::into_inner) = queue;
    }

    /// Counters.
    pub fn counters(&self) -> RxCounters {
        RxCounters {
            frames: self.frames.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            oversize: self.oversize.load(Relaxed),
        }
    }

    /// Packets the program has.
    pub(crate) fn owed(&self) -> u32 {
        match &self.setup.mode {
            Mode::Managed(managed) => managed.pool.taken().saturating_sub(self.gathered.load(Relaxed)),
            _ => 0,
        }
    }

    /// A frame of this length was delivered. By the holder of the lane.
    #[inline]
    pub(crate) fn count(&self, len: u64) {
        self.frames.store(self.frames.load(Relaxed) + 1, Relaxed);
        self.bytes.store(self.bytes.load(Relaxed) + len, Relaxed);
    }

    /// Is a frame of this length dropped? By the holder of the lane.
    #[inline]
    pub(crate) fn is_oversize(&self, len: usize) -> bool {
        let over = len > self.setup.max_packet as usize;
        if over {
            self.oversize.store(self.oversize.load(Relaxed) + 1, Relaxed);
        }
        over
    }
}

impl EthRxq {
    /// The work of a queue.
    pub fn work(device: &Arc<Device>, desk: Arc<RxDesk>) -> Box<dyn Work> {
        ReceiveQueue::work(device, desk)
    }
}

impl Engine for EthRxq {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "eth_rxq", kind: EngineKind::EthRxq, tasks: &["recv"], fatal: false };
    type Caps = RxCaps;
    type Config = RxStart;
    type Job = RecvJob;
    type Event = Event;

    fn caps(function: &Function) -> Result<RxCaps> {
        RxCaps::of(function)
    }

    fn build(device: &Arc<Device>, start: RxStart) -> Result<(Box<dyn Work>, u32)> {
        let caps = RxCaps::of(device.function())?;
        let pick = |asked: u32, default: u32| if asked == 0 { default } else { asked };
        let tasks = pick(start.config.tasks, 256.min(caps.max_burst_size));
        let max_packet = pick(start.config.max_packet, caps.max_packet_size);
        let words = start.config.want.words;
        if tasks > caps.max_burst_size || max_packet > caps.max_packet_size || words > caps.max_metadata_num {
            log::error!(target: crate::LOG, "receive queue on {}: {tasks} receives, packets of {max_packet} bytes, {words} words of \
                 metadata asked for, limits {}, {} and {}", device.function(), caps.max_burst_size, caps.max_packet_size,
                caps.max_metadata_num);
            return Err(Error::new(Code::InvalidValue, "above a limit of the device"));
        }
        let mode = match start.inbox {
            Some(inbox) => Mode::Stream(inbox),
            None => Mode::Posted { list_len: caps.max_recv_buf_list_len },
        };
        let setup = RxSetup { mode, max_packet, max_burst: tasks, want: start.config.want };
        let desk = RxDesk::new(device, setup)?;
        if let Some(tell) = start.desk {
            *tell.lock().unwrap_or_else(PoisonError::into_inner) = Some(desk.clone());
        }
        Ok((EthRxq::work(device, desk), tasks))
    }
}

/// Configuration of a context of the Rust face: of one with tasks it is made from [`RxConfig`], of one that streams by
/// [`Receiver`](crate::face::Receiver).
#[derive(Debug, Default)]
pub struct RxStart {
    pub(crate) config: RxConfig,
    pub(crate) inbox: Option<Arc<Inbox>>,
    /// Where the desk is put.
    pub(crate) desk: Option<Arc<Mutex<Option<Arc<RxDesk>>>>>,
}

impl From<RxConfig> for RxStart {
    fn from(config: RxConfig) -> RxStart {
        RxStart { config, inbox: None, desk: None }
    }
}

/// Gives back what a queue of the C face has gathered and not told of.
pub(crate) fn forget(desk: &RxDesk, packets: impl Iterator<Item = &'static softdpu_memory::node::Node>) {
    packets.for_each(softdpu_memory::node::Node::give_back_list);
    desk.gathered.store(0, Relaxed);
}

/// See [`Packets`].
pub(crate) type Array = &'static Packets;
