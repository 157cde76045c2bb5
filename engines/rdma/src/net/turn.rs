//! The engine's part: tasks into requests, answers into results.

use super::ask::{Asker, Begun};
use super::frame::{Broken, HEAD, RECORD, Record};
use super::pipe::Inner;
use super::serve::Why;
use super::wire::{Flying, Way};
use crate::engine::Rdma;
use crate::event;
use crate::ffi::Class;
use crate::hardware::Engine;
use crate::job::{Job, Op};
use crate::link::{Link, REPEAT, Step, Tools};
use softdpu_memory::copy::commit;
use softdpu_memory::peer;
use softdpu_memory::view::Hold;
use softdpu_room::hardware::Port;
use softdpu_status::Code;
use std::time::Instant;

impl Engine {
    /// All connections over the network. True when anything moved.
    pub(crate) fn turn_wires(&mut self, port: &mut Port<'_, Rdma>) -> bool {
        let mut moved = false;
        for at in 0..self.wires.len() {
            moved |= self.turn_wire(port, at);
        }
        moved
    }

    pub(super) fn turn_wire(&mut self, port: &mut Port<'_, Rdma>, at: usize) -> bool {
        let Some(wire) = self.wires.get(at) else { return false };
        let (pipe, out) = ((*wire.pipe).clone(), wire.out);
        // The thread is inside: it may have left something to do.
        let Some(mut inner) = pipe.try_lock() else { return true };
        let mut moved = false;
        // What the program has just asked for leaves before anything is looked for: often it is the answer to what came.
        if let Some(slot) = out.filter(|&slot| self.has_fresh_tasks(slot)) {
            moved = self.tasks(port, &mut inner, slot);
            inner.publish(Class::Request);
        }
        moved |= inner.drive(false);
        let landed = self.messages(port, &mut inner, at);
        moved |= landed;
        if let Some(slot) = out {
            moved |= self.tasks(port, &mut inner, slot);
        }
        if self.wires.get(at).is_some_and(|wire| wire.refuse) {
            inner.refuse(Why::Closed);
        }
        inner.flush_soon(landed);
        let (opened, over) = (inner.is_open(), inner.is_over());
        drop(inner);
        if opened {
            pipe.set_opened();
        }
        let link = out.and_then(|slot| self.links[slot as usize].as_ref());
        pipe.set_waits(link.is_some_and(|link| {
            !link.queue.is_empty() || link.net.as_ref().is_some_and(|way| !way.flying.is_empty())
        }));
        if over {
            pipe.set_gone();
        }
        moved
    }

    fn has_fresh_tasks(&self, slot: u32) -> bool {
        // Whether a message has waited too long for a receive is judged after a look at what came.
        let in_time = |link: &Link| link.net.as_ref().is_some_and(|way| way.unready.is_none());
        let link = self.links[slot as usize].as_deref();
        link.is_some_and(|link| !link.queue.is_empty() && !link.failed && in_time(link))
    }

    /// Do tasks wait for time to pass, so that somebody has to look?
    pub(crate) fn wires_wait(&self) -> bool {
        let ways = self.wires.iter().filter_map(|wire| self.links[wire.out? as usize].as_ref()?.net.as_ref());
        ways.into_iter().any(|way| way.unready.is_some())
    }

    /// Before the program sleeps: is there anything to do? Otherwise the network's thread looks after the connections.
    pub(crate) fn wires_are_pending(&mut self) -> bool {
        let mut pending = false;
        for wire in &self.wires {
            let Some(mut inner) = wire.pipe.try_lock() else {
                pending = true;
                continue;
            };
            inner.drive(true);
            inner.flush();
            let link = wire.out.and_then(|slot| self.links[slot as usize].as_ref());
            let left = link.is_some_and(|l| !l.queue.is_empty() || l.net.as_ref().is_some_and(|w| w.issuing));
            let opened = wire.inward.as_ref().is_some_and(|inward| inward.opened);
            pending |= inner.ask.has_news() || inner.is_over() || left && inner.has_room();
            pending |= opened && inner.message().is_some() && !inner.serve.unready_told;
        }
        if !pending {
            self.wires.iter().for_each(|wire| wire.pipe.hand_over());
        }
        pending
    }

