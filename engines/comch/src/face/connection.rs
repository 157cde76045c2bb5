//! What a program does with a connection.

use super::consumer::ConsumerBuilder;
use super::home::Home;
use super::mailbox::{Mailbox, Wanted};
use super::message::Message;
use super::office::Office;
use super::producer::ProducerBuilder;
use crate::connection::{Counters, Phase};
use core::fmt;
use core::future::poll_fn;
use core::task::{Context, Poll, Waker};
use softdpu_room::session::Device;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// One end of a connection: messages both ways, consumers of the peer, and the place where producers and consumers of
/// this end begin. An owned object; dropping it, and what was started on it, ends the connection.
///
/// Everything takes `&self`, from any thread: share it in an [`Arc`] or by reference. Each message goes to one receiver;
/// messages that one task sends keep their order.
///
/// # Back-pressure
/// A peer that does not receive lets only so many messages pass: [`send`](Connection::send) then waits until it does, and
/// [`feed`](Connection::feed) once a share of the context's tasks is in flight. Likewise this end takes no more from the
/// peer while [`recv`](Connection::recv) is not called. News of consumers travel in the same order as messages, so keep
/// receiving while a consumer starts.
///
/// # Futures
/// May be dropped at any time. A message that was received stays in the connection until it is taken; one that was sent
/// is sent, or was never begun.
///
/// ```
/// # use softdpu::comch::{Client, Server};
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let (card, host) = (session.device("03:00.0")?.open()?, session.device("b1:00.0")?.open()?);
/// # let name = &format!("connection-{}", std::process::id());
/// # let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
/// # let client = Client::builder(name).start(&mut pe, &host)?.wait(&mut pe)?;
/// let connection = pe.run(server.accept()).unwrap();
/// pe.run(async {
///     for n in 0..100u32 {
///         client.feed(n.to_le_bytes()).await?; // many at a time
///         assert_eq!(connection.recv().await.unwrap(), n.to_le_bytes());
///     }
///     client.flush().await // all of them are handed over
/// })?;
/// assert_eq!(connection.counters()?.received_messages, 100);
/// # Ok(()) }
/// ```
pub struct Connection {
    hold: Arc<Hold>,
}

/// Ends the connection when the last of those goes who live on it.
pub(super) struct Hold {
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) office: Arc<dyn Office>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.office.leave(&self.mailbox);
    }
}

/// The number of a consumer on its connection. It means something on that connection alone.
///
/// ```
/// use softdpu::comch::ConsumerId;
/// let id = ConsumerId::from(2); // as a message may have said it
/// assert_eq!(id.get(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConsumerId(u32);

impl ConsumerId {
    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl From<u32> for ConsumerId {
    fn from(id: u32) -> ConsumerId {
        ConsumerId(id)
    }
}

/// What comes over a connection: see [`Connection::next`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// The peer started a consumer: producers can send to it.
    NewConsumer(ConsumerId),
    /// A consumer of the peer is gone.
    ExpiredConsumer(ConsumerId),
}

impl Connection {
    pub(super) fn new(mailbox: Arc<Mailbox>, office: Arc<dyn Office>) -> Connection {
        Connection { hold: Arc::new(Hold { mailbox, office }) }
    }

    fn mailbox(&self) -> &Mailbox {
        &self.hold.mailbox
    }

    /// Sends a message and waits until it was handed over to the peer. Of a dropped future the message is either sent, or
    /// was never begun.
    ///
    /// ```
    /// # use softdpu::comch::{Client, Server};
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let (card, host) = (session.device("03:00.0")?.open()?, session.device("b1:00.0")?.open()?);
    /// # let name = &format!("send-{}", std::process::id());
    /// # let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
    /// # let client = Client::builder(name).start(&mut pe, &host)?.wait(&mut pe)?;
    /// pe.run(client.send(b"hello"))?;
    /// let refused = pe.run(client.send([0; 5000])).unwrap_err();
    /// assert_eq!(refused.code(), Code::TooBig);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// TooBig (more bytes than the peer takes), ConnectionReset (the connection is over).
    pub async fn send(&self, bytes: impl AsRef<[u8]>) -> Result<()> {
        let bytes = bytes.as_ref();
        let number = poll_fn(|cx| self.poll_post(bytes, true, cx)).await?;
        let ticket = self.mailbox().outgoing.ticket(number);
        poll_fn(|cx| ticket.poll(cx)).await
    }

