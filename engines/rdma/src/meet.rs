//! Connecting out of band: a description of a peer becomes a way to it.
//!
//! Whoever connects makes the ring it will write, and asks the peer's process to read it; the answer is the peer's
//! receive queue and doorbell. The process answers whatever its program is doing, so connecting does not wait for the
//! peer's program, and both ends may connect in any order. Within one process nobody is asked: the same is done directly.

use crate::blob::{Blob, Name, Reader};
use crate::caller::Caller;
use crate::caps::Transport;
use crate::conn::{Conn, Phase};
use crate::control::{Bell, Control, Mail};
use crate::inbox::{self, Attention, End, NUDGE, Outbound};
use crate::job::ConnRef;
use crate::net::Reachable;
use crate::roster::find;
use crate::srq::RemoteSrq;
use crate::sync::{AtomicBool, Ordering};
use softdpu_card::RdmaPath;
use softdpu_link::{Answer, Desk, Folder, Line, LineHandle, Peer, Ringer, Segment, Tie, Topic};
use softdpu_status::{Code, Error, Result};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How long the peer's process may take for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

const ATTACH: u8 = 1;

pub(crate) fn aborted(line: std::fmt::Arguments<'_>) -> Error {
    log::error!(target: crate::LOG, "{line}");
    Error::new(Code::ConnectionAborted, "the connection could not be made")
}

/// Peers of other processes come in here.
struct Reception;

/// Lets peers of other processes in. Within the process connections work without.
pub(crate) fn receive_peers() {
    softdpu_link::serve(Topic::RDMA, &Reception);
    if let Err(error) = softdpu_link::ensure() {
        log::warn!(target: crate::LOG, "peers of other processes cannot connect: {}", error.what());
    }
}

impl Control {
    /// A place for a connection, whose description a peer may have.
    ///
    /// # Errors
    /// BadState (not running), Full, Driver.
    pub fn export(self: &Arc<Control>) -> Result<Arc<Conn>> {
        receive_peers();
        self.add(Phase::Exported, "export")
    }

    /// Joins an exported connection with a peer's description.
    ///
    /// # Errors
    /// BadState (not running, connected already), ConnectionAborted (the description cannot be used), NoMemory.
    pub fn connect(self: &Arc<Control>, conn: &Arc<Conn>, description: &[u8]) -> Result<()> {
        self.with_live("connect", |_| Ok(()))?;
        if conn.phase() != Phase::Exported {
            log::error!(target: crate::LOG, "connect: connection {} is {:?} already", conn.id(), conn.phase());
            return Err(Error::new(Code::BadState, "connected already"));
        }
        let blob = Blob::decode(description).map_err(|what| {
            aborted(format_args!("connect: description of {} bytes: {what}", description.len()))
        })?;
        self.fits(&blob)?;
        let me = Blob::decode(conn.description())
            .map_err(|what| aborted(format_args!("connect: our own description: {what}")))?;
        let was = {
            let mut more = conn.more();
            if blob.transport == Transport::Reliable && more.from.is_some_and(|from| from != blob.name) {
                return Err(aborted(format_args!(
                    "connect: connection {} has another peer already",
                    conn.id()
                )));
            }
            more.to.replace(blob.name)
        };
        let caller =
            Caller { conn: blob.name.conn, secret: blob.secret, transport: blob.transport, name: me.name };
        if self.is_elsewhere(&blob) {
            return self.meet_on_network(conn, &blob, &caller, was);
        }
        let way = if blob.name.owner == me.name.owner {
            self.meet_here(blob.name.context, &caller)
        } else {
            self.meet_there(&blob.name, &caller)
        };
        match way {
            Ok(way) => {
                conn.advance(Phase::Exported, Phase::Connected);
                self.send(Mail::Out(conn.here, Box::new(way)));
                Ok(())
            }
            Err(error) => {
                conn.more().to = was;
                Err(error)
            }
        }
    }

