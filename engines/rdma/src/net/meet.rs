//! What peers say to each other on a line, before and beside the fabric.
//!
//! ```text
//!   out of band                              connection manager
//!   ATTACH: who, to whom, secret  ----->     KNOCK: who, rights             ----->  the request callback
//!                                 <-----     YES: port of the fabric, rights <-----  or NO: why
//!   (the fabric connects)         ----->     (the fabric connects)          ----->
//!                                            READY                          ----->  established, at both ends
//! SHARE: who, to whom, secret   <-----
//! SHARED: rights                ----->
//! ```
//!
//! Out of band each end asks for itself. The second one asks on the line of the first whether both may go the same way;
//! when both ask at the same time there are two.
//!
//! Both ends keep the line afterwards: its end is the end of the connection, and while tasks wait each asks the other on
//! it whether it is alive. The address of the fabric is that of the line, so only the port is told. What asks ends with the
//! providers that it can use, best first; YES with the one that both will.

use super::line::Line;
use super::offer;
use super::pipe::Pipe;
use super::share::{SHARE, SHARED, UNSHARED};
use super::wire::{Held, Joint};
use crate::addr::Address;
use crate::blob::{Name, Reader};
use crate::caller::Caller;
use crate::caps::Transport;
use crate::conn::{Conn, Phase};
use crate::control::{Control, Mail};
use crate::engine::Event;
use crate::ffi::{Gate, Library, Plug};
use crate::job::ConnRef;
use crate::knock::fail;
use crate::roster::find;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Weak};
use std::time::Instant;

pub(super) const ATTACH: u8 = 1;
pub(super) const KNOCK: u8 = 2;
const YES: u8 = 3;
const NO: u8 = 4;
const READY: u8 = 5;
/// Is it alive? Yes. Said by the threads of both ends, whatever their programs are doing.
pub(super) const PING: u8 = 6;
const PONG: u8 = 7;
/// A packet that asks a peer to take tasks.
pub(super) fn call(kind: u8, context: u64, caller: &Caller) -> Vec<u8> {
    let mut packet = vec![kind];
    caller.name.encode(&mut packet);
    packet.extend(context.to_le_bytes());
    packet.extend(caller.conn.slot.to_le_bytes());
    packet.extend(caller.conn.uid.to_le_bytes());
    packet.extend(caller.secret);
    packet.extend((caller.transport as u32).to_le_bytes());
    packet
}

/// Which context it asks, and for whom.
pub(super) fn caller(from: &mut Reader<'_>) -> Option<(u64, Caller)> {
    let name = Name::decode(from)?;
    let context = from.u64()?;
    let conn = ConnRef { slot: from.u32()?, uid: from.u32()? };
    let (secret, transport) = (from.array()?, Transport::from_number(from.u32()?)?);
    Some((context, Caller { conn, secret, transport, name }))
}

/// Who is at the other end of a line.
pub(super) enum Role {
    /// Somebody who came through a door and has said nothing.
    Stranger { manager: Option<(Weak<Control>, u16)> },
    /// A peer that was asked to take tasks; who waits for its answer.
    Asked { control: Weak<Control>, conn: ConnRef, tell: SyncSender<Result<Arc<Pipe>, String>> },
    /// A peer that was asked for a connection.
    Server { control: Weak<Control>, conn: Arc<Conn>, sender: u32 },
    /// A peer that asked for a connection.
    Client { control: Weak<Control>, conn: Arc<Conn>, provider: String },
    /// Both know all they have to.
    Joined,
}

/// The provider of the fabric that is demanded, if one is.
pub(super) fn named(control: &Control) -> Option<String> {
    let named = std::env::var("SOFTDPU_FABRIC_PROVIDER").ok().filter(|name| !name.is_empty());
    named.or_else(|| control.device().function().settings().fabric_provider.clone())
}

