//! What producers and consumers live on: an end of a connection, or a queue inside the process. They keep it alive.

use super::connection::Hold;
use super::queue::MessageQueue;
use crate::streams::{Carrier, Member, Role, Streams};
use softdpu_room::session::Device;
use softdpu_status::Result;
use std::sync::Arc;

/// See the module.
#[derive(Clone)]
pub(super) enum Home {
    Connection(Arc<Hold>),
    Queue(MessageQueue),
}

impl Home {
    /// The device of this end.
    pub(super) fn device(&self) -> &Device {
        match self {
            Home::Connection(hold) => hold.office.device(),
            Home::Queue(queue) => queue.device(),
        }
    }

    /// A new place on it.
    ///
    /// # Errors
    /// BadState: the connection is over. NoMemory: as many of them as there may be.
    pub(super) fn member(&self, role: Role) -> Result<Member> {
        match (self, role) {
            (Home::Connection(hold), Role::Producer) => hold.mailbox.connection().producer(),
            (Home::Connection(hold), Role::Consumer) => hold.mailbox.connection().consumer(),
            (Home::Queue(queue), Role::Producer) => queue.inner().producer(),
            (Home::Queue(queue), Role::Consumer) => queue.inner().consumer(),
        }
    }

    /// Where the consumers are that producers send to.
    pub(super) fn streams(&self) -> &Streams {
        match self {
            Home::Connection(hold) => &hold.mailbox.connection().streams,
            Home::Queue(queue) => queue.inner().streams(),
        }
    }

    /// A receive was posted: wakes who waited for it in this process. Nothing is locked.
    #[inline]
    pub(super) fn wake(&self) {
        if let Home::Queue(queue) = self {
            queue.inner().wake();
        }
    }
}
