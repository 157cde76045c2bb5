//! Connections over the network as the engine has them.

use super::ask::Begun;
use super::pipe::Pipe;
use crate::engine::Rdma;
use crate::job::ConnRef;
use crate::receive::Current;
use softdpu_room::hardware::Ticket;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// A pipe, and what it is for: asking the peer of a connection, being asked, or both.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(super) pipe: Held,
    /// The slot of the connection whose tasks go this way.
    pub(super) out: Option<u32>,
    pub(super) inward: Option<In>,
    /// The connection failed: whatever the peer still asks for is refused.
    pub(super) refuse: bool,
}

/// A pipe that ends with its holder.
#[derive(Debug)]
pub(super) struct Held {
    pipe: Arc<Pipe>,
    holds: bool,
}

impl Held {
    pub(super) fn new(pipe: Arc<Pipe>) -> Held {
        Held { pipe, holds: true }
    }

    /// The pipe has another holder.
    pub(super) fn release(mut self) {
        self.holds = false;
    }
}

impl core::ops::Deref for Held {
    type Target = Arc<Pipe>;

    fn deref(&self) -> &Arc<Pipe> {
        &self.pipe
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.holds {
            self.pipe.lock().serve.close();
            self.pipe.leave();
        }
    }
}

/// Messages that come in.
#[derive(Debug)]
pub(super) struct In {
    pub(super) conn: ConnRef,
    /// Who claims receives for them.
    pub(super) sender: u32,
    pub(super) opened: bool,
    pub(super) current: Option<Current>,
}

/// Tasks of a connection that go over the network: begun, in their order.
#[derive(Debug)]
pub(crate) struct Way {
    pub(super) flying: VecDeque<Flying>,
    /// The last of them was not asked for as a whole.
    pub(super) issuing: bool,
    /// Since when the message at the front finds no receive.
    pub(super) unready: Option<Instant>,
}

/// A task that was begun.
#[derive(Debug)]
pub(super) struct Flying {
    pub(super) ticket: Ticket<Rdma>,
    pub(super) begun: Begun,
    /// It cannot be carried out; those before it come first.
    pub(super) failed: bool,
}

impl Way {
    pub(super) fn new() -> Way {
        Way { flying: VecDeque::with_capacity(64), issuing: false, unready: None }
    }
}

/// What a connection was joined with.
#[derive(Debug)]
pub(crate) struct Joint {
    pub(super) pipe: Held,
    /// Tasks go this way.
    pub(super) out: bool,
    /// Messages come this way; who claims receives for them.
    pub(super) inward: Option<u32>,
}
