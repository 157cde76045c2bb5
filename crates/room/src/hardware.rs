//! Engines with peers or waits: they take jobs, keep them as long as they must, and complete them in their own order.
//!
//! Such an engine knows neither threads nor clocks nor callbacks: whoever holds the lane's lock (progress or a card's
//! worker) calls [`Hardware::turn`]. What changes the context's state, and what the program is told besides completions,
//! it only asks for; progress does it (`wish.rs`).
#![expect(unsafe_code, reason = "jobs stay in their slots; the engine is touched by the lane's holder alone")]

mod contract;
mod posted;
mod words;

use crate::context::{Core, State};
use crate::engine::{Engine, Shape, Work};
use crate::job::{Deliver, empty, hand_back};
use crate::slot::Slot;
use crate::sync::ProtocolCell;
use crate::touch::Tell;
use crate::wish;
pub use crate::wish::Alarm;
pub use contract::Hardware;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::panic::AssertUnwindSafe;
use softdpu_status::{Code, Error, Result};
use std::panic::catch_unwind;
use std::sync::Arc;
pub use words::{Begun, Turn};

type JobOf<H> = <<H as Hardware>::Engine as Engine>::Job;

/// The engine's side of a lane, for one turn.
#[derive(Debug)]
pub struct Port<'a, E: Engine> {
    core: &'static Core,
    turn: PhantomData<&'a mut ()>,
    engine: PhantomData<fn() -> E>,
}

/// A job the engine has taken. Completing it consumes the ticket; dropping the ticket completes the job with UNEXPECTED,
/// so that no bug of an engine can hang a program.
#[derive(Debug)]
pub struct Ticket<E: Engine> {
    slot: Option<&'static Slot>,
    /// It came by the lane of what handlers post, and goes back there.
    posted: bool,
    engine: PhantomData<fn() -> E>,
}

impl<E: Engine> Ticket<E> {
    /// Was it posted by a handler? Such a job was neither checked nor admitted.
    #[inline]
    pub fn is_posted(&self) -> bool {
        self.posted
    }
}

impl<E: Engine> Port<'_, E> {
    /// The next job that was submitted.
    pub fn take(&mut self) -> Option<Ticket<E>> {
        let slot = self.core.lane().next()?;
        Some(Ticket { slot: Some(slot), posted: false, engine: PhantomData })
    }

    /// The job of a ticket.
    ///
    /// # Panics
    /// Never: a ticket in hand has its slot.
    #[expect(
        clippy::expect_used,
        reason = "only `complete` and `drop` take the slot, and both consume the ticket"
    )]
    pub fn job<'t>(&mut self, ticket: &'t mut Ticket<E>) -> &'t mut E::Job {
        let slot = ticket.slot.expect("a ticket in hand has its slot");
        // SAFETY: taken jobs belong to the holder of their one ticket until they are completed.
        unsafe { &mut *slot.job::<E::Job>() }
    }

    /// The job is through. Its task lands in a later progress.
    #[inline]
    pub fn complete(&mut self, ticket: Ticket<E>, result: Result<u64, Code>) {
        let ticket = ManuallyDrop::new(ticket);
        if let Some(slot) = ticket.slot {
            finish(slot, ticket.posted, result);
        }
    }

    /// Must everything be given back?
    pub fn is_stopping(&self) -> bool {
        matches!(self.core.state(), State::Stopping | State::Idle)
    }

    /// The context.
    pub fn core(&self) -> &'static Core {
        self.core
    }

    /// Starting: it runs, from a later progress on.
    pub fn run(&mut self) {
        self.core.wish(wish::RUN);
    }

    /// Starting: it cannot run, and is idle from a later progress on.
    pub fn give_up(&mut self) {
        self.core.wish(wish::GIVE_UP);
    }

    /// Running: it stops in a later progress, because its peer is gone.
    pub fn stop(&mut self) {
        self.core.wish(wish::STOP);
    }

    /// A stopping context does not become idle while this is on.
    pub fn hold(&mut self, on: bool) {
        self.core.hold(on);
    }

    /// Is there anything to tell the program ([`Hardware::event`])? An engine that never says is asked at every visit;
    /// one that said no is not asked before it says yes, or its context starts anew.
    pub fn has_events(&mut self, on: bool) {
        self.core.silence(!on);
    }

    /// How many tasks are through, modulo 2^32.
    pub fn through(&self) -> u32 {
        self.core.lane().landed().0
    }

    /// How many of those the program was told of.
    pub fn reported(&self) -> u32 {
        self.core.lane().landed().1
    }

    /// Tasks in flight only wait for what rings the alarm: no worker has to look after them.
    pub fn rely_on_alarm(&mut self, on: bool) {
        self.core.rely_on_alarm(on);
    }
}

