//! What engines with peers ask of progress.
//!
//! The state of a context is progress's to change, so that it never changes behind the program's back; an engine, which
//! may be turned by a worker, leaves a wish that the next visit heeds. And what comes from peers wakes a sleeping
//! program through an [`Alarm`].

use crate::context::{Core, State};
use crate::lane::Lane;
use crate::pe::Pe;
use crate::sync::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// STARTING: it runs.
pub(crate) const RUN: u8 = 1;
/// STARTING: it cannot run.
pub(crate) const GIVE_UP: u8 = 2;
/// RUNNING: it must stop.
pub(crate) const STOP: u8 = 4;

/// What an engine asked for.
#[derive(Debug)]
pub(crate) struct Wishes {
    state: AtomicU8,
    hold: AtomicU8,
    alarmed: AtomicU8,
    /// Whose turn it is to be reported: completions or events.
    turn: AtomicU8,
    /// The engine has no events, until its next turn.
    silent: AtomicU8,
}

impl Wishes {
    pub(crate) const fn new() -> Wishes {
        Wishes {
            state: AtomicU8::new(0),
            hold: AtomicU8::new(0),
            alarmed: AtomicU8::new(0),
            turn: AtomicU8::new(0),
            silent: AtomicU8::new(0),
        }
    }
}

impl Core {
    /// Asks for another state.
    pub(crate) fn wish(&self, what: u8) {
        self.wishes.state.fetch_or(what, Ordering::AcqRel);
    }

    /// Does it ask for one?
    pub(crate) fn has_wishes(&self) -> bool {
        self.wishes.state.load(Ordering::Acquire) != 0
    }

    /// See [`crate::hardware::Port::hold`].
    pub(crate) fn hold(&self, on: bool) {
        self.wishes.hold.store(u8::from(on), Ordering::Release);
    }

    /// Has the engine something to finish, or the program something to give back, before the context may become idle?
    pub(crate) fn is_held_up(&self) -> bool {
        self.wishes.hold.load(Ordering::Acquire) != 0 || self.is_local() && self.work().is_owed()
    }

    /// See [`crate::hardware::Port::has_events`].
    pub(crate) fn silence(&self, on: bool) {
        self.wishes.silent.store(u8::from(on), Ordering::Release);
    }

    /// See [`crate::hardware::Port::rely_on_alarm`].
    pub(crate) fn rely_on_alarm(&self, on: bool) {
        self.wishes.alarmed.store(u8::from(on), Ordering::Relaxed);
    }

    /// Engines with peers or waits: must a worker look after the tasks?
    pub(crate) fn needs_turns(&self) -> bool {
        self.lanes().any(Lane::has_queued)
            || self.in_flight() != 0 && self.wishes.alarmed.load(Ordering::Relaxed) == 0
    }

    /// Engines with peers or waits: would a visit find something?
    pub(crate) fn needs_turn(&'static self) -> bool {
        self.wishes.state.load(Ordering::Acquire) != 0
            || self.lanes().any(|lane| lane.front().is_some() || lane.has_queued())
            || self.state() == State::Stopping && (self.in_flight() != 0 || self.may_idle())
            || self.work().is_pending(self)
    }

    /// May it leave the ring of its progress engine? What peers send is found by visits.
    pub(crate) fn may_rest(&self) -> bool {
        !self.lane().is_unordered()
    }

    /// After a submit or a stop, by whatever thread. Engines with peers never leave the ring, so that it brought nothing
    /// back: whoever sleeps is told here.
    #[inline(always)]
    pub(crate) fn rouse(&'static self) {
        if self.lane().is_unordered() {
            self.rouse_peers();
        }
    }

    #[inline(never)]
    fn rouse_peers(&'static self) {
        // Whoever arms has a barrier for both, where there is one that reaches here (`Signal::arm`).
        if crate::sync::is_asymmetric() {
            crate::sync::light_barrier();
        } else {
            crate::sync::fence(Ordering::SeqCst);
        }
        if self.engine().is_some_and(|pe| pe.signal.is_armed()) {
            self.work().rouse();
        }
    }

