//! Both ends of a line of the connection manager, as the service thread serves them.

use crate::addr::Address;
use crate::blob::{Name, Reader};
use crate::conn::{Conn, Phase};
use crate::control::{Control, Mail};
use crate::engine::Event;
use crate::inbox::{End, NUDGE};
use crate::knock::{ACCEPT, Here, KNOCK, Knock, READY, REJECT, There, fail};
use crate::meet::no;
use crate::sync::{AtomicBool, Ordering};
use softdpu_link::{Answer, Desk, LineHandle, Peer, Tie};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

/// Takes requests for a context.
pub(crate) struct Doorman {
    control: Weak<Control>,
    port: u16,
}

impl Doorman {
    pub(crate) fn new(control: &Arc<Control>, port: u16) -> Doorman {
        Doorman { control: Arc::downgrade(control), port }
    }
}

impl Desk for Doorman {
    fn ask(&self, peer: &Peer, request: &[u8], fds: Vec<OwnedFd>) -> Answer {
        let Some(control) = self.control.upgrade() else { return no("its context is gone") };
        match let_in(&control, self.port, request, fds) {
            Ok(visitor) => Answer { bytes: vec![0], fds: Vec::new(), tie: Some(Box::new(visitor)) },
            Err(why) => {
                log::warn!(target: crate::LOG, "port {}: request of process {}: {why}", self.port, peer.pid);
                no(&why)
            }
        }
    }
}

fn let_in(control: &Arc<Control>, port: u16, request: &[u8], fds: Vec<OwnedFd>) -> Result<Visitor, String> {
    let mut from = Reader(request);
    let parsed = (|| {
        if from.u8()? != KNOCK {
            return None;
        }
        let name = Name::decode(&mut from)?;
        let (number, index, gid) = (from.u32()?, from.u32()?, from.array()?);
        from.0.is_empty().then_some((name, number, index, gid))
    })();
    let (name, number, index, gid) = parsed.ok_or("it makes no sense")?;
    let there = There::open(fds, number, index).map_err(|error| error.what().to_owned())?;
    let conn = control.add(Phase::Requested, "request").map_err(|error| error.what().to_owned())?;
    let mut more = conn.more();
    (more.from, more.to) = (Some(name), Some(name));
    more.address = Some(Address::of_peer(gid, port));
    drop(more);
    Ok(Visitor { control: Arc::downgrade(control), conn, there: Some(there), gone: Arc::default() })
}

/// The server's tie.
struct Visitor {
    control: Weak<Control>,
    conn: Arc<Conn>,
    there: Option<There>,
    gone: Arc<AtomicBool>,
}

impl Tie for Visitor {
    fn tied(&mut self, line: LineHandle) {
        if let (Some(there), Some(control)) = (self.there.take(), self.control.upgrade()) {
            self.conn.more().knock = Some(Knock { there, line, gone: self.gone.clone() });
            if self.conn.phase() == Phase::Requested {
                control.send(Mail::Tell(Event::Requested(self.conn.clone())));
            } else {
                // The context stopped meanwhile.
                control.release(&self.conn);
            }
        }
    }

    fn message(&mut self, bytes: &[u8], _: Vec<OwnedFd>) -> Option<Vec<u8>> {
        let control = self.control.upgrade()?;
        if bytes == NUDGE {
            control.attention.call_worker();
        } else if bytes == [READY] && self.conn.advance(Phase::Accepted, Phase::Connected) {
            control.send(Mail::Tell(Event::Established(self.conn.clone())));
        }
        None
    }

    fn gone(&mut self) {
        self.gone.store(true, Ordering::Release);
        let Some(control) = self.control.upgrade() else { return };
        if self.conn.phase() == Phase::Requested {
            // Accepting it now answers that the peer is gone.
            control.send(Mail::Leave(self.conn.clone()));
        } else {
            control.attention.call();
        }
    }
}

/// The client's tie.
pub(crate) struct Suitor {
    control: Weak<Control>,
    conn: Arc<Conn>,
    here: Here,
    gone: Arc<AtomicBool>,
    line: Option<LineHandle>,
}

impl Suitor {
    pub(crate) fn new(control: &Arc<Control>, conn: &Arc<Conn>, here: Here) -> Suitor {
        let (control, conn) = (Arc::downgrade(control), conn.clone());
        Suitor { control, conn, here, gone: Arc::default(), line: None }
    }

    fn accepted(&mut self, control: &Control, mut from: Reader<'_>, fds: Vec<OwnedFd>) -> Result<(), String> {
        let (Some(number), Some(index), Some(private)) = (from.u32(), from.u32(), from.u8()) else {
            return Err("a short answer".into());
        };
        if from.0.len() != usize::from(private) {
            return Err("an answer of the wrong length".into());
        }
        let there = There::open(fds, number, index).map_err(|error| error.what().to_owned())?;
        let line = self.line.clone().ok_or("no line")?;
        if !self.conn.advance(Phase::Connecting, Phase::Connected) {
            return Err("it was given up meanwhile".into());
        }
        let mut more = self.conn.more();
        (more.sender, more.line) = (None, None);
        drop(more);
        let (out, way) = self.here.join(there, End::on_line(line, self.gone.clone()));
        control.send(Mail::In(self.conn.here, way));
        control.send(Mail::Out(self.conn.here, out));
        control.send(Mail::Tell(Event::Established(self.conn.clone())));
        Ok(())
    }
}

impl Tie for Suitor {
    fn tied(&mut self, line: LineHandle) {
        self.line = Some(line);
    }

    fn message(&mut self, bytes: &[u8], fds: Vec<OwnedFd>) -> Option<Vec<u8>> {
        let control = self.control.upgrade()?;
        match bytes.split_first() {
            Some((&ACCEPT, rest)) if self.conn.phase() == Phase::Connecting => {
                match self.accepted(&control, Reader(rest), fds) {
                    Ok(()) => return Some(vec![READY]),
                    Err(why) => fail(&control, &self.conn, &why),
                }
            }
            Some((&REJECT, [])) => fail(&control, &self.conn, "the peer rejected the request"),
            _ if bytes == NUDGE => control.attention.call_worker(),
            _ => {}
        }
        None
    }

    fn gone(&mut self) {
        self.gone.store(true, Ordering::Release);
        let Some(control) = self.control.upgrade() else { return };
        fail(&control, &self.conn, "the peer hung up");
        control.attention.call();
    }
}