    /// Sends a message, and waits only for room: it is on its way then. How it went, [`Connection::flush`] tells.
    ///
    /// # Errors
    /// ConnectionReset (the connection is over).
    pub async fn feed(&self, bytes: impl AsRef<[u8]>) -> Result<()> {
        let bytes = bytes.as_ref();
        poll_fn(|cx| self.poll_post(bytes, false, cx)).await.map(drop)
    }

    /// Sends a message if there is room. How it went, [`Connection::flush`] tells.
    ///
    /// ```
    /// # use softdpu::comch::{Client, Server};
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let (card, host) = (session.device("03:00.0")?.open()?, session.device("b1:00.0")?.open()?);
    /// # let name = &format!("try-send-{}", std::process::id());
    /// # let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
    /// # let client = Client::builder(name).tasks(2).start(&mut pe, &host)?.wait(&mut pe)?;
    /// let full = loop {
    ///     if let Err(full) = client.try_feed(b"one after the other") {
    ///         break full; // nobody progresses here
    ///     }
    /// };
    /// assert_eq!((full.code(), full.class()), (Code::Full, Class::Transient));
    /// pe.run(client.flush())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Full (no room: progress, then again), ConnectionReset (the connection is over).
    pub fn try_feed(&self, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.post(bytes.as_ref(), false, None).map(drop)
    }

    fn poll_post(&self, bytes: &[u8], awaited: bool, cx: &mut Context<'_>) -> Poll<Result<u64>> {
        match self.post(bytes, awaited, Some(cx.waker())) {
            Err(error) if error.code() == Code::Full => Poll::Pending,
            outcome => Poll::Ready(outcome),
        }
    }

    /// The number of the message; what nobody awaits has none when it went without a task.
    fn post(&self, bytes: &[u8], awaited: bool, waiter: Option<&Waker>) -> Result<u64> {
        let Hold { mailbox, office } = &*self.hold;
        if mailbox.is_over() {
            return Err(Error::new(Code::ConnectionReset, "the connection is over"));
        }
        if !awaited && office.goes_without_tasks() && mailbox.connection().hand_over(bytes, office.share()) {
            return Ok(0);
        }
        let (number, memory) = mailbox
            .outgoing
            .reserve(office.share(), bytes, awaited, waiter)
            .ok_or(Error::new(Code::Full, "as many messages in flight as the connection may have"))?;
        office.post(mailbox, number, memory, waiter).map(|()| number)
    }

    /// Waits until everything that was sent is handed over to the peer.
    ///
    /// # Errors
    /// The first failure since the last flush among the messages that nobody awaited: TooBig, ConnectionReset.
    pub async fn flush(&self) -> Result<()> {
        poll_fn(|cx| self.mailbox().outgoing.poll_flush(cx)).await
    }

    /// The next message. `None`: the connection is over, and all of its messages were taken. A dropped future loses none.
    ///
    /// ```
    /// # use softdpu::comch::{Client, Server};
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let (card, host) = (session.device("03:00.0")?.open()?, session.device("b1:00.0")?.open()?);
    /// # let name = &format!("recv-{}", std::process::id());
    /// # let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
    /// # let client = Client::builder(name).start(&mut pe, &host)?.wait(&mut pe)?;
    /// # let connection = pe.run(server.accept()).unwrap();
    /// pe.run(client.send(b"first"))?;
    /// pe.run(client.send(b"last"))?;
    /// drop(client);
    /// let mut all = Vec::new();
    /// pe.run(async {
    ///     while let Some(message) = connection.recv().await {
    ///         all.push(message);
    ///     }
    /// });
    /// assert_eq!(all, [&b"first"[..], b"last"]);
    /// # Ok(()) }
    /// ```
    pub async fn recv(&self) -> Option<Message> {
        match poll_fn(|cx| self.mailbox().poll(Wanted::Message, cx)).await? {
            Incoming::Message(message) => Some(message),
            _ => None,
        }
    }

