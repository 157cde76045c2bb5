//! The gate around the engine of a context: deciders see every task that goes in and comes out, and say when.
//!
//! To the rest of the room it is an engine with peers, which takes tasks in turns and completes them in its own order. So
//! nothing takes a short way, and between an engine that is through with a task and the program that is told so there is
//! a place to wait. What the engine behind it can do is carried out as without a gate: large tasks in parts that workers
//! help with, small ones in groups.

mod line;
mod turn;

use crate::calls::Completion;
use crate::context::{Core, State};
use crate::engine::{Shape, Work};
use crate::hardware::Begun;
use crate::instrument::{Context, Decider, Installed, ORDERED, Task};
use crate::slot::Slot;
use crate::touch::Tell;
use crate::watch::{Returned, Watch, Watched};
use line::Lines;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module.
#[derive(Debug)]
#[doc(hidden)]
pub struct Gate {
    inner: Box<dyn Work>,
    deciders: Vec<Arc<dyn Decider>>,
    watch: Watch,
    reorders: bool,
    lines: Mutex<Lines>,
    /// What the engine behind it is through with, until the turn is over.
    back: Mutex<Vec<&'static Slot>>,
}

/// `inner` as a context gets it: behind a gate if there are deciders, watched if there are observers alone.
pub(crate) fn equipped(inner: Box<dyn Work>, core: &'static Core) -> Box<dyn Work> {
    let Installed { observers, deciders } = crate::instrument::installed();
    // The library's own helpers have no tasks of the program's.
    if observers.is_empty() && deciders.is_empty() || core.info().tasks.is_empty() {
        return inner;
    }
    let watch = Watch::new(core, observers);
    if deciders.is_empty() {
        return Box::new(Watched::new(inner, watch));
    }
    // Unless the program asked for the order of submission.
    let ordered = core.setting(ORDERED).is_some_and(|on| on != 0);
    let reorders = !ordered && deciders.iter().any(|d| d.reorders());
    let lines = Mutex::new(Lines::default());
    let back = Mutex::new(Vec::new());
    Box::new(Gate { inner, deciders, watch, reorders, lines, back })
}

