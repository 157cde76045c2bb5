//! Servers.

use super::connection::Connection;
use super::hall::Hall;
use super::office::ContextOffice;
use super::opening::{Opening, Opens};
use crate::caps::Caps;
use crate::engine::{ComchServer, Ends};
use crate::server::ServerSetup;
use core::fmt;
use core::future::poll_fn;
use softdpu_card::{Function, Representor};
use softdpu_room::context::State;
use softdpu_room::instrument;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::Device;
use softdpu_room::typed::{Context, Stopping};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// A server on the card: clients of one host function find it by its name, and each of them is a [`Connection`].
///
/// Clients are taken by progress, whether or not the program accepts them; what they send meanwhile waits in their
/// connection. Any thread may accept, several at a time; progress is made where the [`ProgressEngine`] is. Dropping the
/// server stops it, and with it its connections.
///
/// ```
/// use softdpu::comch::{Client, Server};
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let name = &format!("server-{}", std::process::id());
/// let card = session.device("03:00.0")?.open()?;
/// let mut pe = ProgressEngine::new(&session)?;
/// let server = Server::builder(name).representor("pf0hpf").start(&mut pe, &card)?.wait(&mut pe)?;
///
/// // The client, which would be in a process of its own.
/// let host = session.device("b1:00.0")?.open()?;
/// let client = Client::builder(name).start(&mut pe, &host)?.wait(&mut pe)?;
///
/// pe.run(async {
///     client.send(b"three and four").await?;
///     let connection = server.accept().await.expect("the server runs");
///     let request = connection.recv().await.expect("the client is there");
///     assert_eq!(request, b"three and four");
///     connection.send(b"seven").await?;
///     assert_eq!(client.recv().await.unwrap(), b"seven");
///     Ok::<_, Error>(())
/// })?;
/// server.stop().wait(&mut pe)
/// # }
/// ```
pub struct Server {
    office: Arc<ContextOffice<ComchServer>>,
}

impl Server {
    /// A server to be, of this name: 1 to 119 bytes, unless the topology says otherwise.
    pub fn builder(name: impl AsRef<[u8]>) -> ServerBuilder {
        ServerBuilder { name: name.as_ref().to_vec(), representor: None, msg: 0, queue: 0, tasks: 0 }
    }

    /// Waits for the next client. `None`: the server is over. A dropped future loses no client.
    ///
    /// ```
    /// # use softdpu::comch::{Client, Server};
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let (card, host) = (session.device("03:00.0")?.open()?, session.device("b1:00.0")?.open()?);
    /// # let name = &format!("accept-{}", std::process::id());
    /// # let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
    /// assert!(server.try_accept().is_none());
    /// let client = Client::builder(name).start(&mut pe, &host)?.wait(&mut pe)?;
    /// let connection = pe.run(server.accept()).unwrap();
    /// assert_eq!(connection.peer(), std::process::id());
    /// # drop(client);
    /// # Ok(()) }
    /// ```
    pub async fn accept(&self) -> Option<Connection> {
        let mailbox = poll_fn(|cx| self.office.hall.poll_arrival(cx)).await?;
        Some(Connection::new(mailbox, self.office.clone()))
    }

    /// The next client, if one is there.
    pub fn try_accept(&self) -> Option<Connection> {
        let mailbox = self.office.hall.try_arrival()?;
        Some(Connection::new(mailbox, self.office.clone()))
    }

    /// How many clients are connected, accepted or not.
    pub fn connections(&self) -> usize {
        self.office.hall.connections() as usize
    }

    /// Where the server is in its life.
    pub fn state(&self) -> State {
        self.office.state()
    }

    /// Stops: what was sent is handed over first, then every connection ends. The server waits for producers and
    /// consumers that live on its connections; drop them.
    ///
    /// # Panics
    /// Never: a server has its context until here.
    #[expect(clippy::expect_used, reason = "the context is taken here and by drop alone, which comes later")]
    pub fn stop(self) -> Stopping<ComchServer> {
        self.office.close().expect("a server has its context").stop()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.office.close());
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({:?}, {} connections)", self.state(), self.connections())
    }
}

impl Opens for Server {
    type Engine = ComchServer;
    type Plan = Plan;

    fn open(plan: Plan, context: Context<ComchServer>) -> Server {
        Server { office: ContextOffice::new(context, plan) }
    }
}

/// What a server or client is made of besides its context.
#[doc(hidden)]
pub struct Plan {
    pub(super) tasks: u32,
    pub(super) hall: Arc<Hall>,
    pub(super) device: Device,
    /// What needs no task may go without: nobody looks at the tasks of the context, and it is the rings that carry them.
    pub(super) without_tasks: bool,
}

impl Plan {
    /// Of a context that is about to start.
    pub(super) fn new(tasks: u32, hall: Arc<Hall>, device: &Device) -> Plan {
        let is_real = device.function().card().is_real();
        let without_tasks = !is_real && !instrument::is_any_installed();
        Plan { tasks, hall, device: device.clone(), without_tasks }
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({} tasks)", self.tasks)
    }
}