#[inline(always)]
fn finish(slot: &'static Slot, posted: bool, result: Result<u64, Code>) {
    slot.finish(result);
    let core = slot.context();
    if posted && let Some(outbox) = core.outbox() {
        outbox.lane.publish(slot);
    } else if !core.lane().complete(slot) {
        core.work().came_back(slot);
    }
}

impl<E: Engine> Drop for Ticket<E> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            log::error!(target: "softdpu::task", "{} task {slot:p}: the engine lost it", E::INFO.name);
            finish(slot, self.posted, Err(Code::Unexpected));
        }
    }
}

/// An engine with peers or waits, as the room's [`Work`].
pub struct Peered<H: Hardware> {
    hardware: ProtocolCell<H>,
    desk: H::Desk,
    alarm: Arc<Alarm>,
    /// Rust: who gets tasks that were posted.
    deliver: ProtocolCell<Option<Deliver<H::Engine>>>,
}

// SAFETY: the hardware is touched by the holder of the lane's lock alone, `deliver` by the landing side alone.
unsafe impl<H: Hardware> Sync for Peered<H> {}

impl<H: Hardware> core::fmt::Debug for Peered<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(<H::Engine as Engine>::INFO.name)
    }
}

impl<H: Hardware> Peered<H> {
    /// The hardware, and what its submits look at.
    pub fn new(hardware: H, desk: H::Desk) -> Box<Peered<H>> {
        Peered::with_handlers(hardware, desk, None)
    }

    /// The same, for engines that look for what handlers post ([`Port::take_posted`]): tasks that were posted go through
    /// `deliver`; without one nobody gets them.
    pub fn with_handlers(hardware: H, desk: H::Desk, deliver: Option<Deliver<H::Engine>>) -> Box<Peered<H>> {
        let (hardware, deliver) = (ProtocolCell::new(hardware), ProtocolCell::new(deliver));
        Box::new(Peered { hardware, desk, alarm: Alarm::new(), deliver })
    }