impl Gate {
    fn core(&self) -> &'static Core {
        self.watch.core()
    }

    /// Does any decider refuse allocations?
    pub(crate) fn allocates(&self) -> bool {
        self.deciders.iter().any(|d| d.allocates())
    }

    /// Asks whether a task may be allocated.
    ///
    /// # Errors
    /// What a decider answers.
    pub(crate) fn may_allocate(&self, kind: usize) -> Result<(), Code> {
        self.deciders.iter().try_for_each(|d| d.may_allocate(&self.context(), kind))
    }

    pub(crate) fn context(&self) -> Context<'_> {
        self.watch.context()
    }

    fn task<'a>(&'a self, slot: &'a Slot) -> Task<'a> {
        self.task_as(slot, slot.number())
    }

    fn task_as<'a>(&'a self, slot: &'a Slot, number: u64) -> Task<'a> {
        Task { gate: self, slot, id: self.watch.task(slot, number, || self.inner.kind(slot)) }
    }

    /// Is the task accepted? On success it has its number.
    fn pass(&self, slot: &Slot, inner: impl FnOnce() -> Result<()>) -> Result<()> {
        let task = self.task_as(slot, self.watch.next_number());
        let asked = self.deciders.iter().try_for_each(|d| d.admit(&task));
        let asked = asked.map_err(|code| Error::new(code, "refused by a fault that was asked for"));
        if let Err(error) = asked.and_then(|()| inner()) {
            self.watch.refused(&task.id, error.code());
            return Err(error);
        }
        self.number_it(slot);
        Ok(())
    }

    fn number_it(&self, slot: &Slot) {
        let number = self.watch.accept(slot);
        let task = self.task_as(slot, number);
        self.deciders.iter().for_each(|d| d.submitted(&task));
        self.watch.submitted(&task.id);
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn back(&self) -> MutexGuard<'_, Vec<&'static Slot>> {
        self.back.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lane locked: is the link of its device down?
    fn cut(&self, core: &'static Core) {
        let down = self.deciders.iter().any(|d| d.is_cut(&self.context()));
        if core::mem::replace(&mut self.lines().cut, down) != down {
            self.inner.cut(core, down);
        }
    }

    /// See [`Core::tell_flushed`].
    pub(crate) fn tell_flushed(&self, slot: &Slot) {
        self.watch.ended(&self.task(slot).id, slot.result(), false);
    }

    /// See [`Core::tell_full`].
    pub(crate) fn tell_full(&self) {
        self.watch.full();
    }

    /// See [`Core::tell_forgotten`].
    pub(crate) fn tell_forgotten(&self, slot: &Slot) {
        self.watch.forgotten(&self.task(slot).id);
    }

    /// Tells of a callback around `call`.
    fn around_callback(&self, slot: &Slot, call: impl FnOnce()) {
        let task = self.task(slot).id;
        self.watch.delivered(&task);
        let _returned = Returned(&self.watch, task);
        call();
    }
}

impl Work for Gate {
    fn shape(&self, slot: &Slot) -> Shape {
        self.inner.shape(slot)
    }
    /// C looks at the parameters here and is admitted later; Rust has no other look.
    fn check(&self, slot: &Slot) -> Result<()> {
        if self.core().is_local() {
            self.inner.check(slot)
        } else {
            self.pass(slot, || self.inner.check(slot))
        }
    }
    fn admit(&self, slot: &Slot) -> Result<(), Code> {
        let passed = self.pass(slot, || self.inner.admit(slot).map_err(Error::from));
        if passed.is_ok() {
            self.rouse();
        }
        passed.map_err(|error| error.code())
    }
    fn quick(&self, slot: &Slot) -> Option<u64> {
        self.inner.quick(slot)
    }
    fn run(&self, slot: &Slot) {
        // Whole tasks that a worker carries out; small ones are told of by who begins them.
        if slot.is_large() {
            self.watch.as_part(&self.task(slot).id, || self.inner.run(slot));
        } else {
            self.inner.run(slot);
        }
    }
    fn kind(&self, slot: &Slot) -> Option<usize> {
        self.inner.kind(slot)
    }
    fn class(&self, slot: &Slot) -> Option<u8> {
        self.inner.class(slot)
    }
    fn touches(&self, slot: &Slot, tell: Tell<'_>) {
        self.inner.touches(slot, tell);
    }
    fn gate(&self) -> Option<&Gate> {
        Some(self)
    }
    fn came_back(&self, slot: &'static Slot) {
        self.back().push(slot);
    }
    fn open(&self, slot: &Slot) -> Result<u64, Code> {
        self.inner.open(slot)
    }
    fn part(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code> {
        self.watch.as_part(&self.task(slot).id, || self.inner.part(slot, from, len))
    }
    fn step(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code> {
        self.watch.as_part(&self.task(slot).id, || self.inner.step(slot, from, len))
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
        self.around_callback(slot, || self.inner.handle(core, slot));
    }
    fn turn(&self, core: &'static Core) -> bool {
        if self.inner.unordered() { self.turn_peers(core) } else { self.turn_computed(core) }
    }
    fn unordered(&self) -> bool {
        true
    }
    fn start(&self, core: &'static Core) -> Result<Begun> {
        self.watch.started();
        let begun = self.inner.start(core);
        if begun.is_err() {
            self.watch.idle();
        }
        begun
    }
    /// What handlers posted lands here: an engine with peers has no second lane.
    fn event(&self, core: &'static Core) -> bool {
        if let (Some(outbox), Some(pe)) = (core.outbox(), core.engine())
            && let Some(slot) = outbox.lane.front()
        {
            outbox.lane.pop_front();
            pe.deliver::<false>(core, slot);
            return true;
        }
        if !self.deciders.iter().all(|d| d.may_tell(&self.context())) || !core.lane().lock().enter() {
            return false;
        }
        self.cut(core);
        core.lane().lock().leave();
        self.inner.event(core)
    }
    fn is_pending(&self, core: &'static Core) -> bool {
        let outbox = core.outbox().is_some_and(|b| b.lane.has_queued() || b.lane.front().is_some());
        outbox || !self.back().is_empty() || self.lines().wait_for_turns() || self.inner.is_pending(core)
    }
    /// Also for engines that compute: a submit that finds the progress engine armed wakes it.
    fn rouse(&self) {
        self.inner.rouse();
        if let Some(pe) = self.core().engine().filter(|pe| pe.signal().is_armed()) {
            pe.signal().raise();
        }
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

/// Stand in for the callbacks of a task kind (C).
pub(crate) fn stand_ins() -> [Completion; 2] {
    [succeeded, failed]
}

extern "C" fn succeeded(slot: *const Slot, task: u64, ctx: u64) {
    observe(slot, task, ctx, false);
}

extern "C" fn failed(slot: *const Slot, task: u64, ctx: u64) {
    observe(slot, task, ctx, true);
}

fn observe(slot: *const Slot, task: u64, ctx: u64, failed: bool) {
    let Some(slot) = crate::handle::landed(slot) else { return };
    let core = slot.context();
    let call = || core.call_program(slot, failed, [task, ctx]);
    match core.work().gate() {
        // The context may become idle and lose its engine in the callback, but not before it returned: a task is
        // being reported.
        Some(gate) => gate.around_callback(slot, call),
        None => call(),
    }
}

/// Is the context past running?
fn is_over(core: &Core) -> bool {
    matches!(core.state(), State::Stopping | State::Idle)
}
