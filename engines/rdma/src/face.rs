//! The Rust face: an endpoint makes connections, which are owned; tasks name them by their targets.

use crate::addr::Address;
use crate::caps::Transport;
use crate::conn::{Conn, Phase};
use crate::control::{Control, lock};
use crate::engine::Event;
use crate::handlers::Config;
use crate::job::{ConnRef, Op};
use core::fmt;
use core::future::poll_fn;
use core::task::Poll;
use softdpu_memory::device::Device;
use softdpu_memory::{Access, OnDevice};
use softdpu_room::engine::Work;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// What an endpoint asks for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Receives posted at most.
    pub receives: u32,
    /// Tasks of the send side in flight at most, over all connections.
    pub sends: u32,
    /// What peers may do with memory of this side: RDMA flags.
    pub peers: Access,
    /// Connections at most.
    pub connections: u16,
    /// Elements of a list of buffers at most.
    pub list: u32,
    /// Reliable or dynamic.
    pub transport: Transport,
    /// How often (0 to 7) a message is repeated that finds no receive; 7 is without end.
    pub retries: u8,
    /// Milliseconds that an attempt to connect may take.
    pub timeout: u16,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            receives: 64,
            sends: 64,
            peers: Access::LOCAL_READ_ONLY,
            connections: 16,
            list: 1,
            transport: Transport::Reliable,
            retries: crate::config::RNR_FOREVER,
            timeout: 5000,
        }
    }
}

/// One end of RDMA on a device: makes connections and hears of them. A cheap handle; any thread. A context that was
/// started with its [`Config`] carries the tasks.
#[derive(Clone)]
pub struct Endpoint(Arc<Control>);

/// Whom a task is for: a connection of the context. Good for as long as the connection; tasks fail afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target(pub(crate) ConnRef);

/// A connection. Dropping it ends it.
pub struct Connection {
    conn: Arc<Conn>,
    control: Arc<Control>,
}

/// A peer's wish for a connection. Dropping it refuses.
#[derive(Debug)]
pub struct Request(Option<Connection>);

/// What happened to connections.
#[derive(Debug)]
pub enum Happening {
    /// A peer asks.
    Requested(Request),
    /// The connection with this number takes tasks.
    Established(u32),
    /// The attempt with this number came to nothing.
    Failed(u32),
    /// The connection with this number has ended.
    Ended(u32),
}

/// Happenings that nobody asked for are forgotten beyond this number.
const MOST_HAPPENINGS: usize = 4096;

impl Endpoint {
    /// On a device.
    ///
    /// # Errors
    /// NotSupported (no RDMA, or not this transport), InvalidValue (out of the device's limits).
    pub fn new(device: &impl OnDevice, options: Options) -> Result<Endpoint> {
        let control = Control::new(device.on_device())?;
        let call = "endpoint";
        control.configure(|s, caps| -> Result<()> {
            for op in Op::ALL {
                if caps.has(op) {
                    let count = if op == Op::Receive { options.receives } else { options.sends };
                    s.set_tasks(op, count, caps, call)?;
                }
            }
            s.set_rights(options.peers.bits(), call)?;
            s.set_connections(options.connections, caps, call)?;
            s.set_send_list(options.list, caps, call)?;
            s.set_receive_list(options.list, caps, call)?;
            s.set_transport(options.transport as u32, caps, call)?;
            s.set_rnr(options.retries, call)?;
            s.set_timeout(options.timeout, call)?;
            s.set_send_queue(options.sends, caps, call)?;
            (s.told, s.slots) = (true, options.receives.saturating_add(options.sends));
            Ok(())
        })?;
        let _ = control.teller.set(|_, event| {
            let (Event::Requested(conn)
            | Event::Established(conn)
            | Event::Failed(conn)
            | Event::Ended(conn)) = &event;
            if let Some(control) = conn.control.upgrade() {
                let mut happened = lock(&control.happened);
                if happened.len() == MOST_HAPPENINGS {
                    happened.pop_front();
                }
                happened.push_back(event);
                drop(happened);
                control.wake_listeners();
            }
        });
        Ok(Endpoint(control))
    }

    /// For the context that carries its tasks.
    pub fn config(&self) -> Config {
        Config::of(self.clone())
    }

    fn own(&self, conn: Arc<Conn>) -> Connection {
        Connection { conn, control: self.0.clone() }
    }

