//! Instruments: what looks on while tasks fly, or meddles with them. Traces and metrics do the first, faults and
//! schedules the second.
//!
//! Contexts that start while an instrument is installed have a gate around their engine (`gate.rs`), through which every
//! task goes: nothing takes a short way there. Contexts that start while none is installed know nothing of all this, and
//! spend no instruction on it.

use crate::context::Core;
use crate::engine::EngineInfo;
use crate::gate::Gate;
use crate::progress::TO_HANDLER;
use crate::slot::Slot;
use core::fmt::Debug;
use softdpu_status::Code;
use std::sync::{Arc, PoisonError, RwLock};

/// The setting of a context that says that its program asked for completions in the order of submission (C).
pub const ORDERED: u32 = u32::MAX;

/// A context behind a gate.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub(crate) core: &'a Core,
    pub(crate) number: u32,
}

impl Context<'_> {
    /// Its number in this process, from 1: contexts are numbered as they start for the first time, and keep their number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Its engine.
    pub fn engine(&self) -> &'static EngineInfo {
        self.core.info()
    }

    /// The context itself; C programs have its address as their handle.
    pub fn core(&self) -> &Core {
        self.core
    }
}

/// A task behind a gate, for the length of a call.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    pub(crate) gate: &'a Gate,
    pub(crate) slot: &'a Slot,
    pub(crate) number: u64,
    pub(crate) kind: Option<usize>,
}

impl<'a> Task<'a> {
    /// The context it flies in.
    pub fn context(&self) -> Context<'a> {
        Context { core: self.gate.core(), number: self.gate.number() }
    }

    /// Its number in the context, in the order of submission, from 1; not reset when the context starts anew. Of a task
    /// that is being submitted or refused, the number it gets if it is accepted.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Which of the engine's task kinds, by number and name; `None` where the engine does not say (some, in Rust).
    pub fn kind(&self) -> Option<(usize, &'static str)> {
        Some((self.kind?, self.gate.core().info().tasks.get(self.kind?)?))
    }

    /// Its address; C programs have it as their handle. Not for ever the same task: see [`Task::number`].
    pub fn address(&self) -> usize {
        core::ptr::from_ref(self.slot) as usize
    }

    /// Will its callback or handler be called ([`Instrument::delivered`])? Asked when it ends.
    pub fn is_called(&self) -> bool {
        if self.gate.core().is_local() {
            self.slot.is_flying_here()
        } else {
            self.slot.op() == usize::from(TO_HANDLER)
        }
    }
}

/// May a task begin?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Now.
    Now,
    /// It is asked again at the next turn.
    Later,
    /// It is not carried out; this is how it went. Where tasks are booked when they are submitted (RDMA, comch), it is
    /// carried out all the same, and then this is how it went.
    Never(Result<u64, Code>),
    /// Now, but the peer it needs is gone: its connection ends first. An engine without connections fails it with
    /// IO_FAILED instead.
    Alone,
}

/// May the completion of a task be reported?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this result.
    Now(Result<u64, Code>),
    /// It is asked again at the next turn.
    Later,
    /// It is lost: the task comes back flushed when its context stops.
    Lost,
}

/// What looks on, or meddles. Every method has a default that does neither.
///
/// # Threads
/// Methods run on whatever thread submits or progresses, or on a worker, with the lane of the context locked where it
/// says so: they must be short, must not call the library, and must not panic.
pub trait Instrument: Debug + Send + Sync {
    /// A context starts. Everything that is told of it later comes after this.
    fn started(&self, context: &Context<'_>) {
        let _ = context;
    }

    /// A context is idle.
    fn idle(&self, context: &Context<'_>) {
        let _ = context;
    }

    /// A turn of a context begins (lane locked): `turn` counts from 1.
    fn turn(&self, context: &Context<'_>, turn: u64) {
        let _ = (context, turn);
    }

