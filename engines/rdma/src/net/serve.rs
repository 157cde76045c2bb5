//! The end that is asked: what a peer wants done with memory of ours, in the order in which it asks.
//!
//! Every access goes through an import of our own export, piece by piece: range and rights are looked at here, whatever
//! the peer believes, and stopping a map waits for the piece that is under way and for no more. The first request that
//! is refused is the last one that is looked at: the connection is in error then, as after a failed task.

use super::frame::{Act, Broken, MOST, Piece, RECORD, Record};
use super::pipe::Inner;
use crate::ffi::{Class, Got};
use softdpu_link::Owner;
use softdpu_memory::Access;
use softdpu_memory::device::Device;
use softdpu_memory::export::{Imported, import_for_peer};
use softdpu_status::Code;
use softdpu_sync_event::RemoteEvent;
use std::collections::VecDeque;
use std::sync::Arc;

/// The peer is told at once of so many frames that were consumed.
const AT_LEAST: u32 = 2;

/// Memory that a peer has names for at a time.
pub(super) const MAPS: u16 = 256;

/// Why a request is refused; the numbers travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Why {
    Closed = 1,
    NoMemory = 2,
    Context = 3,
    Access = 4,
    TooLong = 5,
    Receive = 6,
    NoEvent = 7,
}

impl Why {
    /// The same in words.
    pub(super) fn text(number: u32) -> &'static str {
        match number {
            1 => "its end of the connection is in error, or closing",
            2 => "the memory is not exported (any more)",
            3 => "its context does not permit that",
            4 => "range, alignment or rights of the memory",
            5 => "the message is longer than its receive",
            7 => "the event does not exist (any more)",
            6 => "the receive's buffer cannot be written",
            _ => "for a reason unknown here",
        }
    }
}

/// See the module.
pub(super) struct Serve {
    pub(super) frames: VecDeque<(Got, usize)>,
    consumed: u32,
    done: u32,
    told: (u32, u32),
    maps: Vec<Option<Named>>,
    device: Option<Arc<Device>>,
    rights: u32,
    /// Nothing is looked at any more.
    refused: bool,
    /// There was no room for an answer.
    stuck: bool,
    pub(super) unready_told: bool,
}

/// What a peer has a number for.
enum Named {
    Memory(Arc<Imported>),
    Event(Box<RemoteEvent>),
}

/// How far a request came.
enum Outcome {
    Done,
    /// No room for its answer now.
    Later,
    Refused(Why),
}

impl Serve {
    pub(super) fn new(device: &Arc<Device>, rights: u32) -> Serve {
        Serve {
            frames: VecDeque::with_capacity(64),
            consumed: 0,
            done: 0,
            told: (0, 0),
            maps: Vec::new(),
            device: Some(device.clone()),
            rights,
            refused: false,
            stuck: false,
            unready_told: false,
        }
    }

    /// Nothing is looked at any more, and nothing is kept that could be.
    pub(super) fn close(&mut self) {
        self.refused = true;
        self.maps = Vec::new();
        self.device = None;
    }

    pub(super) fn counts(&self) -> (u32, u32) {
        (self.consumed, self.done)
    }

    pub(super) fn told(&mut self) {
        self.told = self.counts();
    }

    /// Does the peer not know how far we are?
    pub(super) fn is_ahead(&self) -> bool {
        self.told != self.counts()
    }

    pub(super) fn is_stuck(&self) -> bool {
        self.stuck
    }

    fn may(&self, right: Access) -> Result<(), Why> {
        if self.rights & right.bits() != 0 {
            return Ok(());
        }
        log::error!(target: crate::LOG, "a peer on the network asks for {right:?}, the context permits {:#x}", self.rights);
        Err(Why::Context)
    }

