//! Producers.

use super::connection::ConsumerId;
use super::desk::Desk;
use super::home::Home;
use super::opening::{Opening, Opens};
use super::payload::Payload;
use super::produce::{Dispatch, Produce, Ticket};
use crate::caps::Caps;
use crate::engine::{ComchProducer, ProducerSetup};
use crate::streams::Role;
use crate::sync::{AtomicU64, Ordering};
use core::fmt;
use core::future::poll_fn;
use core::task::{Context as TaskContext, Poll};
use softdpu_room::context::State;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::task::Rejected;
use softdpu_room::typed::{Context, Stopping};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

pub use super::produce::Returned;

/// Sends buffers and immediate data to the consumers of the peer, whose receives they meet in the order of posting. The
/// bytes go straight into the memory that the consumer lent, with no copy in between.
///
/// A producer may live on another progress engine, and another thread, than its connection. It keeps the connection;
/// dropping it stops it.
///
/// # Back-pressure
/// Sends wait while the consumer has posted no receive, and while as many are in flight as the producer has tasks. News of
/// receives that somebody waits for come over the connection: progress the engine of that, too, where it is another one.
/// A consumer that keeps receives posted is never waited for. On a [`MessageQueue`](crate::face::MessageQueue) whoever
/// posts a receive wakes the sends that wait for it.
///
/// ```
/// # use softdpu::comch::{Client, Server};
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let (card, host) = (session.device("03:00.0")?.open()?, session.device("b1:00.0")?.open()?);
/// # let name = &format!("producer-{}", std::process::id());
/// # let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
/// # let client = Client::builder(name).start(&mut pe, &host)?.wait(&mut pe)?;
/// # let connection = pe.run(server.accept()).unwrap();
/// // At one end: memory that the peer may write to, and a receive.
/// let theirs = Memory::heap(8192).access(Access::PCI_READ_WRITE).register(&[&card])?;
/// let consumer = connection.consumer().memory(&theirs).start(&mut pe)?.wait(&mut pe)?;
/// consumer.post(theirs.buf(..4096)?)?;
///
/// // At the other one: a producer, and something to send.
/// let ours = Memory::heap(4096).register(&[&host])?;
/// let producer = client.producer().tasks(16).start(&mut pe)?.wait(&mut pe)?;
/// let mut block = ours.buf(..)?;
/// block.push_slice(b"a block")?;
///
/// let delivery = pe.run(async {
///     let to = client.new_consumer().await.expect("the peer has one");
///     let payload = producer.send(to, softdpu::comch::Payload::from(block).with_imm(b"no 7")?).await?;
///     assert_eq!(payload.buf.unwrap().data_len(), 7); // the buffer is back
///     Ok::<_, Error>(consumer.next().await.unwrap()?)
/// })?;
/// assert_eq!(delivery.buf.unwrap().to_vec(), b"a block");
/// assert_eq!(delivery.imm.as_bytes(), b"no 7");
/// # Ok(()) }
/// ```
pub struct Producer {
    desk: Arc<Desk<Dispatch>>,
    next: AtomicU64,
    id: u32,
    // The connection goes last.
    home: Home,
}

impl Producer {
    /// Sends, and waits until the bytes are in the consumer's buffer; the payload comes back either way. A future that is
    /// dropped has sent all or nothing; what it sent comes back through [`Producer::reclaim`].
    ///
    /// # Errors
    /// The payload back with: NotFound (no such consumer, or it is gone), TooBig (the receive has not so much room),
    /// InvalidValue (neither buffer nor immediate data, or more of it than the consumer takes; memory of another
    /// device), ConnectionReset (the connection is over).
    pub async fn send(
        &self,
        to: ConsumerId,
        payload: impl Into<Payload>,
    ) -> Result<Payload, Rejected<Payload>> {
        let number = self.number();
        let ticket = Ticket::new(&self.desk, number);
        self.feed_as(number, to, payload.into()).await?;
        let Returned { payload, result, .. } = poll_fn(|cx| ticket.poll(cx)).await;
        match result {
            Ok(_) => Ok(payload),
            Err(error) => Err(Rejected { error, back: payload }),
        }
    }