    /// A task is being submitted, and has no number yet but the one it will have.
    ///
    /// # Errors
    /// What the submit answers; the task stays the program's.
    fn admit(&self, task: &Task<'_>) -> Result<(), Code> {
        let _ = task;
        Ok(())
    }

    /// A submit was refused, by an instrument or by the engine.
    fn refused(&self, task: &Task<'_>, code: Code) {
        let _ = (task, code);
    }

    /// A submit was accepted; nobody has begun it.
    fn submitted(&self, task: &Task<'_>) {
        let _ = task;
    }

    /// May it begin (lane locked)? `waited`: turns since it was found in the queue, from 0.
    fn may_begin(&self, task: &Task<'_>, waited: u64) -> Begin {
        let _ = (task, waited);
        Begin::Now
    }

    /// It begins (lane locked).
    fn begun(&self, task: &Task<'_>) {
        let _ = task;
    }

    /// Engines that compute, small tasks: it was carried out, on the thread that began it (lane locked). Of several that
    /// are carried out together, the one begun last is told of first. It ends later.
    fn worked(&self, task: &Task<'_>) {
        let _ = task;
    }

    /// Engines that compute, large tasks: a part of it begins on this thread, or is `over`. Any number of times between
    /// begun and ended, on several threads at once.
    fn part(&self, task: &Task<'_>, over: bool) {
        let _ = (task, over);
    }

    /// The engine is through with it: may that be reported (lane locked)? `waited`: turns since then, from 0.
    fn may_end(&self, task: &Task<'_>, waited: u64, result: Result<u64, Code>) -> End {
        let _ = (task, waited);
        End::Now(result)
    }

    /// It is through, and may be reported from now on (lane locked). With success: what the engine reports, bytes mostly.
    fn ended(&self, task: &Task<'_>, result: Result<u64, Code>) {
        let _ = (task, result);
    }

    /// Its callback or handler is about to be called, on the progressing thread. Not told of futures, which are woken, nor
    /// of steps of a graph.
    fn delivered(&self, task: &Task<'_>) {
        let _ = task;
    }

    /// The callback or handler returned. The task may be flying again, or gone: look at nothing but its numbers.
    fn returned(&self, task: &Task<'_>) {
        let _ = task;
    }

    /// May the program be told of what peers did? Asked when there may be something, before it is looked for.
    fn may_tell(&self, context: &Context<'_>) -> bool {
        let _ = context;
        true
    }

    /// A task is to be taken from the pool of its kind (C).
    ///
    /// # Errors
    /// What the allocation answers.
    fn may_allocate(&self, context: &Context<'_>, kind: usize) -> Result<(), Code> {
        let _ = (context, kind);
        Ok(())
    }

    /// Does it ever refuse an allocation ([`Instrument::may_allocate`])? Asked when a context starts.
    fn allocates(&self) -> bool {
        false
    }

    /// May tasks pass each other where the contract promises no order? Without, those of an engine that computes are
    /// reported in the order of submission.
    fn reorders(&self) -> bool {
        false
    }
}

static INSTALLED: RwLock<Vec<Arc<dyn Instrument>>> = RwLock::new(Vec::new());

/// Installs an instrument, behind those there are, for contexts that start from now on. The first one is asked first; what
/// it lets through goes to the next.
pub fn install(instrument: Arc<dyn Instrument>) {
    INSTALLED.write().unwrap_or_else(PoisonError::into_inner).push(instrument);
}

/// Takes an instrument away again; contexts that run keep it.
pub fn remove(instrument: &Arc<dyn Instrument>) {
    INSTALLED.write().unwrap_or_else(PoisonError::into_inner).retain(|i| !Arc::ptr_eq(i, instrument));
}

/// Those installed now.
pub(crate) fn installed() -> Box<[Arc<dyn Instrument>]> {
    INSTALLED.read().unwrap_or_else(PoisonError::into_inner).clone().into_boxed_slice()
}
