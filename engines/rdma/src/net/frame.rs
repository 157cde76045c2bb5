//! What two ends of a connection write to each other: frames, each a message of the fabric, with records in them.
//!
//! ```text
//!   frame   0  magic (u16), class, 0       4  length         8  request frames that were consumed, ever
//!                                                           12  requests that are done, ever
//!   record  0  kind, flags, number (u16)   4  bytes behind   8, 16, 24  three numbers        32  bytes
//! ```
//!
//! Little-endian; records begin at multiples of 8, the bytes of the last one need not be padded. Frames of requests are
//! answered for in their order: both counts say how far the other end has come, and travel in every frame of either
//! class. Whatever comes from a peer is checked here for its form, and where it is used for its sense.

use crate::ffi::{Class, Shape};
use softdpu_memory::peer::Change;

pub(super) const HEAD: usize = 16;
pub(super) const RECORD: usize = 32;
const MAGIC: u16 = 0x5d01;
/// Bytes of data in one record at most.
pub(super) const MOST: usize = Shape::BYTES - HEAD - RECORD;

/// A frame that no end of ours writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken(pub(super) &'static str);

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) class: Class,
    pub(super) len: u32,
    pub(super) consumed: u32,
    pub(super) done: u32,
}

impl Head {
    pub(super) fn put(self, frame: &mut [u8]) {
        frame[..2].copy_from_slice(&MAGIC.to_le_bytes());
        frame[2..4].copy_from_slice(&[self.class as u8, 0]);
        for (at, number) in [(4, self.len), (8, self.consumed), (12, self.done)] {
            frame[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
    }

    pub(super) fn get(frame: &[u8]) -> Result<Head, Broken> {
        let Some(head) = frame.first_chunk::<HEAD>() else { return Err(Broken("a short frame")) };
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let class = match head[2..4] {
            [0, 0] => Class::Request,
            [1, 0] => Class::Answer,
            _ => return Err(Broken("a frame of no class")),
        };
        if head[..2] != MAGIC.to_le_bytes() {
            return Err(Broken("no frame"));
        }
        if number(4) as usize != frame.len() {
            return Err(Broken("a frame of the wrong length"));
        }
        Ok(Head { class, len: number(4), consumed: number(8), done: number(12) })
    }
}

/// Bytes inside a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) at: u32,
    pub(super) len: u32,
}

impl Span {
    pub(super) fn of(self, frame: &[u8]) -> &[u8] {
        frame.get(self.at as usize..).and_then(|rest| rest.get(..self.len as usize)).unwrap_or(&[])
    }
}

/// What begins or carries a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) first: bool,
    pub(super) last: bool,
    /// [`Opcode`](crate::job::Opcode) by number.
    pub(super) opcode: u16,
    /// Bytes of the whole message.
    pub(super) total: u32,
    pub(super) imm: [u8; 4],
}

/// What is done with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Get = 0,
    Set = 1,
    Add = 2,
}

/// A record. The first six are requests, the others answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// What is behind a number, memory or an event: its descriptor follows.
    Name { map: u16, event: bool },
    /// Bytes for an address.
    Write { map: u16, addr: u64 },
    /// Bytes of an address are wanted.
    Read { map: u16, addr: u64, len: u32 },
    /// A word is to be changed, and its old value wanted.
    Change { map: u16, addr: u64, change: Change },
    /// An event is to be looked at, set or added to, and its value (before) wanted.
    Event { map: u16, act: Act, value: u64 },
    /// A message, or part of one.
    Message(Piece),
    /// Bytes that were wanted.
    Bytes,
    /// The old value that was wanted.
    Value(u64),
    /// A request was refused, and all that follow will be.
    Refused { why: u32 },
    /// The message at the front finds no receive.
    Unready,
}

const NAME: u8 = 1;
const WRITE: u8 = 3;
const READ: u8 = 4;
const ADD: u8 = 5;
const SWAP: u8 = 6;
const MESSAGE: u8 = 7;
const EVENT: u8 = 8;
const BYTES: u8 = 0x41;
const VALUE: u8 = 0x42;
const REFUSED: u8 = 0x43;
const UNREADY: u8 = 0x44;

impl Record {
    /// Is it an answer?
    pub(super) fn is_answer(self) -> bool {
        matches!(self, Record::Bytes | Record::Value(_) | Record::Refused { .. } | Record::Unready)
    }

    /// Writes it, `len` bytes to follow, to the front of `to`.
    pub(super) fn put(self, len: usize, to: &mut [u8]) {
        let (kind, flags, number, numbers): (u8, u8, u16, [u64; 3]) = match self {
            Record::Name { map, event } => (NAME, event.into(), map, [0; 3]),
            Record::Event { map, act, value } => (EVENT, act as u8, map, [value, 0, 0]),
            Record::Write { map, addr } => (WRITE, 0, map, [addr, 0, 0]),
            Record::Read { map, addr, len } => (READ, 0, map, [addr, len.into(), 0]),
            Record::Change { map, addr, change: Change::Add(n) } => (ADD, 0, map, [addr, n, 0]),
            Record::Change { map, addr, change: Change::Swap(old, new) } => (SWAP, 0, map, [addr, old, new]),
            Record::Message(piece) => {
                let flags = u8::from(piece.first) | u8::from(piece.last) << 1;
                let imm = u32::from_le_bytes(piece.imm);
                (MESSAGE, flags, piece.opcode, [piece.total.into(), imm.into(), 0])
            }
            Record::Bytes => (BYTES, 0, 0, [0; 3]),
            Record::Value(value) => (VALUE, 0, 0, [value, 0, 0]),
            Record::Refused { why } => (REFUSED, 0, 0, [why.into(), 0, 0]),
            Record::Unready => (UNREADY, 0, 0, [0; 3]),
        };
        to[..2].copy_from_slice(&[kind, flags]);
        to[2..4].copy_from_slice(&number.to_le_bytes());
        to[4..8].copy_from_slice(&(len as u32).to_le_bytes());
        for (place, number) in to[8..RECORD].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
    }