    /// For a fresh start.
    pub(crate) fn forget_wishes(&self) {
        self.wishes.state.store(0, Ordering::Relaxed);
        self.hold(false);
        self.rely_on_alarm(false);
        self.silence(false);
    }

    /// Events and completions take turns. Landing side.
    fn events_first(&self) -> bool {
        let turn = self.wishes.turn.load(Ordering::Relaxed) ^ 1;
        self.wishes.turn.store(turn, Ordering::Relaxed);
        turn != 0
    }
}

impl Pe {
    /// Does what the engine of a context asked for, and tells the program of at most one event. True when anything was
    /// reported. The context may be gone for good afterwards (C).
    pub(crate) fn heed(&'static self, core: &'static Core) -> bool {
        if core.wishes.state.load(Ordering::Acquire) != 0 && self.change(core) {
            return true;
        }
        if core.wishes.silent.load(Ordering::Acquire) != 0 {
            return false;
        }
        let told_of = matches!(core.state(), State::Running | State::Stopping);
        if !told_of || core.lane().front().is_some() && !core.events_first() {
            return false;
        }
        self.enter();
        let told = core.work().event(core);
        self.leave();
        if told && core.is_local() && !core.is_running() {
            self.settle(core);
        }
        told
    }

    #[cold]
    fn change(&'static self, core: &'static Core) -> bool {
        let wish = core.wishes.state.swap(0, Ordering::AcqRel);
        match core.state() {
            State::Starting if wish & RUN != 0 => {
                // A peer that is gone already is noticed by the next visit.
                core.wish(wish & STOP);
                if core.begin_running() {
                    core.set_open(true);
                    self.tell_state(core, State::Starting, State::Running);
                }
                true
            }
            State::Starting if wish != 0 => {
                core.hold(false);
                // With threads that may submit, the same visit makes it idle.
                if core.leave_running() && core.is_local() {
                    self.settle_from(core, State::Starting);
                }
                true
            }
            State::Running if wish & STOP != 0 => {
                if core.leave_running() {
                    core.set_open(false);
                    self.tell_state(core, State::Running, State::Stopping);
                }
                true
            }
            _ => false,
        }
    }

    pub(crate) fn tell_state(&'static self, core: &'static Core, from: State, to: State) {
        self.enter();
        core.call_state(from, to);
        self.leave();
    }
}

/// Wakes whoever sleeps on the progress engine of a context, from any thread, for as long as the context is not idle.
#[derive(Debug)]
pub struct Alarm {
    core: Mutex<Option<&'static Core>>,
}

impl Alarm {
    pub(crate) fn new() -> Arc<Alarm> {
        Arc::new(Alarm { core: Mutex::new(None) })
    }

    fn core(&self) -> MutexGuard<'_, Option<&'static Core>> {
        self.core.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub(crate) fn set(&self, core: &'static Core) {
        *self.core() = Some(core);
    }

    /// On return nobody wakes through it any more.
    pub(crate) fn end(&self) {
        *self.core() = None;
    }

    /// Something was published for the context: wake a sleeper. Not for the path of a task.
    pub fn ring(&self) {
        if let Some(pe) = self.core().and_then(Core::engine) {
            pe.signal.published();
        }
    }

    /// A peer waits while this program may make no progress: a worker looks after the context, as long as it has tasks
    /// in flight and until the engine relies on the alarm again.
    pub fn ask_for_turn(&self) {
        let core = *self.core();
        if let Some(core) = core {
            core.rely_on_alarm(false);
            core.ring_if_asleep();
        }
    }

    /// Runs `f` with the progress engine's signal, while the context is not idle.
    pub fn with_signal<R>(&self, f: impl FnOnce(&crate::pe::Signal) -> R) -> Option<R> {
        self.core().and_then(Core::engine).map(|pe| f(&pe.signal))
    }
}
