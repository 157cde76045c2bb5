//! Jobs in slots: the adapter between an engine, which knows its job type, and the room, which does not.
#![expect(unsafe_code, reason = "jobs are stored in place; the slot's owner is decided by its state")]

use crate::context::Core;
use crate::engine::{Compute, Engine, MOST_TOGETHER, Shape, Work};
use crate::flight;
use crate::lane::Lane;
use crate::progress::TO_HANDLER;
use crate::slot::Slot;
use crate::sync::ProtocolCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::panic::AssertUnwindSafe;
use softdpu_memory::fault;
use softdpu_status::{Code, Error, Result};
use std::panic::catch_unwind;

/// Where a handler may post further tasks: the landing side's own lane, so that another thread may submit meanwhile.
#[derive(Debug)]
pub struct Outbox<'a, E: Engine> {
    core: &'static Core,
    only_here: PhantomData<&'a mut ()>,
    engine: PhantomData<fn() -> E>,
}

impl<E: Engine> Outbox<'_, E> {
    /// Posts a job whose result goes to the handler.
    ///
    /// # Errors
    /// The job back, with BadState (not running) or Full (no slot is free).
    pub fn post_job(&mut self, job: E::Job) -> Result<(), (Error, E::Job)> {
        let Some(bench) = self.core.outbox().filter(|_| self.core.is_running()) else {
            return Err((Error::new(Code::BadState, "the context is not running"), job));
        };
        let Some(slot) = bench.free_slot() else {
            return Err((Error::new(Code::Full, "all tasks are in flight"), job));
        };
        fill::<E>(slot, job);
        slot.set_op(TO_HANDLER);
        self.core.launch(slot, &bench.lane);
        Ok(())
    }
}

/// Moves a job into a slot the caller owns.
#[inline(always)]
pub(crate) fn fill<E: Engine>(slot: &Slot, job: E::Job) {
    // SAFETY: the caller owns the slot, whose context is of engine `E`; a previous job was taken out.
    unsafe { slot.job::<E::Job>().write(job) };
}

/// Takes the job out of a slot the caller owns and filled.
#[inline(always)]
pub(crate) fn empty<E: Engine>(slot: &Slot) -> E::Job {
    // SAFETY: the caller owns the slot; it holds a job of its context's engine.
    unsafe { slot.job::<E::Job>().read() }
}

/// An engine whose jobs are computed, as the room's [`Work`].
pub struct Computed<H: Compute> {
    hardware: H,
    handlers: ProtocolCell<H::Handlers>,
}

// SAFETY: the handlers are touched by the landing side alone, which is one thread at a time.
unsafe impl<H: Compute> Sync for Computed<H> {}

impl<H: Compute> core::fmt::Debug for Computed<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(<H::Engine as Engine>::INFO.name)
    }
}

impl<H: Compute> Computed<H> {
    /// The hardware, with the handlers of tasks that go to one.
    pub fn new(hardware: H, handlers: H::Handlers) -> Box<Computed<H>> {
        Box::new(Computed { hardware, handlers: ProtocolCell::new(handlers) })
    }

    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "a slot's job is reached through its shared place")]
    fn job<'a>(&self, slot: &'a Slot) -> &'a mut <H::Engine as Engine>::Job {
        // SAFETY: called by whoever carries the task out, which has the job to itself until it says finished.
        unsafe { &mut *slot.job::<<H::Engine as Engine>::Job>() }
    }

    #[inline(always)]
    fn shared_job<'a>(&self, slot: &'a Slot) -> &'a <H::Engine as Engine>::Job {
        // SAFETY: parts of one job only read it while any is unfinished.
        unsafe { &*slot.job::<<H::Engine as Engine>::Job>() }
    }

    /// What a call of the engine came to: its own outcome, unless memory failed under it that it did not ask for.
    #[inline]
    fn settle<T>(&self, slot: &Slot, outcome: std::thread::Result<Result<T>>) -> Result<T, Code> {
        let faults = fault::take();
        match outcome {
            Ok(outcome) => {
                outcome.and_then(|n| faults.map(|()| n)).map_err(|reason| self.hardware.status(reason))
            }
            Err(_) => Err(broken(slot)),
        }
    }
}

#[cold]
fn broken(slot: &Slot) -> Code {
    log::error!(target: "softdpu::task", "{} task {slot:p}: the engine panicked", slot.context().info().name);
    Code::Unexpected
}

impl<H: Compute> Work for Computed<H> {
    fn shape(&self, slot: &Slot) -> Shape {
        self.hardware.shape(self.shared_job(slot))
    }

    fn kind(&self, slot: &Slot) -> Option<usize> {
        <H::Engine as Engine>::kind(self.shared_job(slot))
    }

    fn class(&self, _: &Slot) -> Option<u8> {
        None
    }

    fn touches(&self, slot: &Slot, tell: crate::touch::Tell<'_>) {
        self.hardware.touches(self.shared_job(slot), tell);
    }

    fn together(&self) -> usize {
        self.hardware.together().clamp(1, MOST_TOGETHER)
    }

