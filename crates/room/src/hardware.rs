//! Engines with peers or waits: they take jobs, keep them as long as they must, and complete them in their own order.
//!
//! Such an engine knows neither threads nor clocks nor callbacks: whoever holds the lane's lock (progress or a card's
//! worker) calls [`Hardware::turn`].
#![expect(unsafe_code, reason = "jobs stay in their slots; the engine is touched by the lane's holder alone")]

use crate::context::Core;
use crate::engine::{Engine, Shape, Work};
use crate::job::empty;
use crate::slot::Slot;
use crate::sync::{Ordering, ProtocolCell};
use core::marker::PhantomData;
use core::panic::AssertUnwindSafe;
use softdpu_status::{Code, Result};
use std::panic::catch_unwind;

/// What an engine with peers or waits implements.
pub trait Hardware: Send + 'static {
    /// Its engine.
    type Engine: Engine;

    /// Takes jobs, works, completes what is through. When [`Port::is_stopping`], completes everything it has.
    fn turn(&mut self, port: &mut Port<'_, Self::Engine>) -> Turn;
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing moved.
    Idle,
    /// Something moved; turn again soon.
    Busy,
}

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
    engine: PhantomData<fn() -> E>,
}

impl<E: Engine> Port<'_, E> {
    /// The next job that was submitted.
    pub fn take(&mut self) -> Option<Ticket<E>> {
        let slot = self.core.lane().next()?;
        Some(Ticket { slot: Some(slot), engine: PhantomData })
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
    pub fn complete(&mut self, mut ticket: Ticket<E>, result: Result<u64, Code>) {
        if let Some(slot) = ticket.slot.take() {
            finish(slot, result);
        }
    }

    /// Must everything be given back?
    pub fn is_stopping(&self) -> bool {
        !self.core.is_running()
    }
}

fn finish(slot: &'static Slot, result: Result<u64, Code>) {
    slot.finish(result);
    slot.context().lane().complete(slot);
}

impl<E: Engine> Drop for Ticket<E> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            log::error!(target: "softdpu::task", "{} task {slot:p}: the engine lost it", E::INFO.name);
            finish(slot, Err(Code::Unexpected));
        }
    }
}

/// An engine with peers or waits, as the room's [`Work`].
pub struct Peered<H: Hardware> {
    hardware: ProtocolCell<H>,
}

// SAFETY: the hardware is touched by the holder of the lane's lock alone.
unsafe impl<H: Hardware> Sync for Peered<H> {}

impl<H: Hardware> core::fmt::Debug for Peered<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(<H::Engine as Engine>::INFO.name)
    }
}

impl<H: Hardware> Peered<H> {
    /// The hardware.
    pub fn new(hardware: H) -> Box<Peered<H>> {
        Box::new(Peered { hardware: ProtocolCell::new(hardware) })
    }
}

impl<H: Hardware> Work for Peered<H> {
    fn shape(&self, _: &Slot) -> Shape {
        Shape::Small
    }
    fn check(&self, _: &Slot) -> Result<()> {
        Ok(())
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
    fn handle(&self, _: &'static Core, slot: &'static Slot) {
        // Posted without a handler: the result is nobody's.
        self.discard(slot);
        slot.flight.set(crate::flight::FREE);
    }

    fn turn(&self, core: &'static Core) -> bool {
        let mut port = Port { core, turn: PhantomData, engine: PhantomData };
        // SAFETY: the caller holds the lane's lock, and turns do not nest.
        let turned =
            self.hardware.with(|h| catch_unwind(AssertUnwindSafe(|| unsafe { (*h).turn(&mut port) })));
        match turned {
            Ok(turn) => turn == Turn::Busy,
            Err(_) => {
                log::error!(target: "softdpu::ctx", "{} context {core:p}: the engine panicked; the context stops",
                    core.info().name);
                // The state is progress's to change: this may be a worker.
                core.broken.store(1, Ordering::Release);
                true
            }
        }
    }

    fn unordered(&self) -> bool {
        true
    }
}
