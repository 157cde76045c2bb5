//! One direction of a connection: a ring in a segment that the sender made and the receiver maps.
//!
//! ```text
//!     0  magic, version
//!     8  state, stored by the receiver: 0 not connected yet, 1 open, 2 closed
//!    64  blocked, stored by the sender: 1 while it waits for room
//!   128  the ring
//! ```
//!
//! A record's tag names the claimed receive (`srq.rs`) and says whether the record is the first and the last one of its
//! message; its payload is nothing but bytes of the message.

use crate::srq::{Claim, Letter, RemoteSrq};
use crate::sync::{AtomicBool, Ordering, fence};
use softdpu_link::{Broken, LineHandle, Receiver, Ringer, Segment, Sender, ring_bytes};
use softdpu_room::hardware::Alarm;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, PoisonError};

const MAGIC: u64 = u64::from_le_bytes(*b"SDPUIN1\0");
const STATE: usize = 8;
const BLOCKED: usize = 64;
const RING: usize = 128;
/// Bytes of the ring's data.
const DATA: usize = 128 << 10;
/// Most bytes of a message in one record: several fit into the ring, so that both sides work at the same time.
pub(crate) const CHUNK: usize = 16 << 10;
pub(crate) const FIRST: u32 = 1 << 30;
pub(crate) const LAST: u32 = 1 << 31;
const PLACE: u32 = FIRST - 1;

/// Bytes of an inbox.
pub(crate) const BYTES: usize = RING + ring_bytes(DATA);

/// What the receiver says of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    Open,
    Closed,
}

fn state(inbox: &Segment) -> State {
    match inbox.word32(STATE).load(Ordering::Acquire) {
        0 => State::Waiting,
        1 => State::Open,
        _ => State::Closed,
    }
}

/// A fresh inbox, made by the sender.
///
/// # Errors
/// NoMemory.
pub(crate) fn create() -> Result<Arc<Segment>> {
    let inbox = Segment::create("softdpu-inbox", BYTES)?;
    inbox.word64(0).store(MAGIC, Ordering::Release);
    Ok(Arc::new(inbox))
}

/// Checks an inbox that a sender handed over.
///
/// # Errors
/// InvalidValue, with one log line.
pub(crate) fn check(inbox: &Segment) -> Result<()> {
    if inbox.len() < BYTES || inbox.word64(0).load(Ordering::Acquire) != MAGIC {
        log::error!(target: crate::LOG, "inbox of a peer refused: {} bytes, needed {BYTES}, or no inbox", inbox.len());
        return Err(Error::new(Code::InvalidValue, "inbox of a peer"));
    }
    Ok(())
}

/// Gets a context to look at its mail, from any thread.
#[derive(Debug, Default)]
pub(crate) struct Attention {
    flag: AtomicBool,
    alarm: Mutex<Option<Arc<Alarm>>>,
}

impl Attention {
    /// Whom to wake from now on.
    pub(crate) fn set(&self, alarm: Option<Arc<Alarm>>) {
        *self.alarm.lock().unwrap_or_else(PoisonError::into_inner) = alarm;
    }

    /// Something came.
    pub(crate) fn call(&self) {
        self.flag.store(true, Ordering::SeqCst);
        let alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(alarm) = alarm {
            alarm.ring();
        }
    }

    /// A peer waits for a turn that the program does not make.
    pub(crate) fn call_worker(&self) {
        let alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(alarm) = alarm {
            alarm.ask_for_turn();
        }
    }

    /// Did something come since the last time?
    #[inline]
    pub(crate) fn take(&self) -> bool {
        self.flag.load(Ordering::Relaxed) && self.flag.swap(false, Ordering::SeqCst)
    }

    #[inline]
    pub(crate) fn is_called(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }
}

/// What both ends of a connection hang on: each learns when the other one lets go or dies.
#[derive(Debug)]
pub(crate) struct End {
    gone: Arc<AtomicBool>,
    other: Other,
}

