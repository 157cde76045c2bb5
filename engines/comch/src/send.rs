//! The task that sends a message, of servers and clients.

use crate::connection::Connection;
use crate::lent::{Handle, LentBytes, LentConnection};
use crate::outlet::Sent;
use crate::store::Store;
use softdpu_room::touch::{self, Tell};
use softdpu_status::Code;
use std::sync::Arc;

/// A message to be sent.
#[derive(Debug)]
pub struct SendJob {
    pub(crate) to: LentConnection,
    pub(crate) bytes: LentBytes,
    pub(crate) fate: Fate,
    /// Keeps connection and bytes (Rust); none where the program does (C).
    pub owned: Option<(Arc<Handle>, Vec<u8>)>,
}

/// What submit came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Handed,
    Refused(Code),
    /// Through when so many messages of this connection that had to wait are.
    Waits {
        seat: u32,
        connection: u64,
        number: u64,
    },
}

impl Fate {
    /// What it came to, if that is known.
    #[inline(always)]
    pub(crate) fn result(self) -> Option<Result<u64, Code>> {
        match self {
            Fate::Handed => Some(Ok(0)),
            Fate::Refused(code) => Some(Err(code)),
            Fate::Waits { .. } => None,
        }
    }
}

impl SendJob {
    /// A message to a connection.
    pub fn new(to: LentConnection, bytes: LentBytes) -> SendJob {
        SendJob { to, bytes, fate: Fate::Refused(Code::ConnectionReset), owned: None }
    }

    /// A message that owns what it is made of.
    pub fn owning(to: Arc<Handle>, bytes: Vec<u8>) -> SendJob {
        let (lent, at) = (LentConnection::of(&to), LentBytes::of(&bytes));
        SendJob { owned: Some((to, bytes)), ..SendJob::new(lent, at) }
    }

    /// Ends the connection it goes to, as if the peer were gone; false when it is gone already.
    pub(crate) fn sever(&self) -> bool {
        self.to.get().is_some_and(Connection::sever)
    }

    /// The bytes and the process that they are for.
    pub(crate) fn touches(&self, tell: Tell<'_>) {
        touch::bytes(self.bytes.as_ptr().addr(), self.bytes.len() as usize, tell);
        touch::process(self.to.get().map_or(0, Connection::peer), tell);
    }

    /// Inside submit: the bytes are copied on return. A connection that is gone fails the task later.
    #[inline]
    pub(crate) fn submit(&mut self, store: &Store) {
        self.fate = match self.to.get() {
            None => Fate::Refused(Code::ConnectionReset),
            Some(connection) => match connection.send(self.bytes.bytes(), store) {
                Sent::Now => Fate::Handed,
                Sent::Never(code) => Fate::Refused(code),
                Sent::Waits(number) => {
                    Fate::Waits { seat: connection.seat, connection: connection.number(), number }
                }
            },
        };
    }
}
