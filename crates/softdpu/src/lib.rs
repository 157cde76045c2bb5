#![doc = include_str!("lib.md")]

mod retry;
mod session;

pub mod manual;

pub use retry::Retry;
pub use session::{Board, Checks, Device, DeviceInfo, Session, SessionBuilder};
pub use softdpu_memory::{
    Access, Buf, BufPool, Dmabuf, Element, ElementMut, Export, HugePage, Memory, MemoryBuilder, PageSize,
    Reach, RemoteBuf, RemoteMemory, WindowError,
};
pub use softdpu_room::batch::Batch;
pub use softdpu_room::context::State;
pub use softdpu_room::engine::Engine;
pub use softdpu_room::inflight::InFlight;
pub use softdpu_room::job::Outbox;
pub use softdpu_room::pump::ProgressEngine;
pub use softdpu_room::task::{Done, Handler, Next, Rejected, Task};
pub use softdpu_room::typed::{Context, Ready, Starting, Stopping};
pub use softdpu_status::{Class, Code, Error, Result};

/// The cards: machines, functions, profiles, limits. Pure data.
pub mod card {
    pub use softdpu_card::{
        AesGcmLimits, CardInfo, ComchLimits, CompressLimits, ConfigError, DmaLimits, EngineKind, EngineSet,
        ErasureCodingLimits, EthRxqLimits, EthTxqLimits, Feature, FeatureSet, FindError, Function,
        FunctionKind, Limits, Machine, MachineBuilder, MemoryLimits, Mode, ParsePciError, PciAddr, Plane,
        Profile, RdmaLimits, Representor, Settings, ShaLimits, Side, SyncEventLimits, View,
    };
}

/// Ends the trace of this process, if there is one ([`SessionBuilder::trace`]): its file is whole then. Happens by itself
/// when the process ends.
pub fn finish_trace() {
    softdpu_trace::record::finish();
}

/// What a program does wrong, as far as the compiler cannot say it: see [`SessionBuilder::checks`].
///
/// | rule | what is wrong |
/// |---|---|
/// | `never-progressed` | tasks are in flight, and for a second nobody progressed their engine |
/// | `callback-blocks` | a handler has been running for two seconds; nothing else of its engine is reported meanwhile |
/// | `retry-parameter` | a hundred submits in a row were refused with an error that does not pass |
/// | `tasks-not-freed` | submits find no place though nothing is in flight: ended tasks keep theirs until their results are taken |
/// | `result-ignored` | a task failed whose future had been dropped: nobody learns of it |
/// | `never-freed` | at the end a context is still there: it was forgotten, or dropped and not progressed |
///
/// Each is said once per context, as a warning in the log and as a [`Finding`](checks::Finding).
pub mod checks {
    pub use softdpu_trace::checks::{Finding, findings, finish};
}

/// Failures on purpose, and schedules that repeat: plans for [`SessionBuilder::faults`].
pub mod faults {
    pub use softdpu_faults::plan::{Effect, Fault, Peer, Place, Plan, PlanError, Which};
}

/// Telemetry: records, metrics, log events and flow records, in files and on their way to collectors.
pub mod telemetry {
    #[doc(inline)]
    pub use softdpu_telemetry::{
        AttributeType, Field, FieldType, LabelSetId, Logs, Metrics, RecordType, ResourceId, Schema,
        SchemaBuilder, ScopeId, Source, Value, default_root, netflow, now_micros,
    };
}

/// Memory and buffers; the same items as in the crate's root.
pub mod memory {
    pub use softdpu_memory::export::{ExportInfo, ImportInfo, Kind, exports, imports};
    pub use softdpu_memory::{
        Access, Buf, BufPool, Dmabuf, Element, ElementMut, Export, HugePage, Memory, MemoryBuilder, PageSize,
        Reach, RemoteBuf, RemoteMemory, WindowError,
    };
}

/// The DMA engine: copies lists of buffers into lists of buffers.
///
/// A copy reads the *data* of its source list and appends it behind the data of its destination list; both lists may be
/// cut differently. A failed copy stops its context.
///
/// ```
/// use softdpu::dma::{Config, Dma, Memcpy};
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
/// let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
///
/// // Gather two pieces into one buffer.
/// let (mut src, mut tail) = (memory.buf(0..100)?, memory.buf(1000..1100)?);
/// src.push_slice(b"gathered ")?;
/// tail.push_slice(b"bytes")?;
/// src.chain(tail);
/// let done = pe.run(dma.submit(Memcpy { src, dst: memory.buf(2000..)? })?);
/// assert_eq!(done.task.dst.as_slice(), Some(&b"gathered bytes"[..]));
/// # Ok(()) }
/// ```
pub mod dma {
    pub use softdpu_engines::dma::{Caps, Config, Dma, Memcpy};
}