    /// A place for a connection, to be made out of band: give its [description](Connection::description) to the peer and
    /// [join](Connection::join) it with the peer's, in any order.
    ///
    /// # Errors
    /// BadState (no context runs), Full (all connections are taken).
    pub fn export(&self) -> Result<Connection> {
        self.0.export().map(|conn| self.own(conn))
    }

    /// Takes requests on a port from now on; they come as [`Happening::Requested`].
    ///
    /// # Errors
    /// BadState, ConnectionAborted (the port is taken), InvalidValue, NotSupported (dynamic connections).
    pub fn listen(&self, port: u16) -> Result<()> {
        self.0.listen(port)
    }

    /// Takes no more requests on a port; connections stay. False when it was not listened to.
    pub fn stop_listening(&self, port: u16) -> bool {
        self.0.stop_listening(port)
    }

    /// Asks for a connection. It takes tasks when [`Happening::Established`] has its number.
    ///
    /// # Errors
    /// BadState, ConnectionAborted (all connections are taken), NotSupported.
    pub fn connect(&self, address: &Address) -> Result<Connection> {
        let conn = self.0.reserve(address, 0)?;
        self.0.reach(&conn);
        Ok(self.own(conn))
    }

    /// The next thing that happens; `None` when nothing can any more, since no context runs. Wants progress.
    pub async fn next(&self) -> Option<Happening> {
        poll_fn(|cx| match self.happened() {
            Some(happening) => Poll::Ready(Some(happening)),
            None if !self.0.is_live() => Poll::Ready(None),
            None => {
                self.0.listen_for(cx.waker());
                // It may have happened meanwhile.
                match self.happened() {
                    Some(happening) => Poll::Ready(Some(happening)),
                    None if !self.0.is_live() => Poll::Ready(None),
                    None => Poll::Pending,
                }
            }
        })
        .await
    }

    /// The next thing that happened, as far as progress was made.
    pub fn happened(&self) -> Option<Happening> {
        let event = lock(&self.0.happened).pop_front()?;
        Some(match event {
            Event::Requested(conn) => Happening::Requested(Request(Some(self.own(conn)))),
            Event::Established(conn) => Happening::Established(conn.id()),
            Event::Failed(conn) => Happening::Failed(conn.id()),
            Event::Ended(conn) => Happening::Ended(conn.id()),
        })
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({})", self.0.device().function())
    }
}

impl Connection {
    /// What the peer needs for joining.
    pub fn description(&self) -> &[u8] {
        self.conn.description()
    }

    /// Joins with a peer's description. Tasks may be submitted at once.
    ///
    /// # Errors
    /// BadState (joined already), ConnectionAborted (the description cannot be used).
    pub fn join(&self, description: &[u8]) -> Result<()> {
        self.control.connect(&self.conn, description)
    }

    /// For tasks.
    pub fn target(&self) -> Target {
        Target(self.conn.here)
    }

    /// Its number, which no other connection of the endpoint has while its context runs.
    pub fn id(&self) -> u32 {
        self.conn.id()
    }

    /// Does it take tasks, as far as this side knows?
    pub fn is_connected(&self) -> bool {
        matches!(self.conn.phase(), Phase::Connected | Phase::Accepted)
    }

    /// The peer's address, if there is one.
    pub fn address(&self) -> Option<Address> {
        self.conn.address()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({}, {:?})", self.id(), self.conn.phase())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.conn.released.store(true, crate::sync::Ordering::Release);
        self.control.disconnect(&self.conn);
        drop(self.control.sweep());
    }
}

impl Request {
    /// From whom.
    pub fn address(&self) -> Option<Address> {
        self.0.as_ref()?.address()
    }

    /// Accepts, with up to 255 bytes of private data.
    ///
    /// # Errors
    /// ConnectionAborted (the peer is gone), NoMemory.
    pub fn accept(mut self, private: &[u8]) -> Result<Connection> {
        let connection = self.0.take().ok_or(Error::new(Code::InvalidValue, "answered already"))?;
        connection.control.accept(&connection.conn, private)?;
        Ok(connection)
    }
}

/// The engine of a context of the Rust face.
pub(crate) fn build(_: &Arc<Device>, config: Config) -> Result<(Box<dyn Work>, u32)> {
    let (endpoint, handlers) = config.split();
    let Some(Endpoint(control)) = endpoint else {
        log::error!(target: crate::LOG, "an RDMA context needs the configuration of an endpoint");
        return Err(Error::new(Code::InvalidValue, "no endpoint"));
    };
    let slots = control.settings().slots;
    Ok((crate::hardware::work(&control, handlers)?, slots))
}