impl Line {
    /// A packet of the peer.
    pub(super) fn packet(&mut self, packet: &[u8]) {
        let Some((&kind, body)) = packet.split_first() else { return self.refuse("it makes no sense") };
        match kind {
            PING if !self.is_of_stranger() => return self.say(&[PONG]),
            PONG => return self.alive(),
            SHARE | SHARED | UNSHARED => return self.sharing(kind, body),
            _ => {}
        }
        match (kind, core::mem::replace(&mut self.role, Role::Joined)) {
            (ATTACH, Role::Stranger { manager: None }) => match self.attach(body) {
                Ok(()) => self.joined(),
                Err(why) => self.refuse(&why),
            },
            (KNOCK, Role::Stranger { manager: Some((control, port)) }) => {
                match self.knock(&control, port, body) {
                    Ok((conn, provider)) => {
                        self.role = Role::Client { control, conn, provider };
                        self.joined();
                    }
                    Err(why) => self.refuse(&why),
                }
            }
            (YES, Role::Asked { control, conn, tell }) => {
                let pipe = self.dial(&control, body);
                self.own = Some((control, conn));
                if pipe.is_err() {
                    self.hang_up();
                } else {
                    self.joined();
                }
                let _ = tell.send(pipe);
            }
            (NO, Role::Asked { tell, .. }) => {
                let _ = tell.send(Err(text(body)));
                self.hang_up();
            }
            (YES, Role::Server { control, conn, sender }) => {
                let dialed = self.dial(&control, body);
                self.role = Role::Server { control, conn, sender };
                if let Err(why) = dialed {
                    self.failed(&why);
                }
            }
            (NO, role @ Role::Server { .. }) => {
                self.role = role;
                self.failed(&format!("the peer refuses: {}", text(body)));
            }
            (READY, Role::Client { control, conn, .. }) => {
                if let Some(control) = control.upgrade()
                    && conn.advance(Phase::Accepted, Phase::Connected)
                {
                    control.send(Mail::Tell(Event::Established(conn.clone())));
                }
            }
            (_, Role::Stranger { .. }) => self.refuse("it makes no sense"),
            (_, role) => self.role = role,
        }
    }

    fn refuse(&mut self, why: &str) {
        let from = self.ends().map_or_else(String::new, |(peer, _)| peer.to_string());
        log::warn!(target: crate::LOG, "network: request of {from}: {why}");
        let mut packet = vec![NO];
        packet.extend(why.bytes().take(200));
        self.say(&packet);
        self.hang_up();
    }

    /// A peer wants to send to a connection of ours.
    fn attach(&mut self, body: &[u8]) -> Result<(), String> {
        let mut from = Reader(body);
        let (context, caller) = caller(&mut from).ok_or("it makes no sense")?;
        let control = find(context).ok_or("there is no such context (any more)")?;
        // First what is not to be taken back.
        let provider = self.choose(&control, from.0)?;
        let gate = self.gate_for(&provider)?;
        let (sender, conn, ..) = control.admit(&caller)?;
        let pipe = Pipe::new(&control, &provider);
        self.pipe = Some(pipe.clone());
        conn.more().inward = Arc::downgrade(&pipe);
        self.yes(&control, gate, &provider);
        control.send(Mail::Net(conn.here, Joint { pipe: Held::new(pipe), out: false, inward: Some(sender) }));
        Ok(())
    }

    /// A peer asks for a connection.
    fn knock(
        &mut self,
        control: &Weak<Control>,
        port: u16,
        body: &[u8],
    ) -> Result<(Arc<Conn>, String), String> {
        let control = control.upgrade().ok_or("its context is gone")?;
        let mut from = Reader(body);
        let parsed = (|| Some((Name::decode(&mut from)?, from.u32()?)))();
        let (name, rights) = parsed.ok_or("it makes no sense")?;
        let provider = self.choose(&control, from.0)?;
        let (peer, _) = self.ends().ok_or("it is gone")?;
        let conn = control.add(Phase::Requested, "request").map_err(|error| error.what().to_owned())?;
        let pipe = Pipe::new(&control, &provider);
        pipe.lock().ask.rights = rights;
        self.pipe = Some(pipe.clone());
        let bytes = match peer {
            std::net::IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
            std::net::IpAddr::V6(v6) => v6.octets(),
        };
        let mut more = conn.more();
        (more.from, more.to) = (Some(name), Some(name));
        more.address = Some(Address::of_peer(bytes, port));
        more.net = Some(pipe);
        drop(more);
        control.send(Mail::Tell(Event::Requested(conn.clone())));
        Ok((conn, provider))
    }

