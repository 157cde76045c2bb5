//! A lane: where tasks wait, are carried out, and wait to be reported.
//!
//! One ring of slots with three counters. `tail` belongs to the submit side, `exec` to whoever holds the lane's lock,
//! `head` to the landing side. Small tasks are carried out in order under the lock; large ones are claimed in parts by
//! anybody, through a second ring, and reported in their turn. An engine with peers completes in its own order, through
//! the completion ring.

#![expect(unsafe_code, reason = "ring cells are addressed under a mask, without a check per access")]

use crate::engine::Shape;
use crate::handle::own32;
use crate::lock::LaneLock;
use crate::slot::Slot;
use crate::sync::{AtomicPtr, AtomicU32, Ordering};
use softdpu_status::{Code, Error, Result};

/// A ring of slots of one context.
#[derive(Debug)]
struct Ring {
    cells: Box<[AtomicPtr<Slot>]>,
    mask: u32,
}

impl Ring {
    fn new(capacity: u32) -> Result<Ring> {
        let n = capacity.max(1).next_power_of_two();
        let no_memory = Error::new(Code::NoMemory, "no memory for a queue");
        let mut cells = Vec::new();
        cells.try_reserve_exact(n as usize).map_err(|_| no_memory)?;
        cells.extend((0..n).map(|_| AtomicPtr::new(core::ptr::null_mut())));
        Ok(Ring { cells: cells.into_boxed_slice(), mask: n - 1 })
    }

    #[inline(always)]
    fn cell(&self, at: u32) -> &AtomicPtr<Slot> {
        // SAFETY: the number of cells is the mask plus one.
        unsafe { self.cells.get_unchecked((at & self.mask) as usize) }
    }

    #[inline(always)]
    fn put(&self, at: u32, slot: &'static Slot) {
        self.cell(at).store(core::ptr::from_ref(slot).cast_mut(), Ordering::Relaxed);
    }

    #[inline(always)]
    fn get(&self, at: u32) -> &'static Slot {
        crate::handle::slot_ref(self.cell(at).load(Ordering::Relaxed))
    }
}

/// Where a new cache line begins.
#[derive(Debug)]
#[repr(C, align(64))]
struct Line<T>(T);

/// What somebody claims of large tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claims {
    /// Parts and steps, for which the others wait once they are claimed.
    pub(crate) shared: bool,
    /// What a worker carries out whole.
    pub(crate) whole: bool,
    /// Also steps of the oldest task, which a thread that calls progress had better do all by itself: they cannot be done
    /// at the same time, and its cache has what the last one left.
    pub(crate) first: bool,
}

/// A lane. One line for each side, so that two threads disturb each other as little as may be.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Lane {
    // Submit side; the ring itself never changes.
    tail: AtomicU32,
    unordered: bool,
    /// What is through goes to the instruments first (`gate.rs`, `watch.rs`).
    gated: bool,
    /// Observers are told of every step (`watch.rs`).
    watched: bool,
    /// Unordered, watched, or both: not the common case.
    special: bool,
    ring: Ring,
    // Landing side, and whoever holds the lock.
    land: Landing,
    // Large tasks.
    large_head: Line<AtomicU32>,
    large_tail: AtomicU32,
    large: Ring,
    /// What is through, in the order of completion; unused where that is the order of submission.
    back: Ring,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Landing {
    head: AtomicU32,
    exec: AtomicU32,
    lock: LaneLock,
    back_tail: AtomicU32,
}

impl Lane {
    /// A lane for at most `capacity` tasks in flight; `unordered` for engines that complete in their own order.
    pub(crate) fn new(capacity: u32, unordered: bool) -> Result<Lane> {
        Ok(Lane {
            tail: AtomicU32::new(0),
            unordered,
            gated: false,
            watched: false,
            special: unordered,
            land: Landing {
                head: AtomicU32::new(0),
                exec: AtomicU32::new(0),
                lock: LaneLock::new(),
                back_tail: AtomicU32::new(0),
            },
            ring: Ring::new(capacity)?,
            large_head: Line(AtomicU32::new(0)),
            large_tail: AtomicU32::new(0),
            large: Ring::new(capacity)?,
            back: Ring::new(if unordered { capacity } else { 1 })?,
        })
    }

    /// Who turns it.
    #[inline(always)]
    pub(crate) fn lock(&self) -> &LaneLock {
        &self.land.lock
    }

    /// Submit side: one more task. There is room: never more slots fly than the ring holds.
    #[inline(always)]
    pub(crate) fn push(&self, slot: &'static Slot) {
        let tail = self.tail.load(Ordering::Relaxed);
        self.ring.put(tail, slot);
        self.tail.store(tail.wrapping_add(1), Ordering::Release);
    }

