//! Bytes of tasks that go out from where they lie, without a copy.
//!
//! The fabric looks at them whenever there is room on the way to the peer, so they must stay until it is through. They do:
//! a task keeps its buffers, and with them the memory, until it is given back; and it is given back when the peer has
//! all of it *and* the fabric has no bytes of it any more ([`Inner::keeps`]), or after the connection was closed
//! ([`Inner::take_back`]).
#![expect(unsafe_code, reason = "the fabric is given memory of tasks under way")]

use super::ask::Begun;
use super::frame::{MOST, RECORD, Record};
use super::pipe::Inner;
use crate::ffi::Class;
use softdpu_memory::view::Hold;

/// From so many bytes on a copy costs more than a second piece.
const WORTH_IT: usize = 16 << 10;

impl Inner {
    /// Sends bytes of a task's source from `begun.sent` on, without a copy, behind whatever its frame holds already; gives
    /// how many went. None: they have to be copied, or there is no room.
    pub(super) fn lend(
        &mut self,
        hold: &Hold<'_>,
        total: u64,
        begun: &Begun,
        record: &impl Fn(u64, u64) -> Record,
    ) -> Option<usize> {
        if !self.gathers() {
            return None;
        }
        let left = (total - begun.sent).min(MOST as u64) as usize;
        let (at, found) = hold.sources().place(begun.sent, left)?;
        if found < WORTH_IT {
            return None;
        }
        let (_, to) = self.room(Class::Request, found, WORTH_IT)?;
        let room = to.len().checked_sub(RECORD)?;
        let n = found.min(room);
        record(begun.sent, n as u64).put(n, to);
        self.wrote(Class::Request, 0);
        self.ask.issued = self.ask.issued.wrapping_add(1);
        let number = self.ask.issued;
        let (slot, len, plug) = self.close_frame(Class::Request, n)?;
        // SAFETY: see the module: the bytes stay until `keeps` denies the request, or the plug is dropped.
        unsafe { plug.send_from(slot, len, (at, n), number) };
        Some(n)
    }

    /// Has the fabric bytes of tasks of requests up to this number?
    pub(super) fn keeps(&self, request: u32) -> bool {
        self.fabric().is_some_and(|plug| plug.borrows(request))
    }

    /// Tasks are given back before their time: the fabric must not look at their bytes any more.
    pub(super) fn take_back(&mut self) {
        if self.fabric().is_some_and(|plug| plug.borrows_any()) {
            self.unplug();
        }
    }
}
