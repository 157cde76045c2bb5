//! The end that asks: tasks become requests, as far as there is room for them.

use super::frame::{Broken, HEAD, Head, MOST, Piece, RECORD, Record};
use super::pipe::Inner;
use super::serve::MAPS;
use crate::ffi::{Class, Got, Shape};
use crate::job::{Job, Op, Opcode};
use crate::link::{Step, Tools};
use softdpu_memory::export::{Descriptor, MAX_DESCRIPTOR};
use softdpu_memory::node::Node;
use softdpu_memory::peer::{self, Use};
use softdpu_memory::view::{self, Hold};
use std::collections::VecDeque;

/// Bytes of answers that may be on their way.
pub(super) const MOST_WANTED: usize = 8 * Shape::BYTES;
/// A record goes into what is left of a frame rather than into a fresh one from so many bytes on.
const WORTH_IT: usize = 1024;

/// How far the peer has come with what it was asked for.
pub(super) struct Ask {
    pub(super) issued: u32,
    pub(super) done: u32,
    seen: u32,
    /// The connection is there since the engine last looked.
    pub(super) fresh: bool,
    sent: u32,
    consumed: u32,
    /// Bytes of answers that are on their way, with their records.
    pub(super) wanted: usize,
    /// Frames with answers, for the engine.
    pub(super) frames: VecDeque<(Got, usize)>,
    /// What the peer knows the names of.
    maps: Vec<Known>,
    oldest: usize,
    /// What the peer's context permits.
    pub(super) rights: u32,
}

/// How far a task has come on this end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun {
    /// Its bytes, once they were checked.
    pub(super) total: Option<u64>,
    /// Bytes that were sent, or asked for.
    pub(super) sent: u64,
    /// Bytes that came back.
    pub(super) got: u64,
    /// The old value that came back.
    pub(super) value: Option<u64>,
    /// Number of its last request.
    pub(super) last: u32,
}

/// What the peer may know by a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Memory(Descriptor),
    Event(softdpu_sync_event::Descriptor),
}

impl Known {
    /// Its descriptor; is it of an event?
    fn encode(&self) -> (Vec<u8>, bool) {
        match self {
            Known::Memory(descriptor) => {
                let mut bytes = Vec::with_capacity(MAX_DESCRIPTOR);
                descriptor.encode(&mut bytes);
                (bytes, false)
            }
            Known::Event(descriptor) => (descriptor.encode(), true),
        }
    }
}

impl Ask {
    pub(super) fn new() -> Ask {
        Ask {
            issued: 0,
            done: 0,
            seen: 0,
            fresh: false,
            sent: 0,
            consumed: 0,
            wanted: 0,
            frames: VecDeque::with_capacity(64),
            maps: Vec::new(),
            oldest: 0,
            rights: 0,
        }
    }

    /// What the head of a frame says.
    pub(super) fn heed(&mut self, head: Head) -> Result<(), Broken> {
        let ahead = |new: u32, old: u32, most: u32| new.wrapping_sub(old) <= most.wrapping_sub(old);
        if !ahead(head.done, self.done, self.issued) || !ahead(head.consumed, self.consumed, self.sent) {
            return Err(Broken("counts of what was never asked for"));
        }
        (self.done, self.consumed) = (head.done, head.consumed);
        Ok(())
    }

    pub(super) fn on_the_way(&self) -> u32 {
        self.sent.wrapping_sub(self.consumed)
    }

    pub(super) fn sent(&mut self) {
        self.sent = self.sent.wrapping_add(1);
    }

    /// Is the request of this number done?
    pub(super) fn is_done(&self, number: u32) -> bool {
        self.done.wrapping_sub(number) < 1 << 31
    }

    /// Has anything come that the engine has not seen?
    pub(super) fn has_news(&self) -> bool {
        self.fresh || self.seen != self.done || !self.frames.is_empty()
    }

    pub(super) fn see(&mut self) {
        (self.seen, self.fresh) = (self.done, false);
    }
}

/// What is asked, and by whom, for log lines.
pub(super) struct Asker<'a> {
    pub(super) tools: &'a mut Tools,
    pub(super) connection: u32,
}

impl Inner {
    /// Puts a request into a frame that has room for it; gives its number.
    pub(super) fn request(&mut self, record: Record, bytes: usize) -> u32 {
        if let Some((_, to)) = self.room(Class::Request, bytes, bytes) {
            record.put(bytes, to);
        }
        self.wrote(Class::Request, bytes);
        self.ask.issued = self.ask.issued.wrapping_add(1);
        self.ask.issued
    }

