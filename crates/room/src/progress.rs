//! Progress: carry out a little, report what is ready.
//!
//! [`Pe::step`] is the C face's: one completion or state change per call. [`Pe::sweep`] is the Rust face's: everything
//! that is ready.

use crate::context::{Core, State};
use crate::flight::{self, Landed};
use crate::handle::{core_ref, ring_next};
use crate::lane::Lane;
use crate::pe::{Leave, Pe};
use crate::slot::Slot;
use crate::sync::Ordering;

/// Delivery kinds of the Rust face, kept where C keeps the task kind.
pub(crate) const TO_FUTURE: u8 = 0;
/// See [`TO_FUTURE`].
pub(crate) const TO_HANDLER: u8 = 1;

/// Empty visits after which a context leaves the ring: cheap to come back in C, a system call in Rust.
const PATIENCE_LOCAL: u32 = 3;
const PATIENCE: u32 = 1000;

#[derive(PartialEq, Eq, Clone, Copy)]
pub(crate) enum Visit {
    Nothing,
    Worked,
    Reported,
}

impl Core {
    /// Would a visit find something?
    pub(crate) fn needs_progress(&'static self) -> bool {
        match self.state() {
            State::Idle => self.in_flight() != 0,
            _ if self.lane().is_unordered() => self.needs_turn(),
            State::Stopping if self.in_flight() == 0 => self.may_idle(),
            State::Starting => true,
            _ => self.lanes().any(|lane| match lane.front() {
                Some(slot) => {
                    let whole = self.board().has_no_workers();
                    slot.is_ready() || lane.has_queued() || slot.may_be_claimed(whole) || !self.is_running()
                }
                None => false,
            }),
        }
    }

    /// Nothing flies, and (C) nothing is unfreed.
    #[inline]
    pub(crate) fn may_idle(&self) -> bool {
        self.in_flight() == 0 && (!self.is_local() || self.tasks_held() == 0)
    }

    /// Turns an engine with peers or waits; the others have no turns.
    #[inline(never)]
    pub(crate) fn turn(&'static self, lane: &Lane) -> bool {
        if !lane.lock().enter() {
            return false;
        }
        let moved = self.work().turn(self);
        lane.lock().leave();
        moved
    }

    /// Lock holder, Rust face: carries out small tasks one after the other, and opens large ones.
    #[inline(always)]
    fn carry_out_many(&self, lane: &Lane) {
        let quick = self.is_running();
        for _ in 0..CARRIED_AT_ONCE {
            let Some(slot) = lane.next() else { break };
            match if quick { self.work().quick(slot) } else { None } {
                Some(output) => slot.finish(Ok(output)),
                None => drop(self.carry_out(slot, lane)),
            }
        }
    }

    /// Gets the front task of a lane ready, if that takes no more than one small task and one part.
    #[inline(always)]
    fn prepare(&self, lane: &Lane, slot: &'static Slot) -> Visit {
        let mut visit = Visit::Nothing;
        if lane.has_queued() && lane.lock().enter() {
            // Large ones are only opened, so that workers find them; one small one is carried out.
            for _ in 0..OPENED_AT_ONCE {
                let Some(next) = lane.next() else { break };
                visit = Visit::Worked;
                if self.carry_out(next, lane) {
                    break;
                }
            }
            lane.lock().leave();
        }
        if slot.is_large() && self.do_own_part(lane) {
            visit = Visit::Worked;
        }
        visit
    }
}

/// Small tasks that one sweep carries out per lane before it reports.
pub(crate) const CARRIED_AT_ONCE: u32 = 64;
/// Large tasks that one visit opens for claims at most.
const OPENED_AT_ONCE: u32 = 64;

