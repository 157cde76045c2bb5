//! Contexts that are looked at while they work: observers are told of every step of a task, and nothing else changes.
//!
//! A [`Watch`] numbers the tasks of a context and tells its observers. [`Watched`] stands between the room and an engine
//! and tells what the engine does; what progress does of itself is in `watch/report.rs`. A watched context is off the very
//! shortest way of submit and progress, where nobody has an instruction to spare, and on the one beside it. Where there are
//! deciders, too, a gate tells the same observers instead (`gate.rs`).
//!
//! Nothing here allocates, locks or calls the system per task.

pub(crate) mod report;
mod work;

use crate::context::Core;
use crate::engine::Work;
use crate::instrument::{Context, Observer, TaskId};
use crate::slot::Slot;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::sys::cycles;
use softdpu_card::EngineKind;
use softdpu_status::Code;
use std::sync::Arc;

/// Who looks at the tasks of a context.
#[derive(Debug)]
pub(crate) struct Watch {
    core: &'static Core,
    number: u32,
    observers: Vec<Arc<dyn Observer>>,
    /// Does anybody want to know that callbacks returned?
    returns: bool,
    /// What the engine does at once takes less time than to look at the clock.
    brief: bool,
}

/// The number of a context: it keeps it, and the count of its tasks, over restarts.
fn number_of(core: &Core) -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    match core.number.load(Ordering::Relaxed) {
        0 => {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            core.number.store(number, Ordering::Relaxed);
            core.submitted.store(0, Ordering::Relaxed);
            number
        }
        known => known,
    }
}

impl Watch {
    pub(crate) fn new(core: &'static Core, observers: Vec<Arc<dyn Observer>>) -> Watch {
        let returns = observers.iter().any(|o| o.wants_returns());
        let brief = core.info().kind == EngineKind::Dma;
        Watch { core, number: number_of(core), observers, returns, brief }
    }

    pub(crate) fn core(&self) -> &'static Core {
        self.core
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context { core: self.core, number: self.number }
    }

    /// A task by name; `kind` is asked for where its context does not know (Rust).
    #[inline(always)]
    pub(crate) fn task(&self, slot: &Slot, number: u64, kind: impl FnOnce() -> Option<usize>) -> TaskId {
        let kind = if self.core.is_local() { Some(slot.op()) } else { kind() };
        let kind = kind.map_or(TaskId::NO_KIND, |kind| kind as u8);
        TaskId { context: self.number, kind, number, address: core::ptr::from_ref(slot).addr() }
    }

    /// The number of the task that is accepted next.
    pub(crate) fn next_number(&self) -> u64 {
        self.count().load(Ordering::Relaxed) + 1
    }

    /// Tasks accepted. Written by the submitting side, and for what handlers post by the landing side, too.
    fn count(&self) -> &AtomicU64 {
        &self.core.submitted
    }

    /// The task is accepted: it gets its number.
    #[inline(always)]
    pub(crate) fn accept(&self, slot: &Slot) -> u64 {
        let number = if self.core.is_local() {
            // One thread at a time.
            let number = self.count().load(Ordering::Relaxed) + 1;
            self.count().store(number, Ordering::Relaxed);
            number
        } else {
            self.count().fetch_add(1, Ordering::Relaxed) + 1
        };
        slot.set_number(number);
        number
    }

    #[inline(always)]
    fn each(&self, tell: impl Fn(&dyn Observer)) {
        self.observers.iter().for_each(|o| tell(o.as_ref()));
    }

    pub(crate) fn started(&self) {
        self.each(|o| o.started(&self.context()));
    }

    pub(crate) fn idle(&self) {
        self.each(|o| o.idle(&self.context()));
    }

    pub(crate) fn refused(&self, task: &TaskId, code: Code) {
        self.each(|o| o.refused(task, code));
    }

    /// A task was refused that had no place.
    pub(crate) fn full(&self) {
        let (context, number) = (self.number, self.next_number());
        self.refused(&TaskId { context, kind: TaskId::NO_KIND, number, address: 0 }, Code::Full);
    }

    #[inline(always)]
    pub(crate) fn submitted(&self, task: &TaskId) {
        self.each(|o| o.submitted(task));
    }

    pub(crate) fn begun(&self, task: &TaskId) {
        self.each(|o| o.begun(task));
    }

    pub(crate) fn worked(&self, task: &TaskId) {
        self.each(|o| o.worked(task));
    }

    pub(crate) fn ended(&self, task: &TaskId, result: Result<u64, Code>, called: bool) {
        self.each(|o| o.ended(task, result, called));
    }

    pub(crate) fn landed(&self, task: &TaskId, result: Result<u64, Code>, called: bool) {
        self.each(|o| o.landed(task, result, called));
    }

    pub(crate) fn delivered(&self, task: &TaskId) {
        self.each(|o| o.delivered(task));
    }

    pub(crate) fn forgotten(&self, task: &TaskId) {
        self.each(|o| o.forgotten(task));
    }

    #[inline(always)]
    pub(crate) fn returned(&self, task: &TaskId) {
        if self.returns {
            self.each(|o| o.returned(task));
        }
    }

    /// Tells of a part of a large task around `work`. The task may be reported to the program as soon as that is done.
    pub(crate) fn as_part<R>(&self, task: &TaskId, work: impl FnOnce() -> R) -> R {
        self.each(|o| o.part(task, false));
        let result = work();
        self.each(|o| o.part(task, true));
        result
    }

    /// When a task begins that may be carried out at once. Of engines that take less time for it than the clock, only some
    /// are measured.
    #[inline(always)]
    fn clock(&self, task: &TaskId) -> u64 {
        if self.brief && task.draw() != 0 { 0 } else { cycles() }
    }
}

/// Tells that a handler is over, even when it unwinds.
#[derive(Debug)]
pub(crate) struct Returned<'a>(pub(crate) &'a Watch, pub(crate) TaskId);

impl Drop for Returned<'_> {
    fn drop(&mut self) {
        self.0.returned(&self.1);
    }
}

/// An engine that is looked at.
#[derive(Debug)]
pub struct Watched {
    inner: Box<dyn Work>,
    watch: Watch,
    /// Engines with peers: how many tasks of the lane were told of as begun, modulo 2^32.
    begun: AtomicU32,
}

impl Watched {
    pub(crate) fn new(inner: Box<dyn Work>, watch: Watch) -> Watched {
        Watched { inner, watch, begun: AtomicU32::new(0) }
    }

    /// A task that was accepted. What handlers post is numbered, and told of as submitted, when it is first looked at.
    #[inline(always)]
    fn seen(&self, slot: &Slot) -> TaskId {
        let task = self.watch.task(slot, slot.number(), || self.inner.kind(slot));
        if task.number == 0 { self.late(slot) } else { task }
    }

    #[cold]
    fn late(&self, slot: &Slot) -> TaskId {
        let number = self.watch.accept(slot);
        let task = self.watch.task(slot, number, || self.inner.kind(slot));
        self.watch.submitted(&task);
        task
    }

    /// It is the program's again: what flies in this slot next has no number.
    fn forget(&self, slot: &Slot) {
        if !self.watch.core.is_local() {
            slot.set_number(0);
        }
    }
}