    /// The number by which the peer knows something; tells it if it does not. None: no room to tell it.
    pub(super) fn name(&mut self, what: &Known) -> Option<u16> {
        if let Some(at) = self.ask.maps.iter().position(|known| known == what) {
            return Some(at as u16);
        }
        let (bytes, event) = what.encode();
        let known = self.ask.maps.len();
        let at = if known < usize::from(MAPS) { known } else { self.ask.oldest };
        let (_, to) = self.room(Class::Request, bytes.len(), bytes.len())?;
        Record::Name { map: at as u16, event }.put(bytes.len(), to);
        to[RECORD..RECORD + bytes.len()].copy_from_slice(&bytes);
        self.wrote(Class::Request, bytes.len());
        self.ask.issued = self.ask.issued.wrapping_add(1);
        match self.ask.maps.get_mut(at) {
            Some(place) => *place = *what,
            None => self.ask.maps.push(*what),
        }
        self.ask.oldest = (at + 1) % usize::from(MAPS);
        Some(at as u16)
    }

    /// Goes on with a task; `Done` when all of it was asked for.
    pub(super) fn issue(&mut self, begun: &mut Begun, job: &mut Job, asker: &mut Asker<'_>) -> Step {
        if !self.is_open() {
            return if self.is_over() { Step::Failed } else { Step::Wait };
        }
        match job.op {
            Op::Write | Op::WriteImm => self.write(begun, job, asker),
            Op::Read => self.read_from(begun, job, asker),
            Op::Send | Op::SendImm => self.send(begun, job, asker),
            Op::CmpSwap | Op::FetchAdd => self.change(begun, job, asker),
            Op::EventGet | Op::EventSet | Op::EventAdd => self.event(begun, job, asker),
            Op::Receive => Step::Failed,
        }
    }

    pub(super) fn may(&self, right: Use, asker: &Asker<'_>) -> Result<(), Step> {
        if u64::from(self.ask.rights) & right as u64 != 0 {
            return Ok(());
        }
        log::error!(target: crate::LOG, "connection {}: the peer's context does not permit {right:?}; its permissions are {:#x}",
            asker.connection, self.ask.rights);
        Err(Step::Failed)
    }

    /// Remote memory as the peer knows it: its number there.
    pub(super) fn there(&mut self, node: &Node, asker: &Asker<'_>) -> Result<u16, Step> {
        let Some(descriptor) = peer::on_network(node) else {
            log::error!(target: crate::LOG, "connection {}: remote buffer {node:p} is no memory of a peer on the network",
                asker.connection);
            return Err(Step::Failed);
        };
        self.name(&Known::Memory(descriptor)).ok_or(Step::Wait)
    }

    /// Bytes of a list from `begun.sent` on, each piece in a record; `Done` when all were taken.
    fn pieces(
        &mut self,
        source: &Node,
        total: u64,
        begun: &mut Begun,
        asker: &mut Asker<'_>,
        record: impl Fn(u64, u64) -> Record,
    ) -> Step {
        while begun.sent < total {
            if asker.tools.budget == 0 {
                return Step::More;
            }
            let left = (total - begun.sent).min(MOST as u64) as usize;
            let Ok(hold) = Hold::source(source, &asker.tools.send) else { return Step::Failed };
            let n = if let Some(n) = self.lend(&hold, total, begun, &record) {
                n
            } else {
                let Some((n, to)) = self.room(Class::Request, left, left.min(WORTH_IT)) else {
                    return Step::Wait;
                };
                hold.sources().read(begun.sent, &mut to[RECORD..RECORD + n]);
                if hold.check().is_err() {
                    return Step::Failed;
                }
                record(begun.sent, n as u64).put(n, to);
                self.wrote(Class::Request, n);
                self.ask.issued = self.ask.issued.wrapping_add(1);
                n
            };
            begun.last = self.ask.issued;
            begun.sent += n as u64;
            asker.tools.budget = asker.tools.budget.saturating_sub(n as u64);
        }
        Step::Done(total)
    }