/// The SHA engine: hashes of messages, whole or in pieces.
pub mod sha {
    pub use softdpu_engines::sha::{Algorithm, Caps, Config, Finish, Handlers, Hash, HashState, Sha, Update};
}

/// The compression engine: deflate both ways, LZ4 back.
pub mod compress {
    pub use softdpu_engines::compress::{
        Caps, Compress, CompressDeflate, Config, DecompressDeflate, DecompressLz4Block, DecompressLz4Stream,
        DeflateSums, Kind, Level, Lz4Sums,
    };
}

/// The AES-GCM engine: authenticated encryption.
pub mod aes_gcm {
    pub use softdpu_engines::aes_gcm::{
        AesGcm, Caps, Config, Decrypt, DecryptInPlace, Direction, Encrypt, EncryptInPlace, Iv, Key, TagLen,
    };
}

/// The erasure-coding engine: redundancy blocks, and blocks back from them.
pub mod erasure_coding {
    pub use softdpu_engines::erasure_coding::{
        Caps, Config, Create, ErasureCoding, GaloisMul, Kind, Matrix, Recover, Update,
    };
}

/// Cache advice for memory that a device is about to use.
pub mod mmap_advise {
    pub use softdpu_engines::mmap_advise::{Caps, Config, InvalidateCache, MmapAdvise};
}

/// Sync events: 64-bit values that threads and processes change and wait for, directly or with tasks.
///
/// One side makes the event and gives its [`export`](sync_event::SyncEvent::export) away; whoever imports the bytes has the
/// same value, in this process or in another one. Whether a side blocks its thread or awaits tasks is its own affair.
///
/// ```
/// use softdpu::prelude::*;
/// use softdpu::sync_event::{Condition, Config, NotifyAdd, SyncEvent, SyncEvents, WaitEqual};
/// # fn main() -> softdpu::Result<()> {
/// let session = Session::builder().board(Board::threads()).open()?;
/// let device = session.first_with(EngineKind::SyncEvent)?.open()?;
/// let ready = SyncEvent::new(&device)?;
///
/// // The other side; another process would have imported it.
/// let theirs = ready.clone();
/// let other = std::thread::spawn(move || {
///     theirs.wait(Condition::equal(1))?; // blocks, and needs no progress engine
///     theirs.add(1)
/// });
///
/// let mut pe = ProgressEngine::new(&session)?;
/// let mut tasks = Context::<SyncEvents>::start(&mut pe, &device, Config::of(&ready))?.wait(&mut pe)?;
/// pe.run(async {
///     tasks.submit(NotifyAdd(1))?.await.result?;
///     tasks.submit(WaitEqual::to(2))?.await.result
/// })?;
/// assert_eq!(other.join().unwrap(), Ok(1)); // the value before
/// # Ok(()) }
/// ```
pub mod sync_event {
    pub use softdpu_engines::sync_event::{
        Caps, Condition, Config, Get, NotifyAdd, NotifySet, SyncEvent, SyncEvents, WaitEqual, WaitNotEqual,
    };
}

