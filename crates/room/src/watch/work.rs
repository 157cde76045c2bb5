//! What an engine does, told while it does it.

use super::Watched;
use crate::context::Core;
use crate::engine::{Shape, Work};
use crate::gate::Gate;
use crate::hardware::Begun;
use crate::lane::Lane;
use crate::slot::Slot;
use crate::sync::Ordering;
use softdpu_status::{Code, Error, Result};

impl Watched {
    /// Is the task accepted? On success it has its number.
    #[inline(always)]
    fn pass(&self, slot: &Slot, asked: Result<()>) -> Result<()> {
        let kind = || self.inner.kind(slot);
        if let Err(error) = asked {
            let task = self.watch.task(slot, self.watch.next_number(), kind);
            self.watch.refused(&task, error.code());
            return Err(error);
        }
        let number = self.watch.accept(slot);
        self.watch.submitted(&self.watch.task(slot, number, kind));
        Ok(())
    }

    /// Engines with peers, lane locked: tells of the tasks up to number `end` that they are handed to the engine.
    fn hand_over(&self, lane: &Lane, end: u32) {
        let mut at = self.begun.load(Ordering::Relaxed);
        while at != end {
            self.watch.begun(&self.seen(lane.numbered(at)));
            at = at.wrapping_add(1);
        }
        self.begun.store(end, Ordering::Relaxed);
    }

    /// Engines with peers, lane locked: what another thread submitted during the turn, too, if the engine has it already.
    fn catch_up(&self, lane: &Lane) {
        let (taken, told) = (lane.taken(), self.begun.load(Ordering::Relaxed));
        if taken.wrapping_sub(told) as i32 > 0 {
            self.hand_over(lane, taken);
        }
    }
}

impl Work for Watched {
    fn shape(&self, slot: &Slot) -> Shape {
        self.inner.shape(slot)
    }
    /// C looks at the parameters here and is admitted later; Rust has no other look.
    fn check(&self, slot: &Slot) -> Result<()> {
        let asked = self.inner.check(slot);
        if self.watch.core.is_local() { asked } else { self.pass(slot, asked) }
    }
    #[inline]
    fn admit(&self, slot: &Slot) -> Result<(), Code> {
        let asked = self.inner.admit(slot).map_err(Error::from);
        self.pass(slot, asked).map_err(|error| error.code())
    }
    fn quick(&self, slot: &Slot) -> Option<u64> {
        let task = self.seen(slot);
        let since = self.watch.clock(&task);
        let output = self.inner.quick(slot)?;
        self.watch.each(|o| o.carried_out(&task, since));
        Some(output)
    }
    fn run(&self, slot: &Slot) {
        // Nothing may be looked at once it is done: the task may land at once.
        let task = self.seen(slot);
        if slot.is_large() {
            return self.watch.as_part(&task, || self.inner.run(slot));
        }
        self.watch.begun(&task);
        self.inner.run(slot);
        self.watch.worked(&task);
    }
    fn run_many(&self, slots: &[&'static Slot]) {
        let mut tasks = [None; crate::engine::MOST_TOGETHER];
        for (place, slot) in tasks.iter_mut().zip(slots) {
            let task = self.seen(slot);
            self.watch.begun(&task);
            *place = Some(task);
        }
        self.inner.run_many(slots);
        tasks.iter().rev().flatten().for_each(|task| self.watch.worked(task));
    }
    fn kind(&self, slot: &Slot) -> Option<usize> {
        self.inner.kind(slot)
    }
    fn class(&self, slot: &Slot) -> Option<u8> {
        self.inner.class(slot)
    }
    fn sever(&self, core: &'static Core, slot: &Slot) -> bool {
        self.inner.sever(core, slot)
    }
    fn is_booked(&self) -> bool {
        self.inner.is_booked()
    }
    fn gate(&self) -> Option<&Gate> {
        None
    }
    fn watched(&self) -> Option<&Watched> {
        Some(self)
    }
    fn came_back(&self, slot: &'static Slot) {
        // Before it is published: then its slot may be anybody's.
        self.catch_up(self.watch.core.lane());
        let (core, task) = (self.watch.core, self.seen(slot));
        self.watch.ended(&task, slot.result(), slot.is_called());
        core.lane().publish(slot);
    }
    fn together(&self) -> usize {
        self.inner.together()
    }
    fn open(&self, slot: &Slot) -> Result<u64, Code> {
        self.inner.open(slot)
    }
    fn part(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code> {
        self.watch.as_part(&self.seen(slot), || self.inner.part(slot, from, len))
    }
    fn step(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code> {
        self.watch.as_part(&self.seen(slot), || self.inner.step(slot, from, len))
    }
    fn close(&self, slot: &Slot, total: u64) -> Result<u64, Code> {
        self.inner.close(slot, total)
    }
    fn abandon(&self, slot: &Slot) {
        self.inner.abandon(slot);
    }
    fn discard(&self, slot: &Slot) {
        self.inner.discard(slot);
    }
    fn handle(&self, core: &'static Core, slot: &'static Slot) {
        self.inner.handle(core, slot);
    }
    fn turn(&self, core: &'static Core) -> bool {
        let lane = core.lane();
        self.hand_over(lane, lane.given());
        let moved = self.inner.turn(core);
        self.catch_up(lane);
        moved
    }
    fn unordered(&self) -> bool {
        self.inner.unordered()
    }
    fn start(&self, core: &'static Core) -> Result<Begun> {
        self.watch.started();
        let begun = self.inner.start(core);
        if begun.is_err() {
            self.watch.idle();
        }
        begun
    }
    fn event(&self, core: &'static Core) -> bool {
        self.inner.event(core)
    }
    fn is_pending(&self, core: &'static Core) -> bool {
        self.inner.is_pending(core)
    }
    fn rouse(&self) {
        self.inner.rouse();
    }
    fn is_owed(&self) -> bool {
        self.inner.is_owed()
    }
    fn expansion(&self) -> u32 {
        self.inner.expansion()
    }
    fn idle(&self, core: &'static Core) {
        self.inner.idle(core);
        self.watch.idle();
    }
}
