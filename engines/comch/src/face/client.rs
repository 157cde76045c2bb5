//! Clients.

use super::connection::Connection;
use super::hall::Hall;
use super::mailbox::Mailbox;
use super::office::ContextOffice;
use super::opening::{Opening, Opens};
use super::server::{Plan, check_name, queue};
use crate::caps::Caps;
use crate::client::{ClientSetup, Found};
use crate::engine::{ComchClient, Ends};
use core::fmt;
use core::ops::Deref;
use softdpu_room::context::State;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::Device;
use softdpu_room::typed::{Context, Stopping};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// A client on the host, and its one [`Connection`], which it stands for: everything a connection can do, a client can.
///
/// Dropping it stops the client once its producers and consumers are gone, too.
///
/// ```
/// use softdpu::comch::{Client, Server};
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let name = &format!("client-{}", std::process::id());
/// # let card = session.device("03:00.0")?.open()?;
/// # let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
/// let host = session.device("b1:00.0")?.open()?;
/// let client = Client::builder(name).start(&mut pe, &host)?.wait(&mut pe)?;
/// pe.run(client.send(b"hello"))?;
/// let there = pe.run(server.accept()).unwrap();
/// client.stop().wait(&mut pe)?;
/// assert_eq!(pe.run(there.recv()).unwrap(), b"hello");
/// assert!(pe.run(there.recv()).is_none()); // the client is gone
/// # Ok(()) }
/// ```
pub struct Client {
    connection: Connection,
    office: Arc<ContextOffice<ComchClient>>,
}

impl Client {
    /// A client of the server of this name.
    pub fn builder(server: impl AsRef<[u8]>) -> ClientBuilder {
        ClientBuilder { server: server.as_ref().to_vec(), msg: 0, queue: 0, tasks: 0 }
    }

    /// The connection alone: dropping it stops the client.
    pub fn into_connection(self) -> Connection {
        self.connection
    }

    /// Where the client is in its life. It stops when the server ends the connection.
    pub fn state(&self) -> State {
        self.office.state()
    }

    /// Stops: what was sent is handed over first. The client waits for producers and consumers that live on its
    /// connection; drop them.
    ///
    /// # Panics
    /// Never: a client has its context until here.
    #[expect(
        clippy::expect_used,
        reason = "the context is taken here and by the connection's end, which comes later"
    )]
    pub fn stop(self) -> Stopping<ComchClient> {
        self.office.close().expect("a client has its context").stop()
    }
}

impl Deref for Client {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({:?}, {:?})", self.state(), self.connection)
    }
}

impl Opens for Client {
    type Engine = ComchClient;
    type Plan = ClientPlan;

    fn open(plan: ClientPlan, context: Context<ComchClient>) -> Client {
        let ClientPlan { plan, mailbox } = plan;
        let office = ContextOffice::new(context, plan);
        Client { connection: Connection::new(mailbox, office.clone()), office }
    }
}

#[doc(hidden)]
pub struct ClientPlan {
    plan: Plan,
    mailbox: Arc<Mailbox>,
}

impl fmt::Debug for ClientPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}

/// A client to be: see [`Client::builder`].
///
/// ```
/// use softdpu::comch::Client;
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// let host = session.device("b1:00.0")?.open()?;
/// let nobody = Client::builder("nobody").max_msg_size(64).recv_queue(8).tasks(8).start(&mut pe, &host);
/// assert!(nobody.and_then(|client| client.wait(&mut pe)).is_err()); // there is no such server
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a client is started by `start`"]
pub struct ClientBuilder {
    server: Vec<u8>,
    msg: u32,
    queue: u32,
    tasks: u32,
}

impl ClientBuilder {
    /// Most bytes of a message that this end takes; what the device can do unless said.
    pub fn max_msg_size(self, bytes: u32) -> Self {
        ClientBuilder { msg: bytes, ..self }
    }

    /// Received messages that may wait: so many in the queue, and as many in the mailbox. 32 unless said.
    pub fn recv_queue(self, messages: u32) -> Self {
        ClientBuilder { queue: messages, ..self }
    }

    /// Messages in flight, 64 unless said.
    pub fn tasks(self, tasks: u32) -> Self {
        ClientBuilder { tasks, ..self }
    }

    /// Starts the client on a device of the host, to be progressed by `pe`. It runs once the server's program has made
    /// progress.
    ///
    /// # Errors
    /// NotSupported (no client can run there), InvalidValue (name or a number outside the limits), NotConnected
    /// (nobody serves this host function under that name, or the server is full), NoMemory. One log line has the cause, and says so where a server of
    /// the name serves another host function.
    pub fn start(self, pe: &mut ProgressEngine, device: &Device) -> Result<Opening<Client>> {
        let function = device.function();
        let caps = Caps::of(function)?;
        if !caps.client {
            log::error!(target: crate::LOG, "no client can run on {function}: clients run on the host");
            return Err(Error::new(Code::NotSupported, "clients run on the host"));
        }
        check_name(&self.server, &caps)?;
        let hall = Hall::new(queue(self.queue, &caps));
        let ends = Ends::new(function, self.msg, self.queue, self.tasks, hall.clone())?;
        let (tasks, found) = (ends.tasks, Arc::new(Found::default()));
        let setup = ClientSetup { server: self.server, ends, found: found.clone() };
        let plan = Plan::new(tasks, hall.clone(), device);
        let starting = Context::start(pe, device, Some(setup))?;
        // Before the first progress, which may bring messages.
        let connection =
            found.get().ok_or(Error::new(Code::NotConnected, "the server was not found, or refuses"))?;
        let mailbox = hall.enter(&connection);
        Ok(Opening::new(starting, ClientPlan { plan, mailbox }))
    }
}
