//! The receiving side of a port in this process: sources of frames, the rules, and the queues that frames go to.
//!
//! One queue at a time turns it, under a lock that nobody waits for: whoever does not get it leaves the work to the one who
//! has it. Frames of other queues go to the rings of those, which they read without the lock.

use crate::bell::Bell;
use crate::counters::{PortCounters, Totals};
use crate::drain::{Desk, drain};
use crate::frame::{Body, Frame, META_BYTES, Taken};
use crate::headers::HEAD;
use crate::port::MAX_FRAME;
use crate::queue::{Queue, QueueList};
use crate::source::Source;
use crate::steer::{Classifier, Tally};
use softdpu_link::{Receiver, Segment, Sender, ring_bytes};
use softdpu_status::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Bytes of a queue's own ring.
const SIDE_RING: usize = 1 << 20;

/// A queue's place at the intake.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) queue: Arc<Queue>,
    side: Sender,
    /// Something was staged that the queue does not see yet.
    is_dirty: bool,
}

impl Seat {
    /// Puts a frame into the queue's own ring; false: there is no room.
    pub(crate) fn push(&mut self, frame: &mut Frame<'_>) -> bool {
        let (meta, bytes) = frame.parts();
        // The other end is in this process: the ring cannot be broken.
        let pushed = self.side.stage(0, &[&meta.to_bytes(), bytes]).unwrap_or(false);
        self.is_dirty |= pushed;
        pushed
    }

    fn settle(&mut self, me: &Arc<Queue>) {
        if core::mem::take(&mut self.is_dirty) {
            self.side.publish();
            if !Arc::ptr_eq(&self.queue, me) {
                self.queue.rouse();
            }
        }
    }
}

/// What the lock protects.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) sources: Vec<Source>,
    seats: Vec<Seat>,
    classifier: Option<Arc<Classifier>>,
    tally: Tally,
    counts: PortCounters,
    head: Box<[u8; HEAD]>,
    scratch: Vec<u8>,
    /// Which source is first next time.
    first: usize,
}

/// The receiving side of a port.
#[derive(Debug)]
pub(crate) struct Intake {
    state: Mutex<State>,
    pub(crate) bell: Arc<Bell>,
    pub(crate) queues: Arc<QueueList>,
    totals: Arc<Totals>,
    /// Wakes queues when descriptors of sources become readable, where sources have such.
    watch: Mutex<Vec<crate::watch::Watched>>,
}

