//! Peers that want to send to a connection: who may, and how they get to the engine.

use crate::blob::Name;
use crate::caps::Transport;
use crate::conn::Conn;
use crate::control::{Bell, Control, Mail};
use crate::inbox::{End, Inbound};
use crate::job::ConnRef;
use softdpu_link::{Ringer, Segment};
use std::sync::Arc;

/// A peer that wants to send to a connection.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) conn: ConnRef,
    pub(crate) secret: [u8; 16],
    pub(crate) transport: Transport,
    pub(crate) name: Name,
}

/// The number a peer has here, its connection, and what it needs.
pub(crate) type Admitted = (u32, Arc<Conn>, Arc<Segment>, Arc<Bell>);

impl Control {
    /// May this peer send to us? Gives the number it has here, the connection, and what it needs.
    ///
    /// # Errors
    /// The reason, in words.
    pub(crate) fn admit(&self, caller: &Caller) -> Result<Admitted, &'static str> {
        let conn = self.conn(caller.conn).ok_or("there is no such connection (any more)")?;
        // Every byte is looked at, whatever the first ones are.
        let differ = conn.secret.iter().zip(&caller.secret).fold(0, |sum, (a, b)| sum | (a ^ b));
        if differ != 0 {
            return Err("the description is forged");
        }
        if self.settings().transport != caller.transport {
            return Err("the transport types differ");
        }
        if caller.transport == Transport::Reliable {
            let mut more = conn.more();
            if more.from.is_some() {
                return Err("it has a peer already");
            }
            if more.to.is_some_and(|to| to != caller.name) {
                return Err("it was connected to another peer");
            }
            more.from = Some(caller.name);
        }
        let Some((srq, bell)) =
            self.with_any(|live| (!live.closing).then(|| (live.srq.clone(), live.bell.clone()))).flatten()
        else {
            return Err("its context does not run");
        };
        let sender = self.take_sender().ok_or("it has too many peers")?;
        Ok((sender, conn, srq, bell))
    }

    /// Hands an admitted peer's way to the engine.
    pub(crate) fn welcome(
        &self,
        conn: &Arc<Conn>,
        inbox: Arc<Segment>,
        bell: Arc<Ringer>,
        sender: u32,
        end: Arc<End>,
    ) {
        self.send(Mail::In(conn.here, Box::new(Inbound::new(inbox, bell, sender, end))));
    }
}
