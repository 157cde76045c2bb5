//! Connections come and go: the engine's mail, peers that let go, tasks that failed.

use crate::conn::{Conn, Phase};
use crate::control::Mail;
use crate::engine::{Event, Rdma};
use crate::hardware::Engine;
use crate::inbox::{Inbound, Outbound};
use crate::job::{ConnRef, Op};
use crate::link::{Front, Link};
use crate::posted::give_back;
use crate::receive::In;
use crate::sync::Ordering;
use softdpu_room::hardware::{Port, Turn};
use softdpu_status::Code;
use std::sync::Arc;

impl Engine {
    /// A task of the connection failed: the connection is of no use any more, to either end.
    pub(crate) fn fail(&mut self, port: &mut Port<'_, Rdma>, slot: u32) {
        let Some(link) = self.links[slot as usize].as_mut() else { return };
        link.publish();
        if !link.failed {
            link.fail();
            log::warn!(target: crate::LOG, "connection {}: in error, later tasks on it fail", link.conn.id());
        }
        let which = link.conn.here;
        if let Some(index) = link.inbound
            && let Some(inbound) = &self.inbounds[index as usize]
        {
            inbound.way.close();
        }
        self.refuse_wires(which);
        self.flush_queue(port, slot);
    }

    fn flush_queue(&mut self, port: &mut Port<'_, Rdma>, slot: u32) {
        self.flush_way(port, slot);
        let Some(link) = self.links[slot as usize].as_mut() else { return };
        if let (Some(out), Some(claim)) = (&link.out, link.front.claim)
            && !link.front.staged
        {
            out.srq.unclaim(claim, out.me);
        }
        link.front = Front::default();
        while let Some(ticket) = self.links[slot as usize].as_mut().and_then(|l| self.store.pop(&mut l.queue))
        {
            self.complete(port, ticket, Err(Code::IoFailed));
        }
    }

    /// Reads the mail, and looks who is gone.
    pub(crate) fn attend(&mut self, port: &mut Port<'_, Rdma>) {
        for mail in self.control.take_mail() {
            match mail {
                Mail::Out(which, out) => self.join(which, *out),
                Mail::In(which, way) => self.let_in(which, *way),
                Mail::Net(which, joint) => self.join_wire(which, joint),
                Mail::Leave(conn) => {
                    let slot = conn.here.slot;
                    if self.link(conn.here).is_none() {
                        self.bury(port, &conn);
                    } else {
                        self.lose(port, slot);
                    }
                }
                Mail::Tell(event) => self.events.push(event),
                Mail::Failed(conn) => {
                    self.control.remove(&conn);
                    self.events.push(Event::Failed(conn));
                }
            }
        }
        for index in 0..self.inbounds.len() {
            if self.inbounds[index].as_ref().is_some_and(|inbound| inbound.way.end.is_gone()) {
                self.drop_inbound(port, index as u32);
            }
        }
        for slot in 0..self.links.len() {
            let gone = |link: &Link| link.out.as_ref().is_some_and(|out| out.end.is_gone());
            if self.links[slot].as_deref().is_some_and(gone) {
                self.lose(port, slot as u32);
            }
        }
        self.attend_wires(port);
        self.note_owed();
    }

    /// Looks whether the program is still to be told of the end of a connection.
    fn note_owed(&mut self) {
        let told = self.told;
        self.owed = told && self.links.iter().flatten().any(|link| link.conn.phase() >= Phase::Accepted);
    }

    pub(crate) fn make_link(&mut self, which: ConnRef) -> Option<&mut Box<Link>> {
        let place = self.links.get_mut(which.slot as usize)?;
        if place.as_ref().is_none_or(|link| link.conn.here != which) {
            *place = Some(Box::new(Link::new(self.control.conn(which)?)));
        }
        place.as_mut()
    }

    fn join(&mut self, which: ConnRef, out: Outbound) {
        let Some(link) = self.make_link(which) else { return };
        link.peer = link.conn.more().to.map(|name| name.owner);
        link.rights = out.srq.rights().into();
        link.out = Some(out);
        if let Some(index) = link.inbound {
            self.open(index);
        }
    }

    fn open(&mut self, index: u32) {
        if let Some(inbound) = &mut self.inbounds[index as usize] {
            inbound.opened = true;
            inbound.way.open();
            self.srq.mark_ready(index);
        }
    }