    /// Answers to tasks of a connection, and fresh tasks.
    fn tasks(&mut self, port: &mut Port<'_, Rdma>, inner: &mut Inner, slot: u32) -> bool {
        let Some(link) = self.links[slot as usize].as_mut() else { return false };
        let Some(mut way) = link.net.take() else { return false };
        let failed = link.failed;
        inner.ask.see();
        if failed {
            inner.drop_answers();
        }
        let mut moved = false;
        let mut good = !failed && self.answers(port, inner, slot, &mut way, &mut moved);
        if good {
            moved |= self.issue(port, inner, slot, &mut way);
            good = !way.flying.front().is_some_and(|flying| flying.failed);
        }
        if !good && !failed {
            moved = true;
            inner.take_back();
            while let Some(flying) = way.flying.pop_front() {
                self.complete(port, flying.ticket, Err(Code::IoFailed));
            }
            (way.issuing, way.unready) = (false, None);
            self.fail(port, slot);
        }
        if let Some(link) = self.links[slot as usize].as_mut() {
            link.net = Some(way);
        }
        moved
    }

    /// Whatever came back. False when a task failed.
    fn answers(
        &mut self,
        port: &mut Port<'_, Rdma>,
        inner: &mut Inner,
        slot: u32,
        way: &mut Way,
        moved: &mut bool,
    ) -> bool {
        loop {
            while way.flying.front().is_some_and(|flying| !flying.failed)
                && !(way.issuing && way.flying.len() == 1)
                && let Some(result) =
                    way.flying.front_mut().and_then(|flying| finish(port, inner, &self.tools, flying))
                && let Some(flying) = way.flying.pop_front()
            {
                (way.unready, *moved) = (None, true);
                let good = result.is_ok();
                self.complete(port, flying.ticket, result);
                if !good {
                    return false;
                }
            }
            if way.flying.front().is_some_and(|flying| flying.failed) {
                return false;
            }
            let Some(&(got, at)) = inner.ask.frames.front() else { break };
            *moved = true;
            match inner.record(got, at) {
                Err(broken) => {
                    inner.breaks(broken);
                    break;
                }
                Ok(None) => {
                    inner.ask.frames.pop_front();
                    inner.give_back(got);
                }
                Ok(Some((record, bytes, next))) => {
                    let len = bytes.len();
                    let outcome = self.answer(port, slot, way, record, bytes);
                    if matches!(record, Record::Bytes | Record::Value(_)) {
                        inner.ask.wanted = inner.ask.wanted.saturating_sub(len + RECORD + HEAD);
                    }
                    if let Some(front) = inner.ask.frames.front_mut() {
                        front.1 = next;
                    }
                    match outcome {
                        Ok(true) => {}
                        Ok(false) => return false,
                        Err(broken) => {
                            inner.breaks(broken);
                            break;
                        }
                    }
                }
            }
        }
        !self.has_waited_for_receive(slot, way)
    }

    /// One answer. `Ok(false)`: the task at the front was refused.
    fn answer(
        &mut self,
        port: &mut Port<'_, Rdma>,
        slot: u32,
        way: &mut Way,
        record: Record,
        bytes: &[u8],
    ) -> Result<bool, Broken> {
        let waits = |job: &Job, begun: &Begun| match record {
            Record::Bytes => job.op == Op::Read && begun.got < begun.sent,
            _ => wants_value(job.op) && begun.value.is_none(),
        };
        let id = self.links[slot as usize].as_ref().map_or(0, |link| link.conn.id());
        match record {
            Record::Refused { why } => {
                log::error!(target: crate::LOG, "connection {id}: the peer refuses: {}", Why::text(why));
                return Ok(false);
            }
            Record::Unready => {
                way.unready.get_or_insert_with(Instant::now);
                return Ok(true);
            }
            Record::Bytes | Record::Value(_) => {}
            _ => return Err(Broken("a request among answers")),
        }
        let mut all = way.flying.iter_mut();
        let Some(flying) = all.find_map(|f| waits(port.job(&mut f.ticket), &f.begun).then_some(f)) else {
            return Err(Broken("an answer that nobody asked for"));
        };
        if let Record::Value(value) = record {
            flying.begun.value = Some(value);
            return Ok(true);
        }
        if bytes.len() as u64 > flying.begun.sent - flying.begun.got {
            return Err(Broken("more bytes than were asked for"));
        }
        let to = port.job(&mut flying.ticket).local().ok().flatten();
        let stored = to.is_some_and(|to| {
            Hold::room(to, &self.tools.send).is_ok_and(|mut hold| {
                let (_, mut sink) = hold.split();
                sink.advance(flying.begun.got);
                sink.write(bytes);
                hold.check().is_ok()
            })
        });
        flying.begun.got += bytes.len() as u64;
        // The others before it are given back first.
        flying.failed |= !stored;
        Ok(true)
    }