    /// The record at `at`, its bytes, and where the next one is; none at the end.
    pub(super) fn get(frame: &[u8], at: usize) -> Result<Option<(Record, Span, usize)>, Broken> {
        let Some(rest) = frame.get(at..).filter(|rest| !rest.is_empty()) else { return Ok(None) };
        let Some(head) = rest.first_chunk::<RECORD>() else { return Err(Broken("a cut record")) };
        let mut words =
            head[8..].chunks_exact(8).map(|b| b.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b)));
        let [a, b, c] = core::array::from_fn(|_| words.next().unwrap_or(0));
        let map = u16::from_le_bytes([head[2], head[3]]);
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let end = at + RECORD + len;
        let next = end.next_multiple_of(8).min(frame.len());
        if len > MOST || end > frame.len() {
            return Err(Broken("a record that leaves its frame"));
        }
        let short = |n: u64| u32::try_from(n).map_err(|_| Broken("an impossible number"));
        let record = match head[0] {
            NAME => Record::Name { map, event: head[1] & 1 != 0 },
            EVENT => {
                let act = [Act::Get, Act::Set, Act::Add].into_iter().find(|&act| act as u8 == head[1]);
                Record::Event { map, act: act.ok_or(Broken("an event of no kind"))?, value: a }
            }
            WRITE => Record::Write { map, addr: a },
            READ => Record::Read { map, addr: a, len: short(b)? },
            ADD => Record::Change { map, addr: a, change: Change::Add(b) },
            SWAP => Record::Change { map, addr: a, change: Change::Swap(b, c) },
            MESSAGE => Record::Message(Piece {
                first: head[1] & 1 != 0,
                last: head[1] & 2 != 0,
                opcode: map,
                total: short(a)?,
                imm: short(b)?.to_le_bytes(),
            }),
            BYTES => Record::Bytes,
            VALUE => Record::Value(a),
            REFUSED => Record::Refused { why: short(a)? },
            UNREADY => Record::Unready,
            _ => return Err(Broken("a record of no kind")),
        };
        let carries =
            matches!(record, Record::Name { .. } | Record::Write { .. } | Record::Message(_) | Record::Bytes);
        if len > 0 && !carries {
            return Err(Broken("bytes behind a record that has none"));
        }
        Ok(Some((record, Span { at: (at + RECORD) as u32, len: len as u32 }, next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Record> {
        let piece = Piece { first: true, last: false, opcode: 2, total: 77, imm: [1, 2, 3, 4] };
        vec![
            Record::Name { map: 3, event: false },
            Record::Name { map: 4, event: true },
            Record::Event { map: 4, act: Act::Add, value: 77 },
            Record::Write { map: 1, addr: u64::MAX },
            Record::Read { map: 1, addr: 1 << 40, len: 65000 },
            Record::Change { map: 9, addr: 8, change: Change::Add(u64::MAX) },
            Record::Change { map: 9, addr: 8, change: Change::Swap(5, 6) },
            Record::Message(piece),
            Record::Bytes,
            Record::Value(1 << 63),
            Record::Refused { why: 4 },
            Record::Unready,
        ]
    }

    #[test]
    fn records_have_one_form() {
        let mut frame = [0; 4096];
        let mut at = HEAD;
        for record in samples() {
            let len = if matches!(record, Record::Write { .. } | Record::Bytes) { 13 } else { 0 };
            record.put(len, &mut frame[at..]);
            at += RECORD + len.next_multiple_of(8);
        }
        let head = Head { class: Class::Answer, len: at as u32, consumed: 7, done: u32::MAX };
        head.put(&mut frame);
        assert_eq!(Head::get(&frame[..at]), Ok(head));
        assert!(Head::get(&frame[..at - 1]).is_err() && Head::get(&frame[..HEAD - 1]).is_err());
        let (mut place, mut seen) = (HEAD, Vec::new());
        while let Some((record, span, next)) = Record::get(&frame[..at], place).unwrap() {
            assert_eq!(span.of(&frame).len(), span.len as usize);
            seen.push(record);
            place = next;
        }
        assert_eq!((seen, place), (samples(), at));
        assert!(Record::get(&frame[..at - 8], at - RECORD).is_err());
    }

    /// Seeded: random bytes, and good records with bytes changed.
    #[test]
    fn any_bytes_give_an_answer() {
        let mut state = 0x1234_5678_9abc_def1_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as usize
        };
        for _ in 0..50_000 {
            let mut frame: Vec<u8> = (0..random() % 300).map(|_| random() as u8).collect();
            if frame.len() > HEAD + RECORD {
                let all = samples();
                all[random() % all.len()].put(random() % 64, &mut frame[HEAD..]);
                let at = HEAD + random() % RECORD;
                frame[at] ^= random() as u8;
            }
            let _ = Head::get(&frame);
            let mut at = HEAD;
            while let Ok(Some((_, span, next))) = Record::get(&frame, at) {
                assert!(next > at && next <= frame.len() && span.of(&frame).len() == span.len as usize);
                at = next;
            }
        }
    }
}