    fn let_in(&mut self, which: ConnRef, way: Inbound) {
        let index = way.index();
        let dynamic = self.dynamic;
        let Some(link) = self.make_link(which) else { return self.control.give_sender(way.sender) };
        link.inbound = Some(index);
        let ready = link.out.is_some() || dynamic;
        self.inbounds[index as usize] = Some(Box::new(In::new(way, which)));
        if ready {
            self.open(index);
        }
    }

    /// A sender is gone; what it sent is read first.
    fn drop_inbound(&mut self, port: &mut Port<'_, Rdma>, index: u32) {
        let left = core::mem::replace(&mut self.left, u32::MAX);
        let budget = core::mem::replace(&mut self.tools.budget, u64::MAX);
        self.drain(port, index);
        (self.left, self.tools.budget) = (left, budget);
        let Some(inbound) = self.inbounds[index as usize].take() else { return };
        self.partial -= u32::from(inbound.is_partial());
        inbound.way.close();
        while let Some(place) = self.srq.claimed_by(inbound.way.sender) {
            self.repost(place);
        }
        self.control.give_sender(inbound.way.sender);
        if let Some(link) = self.link(inbound.conn) {
            if link.inbound == Some(index) {
                link.inbound = None;
            }
            if link.out.is_none() && link.net.is_none() {
                link.conn.more().from = None;
            }
        }
    }

    /// A connection is over. What its peer sent is read first, while it is still known whose it is.
    pub(crate) fn lose(&mut self, port: &mut Port<'_, Rdma>, slot: u32) {
        self.flush_queue(port, slot);
        self.pending.retain(|&other| other != slot);
        let Some(link) = self.links[slot as usize].as_mut() else { return };
        link.publish();
        let which = link.conn.here;
        for index in 0..self.inbounds.len() {
            if self.inbounds[index].as_ref().is_some_and(|inbound| inbound.conn == which) {
                self.drop_inbound(port, index as u32);
            }
        }
        self.drop_wires(which);
        if let Some(link) = self.links[slot as usize].take() {
            self.bury(port, &link.conn);
        }
    }

    fn bury(&mut self, port: &Port<'_, Rdma>, conn: &Arc<Conn>) {
        let before = conn.end();
        self.control.remove(conn);
        let event = match before {
            Phase::Accepted => Some(Event::Failed(conn.clone())),
            Phase::Connected => Some(Event::Ended(conn.clone())),
            _ => None,
        };
        match event.filter(|_| self.told) {
            Some(event) => self.events.push_behind(event, port.through()),
            None => conn.finished.store(true, Ordering::Release),
        }
        self.note_owed();
    }

    /// A context whose connections the program is to be told of does not become idle before it was.
    pub(crate) fn hold(&self, port: &mut Port<'_, Rdma>) {
        port.hold(!self.events.is_empty() || self.owed);
    }

    /// Nobody is asked any more, and nobody who asks is let in. Of its own attempts the program hears.
    fn forget_attempts(&mut self) {
        for (conn, _) in self.control.connections() {
            let own = conn.advance(Phase::Connecting, Phase::Ended);
            if own || conn.advance(Phase::Requested, Phase::Ended) {
                self.control.release(&conn);
                self.control.remove(&conn);
                if own && self.told {
                    self.events.push(Event::Failed(conn));
                }
            }
        }
        self.events.forget_requests();
    }

    /// Everything is given back.
    pub(crate) fn flush(&mut self, port: &mut Port<'_, Rdma>) -> Turn {
        self.control.close();
        self.srq.close();
        self.forget_attempts();
        for slot in 0..self.links.len() {
            if self.links[slot].is_some() {
                self.lose(port, slot as u32);
            }
        }
        while let Some(mut ticket) = port.take().or_else(|| port.take_posted()) {
            if port.job(&mut ticket).op == Op::Receive {
                give_back(port, ticket, Err(Code::IoFailed));
            } else {
                self.complete(port, ticket, Err(Code::IoFailed));
            }
        }
        while let Some(posted) = self.srq.first().and_then(|place| self.srq.take(place)) {
            give_back(port, posted.ticket, Err(Code::IoFailed));
        }
        self.dirty.clear();
        port.hold(!self.events.is_empty());
        port.has_events(!self.events.is_empty());
        Turn::Busy
    }
}