impl Pe {
    /// One round for the C face: runs at most one callback. True when a callback ran or a state changed.
    ///
    /// The common case first: the next context of the ring runs, its front task is small, nobody else is at it.
    #[inline(always)]
    pub fn step(&'static self) -> bool {
        let Some(prev) = core_ref(self.cursor.load(Ordering::Relaxed)) else { return false };
        if self.is_in_callback_here() {
            return self.nested();
        }
        self.calls.store(self.calls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        let core = ring_next(prev);
        let lane = core.lane();
        if core.is_express()
            && let Some(number) = lane.front_number_here()
        {
            let slot = lane.numbered(number);
            if slot.is_queued() && slot.is_flying_here() && lane.begin_front(number) {
                if core.work().quick(slot).is_some() {
                    lane.lock().leave();
                    slot.succeed();
                    self.cursor.store(core::ptr::from_ref(core).cast_mut(), Ordering::Relaxed);
                    lane.pop_number(number);
                    self.report(core, slot, false, || ());
                    return true;
                }
                core.carry_out(slot, lane);
                lane.lock().leave();
            }
        }
        self.step_any()
    }

    /// Calls the program, then `after`; the ring was moved on before, so that the callback may change it.
    #[inline(always)]
    pub(crate) fn report(
        &'static self,
        core: &'static Core,
        slot: &'static Slot,
        failed: bool,
        after: impl FnOnce(),
    ) {
        slot.flight.set(flight::HELD);
        self.depth.store(1, Ordering::Relaxed);
        core.call_completion(slot, failed);
        after();
        self.depth.store(0, Ordering::Relaxed);
        if !core.is_running_here() {
            self.settle(core);
        }
    }

    #[inline(never)]
    fn step_any(&'static self) -> bool {
        if let Some((core, slot)) = self.streak.next() {
            self.report(core, slot, false, || ());
            return true;
        }
        let mut left = self.count.load(Ordering::Relaxed);
        let mut may_work = true;
        while left > 0 {
            let Some(prev) = core_ref(self.cursor.load(Ordering::Relaxed)) else { return false };
            let Some(core) = core_ref(prev.next.load(Ordering::Relaxed)) else { return false };
            self.cursor.store(core::ptr::from_ref(core).cast_mut(), Ordering::Relaxed);
            match self.visit::<false>(core, may_work) {
                Visit::Reported => return true,
                Visit::Worked => may_work = false,
                Visit::Nothing => {
                    let visits = core.idle_visits.load(Ordering::Relaxed) + 1;
                    core.idle_visits.store(visits, Ordering::Relaxed);
                    if visits > PATIENCE_LOCAL
                        && core.in_flight() == 0
                        && core.is_running()
                        && core.may_rest()
                    {
                        self.rest(prev, core);
                    }
                }
            }
            left -= 1;
        }
        false
    }

    pub(crate) fn visit<const WATCHED: bool>(&'static self, core: &'static Core, may_work: bool) -> Visit {
        let lane = core.lane();
        if lane.is_special() && (!WATCHED || lane.is_unordered()) {
            if !WATCHED && lane.is_watched() {
                return self.visit_watched(core, may_work);
            }
            if may_work && lane.front().is_none() {
                core.turn(lane);
            }
            if self.heed(core) {
                return Visit::Reported;
            }
        }
        let Some(slot) = lane.front() else { return self.visit_empty(core) };
        let mut visit = Visit::Nothing;
        if !slot.is_ready() {
            if may_work {
                visit = core.prepare(lane, slot);
            }
            if !slot.is_ready() {
                return visit;
            }
        }
        lane.pop_front();
        lane.sweep_large();
        if matches!(slot.flight.state(), flight::ORPHAN | flight::HOOKED) {
            if WATCHED {
                core.tell_landed(slot);
            }
            return self.hand_over(core, slot);
        }
        if slot.status() != 0 && core.is_fatal() && core.is_running() {
            self.fail(core, slot);
        }
        if WATCHED {
            self.report_watched(core, slot);
            return Visit::Reported;
        }
        if lane.is_unordered() {
            self.streak.begin(core);
        }
        self.report(core, slot, slot.status() != 0, || ());
        Visit::Reported
    }

    #[inline(always)]
    pub(crate) fn enter(&self) {
        self.depth.store(self.depth.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn leave(&self) {
        self.depth.store(self.depth.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    #[cold]
    #[inline(never)]
    fn visit_empty(&'static self, core: &'static Core) -> Visit {
        if core.state() == State::Stopping && self.settle(core) { Visit::Reported } else { Visit::Nothing }
    }

    /// A failed task stops a context whose queue dies on errors.
    #[cold]
    #[inline(never)]
    pub(crate) fn fail(&'static self, core: &'static Core, slot: &'static Slot) {
        log::warn!(target: "softdpu::ctx",
            "{} context {core:p}: task {slot:p} failed with status {}; the context stops", core.info().name, slot.status());
        core.set_state(State::Stopping);
        self.tell_state(core, State::Running, State::Stopping);
    }

    /// A stopping context that has nothing left becomes idle. The program may destroy it in the callback.
    #[inline(never)]
    pub(crate) fn settle(&'static self, core: &'static Core) -> bool {
        self.settle_from(core, State::Stopping)
    }

    /// The same for one of which the program saw another state last.
    pub(crate) fn settle_from(&'static self, core: &'static Core, last: State) -> bool {
        if core.state() != State::Stopping || !core.may_idle() || core.is_held_up() {
            return false;
        }
        if !core.is_local() {
            return self.settle_shared(core);
        }
        self.unlink(core);
        core.board().detach(core);
        core.work().idle(core);
        core.set_state(State::Idle);
        self.enter();
        core.call_state(last, State::Idle);
        self.leave();
        true
    }

    /// The same where another thread may be submitting: what it submitted at this very moment is flushed first. The
    /// context may be gone for good afterwards.
    fn settle_shared(&'static self, core: &'static Core) -> bool {
        let guard = crate::ending::membership();
        if !self.is_quiet(core, true) {
            return false;
        }
        self.unlink(core);
        core.board().detach(core);
        core.work().idle(core);
        core.set_state(State::Idle);
        crate::ending::bury(core, guard);
        true
    }

    /// Everything that is ready, for the Rust face. Returns the number of tasks reported.
    pub fn sweep(&'static self) -> usize {
        if self.is_in_callback() {
            return 0;
        }
        self.calls.store(self.calls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.adopt();
        let mut reported = 0;
        let mut left = self.count.load(Ordering::Relaxed);
        let mut parts = 1;
        while left > 0 {
            let Some(prev) = core_ref(self.cursor.load(Ordering::Relaxed)) else { break };
            let Some(core) = core_ref(prev.next.load(Ordering::Relaxed)) else { break };
            self.cursor.store(core::ptr::from_ref(core).cast_mut(), Ordering::Relaxed);
            left -= 1;
            let n = self.sweep_lane::<false>(core, core.lane(), &mut parts)
                + core.outbox().map_or(0, |b| self.sweep_lane::<false>(core, &b.lane, &mut parts));
            reported += n;
            if n == 0 {
                let visits = core.idle_visits.load(Ordering::Relaxed) + 1;
                core.idle_visits.store(visits, Ordering::Relaxed);
                if core.state() == State::Stopping {
                    self.settle(core);
                } else if visits > PATIENCE && core.in_flight() == 0 && core.may_rest() {
                    self.rest(prev, core);
                }
            } else {
                core.idle_visits.store(0, Ordering::Relaxed);
                if !core.is_running() {
                    self.settle(core);
                }
            }
        }
        reported
    }

    #[inline(always)]
    pub(crate) fn sweep_lane<const WATCHED: bool>(
        &'static self,
        core: &'static Core,
        lane: &Lane,
        parts: &mut u32,
    ) -> usize {
        if !WATCHED && lane.is_special() {
            return self.sweep_special(core, lane, parts);
        }
        if lane.in_flight() == 0 {
            return 0;
        }
        if lane.has_queued() && lane.lock().enter() {
            core.carry_out_many(lane);
            lane.lock().leave();
        }
        let mut reported = 0;
        // What was submitted before this visit; what handlers post again waits for the next one.
        for _ in 0..lane.in_flight() {
            let Some(slot) = lane.front() else { break };
            if !slot.is_ready() {
                if *parts == 0 || !slot.is_large() || !core.do_own_part(lane) {
                    break;
                }
                *parts -= 1;
                if !slot.is_ready() {
                    break;
                }
            }
            lane.pop_front();
            if lane.has_large() {
                lane.sweep_large();
            }
            if slot.status() != 0 && core.is_fatal() && core.is_running() {
                self.fail(core, slot);
            }
            self.deliver::<WATCHED>(core, slot);
            reported += 1;
        }
        reported
    }

    #[inline(always)]
    pub(crate) fn deliver<const WATCHED: bool>(&'static self, core: &'static Core, slot: &'static Slot) {
        if WATCHED {
            return self.deliver_watched(core, slot);
        }
        if slot.op() == usize::from(TO_HANDLER) {
            self.enter();
            let leave = Leave(self);
            core.work().handle(core, slot);
            drop(leave);
        } else if slot.flight.land() == Landed::Orphan {
            core.work().discard(slot);
            slot.flight.set(flight::FREE);
        }
    }
}