/// A server to be: see [`Server::builder`].
///
/// ```
/// use softdpu::comch::Server;
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let name = &format!("builder-{}", std::process::id());
/// let builder = Server::builder(name).representor("b1:00.0").max_msg_size(256).recv_queue(64).tasks(128);
/// let host = session.device("b1:00.0")?.open()?;
/// let refused = builder.clone().start(&mut pe, &host).unwrap_err();
/// assert_eq!(refused.code(), Code::NotSupported); // servers run on the card
/// let card = session.device("03:00.0")?.open()?;
/// let server = builder.start(&mut pe, &card)?.wait(&mut pe)?;
/// assert_eq!(server.state(), State::Running);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a server is started by `start`"]
pub struct ServerBuilder {
    name: Vec<u8>,
    representor: Option<String>,
    msg: u32,
    queue: u32,
    tasks: u32,
}

impl ServerBuilder {
    /// For the clients of which host function: PCI address, interface name or identifier of its representor on the card.
    /// Needed where the card function has several.
    pub fn representor(self, name: impl Into<String>) -> Self {
        ServerBuilder { representor: Some(name.into()), ..self }
    }

    /// Most bytes of a message that this end takes; what the device can do unless said.
    pub fn max_msg_size(self, bytes: u32) -> Self {
        ServerBuilder { msg: bytes, ..self }
    }

    /// Received messages that may wait per connection: so many in the queue, and as many in the mailbox. 32 unless said.
    pub fn recv_queue(self, messages: u32) -> Self {
        ServerBuilder { queue: messages, ..self }
    }

    /// Messages in flight over all connections, 64 unless said. Connections share them, so that one whose peer takes
    /// nothing keeps none of the others from sending: give as many as there are clients, and some.
    pub fn tasks(self, tasks: u32) -> Self {
        ServerBuilder { tasks, ..self }
    }

    /// Starts the server on a device of the card, to be progressed by `pe`.
    ///
    /// # Errors
    /// NotSupported (no server can run there), NotFound (no such representor), InvalidValue (name or a number outside
    /// the limits, or a representor must be named), AlreadyExist (the name is taken), NoMemory. One log line has the
    /// cause.
    pub fn start(self, pe: &mut ProgressEngine, device: &Device) -> Result<Opening<Server>> {
        let function = device.function();
        let caps = Caps::of(function)?;
        if !caps.server {
            log::error!(target: crate::LOG, "no server can run on {function}: servers run on the card, in mode dpu");
            return Err(Error::new(Code::NotSupported, "servers run on the card"));
        }
        check_name(&self.name, &caps)?;
        let representor = find(function, self.representor.as_deref())?;
        let hall = Hall::new(queue(self.queue, &caps));
        let ends = Ends::new(function, self.msg, self.queue, self.tasks, hall.clone())?;
        let plan = Plan::new(ends.tasks, hall, device);
        let setup = ServerSetup {
            name: self.name,
            host_function: representor.vhca_id(),
            host_text: format!("host function {} (representor {})", representor.pci(), representor.iface()),
            ends,
        };
        Ok(Opening::new(Context::start(pe, device, Some(setup))?, plan))
    }
}

/// The receive queue that will be, for the size of mailboxes.
pub(super) fn queue(said: u32, caps: &Caps) -> u32 {
    if said == 0 { caps.default_recv_queue_size() } else { said.min(caps.max_recv_queue_size) }
}

pub(super) fn check_name(name: &[u8], caps: &Caps) -> Result<()> {
    let most = caps.max_name_len as usize - 1;
    if (1..=most).contains(&name.len()) && !name.contains(&0) {
        return Ok(());
    }
    log::error!(target: crate::LOG, "`{}`: a name has 1 to {most} bytes, none of them zero; these are {}",
        name.escape_ascii(), name.len());
    Err(Error::new(Code::InvalidValue, "a name of a server"))
}

/// The representor that was named, or the only one.
fn find(function: &Function, name: Option<&str>) -> Result<Arc<Representor>> {
    let all = function.representors();
    let found = match name {
        None if all.len() == 1 => all.first(),
        None => None,
        Some(name) => {
            let pci = name.parse().ok();
            all.iter().find(|it| pci == Some(it.pci()) || it.iface() == name || it.vuid() == name)
        }
    };
    if let Some(found) = found {
        return Ok(found.clone());
    }
    let all: Vec<_> = all.iter().map(|it| format!("{} ({})", it.iface(), it.pci())).collect();
    log::error!(target: crate::LOG, "{function} has no representor `{}`; those it has: {}", name.unwrap_or("that is the only one"),
        if all.is_empty() { String::from("none") } else { all.join(", ") });
    Err(match name {
        Some(_) => Error::new(Code::NotFound, "no such representor"),
        None => Error::new(Code::InvalidValue, "the representor must be named"),
    })
}