    /// Is any large task listed? A hint, exact for the landing side as to tasks it is about to report.
    #[inline(always)]
    pub(crate) fn has_large(&self) -> bool {
        self.large_head.0.load(Ordering::Relaxed) != self.large_tail.load(Ordering::Relaxed)
    }

    /// Lock holder: is there room to list one more large task? There is, as long as each is taken off when it lands.
    pub(crate) fn has_large_room(&self) -> bool {
        let listed =
            self.large_tail.load(Ordering::Relaxed).wrapping_sub(self.large_head.0.load(Ordering::Acquire));
        listed <= self.large.mask
    }

    /// Lock holder: the parts of this slot may be claimed by anybody from now on.
    pub(crate) fn offer_parts(&self, slot: &'static Slot) {
        let tail = self.large_tail.load(Ordering::Relaxed);
        self.large.put(tail, slot);
        self.large_tail.store(tail.wrapping_add(1), Ordering::Release);
    }

    /// Tasks submitted and not reported.
    #[inline(always)]
    pub(crate) fn in_flight(&self) -> u32 {
        let head = self.land.head.load(Ordering::Relaxed);
        self.tail.load(Ordering::Acquire).wrapping_sub(head)
    }

    /// For onlookers on other threads: tasks in flight, and tasks reported since the lane was made (modulo 2^32).
    pub(crate) fn counts(&self) -> (u32, u32) {
        // In this order, so that no more are reported than were submitted; what came in between flies.
        let reported = self.land.head.load(Ordering::Acquire);
        let submitted = self.tail.load(Ordering::Acquire);
        (submitted.wrapping_sub(reported).min(self.ring.mask + 1), reported)
    }

    /// Do tasks complete in their own order, or are observers told of them?
    #[inline(always)]
    pub(crate) fn is_special(&self) -> bool {
        self.special
    }

    /// Are observers told of every step?
    #[inline(always)]
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// Do tasks complete in their own order?
    #[inline(always)]
    pub(crate) fn is_unordered(&self) -> bool {
        self.unordered
    }

