//! What an engine with peers or waits implements.

use super::{Alarm, Begun, Port, Turn};
use crate::context::Core;
use crate::engine::Engine;
use crate::touch::Tell;
use softdpu_status::{Code, Result};
use std::sync::Arc;

/// An engine with peers or waits.
pub trait Hardware: Send + 'static {
    /// Its engine.
    type Engine: Engine;
    /// What its submits look at without the lane's lock ([`Hardware::admit`]).
    type Desk: Send + Sync + 'static;

    /// Are submits admitted one by one ([`Hardware::admit`])?
    const GATED: bool = false;
    /// Are some jobs through once they are admitted ([`Hardware::settled`])?
    const SETTLES: bool = false;
    /// Is there ever anything to tell the program besides completions ([`Hardware::event`])?
    const TELLS: bool = true;

    /// Takes jobs, works, completes what is through. When [`Port::is_stopping`], completes everything it has.
    fn turn(&mut self, port: &mut Port<'_, Self::Engine>) -> Turn;

    /// The context starts. Whatever is to wake its progress engine later does so through `alarm`.
    ///
    /// # Errors
    /// What the start answers; the context stays idle then.
    fn start(&mut self, alarm: &Arc<Alarm>) -> Result<Begun> {
        let _ = alarm;
        Ok(Begun::Running)
    }

    /// The next thing to tell the program besides completions. Called by progress, between turns.
    fn event(&mut self, port: &mut Port<'_, Self::Engine>) -> Option<<Self::Engine as Engine>::Event> {
        let _ = port;
        None
    }

    /// Tells the program: inside progress, with nothing held. It may submit, stop, and destroy what is idle.
    fn tell(core: &'static Core, event: <Self::Engine as Engine>::Event) {
        let _ = (core, event);
    }

    /// Would a turn or [`Hardware::event`] find anything? Asked before the program sleeps, after the engine was armed; what
    /// comes later must ring the alarm.
    fn is_pending(&mut self) -> bool {
        false
    }

    /// Has the program something that must come back before a stopping context may become idle? Asked on its thread, where
    /// submits and progress are one thread (C).
    fn is_owed(desk: &Self::Desk) -> bool {
        let _ = desk;
        false
    }

    /// How many tasks the program may add while it runs ([`Core::expand`]).
    fn expansion(desk: &Self::Desk) -> u32 {
        let _ = desk;
        0
    }

    /// The context is idle from now on: peers are told good-bye, names are given back. It may be started again with
    /// another hardware.
    fn idle(&mut self) {}

    /// Before a submit is accepted, on the submitting thread; the lane's lock is not held.
    ///
    /// # Errors
    /// What the submit answers; the task stays the program's.
    fn admit(desk: &Self::Desk, job: &mut <Self::Engine as Engine>::Job) -> Result<(), Code> {
        let _ = (desk, job);
        Ok(())
    }

    /// The connection that a job needs ends now, as if the peer were gone: a fault that was asked for. False where there is
    /// none. Between turns.
    fn sever(&mut self, port: &mut Port<'_, Self::Engine>, job: &<Self::Engine as Engine>::Job) -> bool {
        let _ = (port, job);
        false
    }

    /// What memory, and whose, a job is about, and who is at the other end; asked for deciders only, on the submitting thread.
    fn touches(desk: &Self::Desk, job: &<Self::Engine as Engine>::Job, tell: Tell<'_>) {
        let _ = (desk, job, tell);
    }

    /// The link of the device is down, or up again: a fault that was asked for. What arrives meanwhile is lost. Between
    /// turns.
    fn cut(&mut self, on: bool) {
        let _ = on;
    }

    /// Is an admitted job through already, and may it be reported before anything that was admitted later? Asked where
    /// submits and progress are one thread (C), and only if [`Hardware::SETTLES`]; the job does not come by
    /// [`Port::take`] then.
    fn settled(job: &<Self::Engine as Engine>::Job) -> Option<Result<u64, Code>> {
        let _ = job;
        None
    }

    /// What a checked submit refuses beyond that.
    ///
    /// # Errors
    /// What the submit answers, with one log line.
    fn check(desk: &Self::Desk, job: &<Self::Engine as Engine>::Job) -> Result<()> {
        let _ = (desk, job);
        Ok(())
    }
}