#[derive(Debug)]
enum Other {
    /// In this process: its flag, and its context.
    Here(Arc<AtomicBool>, Arc<Attention>),
    /// Behind a line; the tie of the line sets our flag.
    There(LineHandle),
}

/// A packet on a line that asks for a turn.
pub(crate) const NUDGE: &[u8] = b"turn";

impl End {
    /// Two ends in one process, of the contexts behind these attentions.
    pub(crate) fn pair(a: &Arc<Attention>, b: &Arc<Attention>) -> [Arc<End>; 2] {
        let flags: [Arc<AtomicBool>; 2] = Default::default();
        let [first, second] = &flags;
        [
            Arc::new(End { gone: first.clone(), other: Other::Here(second.clone(), b.clone()) }),
            Arc::new(End { gone: second.clone(), other: Other::Here(first.clone(), a.clone()) }),
        ]
    }

    /// An end behind a line, whose tie sets `gone`.
    pub(crate) fn on_line(line: LineHandle, gone: Arc<AtomicBool>) -> Arc<End> {
        Arc::new(End { gone, other: Other::There(line) })
    }

    /// Has the other end let go, or died?
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// The other end is taken for gone, and learns that this one let go.
    pub(crate) fn fail(&self) {
        self.gone.store(true, Ordering::Release);
        self.hang_up();
    }

    /// Lets go.
    pub(crate) fn hang_up(&self) {
        match &self.other {
            Other::Here(gone, attention) => {
                if !gone.swap(true, Ordering::AcqRel) {
                    attention.call();
                }
            }
            Other::There(line) => line.hang_up(),
        }
    }

    /// Asks the other end to make a turn, though its program makes no progress.
    pub(crate) fn nudge(&self) {
        match &self.other {
            Other::Here(_, attention) => attention.call_worker(),
            // A peer that does not read is asked again later.
            Other::There(line) => drop(line.send(NUDGE, &[])),
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.hang_up();
    }
}

/// The sender's end of a direction.
#[derive(Debug)]
pub(crate) struct Outbound {
    inbox: Arc<Segment>,
    ring: Sender,
    pub(crate) srq: Arc<RemoteSrq>,
    bell: Arc<Ringer>,
    /// Who we are to the receiver.
    pub(crate) me: u32,
    /// Receives that it was seen to have posted.
    posted: u64,
    pub(crate) end: Arc<End>,
}

/// The part of a sender's number that tells which bit it sets.
pub(crate) const INDEX_BITS: u32 = 16;

impl Outbound {
    pub(crate) fn new(
        inbox: Arc<Segment>,
        srq: Arc<RemoteSrq>,
        bell: Arc<Ringer>,
        me: u32,
        end: Arc<End>,
    ) -> Outbound {
        Outbound { ring: Sender::new(inbox.clone(), RING, DATA), inbox, srq, bell, me, posted: 0, end }
    }

    /// What the receiver says.
    #[inline]
    pub(crate) fn state(&self) -> State {
        if self.end.is_gone() || !self.srq.is_open() { State::Closed } else { state(&self.inbox) }
    }

    /// Claims the next receive.
    #[inline]
    pub(crate) fn claim(&mut self) -> Option<Claim> {
        self.srq.claim_seen(self.me, &mut self.posted)
    }

    /// A message in one record, with the next receive. False, and nothing has happened, where there is no receive, it is
    /// too short, the receiver takes nothing, or there is no room.
    #[inline]
    pub(crate) fn post(&mut self, bytes: &[u8], letter: Letter) -> bool {
        if self.ring.fits(bytes.len()) != Ok(true) {
            return false;
        }
        let Some(claim) = self.claim() else { return false };
        // Looked at after the claim: a receiver that closes looks for claims afterwards.
        if bytes.len() as u64 > u64::from(claim.room) || self.state() != State::Open {
            self.srq.unclaim(claim, self.me);
            return false;
        }
        self.srq.write(claim, letter);
        let staged = self.ring.stage(claim.place & PLACE | FIRST | LAST, &[bytes]);
        debug_assert_eq!(staged, Ok(true), "there was room");
        staged == Ok(true)
    }

