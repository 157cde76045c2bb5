//! A connection over the fabric: frames in both directions, each end asking and serving.
//!
//! Whoever makes progress drives it: the engine's turn while the program turns, otherwise the thread of `hub.rs`. One
//! lock covers everything, and is held for short moments. What peers ask for one-sidedly is done at once by whoever
//! drives; messages, and answers to what was asked, wait for the engine, which has the tasks.

use super::ask::Ask;
use super::frame::{Broken, HEAD, Head, RECORD, Record};
use super::serve::Serve;
use crate::control::{Control, lock};
use crate::ffi::{Class, Got, Plug, Shape, State};
use crate::inbox::Attention;
use crate::sync::{AtomicBool, AtomicU32, Ordering};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// Frames of requests that may be on their way without having been consumed.
const CREDIT: u32 = Shape::REQUESTS;

/// See the module.
pub(crate) struct Pipe {
    inner: Mutex<Inner>,
    /// Which provider of the fabric carries it.
    pub(super) provider: Arc<str>,
    pub(super) attention: Arc<Attention>,
    gone: AtomicBool,
    leaving: AtomicBool,
    /// Turns of the engine, so that the thread leaves the driving to it.
    turns: AtomicU32,
    /// The engine turns only when it is called.
    asleep: AtomicBool,
    /// The thread leaves the driving to the engine, and has to be told when that ends.
    napping: AtomicBool,
    /// It has carried frames.
    opened: AtomicBool,
    /// Tasks of the engine wait for the peer.
    waits: AtomicBool,
    /// The thread looks whether the peer lives, for tasks wait.
    watched: AtomicBool,
}

/// What the lock covers.
pub(super) struct Inner {
    plug: Option<Plug>,
    pub(super) ask: Ask,
    pub(super) serve: Serve,
    /// Frames that are being filled: buffer, bytes.
    pub(super) open: [Option<(u32, usize)>; 2],
    came: Vec<Got>,
    was_open: bool,
    broken: bool,
    /// The peer was not told at the last flush how far we are.
    pub(super) put_off: bool,
}

/// A record, its bytes, and where the next one is.
pub(super) type Found<'a> = (Record, &'a [u8], usize);

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pipe(gone: {})", self.is_gone())
    }
}

