//! The connections of a server by seat, and who of them has something to say.
//!
//! With few connections all of them are asked in turn. With more, only those whose client marked its seat on the board
//! ([`Ready`]), and one of the others per turn.

use crate::connection::Connection;
use crate::engine::ComchServer;
use crate::inlet::Inlet;
use crate::ready::Ready;
use crate::store::Store;
use crate::talk::{Heard, Talk};
use softdpu_room::hardware::Port;
use std::collections::VecDeque;
use std::sync::Arc;

/// So many connections are all asked.
const FEW: usize = 8;

type ServerTalk = Talk<ComchServer>;

struct Seat {
    talk: ServerTalk,
    /// In `active`.
    active: bool,
    /// In `pumping`.
    pumping: bool,
}

/// See the module.
#[derive(Default)]
pub(super) struct Seats {
    places: Vec<Option<Seat>>,
    /// Those that are taken.
    taken: Vec<u32>,
    /// With many connections: whom to ask next.
    active: VecDeque<u32>,
    /// With few: where to go on. With many: whom to look at without a mark.
    cursor: usize,
    many: bool,
    /// Something waits for room there.
    pumping: Vec<u32>,
    leaving: Vec<u32>,
}

impl Seats {
    pub(super) fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    fn seat(&mut self, seat: u32) -> Option<&mut Seat> {
        self.places.get_mut(seat as usize)?.as_mut()
    }

    /// The connection at a seat.
    pub(super) fn talk(&mut self, seat: u32) -> Option<&mut ServerTalk> {
        self.seat(seat).map(|seat| &mut seat.talk)
    }

    /// A client sits down.
    pub(super) fn take_place(&mut self, connection: Arc<Connection>, inlet: Inlet, ready: &Ready) {
        let seat = connection.seat;
        let at = seat as usize;
        if self.places.len() <= at {
            self.places.resize_with(at + 1, || None);
        }
        self.places[at] = Some(Seat { talk: Talk::new(connection, inlet), active: false, pumping: false });
        self.taken.push(seat);
        if self.taken.len() > FEW && !self.many {
            self.many = true;
            ready.use_marks(true);
            for seat in self.taken.clone() {
                self.ask(seat);
            }
        } else {
            self.ask(seat);
        }
    }

    /// A client's seat is free from now on.
    pub(super) fn leave_place(&mut self, seat: u32, ready: &Ready) -> Option<ServerTalk> {
        let left = self.places.get_mut(seat as usize)?.take()?;
        self.taken.retain(|&other| other != seat);
        self.active.retain(|&other| other != seat);
        self.pumping.retain(|&other| other != seat);
        self.leaving.retain(|&other| other != seat);
        if self.taken.len() <= FEW / 2 && self.many {
            self.many = false;
            ready.use_marks(false);
            self.active.clear();
            self.places.iter_mut().flatten().for_each(|seat| seat.active = false);
        }
        Some(left.talk)
    }

    /// Asks a seat before long.
    fn ask(&mut self, seat: u32) {
        if !self.many {
            return;
        }
        if let Some(found) = self.seat(seat)
            && !core::mem::replace(&mut found.active, true)
        {
            self.active.push_back(seat);
        }
    }

    /// Something waits for room there.
    pub(super) fn pumps(&mut self, seat: u32) {
        if let Some(found) = self.seat(seat)
            && !core::mem::replace(&mut found.pumping, true)
        {
            self.pumping.push(seat);
        }
    }

    /// Something happened there.
    pub(super) fn look_at(&mut self, seat: u32) {
        self.ask(seat);
        self.pumps(seat);
    }

    /// This end of it is leaving.
    pub(super) fn leaves(&mut self, seat: u32) {
        if !self.leaving.contains(&seat) {
            self.leaving.push(seat);
        }
    }

    /// The server stops.
    pub(super) fn all_leave(&mut self) {
        for seat in self.taken.clone() {
            if let Some(talk) = self.talk(seat) {
                talk.leave(true);
            }
            self.leaves(seat);
        }
    }

    /// Hands over what waits for room.
    pub(super) fn pump(&mut self, port: &mut Port<'_, ComchServer>, store: &Store) {
        let places = &mut self.places;
        self.pumping.retain(|&seat| {
            let Some(Some(found)) = places.get_mut(seat as usize) else { return false };
            found.pumping = found.talk.pump(port, store);
            found.pumping
        });
    }

    /// A step for those that leave; names the seats that are through.
    pub(super) fn leave_on(&mut self, port: &mut Port<'_, ComchServer>, store: &Store) -> Vec<u32> {
        // No allocation while nobody leaves.
        let mut through = Vec::new();
        for at in 0..self.leaving.len() {
            let seat = self.leaving[at];
            if self.talk(seat).is_none_or(|talk| talk.leave_on(port, store)) {
                through.push(seat);
            }
        }
        through
    }

    /// Collects the marks, and looks at one seat without.
    pub(super) fn gather(&mut self, ready: &Ready) {
        if !self.many {
            return;
        }
        if ready.is_marked() {
            ready.take(|seat| self.ask(seat));
        }
        self.cursor = (self.cursor + 1) % self.taken.len().max(1);
        if let Some(&seat) = self.taken.get(self.cursor)
            && self.talk(seat).is_some_and(|talk| talk.has_news())
        {
            self.ask(seat);
        }
    }

    /// Would asking find anything?
    pub(super) fn have_news(&mut self, ready: &Ready) -> bool {
        if self.many {
            return !self.active.is_empty() || ready.is_marked();
        }
        let places = &self.places;
        self.taken.iter().any(|&seat| {
            let found = places.get(seat as usize).and_then(Option::as_ref);
            found.is_some_and(|seat| !seat.talk.is_leaving() && seat.talk.has_news())
        })
    }

    /// Asks until somebody has something to say.
    pub(super) fn hear(&mut self) -> Option<(u32, Heard)> {
        if self.many {
            return self.hear_active();
        }
        let count = self.taken.len();
        for _ in 0..count {
            self.cursor = if self.cursor + 1 < count { self.cursor + 1 } else { 0 };
            let seat = self.taken[self.cursor];
            let Some(talk) = self.talk(seat).filter(|talk| !talk.is_leaving()) else { continue };
            match talk.hear() {
                Heard::Nothing => {}
                heard => return Some((seat, heard)),
            }
        }
        None
    }

    fn hear_active(&mut self) -> Option<(u32, Heard)> {
        while let Some(seat) = self.active.pop_front() {
            let Some(found) = self.seat(seat) else { continue };
            found.active = false;
            if found.talk.is_leaving() {
                continue;
            }
            match found.talk.hear() {
                Heard::Nothing => {}
                heard => {
                    self.ask(seat);
                    return Some((seat, heard));
                }
            }
        }
        None
    }

    /// Everybody leaves at once.
    pub(super) fn clear(&mut self) -> impl Iterator<Item = ServerTalk> + use<> {
        let places = core::mem::take(self).places;
        places.into_iter().flatten().map(|seat| seat.talk)
    }
}