    /// Puts a record into the ring; the receiver sees it after [`Outbound::publish`]. False: no room, and the receiver
    /// was told that we wait for some.
    pub(crate) fn stage(&mut self, place: u32, flags: u32, bytes: &[u8]) -> Result<bool, Broken> {
        let tag = place & PLACE | flags;
        if self.ring.stage(tag, &[bytes])? {
            return Ok(true);
        }
        // What is staged must be seen, or no room will ever come.
        self.publish();
        self.inbox.word32(BLOCKED).store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.ring.stage(tag, &[bytes])
    }

    /// Makes staged records visible, and wakes the receiver.
    #[inline]
    pub(crate) fn publish(&mut self) {
        self.ring.publish();
        fence(Ordering::SeqCst);
        self.srq.set_ready(self.me & ((1 << INDEX_BITS) - 1));
        self.bell.ring();
    }

    /// Is there room for a whole chunk? For who is about to sleep.
    pub(crate) fn has_room(&mut self) -> bool {
        self.ring.fits(CHUNK).unwrap_or(true)
    }
}

/// The receiver's end of a direction.
#[derive(Debug)]
pub(crate) struct Inbound {
    inbox: Arc<Segment>,
    ring: Receiver,
    bell: Arc<Ringer>,
    /// Who the sender is to us.
    pub(crate) sender: u32,
    pub(crate) end: Arc<End>,
}

/// A record at the front of a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) place: u32,
    pub(crate) first: bool,
    pub(crate) last: bool,
    pub(crate) len: usize,
}

impl Inbound {
    pub(crate) fn new(inbox: Arc<Segment>, bell: Arc<Ringer>, sender: u32, end: Arc<End>) -> Inbound {
        Inbound { ring: Receiver::new(inbox.clone(), RING, DATA), inbox, bell, sender, end }
    }

    /// Which bit it sets.
    pub(crate) fn index(&self) -> u32 {
        self.sender & ((1 << INDEX_BITS) - 1)
    }

    /// Takes messages from now on.
    pub(crate) fn open(&self) {
        self.inbox.word32(STATE).store(1, Ordering::SeqCst);
        self.ring_sender();
    }

    /// Takes no more messages; those that are there may still be read.
    pub(crate) fn close(&self) {
        self.inbox.word32(STATE).store(2, Ordering::SeqCst);
        self.ring_sender();
    }

    /// Wakes the sender.
    pub(crate) fn ring_sender(&self) {
        self.bell.ring();
    }

    /// The record at the front.
    #[inline]
    pub(crate) fn front(&mut self) -> Result<Option<Record>, Broken> {
        Ok(self.ring.front()?.map(|front| Record {
            place: front.tag & PLACE,
            first: front.tag & FIRST != 0,
            last: front.tag & LAST != 0,
            len: front.len,
        }))
    }

    /// Are there so many records behind the one at the front, if all are as long as that one, as far as was seen?
    #[inline]
    pub(crate) fn holds(&self, len: usize, count: u64) -> bool {
        self.ring.unread() >= (count + 1) * (len as u64 + 16)
    }

    /// Copies its bytes.
    #[inline]
    pub(crate) fn take(&mut self, into: &mut [u8]) {
        self.ring.take(into);
    }

    /// Drops it, and wakes a sender that waits for room.
    #[inline]
    pub(crate) fn pop(&mut self) {
        if self.ring.pop() {
            fence(Ordering::SeqCst);
            let blocked = self.inbox.word32(BLOCKED);
            if blocked.load(Ordering::Relaxed) != 0 && blocked.swap(0, Ordering::AcqRel) != 0 {
                self.bell.ring();
            }
        }
    }
}
