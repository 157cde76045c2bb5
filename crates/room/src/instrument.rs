//! Instruments: what looks on while tasks fly, and what meddles with them. Traces, metrics and probes are [`Observer`]s,
//! faults and schedules are [`Decider`]s.
//!
//! A context that starts while there are observers alone is watched (`watch.rs`): its tasks go their short ways, and every
//! step is told. One that starts while there is a decider has a gate around its engine (`gate.rs`), through which every
//! task goes: nothing takes a short way there. Contexts that start while none is installed know nothing of all this, and
//! spend no instruction on it.

use crate::context::Core;
use crate::engine::{EngineInfo, Work as _};
use crate::gate::Gate;
use crate::slot::Slot;
use crate::touch::Tell;
use core::fmt::Debug;
use softdpu_status::Code;
use std::sync::{Arc, PoisonError, RwLock};

/// The setting of a context that says that its program asked for completions in the order of submission (C).
pub const ORDERED: u32 = u32::MAX;

/// A context that instruments know of.
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

    /// Are submit and progress one thread at a time (C)?
    pub fn is_local(&self) -> bool {
        self.core.is_local()
    }

    /// Do its tasks go their short ways, carried out by threads of this process? (Not those behind a gate.)
    pub fn computes(&self) -> bool {
        !self.core.work().unordered()
    }

    /// The context itself; C programs have its address as their handle.
    pub fn core(&self) -> &Core {
        self.core
    }
}

/// Which task: what observers are told. Context and number together say it for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskId {
    /// Number of its context, from 1.
    pub context: u32,
    /// Which of its engine's task kinds; [`TaskId::NO_KIND`] where the engine does not say (some, in Rust).
    pub kind: u8,
    /// Its number in the context, in the order of submission, from 1; not reset when the context starts anew. Of a task
    /// that is refused, the number it would have had.
    pub number: u64,
    /// Its address; C programs have it as their handle. Not for ever the same task.
    pub address: usize,
}

impl TaskId {
    /// The kind is not known.
    pub const NO_KIND: u8 = u8::MAX;

    /// A draw of 0 to 15 that depends on the number alone: for observers that look closely at some of many tasks.
    #[inline(always)]
    #[must_use]
    pub fn draw(&self) -> u64 {
        // Neighbours differ, and no period of a program is one of this.
        self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60
    }
}

/// Looks on. Every method has a default that does nothing.
///
/// Per task, in this order: submitted, what carries it out, ended, and delivered and returned where a callback or handler is
/// called (not for futures, which are woken, nor for steps of a graph). What carries it out is begun and worked (small
/// tasks), begun alone (engines with peers), or parts (large tasks). Several of these in one are told in one call by
/// [`Observer::carried_out`], [`Observer::landed`] and [`Observer::at_once`], which tell them one by one unless an observer
/// does better.
///
/// # Threads
/// Methods run on whatever thread submits or progresses, or on a worker, and mostly with the lane of the context locked:
/// they must be short, must not call the library, and must not panic.
pub trait Observer: Debug + Send + Sync {
    /// A context starts. Everything that is told of it later comes after this.
    fn started(&self, context: &Context<'_>) {
        let _ = context;
    }

    /// A context is idle.
    fn idle(&self, context: &Context<'_>) {
        let _ = context;
    }

    /// A submit was refused, by a decider or by the engine.
    fn refused(&self, task: &TaskId, code: Code) {
        let _ = (task, code);
    }

    /// A submit was accepted; nobody has begun it.
    fn submitted(&self, task: &TaskId) {
        let _ = task;
    }

    /// It begins on this thread. Engines with peers: it is handed to the engine.
    fn begun(&self, task: &TaskId) {
        let _ = task;
    }

    /// Engines that compute, small tasks: it was carried out, on the thread that began it. Of several that are carried out
    /// together, the one begun last is told of first. It may have landed on another thread meanwhile.
    fn worked(&self, task: &TaskId) {
        let _ = task;
    }

    /// Begun and worked in one: from `since` on, by the cycle counter, until now; 0: for less time than it takes to look at
    /// the counter.
    fn carried_out(&self, task: &TaskId, since: u64) {
        let _ = since;
        self.begun(task);
        self.worked(task);
    }

    /// Engines that compute, large tasks: a part of it begins on this thread, or is `over`. Any number of times, on several
    /// threads at once.
    fn part(&self, task: &TaskId, over: bool) {
        let _ = (task, over);
    }

    /// It is through, and is reported to the program next, or can be. With success: what the engine reports, bytes mostly.
    /// Will its callback or handler be `called`?
    fn ended(&self, task: &TaskId, result: Result<u64, Code>, called: bool) {
        let _ = (task, result, called);
    }

    /// Its callback or handler is about to be called, on the progressing thread.
    fn delivered(&self, task: &TaskId) {
        let _ = task;
    }