    /// Can a peer that describes itself so be a peer of ours?
    fn fits(&self, blob: &Blob) -> Result<()> {
        let function = self.device().function();
        let card = function.card();
        if blob.transport != self.settings().transport {
            return Err(aborted(format_args!(
                "connect: the peer's transport is {:?}, ours {:?}",
                blob.transport,
                self.settings().transport
            )));
        }
        if self.is_elsewhere(blob) {
            return Ok(());
        }
        let folder = Folder::of_process().map_or(0, Folder::number);
        if blob.folder != folder {
            return Err(aborted(format_args!(
                "connect: the peer's runtime folder is {:#x}, ours {folder:#x}, and only the local path is allowed",
                blob.folder
            )));
        }
        if blob.card == crate::blob::checksum(card.name().as_bytes()) && blob.topology != card.topology_hash()
        {
            return Err(aborted(format_args!(
                "connect: the peer knows card {} with topology {:#x}, we with {:#x}",
                card.name(),
                blob.topology,
                card.topology_hash()
            )));
        }
        Ok(())
    }

    /// Is the peer to be reached over the network?
    fn is_elsewhere(&self, blob: &Blob) -> bool {
        match RdmaPath::of_process() {
            RdmaPath::Local => false,
            RdmaPath::Network => true,
            _ => blob.folder != Folder::of_process().map_or(0, Folder::number),
        }
    }

    fn meet_on_network(
        self: &Arc<Control>,
        conn: &Arc<Conn>,
        blob: &Blob,
        caller: &Caller,
        was: Option<Name>,
    ) -> Result<()> {
        crate::net::attach(self, conn, blob, caller).map_err(|why| {
            conn.more().to = was;
            let Reachable { port, v4, .. } = blob.reachable;
            let (device, at) = (self.device().function(), Ipv4Addr::from(v4));
            aborted(format_args!("connect: peer at {at}:{port} from device {device}: {why}"))
        })?;
        conn.advance(Phase::Exported, Phase::Connected);
        Ok(())
    }

    fn meet_here(self: &Arc<Control>, context: u64, caller: &Caller) -> Result<Outbound> {
        let peer = find(context)
            .ok_or_else(|| aborted(format_args!("connect: the peer's context does not exist any more")))?;
        let inbox = inbox::create()?;
        let ours = self.with_live("connect", |live| Ok(live.bell.clone()))?;
        let (sender, conn, srq, bell) =
            peer.admit(caller).map_err(|why| aborted(format_args!("connect: the peer refuses: {why}")))?;
        let [here, there] = End::pair(&self.attention, &peer.attention);
        peer.welcome(&conn, inbox.clone(), ours.ringer.clone(), sender, there);
        Ok(Outbound::new(inbox, Arc::new(RemoteSrq::new(srq)?), bell.ringer.clone(), sender, here))
    }

    fn meet_there(self: &Arc<Control>, peer: &Name, caller: &Caller) -> Result<Outbound> {
        let inbox = inbox::create()?;
        let bell = self.with_live("connect", |live| Ok(live.bell.clone()))?;
        let mut request = vec![ATTACH];
        caller.name.encode(&mut request);
        request.extend(peer.context.to_le_bytes());
        request.extend(caller.conn.slot.to_le_bytes());
        request.extend(caller.conn.uid.to_le_bytes());
        request.extend(caller.secret);
        request.extend((caller.transport as u32).to_le_bytes());
        request.extend(bell.index.to_le_bytes());
        let fds = [inbox.fd(), bell.page.as_fd(), bell.event.as_fd()];
        let (answer, fds, line) = softdpu_link::ask(peer.owner, Topic::RDMA, &request, &fds, PATIENCE)
            .map_err(|error| {
                aborted(format_args!("connect: process {} does not answer: {}", peer.owner.pid, error.what()))
            })?;
        let (sender, srq, ringer) = accept_answer(&answer, fds)
            .map_err(|why| aborted(format_args!("connect: process {} refuses: {why}", peer.owner.pid)))?;
        let end = self.keep(line);
        Ok(Outbound::new(inbox, Arc::new(srq), ringer, sender, end))
    }