    fn write(&mut self, begun: &mut Begun, job: &Job, asker: &mut Asker<'_>) -> Step {
        let (from, to) = match both(job) {
            Ok(Some(both)) => both,
            Ok(None) => return self.end_of_write(begun, job, 0),
            Err(step) => return step,
        };
        let total = match begun.total {
            Some(total) => total,
            None => {
                let checked = self.may(Use::Write, asker).and_then(|()| {
                    let device = asker.tools.device;
                    peer::check_write(from, to, &asker.tools.send, device).map_err(|_| Step::Failed)
                });
                match checked {
                    Ok(total) => *begun.total.insert(total),
                    Err(step) => return step,
                }
            }
        };
        if begun.sent < total {
            let map = match self.there(to, asker) {
                Ok(map) => map,
                Err(step) => return step,
            };
            let addr = to.data() as u64;
            let step = self.pieces(from, total, begun, asker, |at, _| Record::Write { map, addr: addr + at });
            if step != Step::Done(total) {
                return step;
            }
        }
        self.end_of_write(begun, job, total)
    }

    /// A write with immediate data ends with a message without bytes; one of nothing at all is a request nevertheless.
    fn end_of_write(&mut self, begun: &mut Begun, job: &Job, total: u64) -> Step {
        if job.op == Op::Write && total > 0 {
            return Step::Done(total);
        }
        if self.room(Class::Request, 0, 0).is_none() {
            return Step::Wait;
        }
        if job.op == Op::WriteImm {
            let opcode = Opcode::WriteImm as u16;
            let piece = Piece { first: true, last: true, opcode, total: total as u32, imm: job.imm };
            begun.last = self.request(Record::Message(piece), 0);
        } else {
            begun.last = self.ask.issued;
        }
        Step::Done(total)
    }

    fn read_from(&mut self, begun: &mut Begun, job: &Job, asker: &mut Asker<'_>) -> Step {
        let (to, from) = match both(job) {
            Ok(Some(both)) => both,
            Ok(None) => {
                (begun.total, begun.last) = (Some(0), self.ask.issued);
                return Step::Done(0);
            }
            Err(step) => return step,
        };
        let total = match begun.total {
            Some(total) => total,
            None => {
                let checked = self.may(Use::Read, asker).and_then(|()| {
                    let device = asker.tools.device;
                    peer::check_read(from, to, &asker.tools.send, device).map_err(|_| Step::Failed)
                });
                match checked {
                    Ok(total) => *begun.total.insert(total),
                    Err(step) => return step,
                }
            }
        };
        begun.last = self.ask.issued;
        while begun.sent < total {
            let n = (total - begun.sent).min(MOST as u64) as usize;
            if self.ask.wanted + n + RECORD + HEAD > MOST_WANTED {
                return Step::Wait;
            }
            let map = match self.there(from, asker) {
                Ok(map) => map,
                Err(step) => return step,
            };
            if self.room(Class::Request, 0, 0).is_none() {
                return Step::Wait;
            }
            let addr = from.data() as u64 + begun.sent;
            begun.last = self.request(Record::Read { map, addr, len: n as u32 }, 0);
            begun.sent += n as u64;
            self.ask.wanted += n + RECORD + HEAD;
        }
        Step::Done(total)
    }

    fn send(&mut self, begun: &mut Begun, job: &Job, asker: &mut Asker<'_>) -> Step {
        let Ok(source) = job.local() else {
            log::error!(target: crate::LOG, "{}: the source buffer was released", job.op.name());
            return Step::Failed;
        };
        let total = match (begun.total, source) {
            (Some(total), _) => total,
            (None, None) => 0,
            (None, Some(source)) => match view::check_source(source, &asker.tools.send) {
                Ok(total) => total,
                Err(_) => return Step::Failed,
            },
        };
        begun.total = Some(total);
        let opcode = if job.op == Op::SendImm { Opcode::SendImm } else { Opcode::Send } as u16;
        let piece = |at: u64, n: u64| {
            let (first, last) = (at == 0, at + n == total);
            Record::Message(Piece { first, last, opcode, total: total as u32, imm: job.imm })
        };
        match source {
            Some(source) if total > 0 => self.pieces(source, total, begun, asker, piece),
            _ if self.room(Class::Request, 0, 0).is_none() => Step::Wait,
            _ => {
                begun.last = self.request(piece(0, 0), 0);
                Step::Done(0)
            }
        }
    }
}

/// Both buffers, or none at all.
fn both(job: &Job) -> Result<Option<(&'static Node, &'static Node)>, Step> {
    match (job.local(), job.remote()) {
        (Ok(Some(local)), Ok(Some(remote))) => Ok(Some((local, remote))),
        (Ok(None), Ok(None)) => Ok(None),
        _ => {
            log::error!(target: crate::LOG, "{}: a buffer is missing or was released", job.op.name());
            Err(Step::Failed)
        }
    }
}