impl Pipe {
    /// Of a context, not connected yet.
    pub(super) fn new(control: &Control, provider: &str) -> Arc<Pipe> {
        let inner = Inner {
            plug: None,
            ask: Ask::new(),
            serve: Serve::new(control.device(), control.settings().rights),
            open: [None; 2],
            came: Vec::with_capacity(Shape::RECEIVES as usize),
            was_open: false,
            broken: false,
            put_off: false,
        };
        Arc::new(Pipe {
            inner: Mutex::new(inner),
            provider: provider.into(),
            attention: control.attention.clone(),
            gone: AtomicBool::new(false),
            leaving: AtomicBool::new(false),
            turns: AtomicU32::new(0),
            asleep: AtomicBool::new(false),
            napping: AtomicBool::new(false),
            opened: AtomicBool::new(false),
            waits: AtomicBool::new(false),
            watched: AtomicBool::new(false),
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// The engine's way in: it comes again when the thread is inside.
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, Inner>> {
        self.turns.store(self.turns.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        if self.asleep.load(Ordering::Relaxed) {
            self.asleep.store(false, Ordering::SeqCst);
        }
        match self.inner.try_lock() {
            Ok(inner) => Some(inner),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Has the other end let go, or died?
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    pub(super) fn set_gone(&self) {
        if !self.gone.swap(true, Ordering::AcqRel) {
            self.attention.call();
        }
    }

    /// This end lets go; the other one learns of it.
    pub(crate) fn leave(&self) {
        if !self.leaving.swap(true, Ordering::AcqRel) {
            super::hub::wake();
        }
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Acquire)
    }

    pub(super) fn turns(&self) -> u32 {
        self.turns.load(Ordering::Relaxed)
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::SeqCst)
    }

    pub(super) fn set_napping(&self, on: bool) {
        self.napping.store(on, Ordering::SeqCst);
    }

    /// Does it carry frames? As whoever drove it last has seen it.
    pub(super) fn is_opened(&self) -> bool {
        self.opened.load(Ordering::Relaxed)
    }

    pub(super) fn set_opened(&self) {
        if !self.opened.load(Ordering::Relaxed) {
            self.opened.store(true, Ordering::Relaxed);
        }
    }

    /// Do tasks wait? Then somebody has to look whether the peer lives.
    pub(super) fn set_waits(&self, on: bool) {
        if self.waits.load(Ordering::Relaxed) != on {
            self.waits.store(on, Ordering::SeqCst);
        }
        if on && !self.watched.load(Ordering::SeqCst) && !self.watched.swap(true, Ordering::SeqCst) {
            super::hub::wake();
        }
    }

    pub(super) fn waits(&self) -> bool {
        self.waits.load(Ordering::SeqCst)
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watched.load(Ordering::SeqCst)
    }

    /// The thread does not look any more, unless tasks wait after all. Does it?
    pub(super) fn stop_watching(&self) -> bool {
        self.watched.store(false, Ordering::SeqCst);
        let waits = self.waits();
        if waits {
            self.watched.store(true, Ordering::SeqCst);
        }
        waits
    }

    /// The engine is about to sleep: the thread drives from now on.
    pub(super) fn hand_over(&self) {
        self.asleep.store(true, Ordering::SeqCst);
        if self.napping.load(Ordering::SeqCst) {
            super::hub::wake();
        }
    }
}

impl Inner {
    pub(super) fn set_plug(&mut self, plug: Plug) {
        self.plug = Some(plug);
    }

    /// Closes the connection.
    pub(super) fn unplug(&mut self) {
        self.plug = None;
        self.broken = true;
    }

    pub(super) fn plug(&mut self) -> Option<&mut Plug> {
        self.plug.as_mut()
    }

    pub(super) fn fabric(&self) -> Option<&Plug> {
        self.plug.as_ref()
    }

    /// May bytes of tasks be sent from where they lie?
    pub(super) fn gathers(&self) -> bool {
        self.plug.as_ref().is_some_and(Plug::gathers)
    }

    /// Does it carry frames?
    pub(super) fn is_open(&self) -> bool {
        !self.broken && self.plug.as_ref().is_some_and(|plug| plug.state() == State::Open)
    }

    /// Has it ever carried frames?
    pub(super) fn was_open(&self) -> bool {
        self.was_open
    }

    /// Is it over?
    pub(super) fn is_over(&self) -> bool {
        self.broken || self.plug.as_ref().is_some_and(|plug| plug.state() == State::Closed)
    }

    /// Has everything been sent that is to be sent?
    pub(super) fn is_drained(&self) -> bool {
        let all = |plug: &Plug| plug.is_idle();
        self.is_over() || self.plug.as_ref().is_none_or(all)
    }

    /// May another request be put into a frame?
    pub(super) fn has_room(&self) -> bool {
        let fresh = self.ask.on_the_way() < CREDIT;
        self.is_open() && fresh && self.plug.as_ref().is_some_and(|plug| plug.has(Class::Request))
    }

    /// Answers that nobody waits for any more.
    pub(super) fn drop_answers(&mut self) {
        while let Some((got, _)) = self.ask.frames.pop_front() {
            self.give_back(got);
        }
    }

    /// Is there anything that only the engine can do?
    pub(super) fn calls_engine(&mut self) -> bool {
        self.ask.has_news() || self.is_over() || !self.serve.unready_told && self.message().is_some()
    }

    /// Moves bytes, does what the peer asks for as far as no engine is needed. True when anything came.
    pub(super) fn drive(&mut self, thorough: bool) -> bool {
        let Some(plug) = self.plug.as_mut().filter(|_| !self.broken) else { return false };
        let mut came = core::mem::take(&mut self.came);
        plug.poll(thorough, |got| came.push(got));
        let opens = plug.state() == State::Open;
        self.ask.fresh |= opens && !core::mem::replace(&mut self.was_open, opens);
        let any = !came.is_empty();
        for got in came.drain(..) {
            if let Err(broken) = self.frame(got) {
                self.breaks(broken);
                break;
            }
        }
        self.came = came;
        self.came.clear();
        if any || self.serve.is_stuck() {
            self.serve();
        }
        any
    }

    /// The peer is not to be trusted any more.
    #[cold]
    pub(super) fn breaks(&mut self, Broken(what): Broken) {
        if !core::mem::replace(&mut self.broken, true) {
            log::error!(target: crate::LOG, "network: the peer broke the protocol ({what}); it is cut off");
        }
    }

    fn frame(&mut self, got: Got) -> Result<(), Broken> {
        let Some(plug) = &mut self.plug else { return Ok(()) };
        let head = Head::get(plug.bytes(got))?;
        self.ask.heed(head)?;
        match head.class {
            Class::Answer if head.len as usize == HEAD => plug.give_back(got.slot),
            Class::Answer => self.ask.frames.push_back((got, HEAD)),
            Class::Request => self.serve.frames.push_back((got, HEAD)),
        }
        Ok(())
    }

    /// Room for a record with up to `bytes` bytes behind it, in a frame of this class: how many there are (at least
    /// `least`), and where. None: not now.
    pub(super) fn room(&mut self, class: Class, bytes: usize, least: usize) -> Option<(usize, &mut [u8])> {
        let fits = |len: usize, n: usize| len + RECORD + n.next_multiple_of(8) <= Shape::BYTES;
        if let Some((_, len)) = self.open[class as usize]
            && !fits(len, bytes)
            && (!fits(len, least.max(bytes.min(1024))))
        {
            self.publish(class);
        }
        if self.open[class as usize].is_none() {
            if class == Class::Request && self.ask.on_the_way() >= CREDIT {
                return None;
            }
            self.open_frame(class)?;
        }
        let (slot, len) = self.open[class as usize]?;
        let room = Shape::BYTES - len - RECORD;
        let n = bytes.min(room / 8 * 8);
        Some((n, &mut self.plug.as_mut()?.fill(slot)[len..]))
    }

    /// The record, with so many bytes behind it, was written where there was room.
    pub(super) fn wrote(&mut self, class: Class, bytes: usize) {
        if let Some((_, len)) = &mut self.open[class as usize] {
            *len += RECORD + bytes.next_multiple_of(8);
        }
    }

    /// Sends the frame that is being filled.
    pub(super) fn publish(&mut self, class: Class) {
        if let Some((slot, len, plug)) = self.close_frame(class, 0) {
            plug.send(slot, len);
        }
    }

    /// The frame that is being filled is complete but for `more` bytes from elsewhere: its buffer, its bytes there, and
    /// who is to send them now.
    pub(super) fn close_frame(&mut self, class: Class, more: usize) -> Option<(u32, usize, &mut Plug)> {
        let (slot, len) = self.open[class as usize].take()?;
        let plug = self.plug.as_mut()?;
        let (consumed, done) = self.serve.counts();
        Head { class, len: (len + more) as u32, consumed, done }.put(plug.fill(slot));
        self.serve.told();
        self.put_off = false;
        if class == Class::Request {
            self.ask.sent();
        }
        Some((slot, len, plug))
    }

    pub(super) fn open_frame(&mut self, class: Class) -> Option<()> {
        let slot = self.plug.as_mut()?.take(class)?;
        self.open[class as usize] = Some((slot, HEAD));
        Some(())
    }

    /// The record at `at` of a frame that came, and its bytes.
    pub(super) fn record(&self, got: Got, at: usize) -> Result<Option<Found<'_>>, Broken> {
        let Some(plug) = &self.plug else { return Ok(None) };
        let frame = plug.bytes(got);
        Ok(Record::get(frame, at)?.map(|(record, span, next)| (record, span.of(frame), next)))
    }

    /// A frame was read to its end.
    pub(super) fn give_back(&mut self, got: Got) {
        if let Some(plug) = &mut self.plug {
            plug.give_back(got.slot);
        }
    }
}