    /// Our end of a line that was answered.
    pub(crate) fn keep(&self, line: Line) -> Arc<End> {
        let gone = Arc::new(AtomicBool::new(false));
        let tie = Rope { gone: gone.clone(), attention: self.attention.clone() };
        End::on_line(softdpu_link::keep(line, Box::new(tie)), gone)
    }
}

/// Whoever sends to us, from the outside: receive queue and doorbell of a peer.
pub(crate) fn accept_answer(
    answer: &[u8],
    fds: Vec<OwnedFd>,
) -> Result<(u32, RemoteSrq, Arc<Ringer>), String> {
    let mut from = Reader(answer);
    match from.u8() {
        Some(0) => {}
        Some(_) => return Err(String::from_utf8_lossy(from.0).escape_debug().to_string()),
        None => return Err("an empty answer".into()),
    }
    let (Some(sender), Some(index)) = (from.u32(), from.u32()) else { return Err("a short answer".into()) };
    let (srq, ringer) = open_peer(fds, index).map_err(|error| error.what().to_owned())?;
    if sender == 0 || sender & ((1 << inbox::INDEX_BITS) - 1) >= srq.senders() {
        return Err(format!("sender number {sender:#x} is impossible"));
    }
    Ok((sender, srq, ringer))
}

/// A receive queue and a doorbell from three descriptors.
fn open_peer(fds: Vec<OwnedFd>, index: u32) -> Result<(RemoteSrq, Arc<Ringer>)> {
    let [srq, page, event] = <[OwnedFd; 3]>::try_from(fds).map_err(|fds| {
        Error::new(Code::InvalidValue, if fds.is_empty() { "no descriptors" } else { "wrong descriptors" })
    })?;
    let srq = RemoteSrq::new(Arc::new(Segment::from_fd(srq, 64)?))?;
    Ok((srq, Arc::new(Ringer::accept(page, index, event)?)))
}

/// An answer that says no.
pub(crate) fn no(why: &str) -> Answer {
    let mut bytes = vec![1];
    bytes.extend(why.as_bytes());
    Answer { bytes, ..Answer::default() }
}

/// The bytes and descriptors by which a peer reaches us.
pub(crate) fn yes(sender: u32, srq: &Segment, bell: &Bell) -> Result<(Vec<u8>, Vec<OwnedFd>)> {
    let copy = |fd: std::os::fd::BorrowedFd<'_>| {
        fd.try_clone_to_owned().map_err(|_| Error::new(Code::NoMemory, "no descriptor"))
    };
    let mut bytes = vec![0];
    bytes.extend(sender.to_le_bytes());
    bytes.extend(bell.index.to_le_bytes());
    Ok((bytes, vec![copy(srq.fd())?, copy(bell.page.as_fd())?, copy(bell.event.as_fd())?]))
}

impl Desk for Reception {
    fn ask(&self, peer: &Peer, request: &[u8], fds: Vec<OwnedFd>) -> Answer {
        match attach(request, fds) {
            Ok(answer) => answer,
            Err(why) => {
                log::warn!(target: crate::LOG, "process {} wants to connect: {why}", peer.pid);
                no(&why)
            }
        }
    }
}

