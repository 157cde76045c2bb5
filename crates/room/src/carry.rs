//! Carrying tasks out: small ones by whoever holds the lane, large ones in pieces by whoever claims one.

use crate::context::Core;
use crate::engine::{MOST_TOGETHER, Shape};
use crate::flight;
use crate::lane::{Claims, Lane};
use crate::slot::Slot;
use crate::sync::Ordering;
use softdpu_status::Code;

/// Jobs of at least this many bytes are cut into parts and offered to the card's workers.
pub const SPLIT_FROM: u64 = 64 << 10;
/// Most bytes of one part.
pub const PART_BYTES: u64 = 256 << 10;

/// Bytes of each part but the last of a job of `total` bytes: at least two parts where both are worth a worker, at most
/// [`PART_BYTES`] each unless there were too many.
pub fn part_bytes(total: u64) -> u64 {
    let least = total.div_ceil(crate::parts::MOST);
    total.div_ceil(2).next_multiple_of(4096).clamp(SPLIT_FROM, PART_BYTES).max(least)
}

impl Core {
    /// C: the program freed it in flight, so that it is given back flushed. (A future that was dropped lets its task go on.)
    #[inline(always)]
    pub(crate) fn is_disowned(&self, slot: &Slot) -> bool {
        self.is_local() && slot.flight.state() == flight::ORPHAN
    }

    /// Lock holder: carries a task out, or opens it for claims when it is large. True when it is finished.
    pub(crate) fn carry_out(&self, slot: &'static Slot, lane: &Lane) -> bool {
        if !self.is_running() || self.is_disowned(slot) {
            slot.finish(Err(Code::IoFailed));
            return true;
        }
        let work = self.work();
        if let Some(output) = work.quick(slot) {
            slot.finish(Ok(output));
            return true;
        }
        match work.shape(slot) {
            Shape::Small => {
                self.carry_out_small(slot, lane);
                true
            }
            shape => {
                if !lane.has_large_room() {
                    // Never seen: a task is taken off when it lands. What is exhausted needs no place any more.
                    lane.sweep_large();
                }
                if lane.has_large_room() {
                    return self.open_large(slot, lane, shape);
                }
                work.run(slot);
                true
            }
        }
    }

    /// Lock holder: small tasks, together with those behind it where the engine gains from that.
    fn carry_out_small(&self, slot: &'static Slot, lane: &Lane) {
        let work = self.work();
        let limit = work.together();
        if limit == 1 {
            return work.run(slot);
        }
        let mut group = [slot; MOST_TOGETHER];
        let mut count = 1;
        while count < limit
            && let Some(next) = lane.peek()
            && !self.is_disowned(next)
            && work.shape(next) == Shape::Small
            && let Some(next) = lane.next()
        {
            group[count] = next;
            count += 1;
        }
        if count == 1 {
            return work.run(slot);
        }
        work.run_many(&group[..count]);
    }

    /// Lock holder: lists a large task for claims. True when it failed at once instead.
    fn open_large(&self, slot: &'static Slot, lane: &Lane, shape: Shape) -> bool {
        match self.work().open(slot) {
            Ok(total) => {
                let size = match shape {
                    Shape::Parts => part_bytes(total),
                    Shape::Steps => PART_BYTES.max(total.div_ceil(crate::parts::MOST)),
                    _ => total.max(1),
                };
                slot.enlarge(shape, total, size.min(u64::from(u32::MAX)));
                lane.offer_parts(slot);
                self.ring_if_asleep();
                false
            }
            Err(code) => {
                slot.finish(Err(code));
                true
            }
        }
    }

    /// Progress: one part or step. What workers carry out whole only where it must.
    pub(crate) fn do_own_part(&self, lane: &Lane) -> bool {
        let whole = !self.is_running() || self.board().has_no_workers();
        self.do_part(lane, Claims { shared: true, whole, first: true })
    }

    /// Carries out one part or step of the oldest large task that has what is wanted. Anybody. True when one was done.
    fn do_part(&self, lane: &Lane, wanted: Claims) -> bool {
        let Some((slot, shape, part)) = lane.claim(wanted) else { return false };
        let size = u64::from(slot.part_bytes.load(Ordering::Relaxed));
        let total = slot.total.load(Ordering::Relaxed);
        let from = size * u64::from(part);
        let len = size.min(total - from);
        // A context that was stopped gives its tasks back flushed; parts already moved do no harm.
        if !self.is_running() {
            slot.part_failed.store(Code::IoFailed.number(), Ordering::Relaxed);
        }
        let outcome = match shape {
            _ if slot.part_failed.load(Ordering::Relaxed) != 0 => Ok(()),
            Shape::Whole => {
                // It finishes the slot itself.
                if slot.parts.finished() {
                    self.work().run(slot);
                }
                return true;
            }
            Shape::Steps => self.work().step(slot, from, len),
            _ => self.work().part(slot, from, len),
        };
        if let Err(code) = outcome {
            slot.part_failed.store(code.number(), Ordering::Relaxed);
        }
        if shape == Shape::Steps {
            slot.end_step();
        }
        if slot.parts.finished() {
            slot.finish(match slot.part_failed.load(Ordering::Relaxed) {
                0 => self.work().close(slot, total),
                failed => {
                    self.work().abandon(slot);
                    Err(Code::from_number(failed).unwrap_or(Code::Unexpected))
                }
            });
        }
        true
    }

    /// A card worker looks at the context. True when it found something to do.
    ///
    /// Large tasks are helped with at once, in parts if it `helps`; small ones are taken over only when nobody called progress
    /// since the last look, and some time passed in between (`napped`).
    pub fn assist(&'static self, napped: bool, helps: bool) -> bool {
        let mut worked = false;
        let Some(pe) = self.engine() else { return false };
        let calls = pe.calls.load(Ordering::Relaxed) as u32;
        let stands = self.seen.load(Ordering::Relaxed) == calls;
        // One look says little: they follow each other faster than the calls of a busy thread.
        let alone = stands && (napped || self.alone.load(Ordering::Relaxed) != 0);
        self.alone.store(u8::from(alone), Ordering::Relaxed);
        for lane in self.lanes() {
            let mut finished = false;
            // Nobody waits for the parts of who does not call progress.
            let claims = Claims { shared: helps || alone, whole: true, first: alone };
            for _ in 0..16 {
                if !self.do_part(lane, claims) {
                    break;
                }
                finished = true;
            }
            // An engine with peers or waits takes its tasks itself, from the main lane and under that lane's lock.
            let turns = self.work().unordered();
            let mine = if turns { core::ptr::eq(lane, self.lane()) } else { lane.has_queued() };
            if napped && stands && mine && lane.lock().take() {
                if turns {
                    finished |= self.work().turn(self);
                } else {
                    for _ in 0..64 {
                        let Some(slot) = lane.next() else { break };
                        finished |= self.carry_out(slot, lane);
                    }
                }
                lane.lock().give();
            }
            if finished {
                worked = true;
                pe.signal.published();
            }
        }
        if napped || !stands {
            self.seen.store(calls, Ordering::Relaxed);
        }
        worked
    }

    /// Is there anything a worker would have to do now or soon?
    pub fn wants_worker(&self) -> bool {
        if self.work().unordered() { self.needs_turns() } else { self.lanes().any(Lane::has_work) }
    }
}