    /// The memory behind a number, if the peer has this right on it.
    fn map(&self, map: u16, right: Access) -> Result<Arc<Imported>, Why> {
        self.may(right)?;
        match self.maps.get(usize::from(map)) {
            Some(Some(Named::Memory(import))) if import.access().contains(right) => Ok(import.clone()),
            Some(Some(Named::Memory(_))) => Err(Why::Access),
            _ => Err(Why::NoMemory),
        }
    }

    /// Does something with the event behind a number; gives its value, or that before.
    fn event(&self, map: u16, act: Act, value: u64) -> Result<u64, Why> {
        self.may(match act {
            Act::Get => Access::RDMA_READ,
            Act::Set => Access::RDMA_WRITE,
            Act::Add => Access::RDMA_ATOMIC,
        })?;
        let Some(Some(Named::Event(event))) = self.maps.get(usize::from(map)) else {
            return Err(Why::NoEvent);
        };
        let target = event.reached().ok_or(Why::NoEvent)?;
        let done = match act {
            Act::Get => target.get(),
            Act::Set => target.set(value).map(|()| value),
            Act::Add => target.add(value),
        };
        done.map_err(|_| Why::NoEvent)
    }

    fn name(&mut self, map: u16, event: bool, descriptor: &[u8]) -> Result<(), Why> {
        let (true, Some(device)) = (map < MAPS, &self.device) else { return Err(Why::NoMemory) };
        // What is not exported (any more) is refused when it is used.
        let named = if event {
            // Events of others are none of ours to hand on.
            let ours = |event: &RemoteEvent| Owner::this_process() == Ok(event.descriptor().owner());
            let event = RemoteEvent::open(descriptor, device).ok().filter(ours);
            event.filter(|event| event.reach().is_ok()).map(|event| Named::Event(Box::new(event)))
        } else {
            import_for_peer(descriptor, device).ok().map(|import| Named::Memory(Arc::new(import)))
        };
        if self.maps.len() <= usize::from(map) {
            self.maps.resize_with(usize::from(map) + 1, || None);
        }
        self.maps[usize::from(map)] = named;
        Ok(())
    }
}

fn reason(error: softdpu_status::Error) -> Why {
    if error.code() == Code::IoFailed { Why::NoMemory } else { Why::Access }
}

impl Inner {
    /// Does what is asked for, until an engine is needed.
    pub(super) fn serve(&mut self) {
        self.serve.stuck = false;
        while let Some(&(got, at)) = self.serve.frames.front() {
            let next = match self.record(got, at) {
                Ok(Some((record, _, _))) if record.is_answer() => {
                    return self.breaks(Broken("an answer among requests"));
                }
                Ok(Some((Record::Message(_), _, _))) if !self.serve.refused => return,
                Ok(Some((record, _, next))) => match self.serve_one(got, at, record) {
                    Outcome::Done => next,
                    Outcome::Later => return self.serve.stuck = true,
                    Outcome::Refused(why) => {
                        self.refuse(why);
                        continue;
                    }
                },
                Ok(None) => {
                    self.serve.frames.pop_front();
                    self.serve.consumed = self.serve.consumed.wrapping_add(1);
                    self.give_back(got);
                    // The peer's next frames are on their way while the rest of these is looked at.
                    if self.serve.consumed.wrapping_sub(self.serve.told.0) >= AT_LEAST {
                        self.tell();
                    }
                    continue;
                }
                Err(broken) => return self.breaks(broken),
            };
            if !self.serve.refused {
                self.serve.done = self.serve.done.wrapping_add(1);
            }
            if let Some(front) = self.serve.frames.front_mut() {
                front.1 = next;
            }
        }
    }

