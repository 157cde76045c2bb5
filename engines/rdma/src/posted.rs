//! Receives on their way to the peers' senders.

use crate::engine::Rdma;
use crate::hardware::Engine;
use softdpu_memory::view;
use softdpu_room::hardware::{Port, Ticket};
use softdpu_status::Code;

/// A receive that is posted.
#[derive(Debug)]
pub(crate) struct Posted {
    pub(crate) ticket: Ticket<Rdma>,
    pub(crate) room: u32,
}

/// A receive is through.
pub(crate) fn give_back(port: &mut Port<'_, Rdma>, mut ticket: Ticket<Rdma>, result: Result<u64, Code>) {
    if let Some(tally) = port.job(&mut ticket).owned.as_ref().and_then(|owned| owned.tally.as_ref()) {
        tally.count();
    }
    port.complete(ticket, result);
}

impl Engine {
    /// A receive is posted, if it is any good.
    pub(crate) fn post(&mut self, port: &mut Port<'_, Rdma>, mut ticket: Ticket<Rdma>) {
        let room = match port.job(&mut ticket).local() {
            Ok(None) => Ok(0),
            Ok(Some(to)) => view::check_room(to, &self.tools.receive).map_err(drop),
            Err(()) => {
                log::error!(target: crate::LOG, "receive: the destination buffer was released");
                Err(())
            }
        };
        let Ok(room) = room else { return give_back(port, ticket, Err(Code::IoFailed)) };
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        match self.srq.post(Posted { ticket, room }, room) {
            Ok(()) => self.fresh_receives = true,
            Err(posted) => give_back(port, posted.ticket, Err(Code::Unexpected)),
        }
    }

    /// A receive whose sender is gone is posted again.
    pub(crate) fn repost(&mut self, place: u32) {
        if let Some(posted) = self.srq.take(place) {
            let room = posted.room;
            // There is a place: one was just freed.
            drop(self.srq.post(posted, room));
            self.fresh_receives = true;
        }
    }
}
