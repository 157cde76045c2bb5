//! Message queues: producers and consumers of one process, without a connection.

use super::connection::ConsumerId;
use super::consumer::ConsumerBuilder;
use super::home::Home;
use super::producer::ProducerBuilder;
use crate::caps::Caps;
use crate::msgq::Queue;
use crate::streams::Carrier;
use core::fmt;
use core::future::poll_fn;
use softdpu_room::session::Device;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// Carries immediate data between producers and consumers of one process, which need no server, client or connection for
/// it. Any producer sends to any consumer of the queue.
///
/// Each producer and consumer has the progress engine it was started with, and may live on a thread of its own. The queue
/// itself does nothing: it is a handle, its clones are the same queue, and producers and consumers keep it.
///
/// # Back-pressure
/// That of a [`Producer`](crate::face::Producer): a send waits while its consumer has posted no receive. Posting one wakes
/// the futures that wait, from the thread that posts.
///
/// ```
/// use softdpu::comch::{MessageQueue, Payload};
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::threads()).open()?;
/// # let device = session.first_with(EngineKind::Comch)?.open()?;
/// let queue = MessageQueue::new(&device)?;
/// let mut pe = ProgressEngine::new(&session)?;
/// let consumer = queue.consumer().receives(8).start(&mut pe)?.wait(&mut pe)?;
/// for _ in 0..8 {
///     consumer.post_imm()?;
/// }
///
/// // A worker that reports.
/// let (theirs, to) = (queue.clone(), consumer.id());
/// let worker = std::thread::spawn(move || {
///     let mut pe = ProgressEngine::new(&session)?;
///     let producer = theirs.producer().start(&mut pe)?.wait(&mut pe)?;
///     pe.run(async {
///         for n in 0..100u32 {
///             producer.send(to, Payload::imm(&n.to_le_bytes())?).await?;
///         }
///         Ok::<_, Error>(())
///     })
/// });
///
/// pe.run(async {
///     for n in 0..100u32 {
///         let delivery = consumer.next().await.unwrap()?;
///         assert_eq!(delivery.imm.as_bytes(), n.to_le_bytes());
///         consumer.post_imm()?; // for a later one
///     }
///     Ok::<_, Error>(())
/// })?;
/// worker.join().unwrap()
/// # }
/// ```
#[derive(Clone)]
pub struct MessageQueue {
    device: Device,
    queue: Arc<Queue>,
}

impl MessageQueue {
    /// A queue for as many producers and consumers as the device can have.
    ///
    /// # Errors
    /// NotSupported: the device has no producers and consumers.
    pub fn new(device: &Device) -> Result<MessageQueue> {
        let most = Caps::of(device.function())?.max_streams;
        MessageQueue::with_limits(device, most, most)
    }

    /// A queue for so many producers and consumers at a time.
    ///
    /// ```
    /// use softdpu::comch::MessageQueue;
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Comch)?.open()?;
    /// let mut pe = ProgressEngine::new(&session)?;
    /// let queue = MessageQueue::with_limits(&device, 1, 1)?;
    /// let producer = queue.producer().start(&mut pe)?.wait(&mut pe)?;
    /// assert_eq!(queue.producer().start(&mut pe).unwrap_err().code(), Code::NoMemory);
    /// producer.stop().wait(&mut pe)?;
    /// let another = queue.producer().start(&mut pe)?.wait(&mut pe)?;
    /// # drop(another);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// InvalidValue: none of either, with one log line. NotSupported: the device has no producers and consumers.
    pub fn with_limits(device: &Device, producers: u32, consumers: u32) -> Result<MessageQueue> {
        if producers == 0 || consumers == 0 {
            log::error!(target: crate::LOG,
                "a message queue for {producers} producers and {consumers} consumers, at least 1 of each");
            return Err(Error::new(Code::InvalidValue, "a queue without producers or consumers"));
        }
        Ok(MessageQueue { device: device.clone(), queue: Queue::new(device.shared(), producers, consumers)? })
    }

    pub(super) fn inner(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// A producer to be, on this queue.
    pub fn producer(&self) -> ProducerBuilder {
        ProducerBuilder::new(Home::Queue(self.clone()))
    }

    /// A consumer to be, on this queue. It takes immediate data: a send of a buffer's data fails with TooBig.
    pub fn consumer(&self) -> ConsumerBuilder {
        ConsumerBuilder::new(Home::Queue(self.clone()))
    }

    /// The consumers that run, in the order of their making.
    pub fn consumers(&self) -> Vec<ConsumerId> {
        self.queue.streams().remotes().into_iter().map(ConsumerId::from).collect()
    }

    /// Waits for a consumer that this has not named yet, through this handle or another one of the queue. Those that ended
    /// meanwhile are passed over.
    ///
    /// ```
    /// use softdpu::comch::MessageQueue;
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::threads()).open()?;
    /// # let device = session.first_with(EngineKind::Comch)?.open()?;
    /// let queue = MessageQueue::new(&device)?;
    /// let theirs = queue.clone();
    /// let mut pe = ProgressEngine::new(&session)?;
    /// let other = std::thread::spawn(move || -> softdpu::Result<_> {
    ///     let mut pe = ProgressEngine::new(&session)?;
    ///     let consumer = theirs.consumer().start(&mut pe)?.wait(&mut pe)?;
    ///     Ok((consumer.id(), pe, consumer))
    /// });
    /// let found = pe.run(queue.new_consumer());
    /// assert_eq!(found, other.join().unwrap()?.0);
    /// # Ok(()) }
    /// ```
    pub async fn new_consumer(&self) -> ConsumerId {
        ConsumerId::from(poll_fn(|cx| self.queue.poll_fresh(cx.waker())).await)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl fmt::Debug for MessageQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageQueue({} on {:?})", self.queue.streams().roll(), self.device)
    }
}