    /// The program accepts.
    pub(super) fn accept(&mut self, private: &[u8]) {
        let Role::Client { control, provider, .. } = &self.role else { return };
        let provider = provider.clone();
        let Some(control) = control.upgrade() else { return self.hang_up() };
        match self.gate_for(&provider) {
            Ok(gate) => {
                self.yes(&control, gate, &provider);
                let _ = private;
            }
            Err(why) => self.refuse(&why),
        }
    }

    /// The program rejects.
    pub(super) fn reject(&mut self) {
        let mut packet = vec![NO];
        packet.extend(b"it was rejected");
        self.say(&packet);
        self.hang_up();
    }

    /// Which provider both ends can use.
    fn choose(&self, control: &Control, theirs: &[u8]) -> Result<String, String> {
        let (_, here) = self.ends().ok_or("it is gone")?;
        offer::choose(&offer::of_port(named(control).as_deref(), here), theirs)
    }

    fn gate_for(&self, provider: &str) -> Result<Gate, String> {
        let (_, here) = self.ends().ok_or("it is gone")?;
        Gate::open(Library::get()?, provider, here)
    }

    fn yes(&mut self, control: &Control, gate: Gate, provider: &str) {
        let mut packet = vec![YES];
        packet.extend(gate.port().unwrap_or(0).to_le_bytes());
        packet.extend(control.settings().rights.to_le_bytes());
        packet.extend(provider.bytes());
        self.say(&packet);
        self.set_gate(gate);
    }

    /// The peer says where it is to be reached.
    fn dial(&mut self, control: &Weak<Control>, body: &[u8]) -> Result<Arc<Pipe>, String> {
        let control = control.upgrade().ok_or("the context is gone")?;
        let mut from = Reader(body);
        let parsed = (|| Some((u16::from_le_bytes(from.array()?), from.u32()?)))();
        let (port, rights) = parsed.ok_or("its answer makes no sense")?;
        let (peer, _) = self.ends().ok_or("it is gone")?;
        // One of those that were offered, or none.
        let provider = self.choose(&control, from.0)?;
        let plug = Plug::dial(Library::get()?, &provider, peer, port)?;
        let pipe = Pipe::new(&control, &provider);
        pipe.lock().ask.rights = rights;
        self.pipe = Some(pipe.clone());
        self.set_plug(plug);
        Ok(pipe)
    }

    /// The fabric is connected.
    pub(super) fn opened(&mut self) {
        let Role::Server { control, conn, sender } = &self.role else { return };
        let (Some(control), Some(pipe)) = (control.upgrade(), self.pipe.clone()) else { return };
        if conn.advance(Phase::Connecting, Phase::Connected) {
            control.send(Mail::Net(
                conn.here,
                Joint { pipe: Held::new(pipe), out: true, inward: Some(*sender) },
            ));
            control.send(Mail::Tell(Event::Established(conn.clone())));
            self.role = Role::Joined;
            self.say(&[READY]);
            self.joined();
        } else {
            // It was given up meanwhile.
            control.give_sender(*sender);
            self.role = Role::Joined;
            self.hang_up();
        }
    }

    /// An attempt came to nothing.
    fn failed(&mut self, why: &str) {
        match core::mem::replace(&mut self.role, Role::Joined) {
            Role::Server { control, conn, sender } => {
                if let Some(control) = control.upgrade() {
                    control.give_sender(sender);
                    fail(&control, &conn, why);
                }
            }
            Role::Asked { tell, .. } => {
                let _ = tell.send(Err(why.to_owned()));
            }
            Role::Client { control, conn, .. } => {
                // A request that nobody has answered is gone.
                if let Some(control) = control.upgrade()
                    && conn.phase() == Phase::Requested
                {
                    control.send(Mail::Leave(conn));
                }
            }
            Role::Stranger { .. } | Role::Joined => {}
        }
        self.hang_up();
    }

    /// The stream has ended.
    pub(super) fn ended(&mut self) {
        match &self.role {
            Role::Joined => {}
            _ => self.failed("the peer hung up"),
        }
    }

    /// The time is over.
    pub(super) fn too_late(&mut self) {
        match &self.role {
            Role::Joined => {}
            _ => self.failed("no answer in time"),
        }
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).escape_debug().to_string()
}

/// A deadline for who waits for a peer.
pub(super) fn until(time: std::time::Duration) -> Instant {
    Instant::now() + time
}
