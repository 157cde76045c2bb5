//! Consumers.

use super::connection::ConsumerId;
use super::desk::{Clerk, Desk};
use super::home::Home;
use super::opening::{Opening, Opens};
use super::payload::Imm;
use super::producer::stream_tasks;
use super::wakers::{Wakers, note};
use crate::caps::Caps;
use crate::consumer::{ConsumerSetup, ReceiveJob};
use crate::engine::ComchConsumer;
use crate::streams::Role;
use core::fmt;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use softdpu_memory::buf::Lend;
use softdpu_memory::node::Lent;
use softdpu_memory::{Buf, Memory};
use softdpu_room::context::State;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::task::{Done, Rejected, Task};
use softdpu_room::typed::{Context, Stopping};
use softdpu_status::{Code, Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// Takes what the producers of the peer send, into buffers that were posted for it.
///
/// Buffers lie in memory that the consumer lends to the peer while it runs, and belong to the consumer while they are
/// posted. A consumer without memory takes immediate data alone. It may live on another progress engine, and another
/// thread, than its connection. It keeps the connection; dropping it stops it. Likewise on a
/// [`MessageQueue`](crate::face::MessageQueue), for immediate data alone.
///
/// See [`Producer`](crate::face::Producer) for both in use. Every buffer comes back, filled or with the reason why not:
///
/// ```
/// # use softdpu::comch::{Client, Server};
/// use softdpu::comch::{Connection, Consumer};
/// use softdpu::prelude::*;
///
/// /// Adds up what arrives until the connection is over; posts each buffer again.
/// async fn total(consumer: &Consumer) -> usize {
///     let mut total = 0;
///     while let Some(Ok(delivery)) = consumer.next().await {
///         let mut buf = delivery.buf.expect("one was posted");
///         total += buf.data_len();
///         buf.reset();
///         if consumer.post(buf).is_err() {
///             break;
///         }
///     }
///     total
/// }
/// ```
pub struct Consumer {
    pub(super) desk: Arc<Desk<Intake>>,
    memory: Option<Memory>,
    id: u32,
    // The connection goes last.
    pub(super) home: Home,
}

/// What a producer of the peer sent.
#[derive(Debug)]
pub struct Delivery {
    /// The buffer that was posted, with what arrived behind the data it had.
    pub buf: Option<Buf>,
    /// Immediate data.
    pub imm: Imm,
    /// Bytes that arrived in the buffer.
    pub bytes: usize,
    /// Which producer of the peer sent it.
    pub producer: u32,
}

/// A receive.
pub(super) struct Receive {
    pub(super) buf: Option<Buf>,
    imm: Imm,
    producer: u32,
}

impl Receive {
    pub(super) fn new(buf: Option<Buf>) -> Receive {
        Receive { buf, imm: Imm::default(), producer: 0 }
    }
}

impl Task for Receive {
    type Engine = ComchConsumer;
    type Output = u64;

    fn into_job(self) -> ReceiveJob {
        let mut job = ReceiveJob::new(self.buf.as_ref().map_or(Lent::nobody(), Lend::lend));
        job.owned = self.buf;
        job
    }

    fn from_job(job: ReceiveJob) -> Receive {
        // It fits: both have the same room.
        let imm = Imm::new(job.imm()).unwrap_or_default();
        Receive { imm, producer: job.producer(), buf: job.owned }
    }

    fn output(bytes: u64) -> u64 {
        bytes
    }
}

/// Keeps what arrived until somebody takes it.
#[derive(Default)]
pub(super) struct Intake {
    pub(super) arrived: VecDeque<Done<Receive>>,
    readers: Vec<Waker>,
}

impl Clerk for Intake {
    type Task = Receive;
    type Note = ();

    fn landed(&mut self, (): (), done: Done<Receive>, wake: &mut Wakers) {
        self.arrived.push_back(done);
        wake.add_all(&mut self.readers);
    }
}

/// What became of a receive: what arrived, or the buffer back and why.
pub type Arrived = Result<Delivery, Rejected<Option<Buf>>>;

/// A consumer that has stopped belongs to a connection that is over.
pub(super) fn over(error: Error) -> Error {
    match error.code() {
        Code::BadState => Error::new(Code::ConnectionReset, "the consumer has stopped"),
        _ => error,
    }
}

pub(super) fn told(done: Done<Receive>) -> Arrived {
    let Receive { buf, imm, producer } = done.task;
    match done.result {
        Ok(bytes) => Ok(Delivery { buf, imm, bytes: bytes as usize, producer }),
        Err(error) => Err(Rejected { error, back: buf }),
    }
}

impl Consumer {
    /// Posts a buffer: what is sent goes into the room behind its data.
    ///
    /// ```
    /// # use softdpu::comch::{Client, Server};
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let (card, host) = (session.device("03:00.0")?.open()?, session.device("b1:00.0")?.open()?);
    /// # let name = &format!("post-{}", std::process::id());
    /// # let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
    /// # let client = Client::builder(name).start(&mut pe, &host)?.wait(&mut pe)?;
    /// let memory = Memory::heap(8192).access(Access::PCI_READ_WRITE).register(&[&host])?;
    /// let consumer = client.consumer().memory(&memory).receives(1).start(&mut pe)?.wait(&mut pe)?;
    /// consumer.post(memory.buf(..4096)?)?;
    /// let refused = consumer.post(memory.buf(4096..)?).unwrap_err();
    /// assert_eq!(refused.error.code(), Code::Full);
    ///
    /// let other = Memory::heap(64).register(&[&host])?;
    /// assert_eq!(consumer.post(other.buf(..)?).unwrap_err().error.code(), Code::InvalidValue);
    ///
    /// client.stop(); // and with the connection the consumer
    /// let back = pe.run(consumer.next()).unwrap().unwrap_err();
    /// assert_eq!((back.error.code(), back.back.unwrap().capacity()), (Code::ConnectionReset, 4096));
    /// assert!(pe.run(consumer.next()).is_none());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The buffer back with: InvalidValue (it does not lie in the consumer's memory), Full (as many are posted as the
    /// consumer takes), ConnectionReset (the connection is over).
    pub fn post(&self, buf: Buf) -> Result<(), Rejected<Buf>> {
        if !self.is_mine(&buf) {
            return Err(Rejected { error: self.foreign(&buf), back: buf });
        }
        self.submit(Some(buf)).map_err(|(error, back)| match back {
            Some(back) => Rejected { error, back },
            None => unreachable!("a receive without its buffer"),
        })
    }

    pub(super) fn is_mine(&self, buf: &Buf) -> bool {
        self.memory.as_ref() == Some(buf.memory())
    }

    #[cold]
    pub(super) fn foreign(&self, buf: &Buf) -> Error {
        log::error!(target: crate::LOG, "receive of consumer {}: a buffer in {:?}, its memory is {:?}", self.id,
            buf.memory(), self.memory);
        Error::new(Code::InvalidValue, "the buffer does not lie in the consumer's memory")
    }

    /// Posts a receive of immediate data alone.
    ///
    /// # Errors
    /// As [`Consumer::post`].
    pub fn post_imm(&self) -> Result<()> {
        self.submit(None).map_err(|(error, _)| error)
    }

    fn submit(&self, buf: Option<Buf>) -> Result<(), (Error, Option<Buf>)> {
        let posted = self.desk.submit(Receive::new(buf), (), None);
        self.home.wake();
        posted.map_err(|Rejected { error, back }| (over(error), back.buf))
    }

    /// The next delivery. `None`: nothing is posted. A dropped future loses none.
    ///
    /// # Errors
    /// The buffer back with: TooBig (what was sent did not fit), ConnectionReset (the connection is over), IoFailed (the
    /// consumer was stopped, or the sender failed).
    pub async fn next(&self) -> Option<Arrived> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`Consumer::next`], for who writes futures and streams by hand.
    pub fn poll_next(&self, cx: &mut core::task::Context<'_>) -> Poll<Option<Arrived>> {
        let done = self.desk.with(|intake, posted| match intake.arrived.pop_front() {
            Some(done) => Poll::Ready(Some(done)),
            None if posted == 0 => Poll::Ready(None),
            None => {
                note(&mut intake.readers, cx.waker());
                Poll::Pending
            }
        });
        done.map(|done| done.map(told))
    }

    /// The next delivery, if one is there.
    pub fn try_next(&self) -> Option<Arrived> {
        self.desk.with(|intake, _| intake.arrived.pop_front()).map(told)
    }

    /// Receives that are posted.
    pub fn posted(&self) -> usize {
        self.desk.with(|_, posted| posted)
    }

    /// Its number on the connection: what the peer sends to.
    pub fn id(&self) -> ConsumerId {
        ConsumerId::from(self.id)
    }

    /// Where it is in its life. It stops when the connection ends.
    pub fn state(&self) -> State {
        self.desk.state()
    }

    /// Stops: the memory is the program's alone again, and every receive comes back; take them before, or they are
    /// dropped.
    ///
    /// # Panics
    /// Never: a consumer has its context until here.
    #[expect(clippy::expect_used, reason = "the context is taken here and by drop alone, which comes later")]
    pub fn stop(self) -> Stopping<ComchConsumer> {
        self.desk.take_context().expect("a consumer has its context").stop()
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        drop(self.desk.take_context());
    }
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Consumer({}, {:?}, {} posted)", self.id, self.state(), self.posted())
    }
}