    /// Landing side: the next task to report, ready or not (ordered engines); ready ones only (others).
    #[inline(always)]
    pub(crate) fn front(&self) -> Option<&'static Slot> {
        let head = self.land.head.load(Ordering::Relaxed);
        if self.unordered {
            if head == self.land.back_tail.load(Ordering::Acquire) {
                return None;
            }
            return Some(self.back.get(head));
        }
        if head == self.tail.load(Ordering::Acquire) { None } else { Some(self.ring.get(head)) }
    }

    /// Landing side, which may also turn the lane: the front task if it is also the next to carry out, taken for that.
    /// `None` when there is nothing in flight, somebody else carries it out, or it is not the one.
    #[inline(always)]
    pub(crate) fn begin_front(&self, head: u32) -> bool {
        if !self.land.lock.enter() {
            return false;
        }
        if own32(&self.land.exec) != head {
            self.land.lock.leave();
            return false;
        }
        self.land.exec.store(head.wrapping_add(1), Ordering::Relaxed);
        true
    }

    /// Number of the front task, where submit and progress are one thread; `None` when nothing is in flight. Ordered
    /// engines.
    #[inline(always)]
    pub(crate) fn front_number_here(&self) -> Option<u32> {
        let head = own32(&self.land.head);
        if head == own32(&self.tail) { None } else { Some(head) }
    }

    /// The task with this number, which is in flight.
    #[inline(always)]
    pub(crate) fn numbered(&self, at: u32) -> &'static Slot {
        self.ring.get(at)
    }

    /// Landing side: the task with number `at` is being reported.
    #[inline(always)]
    pub(crate) fn pop_number(&self, at: u32) {
        self.land.head.store(at.wrapping_add(1), Ordering::Release);
    }

    /// Landing side: the front task is being reported.
    #[inline(always)]
    pub(crate) fn pop_front(&self) {
        self.land.head.store(self.land.head.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// Lock holder: the next task to carry out.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<&'static Slot> {
        let at = self.land.exec.load(Ordering::Relaxed);
        if at == self.tail.load(Ordering::Acquire) {
            return None;
        }
        self.land.exec.store(at.wrapping_add(1), Ordering::Relaxed);
        Some(self.ring.get(at))
    }

    /// What is through goes to the instruments before it is reported. Of a lane nobody uses yet.
    pub(crate) fn gate(&mut self) {
        self.gated = true;
    }

    /// Observers are told of every step. Of a lane nobody uses yet.
    pub(crate) fn watch(&mut self) {
        (self.gated, self.watched, self.special) = (true, true, true);
    }

    /// How many tasks were submitted, modulo 2^32.
    pub(crate) fn given(&self) -> u32 {
        self.tail.load(Ordering::Acquire)
    }

    /// Lock holder: how many tasks were taken, modulo 2^32.
    pub(crate) fn taken(&self) -> u32 {
        self.land.exec.load(Ordering::Relaxed)
    }

    /// Lock holder, unordered engines: a task that was taken is the next to be taken again. Its cell is free: no more fly
    /// than there are cells.
    pub(crate) fn put_back(&self, slot: &'static Slot) {
        let at = self.land.exec.load(Ordering::Relaxed).wrapping_sub(1);
        self.ring.put(at, slot);
        self.land.exec.store(at, Ordering::Relaxed);
    }

    /// Lock holder: the task behind the last one taken, still to be taken.
    pub(crate) fn peek(&self) -> Option<&'static Slot> {
        let at = self.land.exec.load(Ordering::Relaxed);
        if at == self.tail.load(Ordering::Acquire) { None } else { Some(self.ring.get(at)) }
    }

    /// Is there a task nobody began? A hint unless the lock is held.
    #[inline]
    pub(crate) fn has_queued(&self) -> bool {
        self.land.exec.load(Ordering::Relaxed) != self.tail.load(Ordering::Acquire)
    }

    /// Is there anything to carry out? A hint.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        self.has_queued()
            || self.large_head.0.load(Ordering::Relaxed) != self.large_tail.load(Ordering::Acquire)
    }

    /// Anybody: claims a part, a step or the whole of the oldest large task that has one of these to give.
    pub(crate) fn claim(&self, wanted: Claims) -> Option<(&'static Slot, Shape, u16)> {
        let first = self.large_head.0.load(Ordering::Acquire);
        let mut at = first;
        loop {
            if at == self.large_tail.load(Ordering::Acquire) {
                return None;
            }
            let slot = self.large.get(at);
            let shape = slot.shape();
            let may = match shape {
                Shape::Whole => wanted.whole,
                Shape::Steps => wanted.shared && (wanted.first || at != first) && slot.begin_step(),
                _ => wanted.shared,
            };
            if may {
                // The claim fails if the slot holds another shape of task by now.
                if let Some(part) = slot.parts.claim(shape as u8) {
                    return Some((slot, shape, part));
                }
                if shape == Shape::Steps {
                    slot.end_step();
                }
                if slot.parts.exhausted() && at == self.large_head.0.load(Ordering::Acquire) {
                    self.retire_large(at);
                }
            }
            at = at.wrapping_add(1);
        }
    }

    fn retire_large(&self, at: u32) {
        let next = at.wrapping_add(1);
        // Whoever is late finds the head moved on; no part is lost, since an exhausted task has none.
        let _ = self.large_head.0.compare_exchange(at, next, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Takes exhausted tasks off the ring of large ones: the landing side, so that a slot is on it at most once.
    pub(crate) fn sweep_large(&self) {
        loop {
            let at = self.large_head.0.load(Ordering::Acquire);
            if at == self.large_tail.load(Ordering::Acquire) || !self.large.get(at).parts.exhausted() {
                return;
            }
            self.retire_large(at);
        }
    }

    /// Submit side, which is also the landing side; unordered engines: the task that was pushed just now is through. False
    /// where another one waits to be taken in hand before it, or somebody else has the lane.
    pub(crate) fn settle(&self, slot: &'static Slot, result: Result<u64, Code>) -> bool {
        if !self.land.lock.enter() {
            return false;
        }
        let tail = self.tail.load(Ordering::Relaxed);
        let next = self.land.exec.load(Ordering::Relaxed).wrapping_add(1) == tail;
        if next {
            self.land.exec.store(tail, Ordering::Relaxed);
            slot.finish(result);
            self.publish(slot);
        }
        self.land.lock.leave();
        next
    }

    /// Lock holder, unordered engines: this task is through. False where instruments are to see it first.
    #[inline(always)]
    pub(crate) fn complete(&self, slot: &'static Slot) -> bool {
        if self.gated {
            return false;
        }
        self.publish(slot);
        true
    }

    /// Lock holder, unordered engines: tasks that may be reported, and those that were (modulo 2^32).
    pub(crate) fn landed(&self) -> (u32, u32) {
        (self.land.back_tail.load(Ordering::Relaxed), self.land.head.load(Ordering::Acquire))
    }

    /// Lock holder, unordered engines: this task may be reported.
    #[inline(always)]
    pub(crate) fn publish(&self, slot: &'static Slot) {
        let at = self.land.back_tail.load(Ordering::Relaxed);
        self.back.put(at, slot);
        self.land.back_tail.store(at.wrapping_add(1), Ordering::Release);
    }
}
