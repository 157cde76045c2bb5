//! Messages that came, into the receives that were claimed for them.

use crate::engine::Rdma;
use crate::hardware::Engine;
use crate::inbox::{Inbound, Record};
use crate::job::{ConnRef, Opcode};
use crate::posted::give_back;
use crate::srq::{AHEAD, Letter, TOO_LONG};
use crate::sync::Ordering;
use softdpu_memory::copy::commit;
use softdpu_memory::peer;
use softdpu_memory::view::{self, Hold};
use softdpu_room::hardware::Port;
use softdpu_status::Code;

/// A sender, and the message of it that is under way.
#[derive(Debug)]
pub(crate) struct In {
    pub(crate) way: Inbound,
    pub(crate) conn: ConnRef,
    pub(crate) opened: bool,
    current: Option<Current>,
}

/// A message that is half here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current {
    pub(crate) place: u32,
    pub(crate) letter: Letter,
    pub(crate) got: u32,
    pub(crate) failed: bool,
}

impl In {
    pub(crate) fn new(way: Inbound, conn: ConnRef) -> In {
        In { way, conn, opened: false, current: None }
    }

    /// Is a message half here?
    pub(crate) fn is_partial(&self) -> bool {
        self.current.is_some()
    }
}

/// A record that no sender of ours writes.
struct Nonsense(&'static str);

impl Engine {
    /// Reads what senders published, within the turn's limits.
    pub(crate) fn receive(&mut self, port: &mut Port<'_, Rdma>) -> bool {
        let mut moved = false;
        for w in 0..self.srq.ready_words() {
            let mut bits = self.srq.take_ready(w);
            while bits != 0 {
                let index = w as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                moved |= self.drain(port, index);
            }
        }
        moved
    }

    /// Reads one sender's ring.
    pub(crate) fn drain(&mut self, port: &mut Port<'_, Rdma>, index: u32) -> bool {
        let mut moved = false;
        while let Some(inbound) = self.inbounds.get_mut(index as usize).and_then(Option::as_mut) {
            if !inbound.opened {
                break;
            }
            let (conn, record) = (inbound.conn, inbound.way.front());
            let outcome = match record {
                Ok(None) => break,
                Ok(Some(_)) if self.left == 0 || self.tools.budget == 0 => {
                    self.srq.mark_ready(index);
                    break;
                }
                Ok(Some(record)) => match self.whole(port, index, record) {
                    Some(()) => Ok(()),
                    None => self.record(port, index, record),
                },
                Err(broken) => {
                    log::error!(target: crate::LOG, "connection {}: {broken}", conn.uid);
                    Err(Nonsense("its ring"))
                }
            };
            moved = true;
            if let Err(Nonsense(what)) = outcome {
                log::error!(target: crate::LOG, "connection {}: the peer broke the protocol ({what}); it is cut off", conn.uid);
                self.cut(index);
                break;
            }
        }
        moved
    }

    /// The peer of a sender is not to be trusted any more: its end learns that ours let go.
    fn cut(&mut self, index: u32) {
        if let Some(inbound) = self.inbounds[index as usize].as_mut() {
            inbound.opened = false;
            self.partial -= u32::from(inbound.is_partial());
            inbound.current = None;
            inbound.way.close();
            inbound.way.end.fail();
            self.control.attention.call();
        }
    }

    /// A message in one record, into a lone buffer of memory that is mapped here. `None`, and nothing has happened, where it
    /// is anything else.
    #[inline]
    fn whole(&mut self, port: &mut Port<'_, Rdma>, index: u32, record: Record) -> Option<()> {
        let inbound = self.inbounds[index as usize].as_mut()?;
        if !record.first || !record.last || inbound.current.is_some() {
            return None;
        }
        if inbound.way.holds(record.len, AHEAD) {
            self.srq.expect_behind(record.place);
        }
        let letter = self.srq.letter(record.place, inbound.way.sender)?;
        let opcode = Opcode::from_number(letter.kind).filter(|opcode| opcode.fills())?;
        let posted = self.srq.get(record.place)?;
        if letter.len as usize != record.len || letter.len > posted.room {
            return None;
        }
        let to = port.job(&mut posted.ticket).local.node()?;
        let grown = view::with_room(to, &self.tools.receive, |room| match room.get_mut(..record.len) {
            Some(room) => {
                inbound.way.take(room);
                record.len
            }
            None => 0,
        });
        if grown != Some(record.len) {
            // Memory that others may touch.
            let scratch = self.tools.scratch.get_mut(..record.len)?;
            inbound.way.take(scratch);
            peer::copy_in(to, &self.tools.receive, scratch)?;
        }
        inbound.way.pop();
        let conn = inbound.conn;
        self.left = self.left.saturating_sub(1);
        self.tools.budget = self.tools.budget.saturating_sub(record.len as u64);
        self.hand_back(port, conn, record.place, opcode, letter);
        Some(())
    }

    /// One record: begins a message, brings bytes of it, or ends it.
    fn record(&mut self, port: &mut Port<'_, Rdma>, index: u32, record: Record) -> Result<(), Nonsense> {
        let Some(inbound) = self.inbounds[index as usize].as_mut() else { return Ok(()) };
        if record.first {
            if inbound.current.is_some() {
                return Err(Nonsense("a message inside another"));
            }
            let letter = self
                .srq
                .letter(record.place, inbound.way.sender)
                .ok_or(Nonsense("a receive that it does not have"))?;
            inbound.current = Some(Current { place: record.place, letter, got: 0, failed: false });
            self.partial += 1;
        }
        let Some(mut current) = inbound.current.filter(|current| current.place == record.place) else {
            return Err(Nonsense("the middle of no message"));
        };
        let opcode = Opcode::from_number(current.letter.kind);
        let carries = matches!(opcode, Some(Opcode::Send | Opcode::SendImm));
        if opcode.is_none() && current.letter.kind != TOO_LONG || !carries && record.len > 0 {
            return Err(Nonsense("a message of no kind"));
        }
        if carries {
            self.bytes(port, index, record, &mut current)?;
        }
        let Some(inbound) = self.inbounds[index as usize].as_mut() else { return Ok(()) };
        inbound.way.pop();
        inbound.current = (!record.last).then_some(current);
        self.partial -= u32::from(record.last);
        if !record.last {
            return Ok(());
        }
        self.left = self.left.saturating_sub(1);
        if carries && current.got != current.letter.len {
            return Err(Nonsense("fewer bytes than it said"));
        }
        let conn = inbound.conn;
        self.land(port, conn, current, opcode.filter(|_| !current.failed));
        Ok(())
    }

    /// The bytes of a record, into the receive.
    fn bytes(
        &mut self,
        port: &mut Port<'_, Rdma>,
        index: u32,
        record: Record,
        current: &mut Current,
    ) -> Result<(), Nonsense> {
        let Some(inbound) = self.inbounds[index as usize].as_mut() else { return Ok(()) };
        let Some(posted) = self.srq.get(record.place) else { return Err(Nonsense("no receive")) };
        let len = current.letter.len;
        if len > posted.room || record.len as u64 > u64::from(len - current.got) {
            return Err(Nonsense("more bytes than it said"));
        }
        let target = port.job(&mut posted.ticket).local().ok().flatten();
        if record.len > 0 && !current.failed {
            let tools = &mut self.tools;
            let scratch = tools.scratch.get_mut(..record.len).ok_or(Nonsense("a long record"))?;
            current.failed = match target.map(|to| Hold::room(to, &tools.receive)) {
                Some(Ok(mut hold)) => {
                    let (_, mut sink) = hold.split();
                    sink.advance(current.got.into());
                    match sink.slice(record.len) {
                        Some(piece) if piece.len() == record.len => inbound.way.take(piece),
                        _ => {
                            inbound.way.take(scratch);
                            sink.write(scratch);
                        }
                    }
                    hold.check().is_err()
                }
                _ => true,
            };
        }
        current.got += record.len as u32;
        self.tools.budget = self.tools.budget.saturating_sub(record.len as u64);
        Ok(())
    }

    /// The message is here as a whole (or not, without an opcode): its receive is through.
    pub(crate) fn land(
        &mut self,
        port: &mut Port<'_, Rdma>,
        conn: ConnRef,
        current: Current,
        opcode: Option<Opcode>,
    ) {
        let letter = current.letter;
        if let Some(opcode) = opcode {
            if opcode.fills()
                && let Some(posted) = self.srq.get(current.place)
                && let Ok(Some(to)) = port.job(&mut posted.ticket).local()
            {
                commit(to, letter.len.into());
            }
            return self.hand_back(port, conn, current.place, opcode, letter);
        }
        let Some(posted) = self.srq.take(current.place) else { return };
        if let Some(conn) = self.link_conn(conn) {
            conn.count_received();
        }
        let why = if current.failed {
            "its buffer cannot be written"
        } else {
            "the message is longer than its buffer"
        };
        log::error!(target: crate::LOG, "receive on connection {}: {why} ({} bytes, room for {})",
            conn.uid, letter.len, posted.room);
        give_back(port, posted.ticket, Err(Code::IoFailed));
        self.fail(port, conn.slot);
    }

    /// Gives the receive in a place back, with what its message was.
    #[inline]
    fn hand_back(
        &mut self,
        port: &mut Port<'_, Rdma>,
        conn: ConnRef,
        place: u32,
        opcode: Opcode,
        letter: Letter,
    ) {
        let Some(mut posted) = self.srq.take(place) else { return };
        let handle = self.link_conn(conn).map_or(0, |conn| {
            conn.count_received();
            conn.handle.load(Ordering::Relaxed)
        });
        let job = port.job(&mut posted.ticket);
        (job.opcode, job.imm, job.len, job.conn, job.handle) = (opcode, letter.imm, letter.len, conn, handle);
        give_back(port, posted.ticket, Ok(letter.len.into()));
    }
}