impl Opens for Consumer {
    type Engine = ComchConsumer;
    type Plan = ConsumerPlan;

    fn open(plan: ConsumerPlan, context: Context<ComchConsumer>) -> Consumer {
        let desk = Desk::new(context, plan.tasks, Intake::default());
        Consumer { desk, memory: plan.memory, id: plan.id, home: plan.home }
    }
}

#[doc(hidden)]
pub struct ConsumerPlan {
    tasks: u32,
    id: u32,
    memory: Option<Memory>,
    home: Home,
}

impl fmt::Debug for ConsumerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConsumerPlan({}, {} receives)", self.id, self.tasks)
    }
}

/// A consumer to be: see [`Connection::consumer`](crate::face::Connection::consumer) and
/// [`MessageQueue::consumer`](crate::face::MessageQueue::consumer).
#[must_use = "a consumer is started by `start`"]
pub struct ConsumerBuilder {
    home: Home,
    memory: Option<Memory>,
    tasks: u32,
    imm: Option<u32>,
}

impl ConsumerBuilder {
    pub(super) fn new(home: Home) -> ConsumerBuilder {
        ConsumerBuilder { home, memory: None, tasks: 0, imm: None }
    }

    /// Where its buffers lie: memory with the right [`PCI_READ_WRITE`](softdpu_memory::Access::PCI_READ_WRITE), which is
    /// lent to the peer while the consumer runs. Consumers of a message queue have none.
    pub fn memory(self, memory: &Memory) -> Self {
        ConsumerBuilder { memory: Some(memory.clone()), ..self }
    }

