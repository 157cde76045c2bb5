//! The connection manager: whoever knows an address asks there for a connection.
//!
//! ```text
//!   client                                     server
//!   KNOCK: who, its receive queue, doorbell,
//!          the ring it will write       ----->  queued; the request callback
//!                                       <-----  ACCEPT: the same of the server, private data; or REJECT
//!   established; READY                  ----->  established
//! ```
//!
//! Both ends keep the line afterwards: its end is the end of the connection. Addresses are names in the runtime folder;
//! what nobody there has is looked for on the network.

use crate::addr::{Address, listener_name, machine_name};
use crate::caps::Transport;
use crate::clock;
use crate::conn::{Conn, Phase};
use crate::control::{Bell, Control, Mail};
use crate::door::{Doorman, Suitor};
use crate::inbox::{self, End, Inbound, Outbound};
use crate::meet::aborted;
use crate::srq::RemoteSrq;
use crate::sync::{AtomicBool, Ordering};
use softdpu_card::RdmaPath;
use softdpu_link::{Desk, LineHandle, Ringer, Segment};
use softdpu_status::{Code, Error, Result};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const KNOCK: u8 = 2;
pub(crate) const ACCEPT: u8 = 3;
pub(crate) const REJECT: u8 = 4;
pub(crate) const READY: u8 = 5;

/// How long the listening process may take to note a request; its program has the time that the context's settings say.
const PATIENCE: Duration = Duration::from_secs(1);

/// A request that waits for an answer: the way to the client, and the client's ring.
#[derive(Debug)]
pub(crate) struct Knock {
    pub(crate) there: There,
    pub(crate) line: LineHandle,
    pub(crate) gone: Arc<AtomicBool>,
}

/// What one end tells the other of itself.
#[derive(Debug)]
pub(crate) struct There {
    inbox: Arc<Segment>,
    srq: Arc<RemoteSrq>,
    bell: Arc<Ringer>,
    /// Who the reader is to the writer.
    number: u32,
}

impl There {
    pub(crate) fn open(fds: Vec<OwnedFd>, number: u32, index: u32) -> Result<There> {
        let [inbox, srq, page, event] = <[OwnedFd; 4]>::try_from(fds)
            .map_err(|_| Error::new(Code::InvalidValue, "not the descriptors that are needed"))?;
        let inbox = Segment::from_fd(inbox, inbox::BYTES)?;
        inbox::check(&inbox)?;
        let srq = RemoteSrq::new(Arc::new(Segment::from_fd(srq, 64)?))?;
        if number == 0 || number & ((1 << inbox::INDEX_BITS) - 1) >= srq.senders() {
            return Err(Error::new(Code::InvalidValue, "an impossible sender number"));
        }
        let bell = Arc::new(Ringer::accept(page, index, event)?);
        Ok(There { inbox: Arc::new(inbox), srq: Arc::new(srq), bell, number })
    }
}

/// Our own part: bytes and descriptors.
pub(crate) struct Here {
    inbox: Arc<Segment>,
    srq: Arc<Segment>,
    bell: Arc<Bell>,
    pub(crate) sender: u32,
}

impl Here {
    fn new(control: &Control) -> Result<Here> {
        let (srq, bell) = control.with_live("connect", |live| Ok((live.srq.clone(), live.bell.clone())))?;
        let inbox = inbox::create()?;
        let sender = control.take_sender().ok_or(Error::new(Code::Full, "too many peers"))?;
        Ok(Here { inbox, srq, bell, sender })
    }

    fn numbers(&self, into: &mut Vec<u8>) {
        into.extend(self.sender.to_le_bytes());
        into.extend(self.bell.index.to_le_bytes());
    }

    fn fds(&self) -> [std::os::fd::BorrowedFd<'_>; 4] {
        [self.inbox.fd(), self.srq.fd(), self.bell.page.as_fd(), self.bell.event.as_fd()]
    }

    /// Both directions.
    pub(crate) fn join(&self, there: There, end: Arc<End>) -> (Box<Outbound>, Box<Inbound>) {
        let out = Outbound::new(self.inbox.clone(), there.srq, there.bell.clone(), there.number, end.clone());
        (Box::new(out), Box::new(Inbound::new(there.inbox, there.bell, self.sender, end)))
    }
}