    fn serve_one(&mut self, got: Got, at: usize, record: Record) -> Outcome {
        if self.serve.refused {
            return Outcome::Done;
        }
        let done = match record {
            Record::Name { map, event } => {
                let bytes = self.bytes_of(got, at).to_vec();
                self.serve.name(map, event, &bytes)
            }
            Record::Event { map, act, value } => {
                // Room first: what was changed must be answered.
                if self.room(Class::Answer, 0, 0).is_none() {
                    return Outcome::Later;
                }
                self.serve.event(map, act, value).map(|value| {
                    self.answer(Record::Value(value));
                })
            }
            Record::Write { map, addr } => {
                let import = self.serve.map(map, Access::RDMA_WRITE);
                import.and_then(|import| import.write(addr as usize, self.bytes_of(got, at)).map_err(reason))
            }
            Record::Read { map, addr, len } => return self.read(map, addr, len),
            Record::Change { map, addr, change } => {
                let import = match self.serve.map(map, Access::RDMA_ATOMIC) {
                    Ok(import) => import,
                    Err(why) => return Outcome::Refused(why),
                };
                // Room first: what was changed must be answered.
                if self.room(Class::Answer, 0, 0).is_none() {
                    return Outcome::Later;
                }
                import.change(addr as usize, change).map_err(reason).map(|before| {
                    self.answer(Record::Value(before));
                })
            }
            _ => Err(Why::Closed),
        };
        match done {
            Ok(()) => Outcome::Done,
            Err(why) => Outcome::Refused(why),
        }
    }

    fn bytes_of(&self, got: Got, at: usize) -> &[u8] {
        self.record(got, at).ok().flatten().map_or(&[], |(_, bytes, _)| bytes)
    }

    fn read(&mut self, map: u16, addr: u64, len: u32) -> Outcome {
        let len = len as usize;
        if len > MOST {
            return Outcome::Refused(Why::Access);
        }
        let import = match self.serve.map(map, Access::RDMA_READ) {
            Ok(import) => import,
            Err(why) => return Outcome::Refused(why),
        };
        let Some((_, to)) = self.room(Class::Answer, len, len) else { return Outcome::Later };
        let Some(bytes) = to.get_mut(RECORD..RECORD + len) else {
            return Outcome::Later;
        };
        if let Err(error) = import.read(addr as usize, bytes) {
            return Outcome::Refused(reason(error));
        }
        Record::Bytes.put(len, to);
        self.wrote(Class::Answer, len);
        Outcome::Done
    }

    /// Puts an answer without bytes, if there is room.
    fn answer(&mut self, record: Record) -> bool {
        let Some((_, to)) = self.room(Class::Answer, 0, 0) else { return false };
        record.put(0, to);
        self.wrote(Class::Answer, 0);
        true
    }

    /// Refuses the request at the front, and whatever follows.
    pub(super) fn refuse(&mut self, why: Why) {
        if self.serve.refused {
            return;
        }
        // Without room the peer learns it from the end of the connection.
        if self.answer(Record::Refused { why: why as u32 }) {
            self.publish(Class::Answer);
        }
        self.serve.refused = true;
        self.serve();
    }

    /// The part of a message that the engine is to take.
    pub(super) fn message(&mut self) -> Option<(Piece, Got, usize)> {
        let &(got, at) = self.serve.frames.front()?;
        match self.record(got, at) {
            Ok(Some((Record::Message(piece), _, _))) if !self.serve.refused => Some((piece, got, at)),
            _ => None,
        }
    }

    /// The bytes of that part.
    pub(super) fn message_bytes(&self, got: Got, at: usize) -> &[u8] {
        self.bytes_of(got, at)
    }

    /// The engine has taken it.
    pub(super) fn took_message(&mut self) {
        if let Some(&(got, at)) = self.serve.frames.front()
            && let Ok(Some((_, _, next))) = self.record(got, at)
            && let Some(front) = self.serve.frames.front_mut()
        {
            front.1 = next;
            self.serve.done = self.serve.done.wrapping_add(1);
            self.serve.unready_told = false;
        }
        self.serve();
    }

    /// Tells the peer, once, that its message finds no receive.
    pub(super) fn tell_unready(&mut self) {
        if !self.serve.unready_told && self.answer(Record::Unready) {
            self.serve.unready_told = true;
        }
    }
}