impl Intake {
    pub(crate) fn new(
        queues: Arc<QueueList>,
        totals: Arc<Totals>,
        classifier: Option<Arc<Classifier>>,
    ) -> Result<Intake> {
        Ok(Intake {
            state: Mutex::new(State {
                sources: Vec::new(),
                seats: Vec::new(),
                classifier,
                tally: Tally::default(),
                counts: PortCounters::default(),
                head: Box::new([0; HEAD]),
                scratch: Vec::with_capacity(MAX_FRAME),
                first: 0,
            }),
            bell: Arc::new(Bell::new()?),
            queues,
            totals,
            watch: Mutex::default(),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A source whose descriptors tell when there is something.
    pub(crate) fn add_source(self: &Arc<Intake>, source: Source) -> Result<()> {
        if let Some(fd) = source.descriptor() {
            let watched = crate::watch::Watched::new(fd, self)?;
            self.watch.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
        }
        self.lock().sources.push(source);
        Ok(())
    }

    /// A seat for a queue, and the reading end of its ring.
    pub(crate) fn seat(&self, queue: &Arc<Queue>) -> Result<Receiver> {
        let segment = Arc::new(Segment::create("softdpu-queue", ring_bytes(SIDE_RING))?);
        let side = Sender::new(Arc::clone(&segment), 0, SIDE_RING);
        self.lock().seats.push(Seat { queue: Arc::clone(queue), side, is_dirty: false });
        Ok(Receiver::new(segment, 0, SIDE_RING))
    }

    pub(crate) fn unseat(&self, queue: &Arc<Queue>) {
        self.lock().seats.retain(|seat| !Arc::ptr_eq(&seat.queue, queue));
        self.queues.remove(queue);
    }

    /// Other rules from now on.
    pub(crate) fn steer(&self, classifier: Option<Arc<Classifier>>) {
        let mut state = self.lock();
        let State { tally, classifier: old, .. } = &mut *state;
        if let Some(old) = old {
            tally.settle(old);
        }
        *tally = Tally::default();
        *old = classifier;
    }

    /// Wakes all queues that sleep.
    pub(crate) fn rouse(&self) {
        self.queues.rouse();
    }

    /// Is there, as far as a few loads tell, something in a source? True while somebody else looks.
    pub(crate) fn is_ready(&self) -> bool {
        self.any_source(Source::is_ready)
    }

    /// The same without asking the kernel.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.any_source(Source::is_due)
    }

    #[inline]
    fn any_source(&self, holds: impl FnMut(&mut Source) -> bool) -> bool {
        match self.state.try_lock() {
            Ok(mut state) => state.sources.iter_mut().any(holds),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().sources.iter_mut().any(holds),
            Err(TryLockError::WouldBlock) => true,
        }
    }

    /// Frames that the kernel had no room for.
    pub(crate) fn kernel_missed(&self) -> u64 {
        self.lock().sources.iter_mut().map(Source::missed).sum()
    }

    /// Somebody is about to sleep.
    pub(crate) fn arm(&self) {
        self.bell.arm();
        for watched in self.watch.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            watched.arm();
        }
    }

    /// One turn, if nobody else has one; `side` is the queue's own ring. Returns the frames taken.
    #[inline]
    pub(crate) fn turn(
        &self,
        me: &Arc<Queue>,
        side: &mut Receiver,
        most: usize,
        take: &mut impl FnMut(&mut Frame<'_>) -> Taken,
    ) -> usize {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return 0,
        };
        let state = &mut *state;
        // What others put there until just now came before what is in the sources.
        let (mut taken, mut open) = from_side(side, &mut state.scratch, most, take);
        let mut gone = false;
        let count = state.sources.len();
        for step in 0..count {
            if !open || taken == most {
                break;
            }
            let source = &mut state.sources[(state.first + step) % count];
            let mut desk = Desk {
                me,
                seats: &mut state.seats,
                classifier: state.classifier.as_deref(),
                tally: &mut state.tally,
                counts: &mut state.counts,
                head: &mut state.head,
                scratch: &mut state.scratch,
                now: if me.wants.timestamp { now() } else { 0 },
            };
            let (more, still) = match &mut *source {
                Source::Ring(ring) => drain(ring, &mut desk, most - taken, take),
                other => crate::source::drain_other(other, &mut desk, most - taken, take),
            };
            taken += more;
            open &= still;
            gone |= source.is_over();
        }
        if count > 1 {
            state.first = (state.first + 1) % count;
        }
        state.settle(me, &self.totals);
        if gone {
            state.sources.retain(|source| !source.is_over());
        }
        taken
    }
}

impl State {
    #[inline]
    fn settle(&mut self, me: &Arc<Queue>, totals: &Totals) {
        for seat in &mut self.seats {
            seat.settle(me);
        }
        if let Some(classifier) = &self.classifier {
            self.tally.settle(classifier);
        }
        if self.counts != PortCounters::default() {
            totals.add(&mut self.counts);
        }
    }
}

/// Takes frames out of a queue's own ring. Returns how many, and whether the queue can take more.
#[inline]
pub(crate) fn from_side(
    side: &mut Receiver,
    scratch: &mut Vec<u8>,
    most: usize,
    take: &mut impl FnMut(&mut Frame<'_>) -> Taken,
) -> (usize, bool) {
    let mut taken = 0;
    // The other end is in this process: the ring cannot be broken.
    while taken < most
        && let Ok(Some(front)) = side.front()
    {
        let mut meta = [0; META_BYTES];
        side.take_from(0, &mut meta);
        let len = front.len.saturating_sub(META_BYTES);
        let body = Body::There(side, META_BYTES, scratch);
        let meta = crate::Meta::from_bytes(&meta);
        let mut frame = Frame { len, meta, body, is_unverified: false, found: None, is_unsummed: false };
        if take(&mut frame) == Taken::Later {
            return (taken, false);
        }
        side.pop();
        taken += 1;
    }
    (taken, true)
}

/// Nanoseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}