    /// Receives that may be posted at a time, 64 unless said.
    pub fn receives(self, receives: u32) -> Self {
        ConsumerBuilder { tasks: receives, ..self }
    }

    /// Most bytes of immediate data; what the device can do unless said.
    pub fn max_imm(self, bytes: u32) -> Self {
        ConsumerBuilder { imm: Some(bytes), ..self }
    }

    /// Starts the consumer, to be progressed by `pe`. It runs once the peer has heard of it.
    ///
    /// # Errors
    /// InvalidValue (a number above the limits of the device; memory for a message queue), NotPermitted (memory without
    /// the right), NotFound (memory of another device), BadState (the connection is over), NoMemory (as many consumers
    /// as there may be). One log line has the cause.
    pub fn start(self, pe: &mut ProgressEngine) -> Result<Opening<Consumer>> {
        let device = self.home.device();
        let caps = Caps::of(device.function())?;
        let tasks = stream_tasks("receives", self.tasks, caps.max_stream_tasks)?;
        let most = caps.max_imm_data_len;
        let imm = self.imm.unwrap_or(most);
        if imm > most {
            log::error!(target: crate::LOG, "{imm} bytes of immediate data asked for, the device takes up to {most}");
            return Err(Error::new(Code::InvalidValue, "above a limit of the device"));
        }
        if let (Some(memory), Home::Queue(queue)) = (&self.memory, &self.home) {
            log::error!(target: crate::LOG, "{memory:?} for a consumer of {queue:?}, which carries immediate data alone");
            return Err(Error::new(Code::InvalidValue, "a message queue carries immediate data alone"));
        }
        if let Some(memory) = &self.memory
            && !memory.access().contains(softdpu_memory::Access::PCI_READ_WRITE)
        {
            log::error!(target: crate::LOG, "{memory:?} grants {:?}; receives need PCI_READ_WRITE", memory.access());
            return Err(Error::new(Code::NotPermitted, "access right missing"));
        }
        let member = Arc::new(self.home.member(Role::Consumer)?.ending_idle());
        let id = member.id();
        let setup = ConsumerSetup { member, region: None, memory: self.memory.clone(), tasks, imm };
        let starting = Context::start(pe, device, Some(setup));
        self.home.wake();
        let starting = starting?;
        Ok(Opening::new(starting, ConsumerPlan { tasks, id, memory: self.memory, home: self.home }))
    }
}

impl fmt::Debug for ConsumerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConsumerBuilder({:?}, {} receives)", self.memory, self.tasks)
    }
}
