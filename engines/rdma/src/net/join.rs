//! Connections over the network come and go.

use super::wire::{Flying, In, Joint, Way, Wire};
use crate::conn::Phase;
use crate::engine::{Event, Rdma};
use crate::hardware::Engine;
use crate::job::ConnRef;
use softdpu_room::hardware::{Port, Ticket};
use softdpu_status::Code;
use std::sync::Arc;

impl Engine {
    /// A connection has a way over the network.
    pub(crate) fn join_wire(&mut self, which: ConnRef, joint: Joint) {
        let dynamic = self.dynamic;
        let Some(link) = self.make_link(which) else {
            // It has ended meanwhile.
            joint.inward.iter().for_each(|&sender| self.control.give_sender(sender));
            return;
        };
        link.conn.fabric.get_or_init(|| joint.pipe.provider.clone());
        if joint.out {
            link.net = Some(Box::new(Way::new()));
        }
        let ready = dynamic || link.net.is_some();
        let out = joint.out.then_some(which.slot);
        let inward = joint.inward.map(|sender| In { conn: which, sender, opened: false, current: None });
        // The other direction may have been joined before.
        match self.wires.iter_mut().find(|wire| Arc::ptr_eq(&wire.pipe, &joint.pipe)) {
            Some(wire) => {
                (wire.out, wire.inward) = (wire.out.or(out), wire.inward.take().or(inward));
                joint.pipe.release();
            }
            None => self.wires.push(Wire { pipe: joint.pipe, out, inward, refuse: false }),
        }
        if ready {
            self.open_wires(which);
        }
    }

    /// A task waits for its turn over the network.
    pub(crate) fn queue(&mut self, port: &mut Port<'_, Rdma>, ticket: Ticket<Rdma>, slot: u32) {
        let Some(link) = self.links[slot as usize].as_mut() else { return };
        if let Err(ticket) = self.store.push(&mut link.queue, ticket) {
            self.complete(port, ticket, Err(Code::Unexpected));
        }
    }

    /// Messages are taken from now on.
    fn open_wires(&mut self, which: ConnRef) {
        let inward = self.wires.iter_mut().filter_map(|wire| wire.inward.as_mut());
        inward.filter(|inward| inward.conn == which).for_each(|inward| inward.opened = true);
    }

    /// Tasks of a connection that were begun are given back.
    pub(crate) fn flush_way(&mut self, port: &mut Port<'_, Rdma>, slot: u32) {
        let flies = self.links[slot as usize].as_ref().and_then(|link| link.net.as_ref());
        if flies.is_some_and(|way| !way.flying.is_empty()) {
            let wires = self.wires.iter().filter(|wire| wire.out == Some(slot));
            wires.for_each(|wire| wire.pipe.lock().take_back());
        }
        while let Some(flying) = self.begun_on(slot) {
            self.complete(port, flying.ticket, Err(Code::IoFailed));
        }
        if let Some(way) = self.links[slot as usize].as_mut().and_then(|link| link.net.as_mut()) {
            (way.issuing, way.unready) = (false, None);
        }
    }

    /// The first of the tasks that were begun on a connection and are not through.
    pub(super) fn begun_on(&mut self, slot: u32) -> Option<Flying> {
        self.links[slot as usize].as_mut()?.net.as_mut()?.flying.pop_front()
    }

    /// The connection is in error: the peer's requests are refused.
    pub(crate) fn refuse_wires(&mut self, which: ConnRef) {
        for wire in &mut self.wires {
            wire.refuse |= wire.inward.as_ref().is_some_and(|inward| inward.conn == which);
        }
    }

    /// Looks for peers that are gone; what they sent is read first.
    pub(crate) fn attend_wires(&mut self, port: &mut Port<'_, Rdma>) {
        let mut at = 0;
        while at < self.wires.len() {
            if !self.wires[at].pipe.is_gone() {
                at += 1;
                continue;
            }
            let left = core::mem::replace(&mut self.left, u32::MAX);
            let budget = core::mem::replace(&mut self.tools.budget, u64::MAX);
            while self.turn_wire(port, at) {}
            (self.left, self.tools.budget) = (left, budget);
            let wire = self.wires.swap_remove(at);
            let (out, was_open) = (wire.out, wire.pipe.lock().was_open());
            self.end_of_wire(wire);
            if let Some(slot) = out {
                self.late_word(slot, was_open);
                self.lose(port, slot);
                // Others may have gone with it.
                at = 0;
            }
        }
    }

    /// The peer's word that it is connected may be overtaken by its end: then the program hears of both.
    fn late_word(&mut self, slot: u32, was_open: bool) {
        let Some(link) = self.links[slot as usize].as_ref() else { return };
        if was_open && link.conn.advance(Phase::Accepted, Phase::Connected) {
            self.events.push(Event::Established(link.conn.clone()));
        }
    }

    /// The connection is over: so are all its wires.
    pub(crate) fn drop_wires(&mut self, which: ConnRef) {
        let of = |wire: &Wire| {
            wire.out == Some(which.slot) || wire.inward.as_ref().is_some_and(|inward| inward.conn == which)
        };
        while let Some(at) = self.wires.iter().position(of) {
            let wire = self.wires.swap_remove(at);
            self.end_of_wire(wire);
        }
    }

    fn end_of_wire(&mut self, mut wire: Wire) {
        let Some(inward) = wire.inward.take() else { return };
        while let Some(place) = self.srq.claimed_by(inward.sender) {
            self.repost(place);
        }
        self.control.give_sender(inward.sender);
        if let Some(link) = self.link(inward.conn)
            && link.out.is_none()
            && link.net.is_none()
        {
            link.conn.more().from = None;
        }
    }
}