fn attach(request: &[u8], fds: Vec<OwnedFd>) -> Result<Answer, String> {
    let mut from = Reader(request);
    let parsed = (|| {
        if from.u8()? != ATTACH {
            return None;
        }
        let name = Name::decode(&mut from)?;
        let context = from.u64()?;
        let conn = ConnRef { slot: from.u32()?, uid: from.u32()? };
        let (secret, transport) = (from.array()?, Transport::from_number(from.u32()?)?);
        let index = from.u32()?;
        from.0.is_empty().then_some((context, Caller { conn, secret, transport, name }, index))
    })();
    let (context, caller, index) = parsed.ok_or("the request makes no sense")?;
    let control = find(context).ok_or("there is no such context (any more)")?;
    let [inbox, page, event] =
        <[OwnedFd; 3]>::try_from(fds).map_err(|_| "not the descriptors that are needed".to_owned())?;
    let open = || -> Result<_> {
        let inbox = Segment::from_fd(inbox, inbox::BYTES)?;
        inbox::check(&inbox)?;
        Ok((Arc::new(inbox), Arc::new(Ringer::accept(page, index, event)?)))
    };
    let (inbox, ringer) = open().map_err(|error| error.what().to_owned())?;
    let (sender, conn, srq, bell) = control.admit(&caller)?;
    let (bytes, fds) = yes(sender, &srq, &bell).map_err(|error| error.what().to_owned())?;
    let tie = Guest {
        control: Arc::downgrade(&control),
        conn,
        inbox,
        ringer,
        sender,
        gone: Arc::default(),
        tied: false,
    };
    Ok(Answer { bytes, fds, tie: Some(Box::new(tie)) })
}

/// Watches the line of a peer that sends to us.
struct Guest {
    control: Weak<Control>,
    conn: Arc<Conn>,
    inbox: Arc<Segment>,
    ringer: Arc<Ringer>,
    sender: u32,
    gone: Arc<AtomicBool>,
    tied: bool,
}

impl Tie for Guest {
    fn tied(&mut self, line: LineHandle) {
        self.tied = true;
        let end = End::on_line(line, self.gone.clone());
        if let Some(control) = self.control.upgrade() {
            control.welcome(&self.conn, self.inbox.clone(), self.ringer.clone(), self.sender, end);
        }
    }

    fn message(&mut self, bytes: &[u8], _: Vec<OwnedFd>) -> Option<Vec<u8>> {
        if bytes == NUDGE
            && let Some(control) = self.control.upgrade()
        {
            control.attention.call_worker();
        }
        None
    }

    fn gone(&mut self) {
        self.gone.store(true, Ordering::Release);
        let Some(control) = self.control.upgrade() else { return };
        if self.tied {
            control.attention.call();
        } else {
            // It never had its answer.
            self.conn.more().from = None;
            control.give_sender(self.sender);
        }
    }
}

/// Watches our end of a line to a peer we send to.
struct Rope {
    gone: Arc<AtomicBool>,
    attention: Arc<Attention>,
}

impl Tie for Rope {
    fn message(&mut self, bytes: &[u8], _: Vec<OwnedFd>) -> Option<Vec<u8>> {
        if bytes == NUDGE {
            self.attention.call_worker();
        }
        None
    }

    fn gone(&mut self) {
        self.gone.store(true, Ordering::Release);
        self.attention.call();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests and answers that make no sense, with and without descriptors: refused, and nothing else happens.
    #[test]
    fn nonsense_is_refused() {
        let mut seed = 7u64;
        let mut next = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize
        };
        let open = |n: usize| -> Vec<OwnedFd> {
            let files = ["/dev/null", "/dev/zero", "/proc/self/status"];
            (0..n).filter_map(|at| std::fs::File::open(files[at % 3]).ok()).map(OwnedFd::from).collect()
        };
        for _ in 0..3000 {
            let mut bytes: Vec<u8> = (0..next() % 120).map(|_| next() as u8).collect();
            if let Some(first) = bytes.first_mut() {
                *first = [ATTACH, 0, 2, 3][next() % 4];
            }
            assert!(attach(&bytes, open(next() % 5)).is_err());
            assert!(accept_answer(&bytes, open(next() % 5)).is_err());
        }
        assert!(attach(&[], Vec::new()).is_err() && accept_answer(&[0], Vec::new()).is_err());
    }
}