    /// Sends, and waits only until a receive was found: it is on its way then. The payload comes back through
    /// [`Producer::reclaim`].
    ///
    /// ```
    /// # use softdpu::comch::{Client, Server};
    /// use softdpu::comch::Payload;
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let (card, host) = (session.device("03:00.0")?.open()?, session.device("b1:00.0")?.open()?);
    /// # let name = &format!("feed-{}", std::process::id());
    /// # let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
    /// # let client = Client::builder(name).start(&mut pe, &host)?.wait(&mut pe)?;
    /// # let connection = pe.run(server.accept()).unwrap();
    /// # let consumer = connection.consumer().start(&mut pe)?.wait(&mut pe)?;
    /// # let producer = client.producer().start(&mut pe)?.wait(&mut pe)?;
    /// # let to = pe.run(client.new_consumer()).unwrap();
    /// for _ in 0..10 {
    ///     consumer.post_imm()?;
    /// }
    /// pe.run(async {
    ///     for n in 0..10u8 {
    ///         producer.feed(to, Payload::imm(&[n])?).await?; // many at a time
    ///     }
    ///     while let Some(returned) = producer.reclaim().await {
    ///         returned.result?;
    ///     }
    ///     Ok::<_, Error>(())
    /// })?;
    /// assert_eq!(pe.run(consumer.next()).unwrap()?.imm.as_bytes(), [0]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The payload back with: NotFound (no such consumer, or it is gone), ConnectionReset (the connection is over).
    pub async fn feed(&self, to: ConsumerId, payload: impl Into<Payload>) -> Result<(), Rejected<Payload>> {
        self.feed_as(self.number(), to, payload.into()).await
    }

    /// Sends if there are a task and a receive for it. The payload comes back through [`Producer::reclaim`].
    ///
    /// # Errors
    /// As [`Producer::feed`], besides: Full (progress, then again), Again (the consumer has posted no receive).
    pub fn try_feed(&self, to: ConsumerId, payload: impl Into<Payload>) -> Result<(), Rejected<Payload>> {
        self.submit(self.number(), to, payload.into(), None)
    }

    /// The next payload that is back. `None`: none is in flight.
    pub async fn reclaim(&self) -> Option<Returned> {
        poll_fn(|cx| {
            self.desk.with(|dispatch, flying| match dispatch.take() {
                Some(returned) => Poll::Ready(Some(returned)),
                None if flying == 0 => Poll::Ready(None),
                None => {
                    dispatch.wait(cx.waker());
                    Poll::Pending
                }
            })
        })
        .await
    }

    /// The next payload that is back, if one is there.
    pub fn try_reclaim(&self) -> Option<Returned> {
        self.desk.with(|dispatch, _| dispatch.take())
    }

    /// Sends in flight.
    pub fn in_flight(&self) -> usize {
        self.desk.with(|_, flying| flying)
    }

    /// Its number on the connection: what consumers see as [`Delivery::producer`](crate::face::Delivery).
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Where it is in its life. It stops when the connection ends.
    pub fn state(&self) -> State {
        self.desk.state()
    }

