//! Landing the tasks of engines that complete in their own time (Rust face), and what handlers post to them, which is on a
//! lane of its own.
//!
//! Only engines whose tasks may go to handlers look there ([`Peered::with_handlers`](super::Peered::with_handlers), or an
//! own [`Work::handle`](crate::engine::Work::handle)).

use super::{Port, Ticket};
use crate::context::Core;
use crate::engine::Engine;
use crate::lane::Lane;
use crate::pe::Pe;
use crate::progress::CARRIED_AT_ONCE;
use core::marker::PhantomData;

impl<E: Engine> Port<'_, E> {
    /// The next job that a handler posted.
    pub fn take_posted(&mut self) -> Option<Ticket<E>> {
        let slot = self.core.outbox()?.lane.next()?;
        Some(Ticket { slot: Some(slot), posted: true, engine: PhantomData })
    }
}

impl Pe {
    /// A turn, what came of it, and what the program is to be told.
    #[inline(never)]
    pub(crate) fn sweep_peers<const WATCHED: bool>(&'static self, core: &'static Core, lane: &Lane) -> usize {
        // What handlers posted, where an engine takes that ([`Port::take_posted`]).
        let posted = !core::ptr::eq(lane, core.lane());
        if !posted {
            core.turn(lane);
        }
        let mut reported = 0;
        while reported < CARRIED_AT_ONCE as usize {
            if let Some(slot) = lane.front() {
                lane.pop_front();
                self.deliver::<WATCHED>(core, slot);
            } else if posted || !self.heed(core) {
                break;
            }
            reported += 1;
        }
        reported
    }
}