    /// The next message, if one is there.
    pub fn try_recv(&self) -> Option<Message> {
        match self.mailbox().try_take(Wanted::Message)? {
            Incoming::Message(message) => Some(message),
            _ => None,
        }
    }

    /// The next message or news of a consumer, in the order in which the peer caused them. `None`: the connection is
    /// over.
    ///
    /// ```
    /// use softdpu::comch::{Connection, Incoming};
    ///
    /// async fn watch(connection: &Connection) {
    ///     while let Some(incoming) = connection.next().await {
    ///         match incoming {
    ///             Incoming::Message(message) => println!("{} bytes", message.len()),
    ///             Incoming::NewConsumer(id) => println!("consumer {} is there", id.get()),
    ///             Incoming::ExpiredConsumer(id) => println!("consumer {} is gone", id.get()),
    ///             _ => (),
    ///         }
    ///     }
    /// }
    /// ```
    pub async fn next(&self) -> Option<Incoming> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`Connection::next`], for who writes futures and streams by hand.
    ///
    /// ```
    /// use softdpu::comch::{Connection, Incoming};
    /// use std::task::{Context, Poll};
    ///
    /// /// What implements a stream of another crate.
    /// fn poll_next(connection: &Connection, cx: &mut Context<'_>) -> Poll<Option<Incoming>> {
    ///     connection.poll_next(cx)
    /// }
    /// ```
    pub fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Incoming>> {
        self.mailbox().poll(Wanted::Anything, cx)
    }

    /// As [`Connection::next`], if something is there.
    pub fn try_next(&self) -> Option<Incoming> {
        self.mailbox().try_take(Wanted::Anything)
    }

    /// Waits for the peer to start a consumer that this call has not named yet; messages stay where they are. `None`: the
    /// connection is over.
    ///
    /// News that [`Connection::next`] told are not told here again, and the other way round.
    pub async fn new_consumer(&self) -> Option<ConsumerId> {
        match poll_fn(|cx| self.mailbox().poll(Wanted::NewConsumer, cx)).await? {
            Incoming::NewConsumer(id) => Some(id),
            _ => None,
        }
    }

    /// The consumers that the peer has now.
    pub fn consumers(&self) -> Vec<ConsumerId> {
        self.mailbox().consumers()
    }

    /// A producer to be, on this connection. See [`Producer`](crate::face::Producer).
    pub fn producer(&self) -> ProducerBuilder {
        ProducerBuilder::new(Home::Connection(self.hold.clone()))
    }

    /// A consumer to be, on this connection. See [`Consumer`](crate::face::Consumer).
    pub fn consumer(&self) -> ConsumerBuilder {
        ConsumerBuilder::new(Home::Connection(self.hold.clone()))
    }

    /// Is it established, and not over?
    pub fn is_up(&self) -> bool {
        let connection = self.mailbox().connection();
        connection.phase() == Phase::Up && !connection.is_lost() && !self.mailbox().is_over()
    }

    /// The process at the other end; 0 where that cannot be told.
    pub fn peer(&self) -> u32 {
        self.mailbox().connection().peer()
    }

    /// The device of this end.
    pub fn device(&self) -> &Device {
        self.hold.office.device()
    }

    /// Most bytes of a message that this end takes.
    pub fn max_msg_size(&self) -> u32 {
        self.mailbox().connection().max_msg_size()
    }

    /// What went through so far.
    ///
    /// # Errors
    /// ConnectionAborted: it is over.
    pub fn counters(&self) -> Result<Counters> {
        self.mailbox().connection().counters()
    }

    /// Ends the connection once everything that was sent is handed over. What was started on it goes on until it is
    /// dropped, and only then the connection ends.
    ///
    /// # Errors
    /// As [`Connection::flush`]; it ends all the same.
    pub async fn close(self) -> Result<()> {
        self.flush().await
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let connection = self.mailbox().connection();
        write!(f, "Connection({:?} end, {:?}, peer {})", connection.side(), connection.phase(), self.peer())
    }
}