    fn run_many(&self, slots: &[&'static Slot]) {
        let mut results = [const { Ok(0) }; MOST_TOGETHER];
        let results = &mut results[..slots.len().min(MOST_TOGETHER)];
        let mut jobs: [MaybeUninit<&mut <H::Engine as Engine>::Job>; MOST_TOGETHER] =
            [const { MaybeUninit::uninit() }; MOST_TOGETHER];
        for (place, slot) in jobs.iter_mut().zip(slots) {
            place.write(self.job(slot));
        }
        // SAFETY: as many places are filled as there are results.
        let jobs = unsafe { core::slice::from_raw_parts_mut(jobs.as_mut_ptr().cast(), results.len()) };
        let outcome = catch_unwind(AssertUnwindSafe(|| self.hardware.run_many(jobs, results)));
        // An engine that takes several jobs tells them apart by itself; what it did not ask for hits all.
        let faults = fault::take();
        for (slot, result) in slots.iter().zip(results) {
            slot.finish(match outcome {
                Ok(()) => {
                    result.and_then(|n| faults.map(|()| n)).map_err(|reason| self.hardware.status(reason))
                }
                Err(_) => Err(broken(slot)),
            });
        }
    }

    fn check(&self, slot: &Slot) -> Result<()> {
        self.hardware.check(self.shared_job(slot))
    }

    #[inline]
    fn quick(&self, slot: &Slot) -> Option<u64> {
        match self.hardware.quick(self.job(slot)) {
            None if H::ALONE && !slot.context().lanes().any(Lane::has_queued) => {
                self.hardware.quick_alone(self.job(slot))
            }
            done => done,
        }
    }

    fn run(&self, slot: &Slot) {
        let job = AssertUnwindSafe(self.job(slot));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let job = job;
            self.hardware.run(job.0)
        }));
        slot.finish(self.settle(slot, outcome));
    }

    fn open(&self, slot: &Slot) -> Result<u64, Code> {
        self.hardware.open(self.shared_job(slot)).map_err(|reason| self.hardware.status(reason))
    }

    fn part(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code> {
        let job = self.shared_job(slot);
        let outcome = catch_unwind(AssertUnwindSafe(|| self.hardware.part(job, from, len)));
        self.settle(slot, outcome)
    }

    fn step(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code> {
        let job = self.job(slot);
        let outcome = catch_unwind(AssertUnwindSafe(|| self.hardware.step(job, from, len)));
        self.settle(slot, outcome)
    }

    fn close(&self, slot: &Slot, total: u64) -> Result<u64, Code> {
        let job = self.job(slot);
        let outcome = catch_unwind(AssertUnwindSafe(|| self.hardware.close(job, total)));
        self.settle(slot, outcome)
    }

    fn abandon(&self, slot: &Slot) {
        let job = self.job(slot);
        if catch_unwind(AssertUnwindSafe(|| self.hardware.abandon(job))).is_err() {
            broken(slot);
        }
    }

    fn discard(&self, slot: &Slot) {
        drop(empty::<H::Engine>(slot));
    }

    fn handle(&self, core: &'static Core, slot: &'static Slot) {
        let (job, result) = (empty::<H::Engine>(slot), slot.outcome());
        let place = Place::held(slot);
        let mut outbox = Outbox { core, only_here: PhantomData, engine: PhantomData };
        // SAFETY: landing side; handlers cannot call progress, so this is not re-entered.
        let next = self.handlers.with(|h| H::deliver(unsafe { &mut *h }, job, result, &mut outbox));
        again::<H::Engine>(core, place, next);
    }
}

/// Who gets landed jobs of a context's tasks that were posted: the job, its result, and where to post more. Gives a job
/// that is to fly again in the same slot, or nothing.
pub type Deliver<E> =
    Box<dyn FnMut(<E as Engine>::Job, Result<u64>, &mut Outbox<'_, E>) -> Option<<E as Engine>::Job> + Send>;

/// Lands a task that goes to a handler: landing side.
pub(crate) fn hand_back<E: Engine>(core: &'static Core, slot: &'static Slot, deliver: &mut Deliver<E>) {
    let (job, result) = (empty::<E>(slot), slot.outcome());
    let place = Place::held(slot);
    let mut outbox = Outbox { core, only_here: PhantomData, engine: PhantomData };
    again::<E>(core, place, deliver(job, result, &mut outbox));
}

/// What a handler gave back flies again in the place of its task.
#[inline(always)]
fn again<E: Engine>(core: &'static Core, mut place: Place, next: Option<E::Job>) {
    if let Some(job) = next
        && let Some(bench) = core.outbox().filter(|_| core.is_running())
    {
        place.keep = true;
        fill::<E>(place.slot, job);
        core.launch(place.slot, &bench.lane);
    }
}

/// Frees a slot on the way out.
struct Place {
    slot: &'static Slot,
    keep: bool,
}

impl Place {
    /// From here on the slot holds no job; it is free again even if the handler unwinds.
    #[inline(always)]
    fn held(slot: &'static Slot) -> Place {
        let place = Place { slot, keep: false };
        slot.flight.set(flight::HELD);
        place
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.keep {
            self.slot.flight.set(flight::FREE);
        }
    }
}