    /// Ended, and delivered if somebody is `called`, in one.
    fn landed(&self, task: &TaskId, result: Result<u64, Code>, called: bool) {
        self.ended(task, result, called);
        if called {
            self.delivered(task);
        }
    }

    /// Carried out and landed in one, with success, and somebody is called.
    fn at_once(&self, task: &TaskId, since: u64, value: u64) {
        self.carried_out(task, since);
        self.landed(task, Ok(value), true);
    }

    /// It has ended, and nobody learns how it went: its callback was to be called, but the program has freed it since (C), or
    /// its future was dropped while it flew, and its context runs (Rust).
    fn forgotten(&self, task: &TaskId) {
        let _ = task;
    }

    /// The callback or handler returned. The task may be flying again, or gone.
    fn returned(&self, task: &TaskId) {
        let _ = task;
    }

    /// Is it to be told that callbacks returned? Asked when a context starts.
    fn wants_returns(&self) -> bool {
        true
    }
}

/// A task behind a gate, for the length of a call.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    pub(crate) gate: &'a Gate,
    pub(crate) slot: &'a Slot,
    pub(crate) id: TaskId,
}

impl<'a> Task<'a> {
    /// The context it flies in.
    pub fn context(&self) -> Context<'a> {
        self.gate.context()
    }

    /// See [`TaskId::number`].
    pub fn number(&self) -> u64 {
        self.id.number
    }

    /// Which of the engine's task kinds, by number and name; `None` where the engine does not say (some, in Rust).
    pub fn kind(&self) -> Option<(usize, &'static str)> {
        let kind = usize::from(self.id.kind);
        Some((kind, self.context().engine().tasks.get(kind)?))
    }

    /// Tells what memory and which peers it is about. Inside [`Decider::admit`] and [`Decider::submitted`].
    pub fn touches(&self, tell: Tell<'_>) {
        self.gate.touches(self.slot, tell);
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

/// Meddles: is asked at every step of a task. Every method has a default that changes nothing. Of several, the first one
/// installed is asked first; what it lets through goes to the next.
///
/// # Threads
/// As for [`Observer`].
pub trait Decider: Debug + Send + Sync {
    /// A task is being submitted, and has no number yet but the one it will have.
    ///
    /// # Errors
    /// What the submit answers; the task stays the program's.
    fn admit(&self, task: &Task<'_>) -> Result<(), Code> {
        let _ = task;
        Ok(())
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

    /// The engine is through with it: may that be reported (lane locked)? `waited`: turns since then, from 0.
    fn may_end(&self, task: &Task<'_>, waited: u64, result: Result<u64, Code>) -> End {
        let _ = (task, waited);
        End::Now(result)
    }

    /// May the program be told of what peers did? Asked when there may be something, before it is looked for.
    fn may_tell(&self, context: &Context<'_>) -> bool {
        let _ = context;
        true
    }

    /// Is the link of the context's device down, so that what arrives over it is lost? Asked when the context is visited.
    fn is_cut(&self, context: &Context<'_>) -> bool {
        let _ = context;
        false
    }

    /// A task is to be taken from the pool of its kind (C).
    ///
    /// # Errors
    /// What the allocation answers.
    fn may_allocate(&self, context: &Context<'_>, kind: usize) -> Result<(), Code> {
        let _ = (context, kind);
        Ok(())
    }

    /// Does it ever refuse an allocation ([`Decider::may_allocate`])? Asked when a context starts.
    fn allocates(&self) -> bool {
        false
    }

    /// May tasks pass each other where the contract promises no order? Without, those of an engine that computes are
    /// reported in the order of submission.
    fn reorders(&self) -> bool {
        false
    }
}

/// Those there are, in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) deciders: Vec<Arc<dyn Decider>>,
}

static INSTALLED: RwLock<Installed> = RwLock::new(Installed { observers: Vec::new(), deciders: Vec::new() });

/// Has an observer look at contexts that start from now on.
pub fn observe(observer: Arc<dyn Observer>) {
    INSTALLED.write().unwrap_or_else(PoisonError::into_inner).observers.push(observer);
}

/// Has a decider asked for contexts that start from now on.
pub fn decide(decider: Arc<dyn Decider>) {
    INSTALLED.write().unwrap_or_else(PoisonError::into_inner).deciders.push(decider);
}

/// Are contexts that start from now on looked at, or decided upon?
pub fn is_any_installed() -> bool {
    let installed = INSTALLED.read().unwrap_or_else(PoisonError::into_inner);
    !installed.observers.is_empty() || !installed.deciders.is_empty()
}

/// Those installed now.
pub(crate) fn installed() -> Installed {
    INSTALLED.read().unwrap_or_else(PoisonError::into_inner).clone()
}
