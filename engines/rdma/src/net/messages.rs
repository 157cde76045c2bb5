//! Messages of peers on the network, into receives: the engine claims them as one more sender.

use super::frame::{Broken, Piece};
use super::pipe::Inner;
use super::serve::Why;
use crate::engine::Rdma;
use crate::ffi::Got;
use crate::hardware::Engine;
use crate::job::{ConnRef, Opcode};
use crate::receive::Current;
use crate::srq::{Letter, RemoteSrq};
use softdpu_memory::view::Hold;
use softdpu_room::hardware::Port;
use softdpu_status::Code;

impl Engine {
    /// Messages of a peer, into receives.
    pub(super) fn messages(&mut self, port: &mut Port<'_, Rdma>, inner: &mut Inner, at: usize) -> bool {
        let mut moved = false;
        while self.left > 0
            && self.tools.budget > 0
            && self.wires[at].inward.as_ref().is_some_and(|inward| inward.opened)
            && let Some((piece, got, place)) = inner.message()
        {
            match self.message(port, inner, at, piece, (got, place)) {
                Ok(true) => moved = true,
                Ok(false) => break,
                Err(broken) => {
                    inner.breaks(broken);
                    break;
                }
            }
        }
        moved
    }

    /// One part of a message. False: it has to wait.
    fn message(
        &mut self,
        port: &mut Port<'_, Rdma>,
        inner: &mut Inner,
        at: usize,
        piece: Piece,
        part: (Got, usize),
    ) -> Result<bool, Broken> {
        let Some(inward) = self.wires[at].inward.as_mut() else { return Ok(false) };
        let opcode = Opcode::from_number(piece.opcode.into()).ok_or(Broken("a message of no kind"))?;
        let conn = inward.conn;
        if piece.first {
            if inward.current.is_some() {
                return Err(Broken("a message inside another"));
            }
            let letter = Letter { len: piece.total, imm: piece.imm, kind: opcode as u32 };
            let srq = RemoteSrq::new(self.srq.segment().clone()).map_err(|_| Broken("no receive queue"))?;
            let Some(claim) = srq.claim(inward.sender) else {
                inner.tell_unready();
                return Ok(false);
            };
            let current = Current { place: claim.place, letter, got: 0, failed: false };
            if opcode != Opcode::WriteImm && piece.total > claim.room {
                self.turn_away(port, (inner, at), conn, current, Why::TooLong);
                return Ok(true);
            }
            inward.current = Some(current);
        }
        let Some(mut current) = inward.current.filter(|c| c.letter.len == piece.total) else {
            return Err(Broken("the middle of no message"));
        };
        let bytes = inner.message_bytes(part.0, part.1);
        if bytes.len() > (current.letter.len - current.got) as usize
            || opcode == Opcode::WriteImm && !bytes.is_empty()
        {
            return Err(Broken("more bytes than it said"));
        }
        if !bytes.is_empty() && !current.failed {
            current.failed = !self.store_message(port, current, bytes);
        }
        current.got += bytes.len() as u32;
        self.tools.budget = self.tools.budget.saturating_sub(bytes.len() as u64);
        self.wires[at].inward.iter_mut().for_each(|inward| inward.current = (!piece.last).then_some(current));
        if piece.last && opcode != Opcode::WriteImm && current.got != current.letter.len {
            return Err(Broken("fewer bytes than it said"));
        }
        if !piece.last {
            inner.took_message();
            return Ok(true);
        }
        self.left -= 1;
        if current.failed {
            self.turn_away(port, (inner, at), conn, current, Why::Receive);
        } else {
            inner.took_message();
            self.land(port, conn, current, Some(opcode));
        }
        Ok(true)
    }

    /// A message does not fit its receive, and ends the connection. That happens while its pipe is locked: what was begun
    /// on it is given back before, so that nobody locks it again for that ([`Engine::flush_way`]).
    fn turn_away(
        &mut self,
        port: &mut Port<'_, Rdma>,
        (inner, at): (&mut Inner, usize),
        conn: ConnRef,
        current: Current,
        why: Why,
    ) {
        inner.refuse(why);
        if self.wires[at].out == Some(conn.slot) {
            inner.take_back();
            while let Some(flying) = self.begun_on(conn.slot) {
                self.complete(port, flying.ticket, Err(Code::IoFailed));
            }
        }
        self.land(port, conn, current, None);
    }

    fn store_message(&mut self, port: &mut Port<'_, Rdma>, current: Current, bytes: &[u8]) -> bool {
        let Some(posted) = self.srq.get(current.place) else { return false };
        let Some(to) = port.job(&mut posted.ticket).local().ok().flatten() else { return false };
        let Ok(mut hold) = Hold::room(to, &self.tools.receive) else { return false };
        let (_, mut sink) = hold.split();
        sink.advance(current.got.into());
        sink.write(bytes);
        hold.check().is_ok()
    }
}