    /// Runs `f` on the hardware, for the holder of the lane's lock; a panic stops the context.
    fn guarded<R>(
        &self,
        core: &'static Core,
        f: impl FnOnce(&mut H, &mut Port<'_, H::Engine>) -> R,
    ) -> Option<R> {
        let mut port = Port { core, turn: PhantomData, engine: PhantomData };
        // SAFETY: the caller holds the lane's lock, and these calls do not nest.
        let outcome =
            self.hardware.with(|h| catch_unwind(AssertUnwindSafe(|| f(unsafe { &mut *h }, &mut port))));
        if outcome.is_err() {
            log::error!(target: "softdpu::ctx", "{} context {core:p}: the engine panicked; the context stops",
                core.info().name);
            // The state is progress's to change: this may be a worker.
            core.hold(false);
            core.wish(wish::GIVE_UP | wish::STOP);
        }
        outcome.ok()
    }
}

impl<H: Hardware> Work for Peered<H> {
    fn shape(&self, _: &Slot) -> Shape {
        Shape::Small
    }
    fn kind(&self, slot: &Slot) -> Option<usize> {
        // SAFETY: called while whoever calls has the task.
        <H::Engine as Engine>::kind(unsafe { &*slot.job::<JobOf<H>>() })
    }
    fn class(&self, slot: &Slot) -> Option<u8> {
        // SAFETY: as for `kind`.
        <H::Engine as Engine>::class(unsafe { &*slot.job::<JobOf<H>>() })
    }
    fn sever(&self, core: &'static Core, slot: &Slot) -> bool {
        // SAFETY: the task was submitted and the engine has not taken it: its job is the lane's holder's.
        let job = unsafe { &*slot.job::<JobOf<H>>() };
        self.guarded(core, |hardware, port| hardware.sever(port, job)).unwrap_or(false)
    }
    fn touches(&self, slot: &Slot, tell: Tell<'_>) {
        // SAFETY: as for `kind`.
        H::touches(&self.desk, unsafe { &*slot.job::<JobOf<H>>() }, tell);
    }
    fn cut(&self, core: &'static Core, on: bool) {
        self.guarded(core, |hardware, _| hardware.cut(on));
    }
    fn is_booked(&self) -> bool {
        H::GATED
    }
    fn check(&self, slot: &Slot) -> Result<()> {
        // SAFETY: called before the submit, by whoever owns the task.
        H::check(&self.desk, unsafe { &*slot.job::<JobOf<H>>() })?;
        // The Rust face has no submit without check.
        if slot.context().is_local() {
            return Ok(());
        }
        self.admit(slot).map_err(|code| Error::new(code, "the peer takes no more at the moment"))
    }
    fn admit(&self, slot: &Slot) -> Result<(), Code> {
        if !H::GATED {
            return Ok(());
        }
        // SAFETY: as for `check`.
        H::admit(&self.desk, unsafe { &mut *slot.job::<JobOf<H>>() })
    }
    fn settles(&self) -> bool {
        H::SETTLES
    }
    fn settled(&self, slot: &Slot) -> Option<Result<u64, Code>> {
        // SAFETY: called by who submits, before the task flies.
        H::settled(unsafe { &*slot.job::<JobOf<H>>() })
    }
    fn quick(&self, _: &Slot) -> Option<u64> {
        None
    }
    fn run(&self, slot: &Slot) {
        slot.finish(Err(Code::Unexpected));
    }
    fn open(&self, _: &Slot) -> Result<u64, Code> {
        Err(Code::Unexpected)
    }
    fn part(&self, _: &Slot, _: u64, _: u64) -> Result<(), Code> {
        Err(Code::Unexpected)
    }
    fn step(&self, _: &Slot, _: u64, _: u64) -> Result<(), Code> {
        Err(Code::Unexpected)
    }
    fn close(&self, _: &Slot, _: u64) -> Result<u64, Code> {
        Err(Code::Unexpected)
    }
    fn discard(&self, slot: &Slot) {
        drop(empty::<H::Engine>(slot));
    }
    fn handle(&self, core: &'static Core, slot: &'static Slot) {
        // SAFETY: landing side; handlers cannot call progress, so this is not re-entered.
        self.deliver.with(|deliver| match unsafe { &mut *deliver } {
            Some(deliver) => hand_back(core, slot, deliver),
            // Posted without a handler: the result is nobody's.
            None => {
                self.discard(slot);
                slot.flight.set(crate::flight::FREE);
            }
        });
    }

    fn turn(&self, core: &'static Core) -> bool {
        self.guarded(core, |hardware, port| hardware.turn(port)) != Some(Turn::Idle)
    }

    fn start(&self, core: &'static Core) -> Result<Begun> {
        self.alarm.set(core);
        let begun = self.guarded(core, |hardware, _| hardware.start(&self.alarm));
        let begun = begun.unwrap_or(Err(Error::new(Code::Unexpected, "the engine panicked")));
        if begun.is_err() {
            self.idle(core);
        }
        begun
    }

    fn event(&self, core: &'static Core) -> bool {
        if !H::TELLS || !core.lane().lock().enter() {
            return false;
        }
        let event = self.guarded(core, |hardware, port| hardware.event(port)).flatten();
        core.lane().lock().leave();
        let Some(event) = event else { return false };
        H::tell(core, event);
        true
    }

    fn is_pending(&self, core: &'static Core) -> bool {
        if !core.lane().lock().enter() {
            // A worker is at it; what it finds it reports.
            return true;
        }
        let pending = self.guarded(core, |hardware, _| hardware.is_pending());
        core.lane().lock().leave();
        pending.unwrap_or(true)
    }

    fn idle(&self, core: &'static Core) {
        self.alarm.end();
        self.guarded(core, |hardware, _| hardware.idle());
    }

    #[cold]
    fn rouse(&self) {
        self.alarm.ring();
    }

    fn is_owed(&self) -> bool {
        H::is_owed(&self.desk)
    }

    fn expansion(&self) -> u32 {
        H::expansion(&self.desk)
    }

    fn unordered(&self) -> bool {
        true
    }
}