impl Control {
    fn may_manage(&self, call: &str) -> Result<()> {
        let settings = self.settings();
        if settings.transport == Transport::Dynamic {
            log::error!(target: crate::LOG, "{call}: dynamic connections are made out of band only");
            return Err(Error::new(Code::NotSupported, "dynamic connections are made out of band only"));
        }
        if !settings.told {
            log::error!(target: crate::LOG, "{call}: connection state callbacks have to be set before the start");
            return Err(Error::new(Code::BadState, "connection state callbacks are missing"));
        }
        Ok(())
    }

    /// The addresses of the device.
    fn addresses(&self) -> Vec<[u8; 16]> {
        let function = self.device().function();
        let mut all = vec![function.ipv6(), function.gid()];
        all.extend(function.ipv4().map(|v4| Ipv4Addr::from(v4).to_ipv6_mapped().octets()));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Takes requests on a port from now on.
    ///
    /// # Errors
    /// BadState (not running, no callbacks), InvalidValue (port 0), NotSupported (dynamic connections),
    /// ConnectionAborted (the port is taken).
    pub fn listen(self: &Arc<Control>, port: u16) -> Result<()> {
        self.with_live("listen", |_| Ok(()))?;
        self.may_manage("listen")?;
        if port == 0 {
            log::error!(target: crate::LOG, "listen: port 0, allowed 1 to 65535");
            return Err(Error::new(Code::InvalidValue, "port 0"));
        }
        let function = self.device().function();
        let desk: Arc<dyn Desk> = Arc::new(Doorman::new(self, port));
        let mut doors = Vec::new();
        for address in self.addresses() {
            let door = softdpu_link::listen(&listener_name(address, port), desk.clone());
            doors.push(door.map_err(|error| {
                aborted(format_args!("listen: port {port} of device {function}: {}", error.what()))
            })?);
        }
        // Of several devices the first one answers on the machine's own addresses.
        if let Ok(door) = softdpu_link::listen(&machine_name(port), desk) {
            doors.push(door);
        }
        let network = crate::net::listen(self, port);
        self.add_listening(port, (doors, network));
        Ok(())
    }

    /// A connection for an attempt to reach an address.
    ///
    /// # Errors
    /// BadState, NotSupported, ConnectionAborted (all connections are taken).
    pub(crate) fn reserve(self: &Arc<Control>, address: &Address, user: u64) -> Result<Arc<Conn>> {
        self.may_manage("connect")?;
        let conn = self.add(Phase::Connecting, "connect").map_err(|error| match error.code() {
            Code::Full => Error::new(Code::ConnectionAborted, "all connections are taken"),
            _ => error,
        })?;
        conn.set_user_data(user);
        conn.more().address = Some(address.clone());
        Ok(conn)
    }

    /// Asks for a reserved connection. What comes of it is told later.
    pub(crate) fn reach(self: &Arc<Control>, conn: &Arc<Conn>) {
        if let Err(why) = self.knock(conn) {
            fail(self, conn, &why);
        }
    }

    fn knock(self: &Arc<Control>, conn: &Arc<Conn>) -> Result<(), String> {
        let text = |error: Error| error.what().to_owned();
        let address = conn.address().ok_or("no address")?;
        let path = RdmaPath::of_process();
        if path == RdmaPath::Network {
            // Those that only cards have stand for this machine then.
            let own = Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets();
            let bytes = if address.is_made() { own } else { address.bytes() };
            return crate::net::knock(self, conn, bytes, address.port());
        }
        let name = crate::blob::Blob::decode(conn.description())?.name;
        let here = Here::new(self).map_err(text)?;
        conn.more().sender = Some(here.sender);
        let settings = self.settings();
        let timeout = Duration::from_millis(settings.timeout.into());
        let mut request = vec![KNOCK];
        name.encode(&mut request);
        here.numbers(&mut request);
        request.extend(self.device().function().gid());
        let call = |name: String| softdpu_link::call(&name, &request, &here.fds(), timeout.min(PATIENCE));
        let mut answer = call(listener_name(address.bytes(), address.port()));
        if answer.as_ref().is_err_and(|error| error.code() == Code::NotFound) && address.is_of_machine() {
            answer = call(machine_name(address.port()));
        }
        let nobody = answer.as_ref().is_err_and(|error| error.code() == Code::NotFound);
        if nobody && path != RdmaPath::Local && !address.is_made() {
            self.release(conn);
            return crate::net::knock(self, conn, address.bytes(), address.port());
        }
        let (bytes, _, line) = answer.map_err(|error| match error.code() {
            Code::NotFound => "nobody listens there".into(),
            _ => text(error),
        })?;
        match bytes.split_first() {
            Some((0, _)) => {}
            Some((_, why)) => return Err(String::from_utf8_lossy(why).escape_debug().to_string()),
            None => return Err("an empty answer".into()),
        }
        let suitor = Suitor::new(self, conn, here);
        let line = softdpu_link::keep(line, Box::new(suitor));
        conn.more().line = Some(line.clone());
        if conn.phase() != Phase::Connecting {
            // The answer was here before.
            conn.more().line = None;
            if conn.phase() == Phase::Ended {
                line.hang_up();
            }
            return Ok(());
        }
        clock::watch(timeout, conn, line);
        Ok(())
    }

    /// Accepts a request.
    ///
    /// # Errors
    /// InvalidValue (not requested, or answered already), ConnectionAborted (the peer is gone), NoMemory.
    pub fn accept(self: &Arc<Control>, conn: &Arc<Conn>, private: &[u8]) -> Result<()> {
        if let Some(pipe) = conn.more().net.take() {
            return crate::net::accept(self, conn, pipe, private).map_err(|why| {
                conn.end();
                self.send(Mail::Leave(conn.clone()));
                aborted(format_args!("accept: connection {}: {why}", conn.id()))
            });
        }
        let Some(knock) = conn.more().knock.take() else {
            log::error!(target: crate::LOG, "accept: connection {} is {:?}, nobody asks for it", conn.id(), conn.phase());
            return Err(Error::new(Code::InvalidValue, "nobody asks for the connection"));
        };
        let gone = || {
            conn.end();
            self.send(Mail::Leave(conn.clone()));
            aborted(format_args!("accept: the peer of connection {} is gone", conn.id()))
        };
        if knock.gone.load(Ordering::Acquire) || !conn.advance(Phase::Requested, Phase::Accepted) {
            return Err(gone());
        }
        let here = Here::new(self).inspect_err(|_| {
            conn.end();
            self.send(Mail::Leave(conn.clone()));
            knock.line.hang_up();
        })?;
        let mut answer = vec![ACCEPT];
        here.numbers(&mut answer);
        answer.push(private.len().min(255) as u8);
        answer.extend(&private[..private.len().min(255)]);
        let end = End::on_line(knock.line.clone(), knock.gone);
        let (out, way) = here.join(knock.there, end);
        self.send(Mail::In(conn.here, way));
        self.send(Mail::Out(conn.here, out));
        knock.line.send(&answer, &here.fds()).map_err(|_| gone())
    }

    /// Refuses a request.
    ///
    /// # Errors
    /// InvalidValue (not requested, or answered already).
    pub fn reject(&self, conn: &Arc<Conn>) -> Result<()> {
        let over = || {
            conn.end();
            conn.finished.store(true, Ordering::Release);
            self.remove(conn);
        };
        if let Some(pipe) = conn.more().net.take() {
            crate::net::reject(pipe);
            over();
            return Ok(());
        }
        let Some(knock) = conn.more().knock.take() else {
            log::error!(target: crate::LOG, "reject: connection {} is {:?}, nobody asks for it", conn.id(), conn.phase());
            return Err(Error::new(Code::InvalidValue, "nobody asks for the connection"));
        };
        // A peer that is gone needs no answer.
        let _ = knock.line.send(&[REJECT], &[]);
        over();
        Ok(())
    }

    /// Ends a connection, whatever it is.
    pub fn disconnect(&self, conn: &Arc<Conn>) {
        match conn.phase() {
            Phase::Ended => {}
            Phase::Requested => drop(self.reject(conn)),
            Phase::Connecting => {
                if conn.advance(Phase::Connecting, Phase::Ended) {
                    self.release(conn);
                    self.send(Mail::Failed(conn.clone()));
                }
            }
            Phase::Exported | Phase::Accepted | Phase::Connected => self.send(Mail::Leave(conn.clone())),
        }
    }
}

/// An attempt came to nothing, unless it did already.
pub(crate) fn fail(control: &Control, conn: &Arc<Conn>, why: &str) {
    if conn.advance(Phase::Connecting, Phase::Ended) {
        control.release(conn);
        let address = conn.address().map_or_else(String::new, |address| address.to_string());
        log::error!(target: crate::LOG, "connection to {address} from device {}: {why}", control.device().function());
        control.send(Mail::Failed(conn.clone()));
    }
}