/// Ethernet: frames out of and into a port of the card, and the rules that bring them to queues.
///
/// What is behind a port (a wire to another port, an interface of the kernel, a capture file) is chosen in the topology.
/// Sends are tasks like any other, with back-pressure by [`Context::ready`]; a [`Receiver`](eth::Receiver) streams frames in
/// buffers of a pool, which can be sent on as they are. Nothing arrives before a rule of the port points at a queue.
///
/// ```
/// use softdpu::eth::{self, Checksums, EthTxq, Receiver, ReceiverConfig, Rules, Send, TxConfig};
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let machine = softdpu::card::Machine::builder().config_text("[[card]]\nname = \"doc\"\n").build().unwrap();
/// # let session = Session::new(machine, Board::inline());
/// // Ports p0 and p1 are joined by a wire.
/// let (p0, p1) = (session.device("p0")?.open()?, session.device("p1")?.open()?);
/// let mut pe = ProgressEngine::new(&session)?;
/// let pool = Memory::heap(1 << 20).access(Access::LOCAL_READ_WRITE).register(&[&p0, &p1])?.pool(2048)?;
///
/// let mut receiver = Receiver::start(&mut pe, &p1, pool.clone(), ReceiverConfig::default())?;
/// eth::port(&p1).steer(Some(Rules::all_to(receiver.number()?).compile()?.into()));
/// let mut sender = Context::<EthTxq>::start(&mut pe, &p0, TxConfig::default())?.wait(&mut pe)?;
///
/// let mut frame = pool.take().unwrap();
/// frame.push_slice(b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\xb5 any payload")?;
/// pe.run(sender.ready())?;
/// sender.post(Send { frame, checksums: Checksums::NONE })?;
/// let got = pe.run(receiver.next()).unwrap();
/// assert_eq!(&got.bytes()[14..], b" any payload");
/// # Ok(()) }
/// ```
pub mod eth {
    pub use softdpu_engines::eth::face::{Frame, Receiver, ReceiverConfig, port};
    pub use softdpu_engines::eth::net::steer::{
        Action, Classifier, HashFields, Match, RuleCount, Rules, Tally, Verdict,
    };
    pub use softdpu_engines::eth::net::{Link, Port, PortCounters};
    pub use softdpu_engines::eth::rxq::{EthRxq, Info, Receive, RxConfig, RxCounters, RxStart, Want};
    pub use softdpu_engines::eth::txq::{Checksums, EthTxq, LargeSend, Send, TxConfig};
    pub use softdpu_engines::eth::{RxCaps, TxCaps};
}

/// The channel between host and card: messages, and buffers that go straight into the other side's memory.
///
/// A [`Server`](comch::Server) runs on the card, a [`Client`](comch::Client) on the host; both are contexts, and both ends
/// of a [`Connection`](comch::Connection) are alike from then on. A [`MessageQueue`](comch::MessageQueue) is for the threads of
/// one process. [`manual::comch`] goes through all of it.
pub mod comch {
    pub use softdpu_engines::comch::face::{
        Arrived, Client, ClientBuilder, Connection, Consumer, ConsumerBuilder, ConsumerId, Delivery, Imm,
        Incoming, Message, MessageQueue, Opening, Opens, Payload, Producer, ProducerBuilder, Returned,
        Server, ServerBuilder,
    };
    pub use softdpu_engines::comch::{
        Caps, ComchClient, ComchConsumer, ComchProducer, ComchServer, Counters,
    };
}

/// The RDMA engine: messages, one-sided reads and writes, and atomics between peers, which may be threads or processes.
///
/// An [`Endpoint`](rdma::Endpoint) makes [`Connection`](rdma::Connection)s, a context carries their tasks. Memory of a peer
/// is a [`RemoteMemory`], whose buffers are of a type of their own. [`manual::rdma`] goes through all of it.
pub mod rdma {
    pub use softdpu_engines::rdma::{
        Address, AddressKind, Caps, CompareSwap, Config, Connection, Endpoint, EventAdd, EventGet, EventSet,
        FetchAdd, Happening, Message, Opcode, Options, Rdma, Read, Receive, Received, Receives, RemoteEvent,
        Request, Send, Target, Transport, Unfilled, Write,
    };
}

/// Clocks of the machine and of its cards, one by one or two at the same instant.
///
/// ```
/// use softdpu::clock::{self, Clock};
/// # fn main() -> softdpu::Result<()> {
/// let before = clock::read(Clock::HostMonotonic)?;
/// let pair = clock::read_both(Clock::HostMonotonic, Clock::CardFreeRunning)?;
/// assert!(pair.primary >= before);
/// println!("the card's clock stood at {:?}, give or take {} ns", pair.card, pair.margin);
/// # Ok(()) }
/// ```
pub mod clock {
    pub use softdpu_room::clock::{Clock, Pair, Reading, read, read_both};
}

/// What nearly every program needs.
///
/// ```
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// let session = Session::builder().board(Board::inline()).open()?;
/// # let _ = session;
/// # Ok(()) }
/// ```
pub mod prelude {
    pub use crate::{
        Access, Board, Buf, BufPool, Class, Code, Context, Device, DeviceInfo, Done, Error, Handler,
        HugePage, InFlight, Memory, Next, Outbox, PageSize, ProgressEngine, Rejected, RemoteMemory, Retry,
        Session, State, Task, WindowError,
    };
    pub use softdpu_card::EngineKind;
}