    /// Stops: what is on its way arrives or comes back.
    ///
    /// # Panics
    /// Never: a producer has its context until here.
    #[expect(clippy::expect_used, reason = "the context is taken here and by drop alone, which comes later")]
    pub fn stop(self) -> Stopping<ComchProducer> {
        self.desk.take_context().expect("a producer has its context").stop()
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    async fn feed_as(&self, number: u64, to: ConsumerId, payload: Payload) -> Result<(), Rejected<Payload>> {
        let mut payload = Some(payload);
        poll_fn(|cx| {
            // Once more after it asked to be woken: a receive may have come in between.
            for asked in [false, true] {
                let Some(sent) = payload.take() else { break };
                match self.submit(number, to, sent, Some(cx)) {
                    Err(Rejected { error, back }) if matches!(error.code(), Code::Full | Code::Again) => {
                        payload = Some(back);
                        if error.code() == Code::Full {
                            break;
                        }
                        if !asked && let Some(remote) = self.home.streams().remote(to.get()) {
                            remote.wait(cx.waker());
                        }
                    }
                    outcome => return Poll::Ready(outcome),
                }
            }
            Poll::Pending
        })
        .await
    }

    fn submit(
        &self,
        number: u64,
        to: ConsumerId,
        payload: Payload,
        cx: Option<&mut TaskContext<'_>>,
    ) -> Result<(), Rejected<Payload>> {
        let waiter = cx.as_ref().map(|cx| cx.waker());
        self.desk.submit(Produce { to, payload }, number, waiter).map_err(|Rejected { error, back }| {
            let error = match error.code() {
                Code::BadState => Error::new(Code::ConnectionReset, "the producer has stopped"),
                _ => error,
            };
            Rejected { error, back: back.payload }
        })
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        drop(self.desk.take_context());
    }
}

impl fmt::Debug for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Producer({}, {:?}, {} in flight)", self.id, self.state(), self.in_flight())
    }
}

impl Opens for Producer {
    type Engine = ComchProducer;
    type Plan = ProducerPlan;

    fn open(plan: ProducerPlan, context: Context<ComchProducer>) -> Producer {
        Producer {
            desk: Desk::new(context, plan.tasks, Dispatch::default()),
            next: AtomicU64::new(0),
            id: plan.id,
            home: plan.home,
        }
    }
}

#[doc(hidden)]
pub struct ProducerPlan {
    tasks: u32,
    id: u32,
    home: Home,
}

impl fmt::Debug for ProducerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProducerPlan({}, {} tasks)", self.id, self.tasks)
    }
}

/// A producer to be: see [`Connection::producer`](crate::face::Connection::producer) and
/// [`MessageQueue::producer`](crate::face::MessageQueue::producer).
#[must_use = "a producer is started by `start`"]
pub struct ProducerBuilder {
    home: Home,
    tasks: u32,
}

impl ProducerBuilder {
    pub(super) fn new(home: Home) -> ProducerBuilder {
        ProducerBuilder { home, tasks: 0 }
    }

    /// Sends in flight at a time, 64 unless said.
    pub fn tasks(self, tasks: u32) -> Self {
        ProducerBuilder { tasks, ..self }
    }

    /// Starts the producer, to be progressed by `pe`.
    ///
    /// # Errors
    /// InvalidValue (more tasks than the device can do), BadState (the connection is over), NoMemory (as many producers
    /// as there may be). One log line has the cause.
    pub fn start(self, pe: &mut ProgressEngine) -> Result<Opening<Producer>> {
        let device = self.home.device();
        let most = Caps::of(device.function())?.max_stream_tasks;
        let tasks = stream_tasks("sends", self.tasks, most)?;
        let member = Arc::new(self.home.member(Role::Producer)?.ending_idle());
        let id = member.id();
        let starting = Context::start(pe, device, Some(ProducerSetup { member, tasks }))?;
        Ok(Opening::new(starting, ProducerPlan { tasks, id, home: self.home }))
    }
}

impl fmt::Debug for ProducerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProducerBuilder({} tasks)", self.tasks)
    }
}

/// What the program said, or the default.
pub(super) fn stream_tasks(what: &str, said: u32, most: u32) -> Result<u32> {
    match said {
        0 => Ok(most.min(64)),
        said if said <= most => Ok(said),
        _ => {
            log::error!(target: crate::LOG, "{said} {what} in flight asked for, the device takes 1 to {most}");
            Err(Error::new(Code::InvalidValue, "above a limit of the device"))
        }
    }
}