    fn has_waited_for_receive(&self, slot: u32, way: &mut Way) -> bool {
        let (Some(since), rnr) = (way.unready, self.tools.rnr) else { return false };
        if rnr >= crate::config::RNR_FOREVER || since.elapsed() < REPEAT * u32::from(rnr) {
            return false;
        }
        let id = self.links[slot as usize].as_ref().map_or(0, |link| link.conn.id());
        log::error!(target: crate::LOG, "connection {id}: the peer has no receive posted; repeated {rnr} times");
        true
    }

    /// Asks for fresh tasks, as far as there is room.
    fn issue(&mut self, port: &mut Port<'_, Rdma>, inner: &mut Inner, slot: u32, way: &mut Way) -> bool {
        let Some(link) = self.links[slot as usize].as_mut() else { return false };
        let mut moved = false;
        let mut asker = Asker { connection: link.conn.id(), tools: &mut self.tools };
        while self.left > 0 && way.flying.back().is_none_or(|flying| !flying.failed) {
            if !way.issuing {
                let Some(ticket) = self.store.pop(&mut link.queue) else { break };
                way.flying.push_back(Flying { ticket, begun: Begun::default(), failed: false });
                way.issuing = true;
            }
            let Some(flying) = way.flying.back_mut() else { break };
            let before = flying.begun.sent;
            match inner.issue(&mut flying.begun, port.job(&mut flying.ticket), &mut asker) {
                Step::Done(total) => {
                    flying.begun.total.get_or_insert(total);
                    way.issuing = false;
                    self.left -= 1;
                    moved = true;
                }
                Step::Failed => {
                    (flying.failed, moved) = (true, true);
                    break;
                }
                Step::More | Step::Wait => {
                    moved |= flying.begun.sent != before;
                    break;
                }
            }
        }
        moved
    }
}

/// The result of the task at the front, if it is through.
fn finish(
    port: &mut Port<'_, Rdma>,
    inner: &Inner,
    tools: &Tools,
    flying: &mut Flying,
) -> Option<Result<u64, Code>> {
    let begun = flying.begun;
    if !inner.ask.is_done(begun.last) || inner.keeps(begun.last) {
        return None;
    }
    let job = port.job(&mut flying.ticket);
    let total = begun.total.unwrap_or(0);
    match job.op {
        Op::Read if begun.got < total => None,
        Op::Read => {
            if let Ok(Some(to)) = job.local() {
                commit(to, total);
            }
            job.len = total as u32;
            Some(Ok(total))
        }
        Op::CmpSwap | Op::FetchAdd | Op::EventAdd => {
            let before = begun.value?;
            job.len = size_of::<u64>() as u32;
            let stored = job.local().ok().flatten().map_or(Ok(()), |result| peer::store_word(result, before));
            Some(stored.map(|()| before).map_err(|_| Code::IoFailed))
        }
        Op::EventGet => {
            let value = begun.value?;
            job.len = size_of::<u64>() as u32;
            let kept = event::keep(job.local().ok().flatten(), value, tools);
            Some(kept.map(|()| value).map_err(|_| Code::IoFailed))
        }
        Op::EventSet => {
            job.len = size_of::<u64>() as u32;
            begun.value.map(Ok)
        }
        _ => Some(Ok(total)),
    }
}

/// Does the answer to such a task carry a value?
fn wants_value(op: Op) -> bool {
    matches!(op, Op::CmpSwap | Op::FetchAdd | Op::EventGet | Op::EventSet | Op::EventAdd)
}
