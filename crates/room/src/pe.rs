//! The progress engine: which contexts to visit, and the descriptor to sleep on.
//!
//! Contexts with work form a ring; those that had none for a while leave it, so an empty progress looks at nothing and a
//! thousand idle contexts cost nothing. A submit brings its context back.

use crate::board::Board;
use crate::context::{Core, State, active};
use crate::ending::{bury, membership};
use crate::handle::{core_ref, own32};
use crate::streak::Streak;
use crate::sync::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering, heavy_barrier};
use softdpu_memory::handle::Head;
use softdpu_status::{Code, Error, Result};
use std::sync::Mutex;

pub use crate::signal::Signal;

/// A progress engine. Belongs to one thread at a time; only [`Signal`] and the inbox are for others.
#[derive(Debug)]
#[repr(C)]
pub struct Pe {
    head: Head,
    /// Callbacks on the stack.
    pub(crate) depth: AtomicU32,
    /// The context visited last; the ring goes on behind it.
    pub(crate) cursor: AtomicPtr<Core>,
    pub(crate) count: AtomicU32,
    /// Who reported last.
    pub(crate) streak: Streak,
    inbox: AtomicPtr<Core>,
    mode: AtomicU8,
    /// Calls of progress, for hints about engines nobody progresses.
    pub(crate) calls: AtomicU64,
    pub(crate) signal: Signal,
    board: &'static dyn Board,
    connected: Mutex<Vec<&'static Core>>,
}

impl Pe {
    /// An engine nothing is connected to.
    ///
    /// # Errors
    /// NoMemory, OperatingSystem (no event descriptor).
    pub fn create(board: &'static dyn Board) -> Result<&'static Pe> {
        crate::handle::make_pe(Pe {
            head: Head::unborn(),
            depth: AtomicU32::new(0),
            cursor: AtomicPtr::new(core::ptr::null_mut()),
            count: AtomicU32::new(0),
            streak: Streak::new(),
            inbox: AtomicPtr::new(core::ptr::null_mut()),
            mode: AtomicU8::new(0),
            calls: AtomicU64::new(0),
            signal: Signal::new()?,
            board,
            connected: Mutex::new(Vec::new()),
        })
    }

    /// Ends the engine.
    ///
    /// # Errors
    /// InUse while contexts are connected; nothing changes then.
    pub fn destroy(&'static self) -> Result<()> {
        let connected = self.connected().len();
        if connected > 0 || self.depth.load(Ordering::Relaxed) > 0 {
            log::error!(target: "softdpu::pe",
                "progress engine {self:p}: {connected} contexts are still connected; destroy them first");
            return Err(Error::new(Code::InUse, "contexts are connected"));
        }
        crate::handle::retire_pe(self);
        Ok(())
    }

    /// The engine behind a handle that was found alive; engines live in type-stable memory.
    #[inline(always)]
    pub fn as_static(&self) -> &'static Pe {
        crate::handle::forever_pe(self)
    }

    /// The contexts connected to it.
    pub fn connected(&self) -> std::sync::MutexGuard<'_, Vec<&'static Core>> {
        self.connected.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The board its contexts run on.
    pub fn board(&self) -> &'static dyn Board {
        self.board
    }

    /// The descriptor to sleep on.
    pub fn signal(&self) -> &Signal {
        &self.signal
    }

    /// For onlookers on other threads: calls of progress, modulo 2^32.
    pub(crate) fn call_count(&self) -> u32 {
        self.calls.load(Ordering::Relaxed) as u32
    }

    /// Is a callback of this engine on the stack?
    #[inline(always)]
    pub fn is_in_callback(&self) -> bool {
        self.depth.load(Ordering::Relaxed) != 0
    }

    /// As [`Pe::is_in_callback`], for the thread it belongs to.
    #[inline(always)]
    pub(crate) fn is_in_callback_here(&self) -> bool {
        own32(&self.depth) != 0
    }

    /// Progress was called inside progress, and does nothing.
    #[cold]
    #[inline(never)]
    pub(crate) fn nested(&self) -> bool {
        log::debug!(target: "softdpu::pe", "progress engine {self:p}: progress called from one of its callbacks");
        false
    }

    /// Selective (0) or all (1): how events are asked for. Both progress alike here.
    pub fn set_mode(&self, mode: u8) {
        self.mode.store(mode, Ordering::Relaxed);
    }

    /// Tasks in flight over all contexts; those of helpers are no business of the program.
    pub fn in_flight(&self) -> usize {
        self.connected().iter().filter(|c| !c.info().tasks.is_empty()).map(|c| c.in_flight() as usize).sum()
    }

    /// Puts a context into the ring, to be visited last. Owner thread.
    pub(crate) fn link(&self, core: &'static Core) {
        let raw = core::ptr::from_ref(core).cast_mut();
        core.idle_visits.store(0, Ordering::Relaxed);
        match core_ref(self.cursor.load(Ordering::Relaxed)) {
            None => {
                core.next.store(raw, Ordering::Relaxed);
                self.cursor.store(raw, Ordering::Relaxed);
            }
            Some(cursor) => {
                core.next.store(cursor.next.load(Ordering::Relaxed), Ordering::Relaxed);
                cursor.next.store(raw, Ordering::Relaxed);
                self.cursor.store(raw, Ordering::Relaxed);
            }
        }
        self.count.store(self.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Takes `core`, which follows `prev`, out of the ring. Owner thread.
    pub(crate) fn unlink_after(&self, prev: &'static Core, core: &'static Core) {
        self.streak.end();
        if core::ptr::eq(prev, core) {
            self.cursor.store(core::ptr::null_mut(), Ordering::Relaxed);
        } else {
            prev.next.store(core.next.load(Ordering::Relaxed), Ordering::Relaxed);
            if core::ptr::eq(self.cursor.load(Ordering::Relaxed), core) {
                self.cursor.store(core::ptr::from_ref(prev).cast_mut(), Ordering::Relaxed);
            }
        }
        self.count.store(self.count.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    /// Takes a context out of the ring, wherever it is. Owner thread.
    pub(crate) fn unlink(&self, core: &'static Core) {
        self.adopt();
        let Some(start) = core_ref(self.cursor.load(Ordering::Relaxed)) else { return };
        let mut prev = start;
        while let Some(at) = core_ref(prev.next.load(Ordering::Relaxed)) {
            if core::ptr::eq(at, core) {
                self.unlink_after(prev, at);
                break;
            }
            if core::ptr::eq(at, start) {
                break;
            }
            prev = at;
        }
        core.active.store(0, Ordering::Relaxed);
    }

    /// Another thread asks for a visit.
    pub(crate) fn invite(&self, core: &'static Core) {
        let raw = core::ptr::from_ref(core).cast_mut();
        let mut top = self.inbox.load(Ordering::Relaxed);
        loop {
            core.next.store(top, Ordering::Relaxed);
            match self.inbox.compare_exchange_weak(top, raw, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Takes the invited ones into the ring. Owner thread.
    #[inline(always)]
    pub(crate) fn adopt(&self) {
        if !self.inbox.load(Ordering::Relaxed).is_null() {
            self.adopt_all();
        }
    }

    #[cold]
    fn adopt_all(&self) {
        let mut at = self.inbox.swap(core::ptr::null_mut(), Ordering::AcqRel);
        while let Some(core) = core_ref(at) {
            at = core.next.load(Ordering::Relaxed);
            self.link(core);
        }
    }

    /// A context that had nothing to do for a while leaves the ring, unless something came at this very moment. True: it
    /// left, and may be gone for good.
    #[cold]
    #[inline(never)]
    pub(crate) fn rest(&self, prev: &'static Core, core: &'static Core) -> bool {
        if core.is_local() {
            core.active.store(0, Ordering::Relaxed);
            self.unlink_after(prev, core);
            return true;
        }
        // Whoever finds it inactive meanwhile waits for the membership, and so until it is out of the ring.
        let guard = membership();
        if !self.is_quiet(core, false) {
            core.idle_visits.store(0, Ordering::Relaxed);
            return false;
        }
        self.unlink_after(prev, core);
        bury(core, guard);
        true
    }

    /// Marks a context inactive unless something came meanwhile: another thread publishes a task or a stop, then looks at
    /// `active`, with plain accesses. For who has the membership.
    pub(crate) fn is_quiet(&self, core: &'static Core, stopping: bool) -> bool {
        core.active.store(0, Ordering::Relaxed);
        heavy_barrier();
        let quiet = core.in_flight() == 0 && (core.state() == State::Stopping) == stopping;
        if !quiet {
            core.active.store(active(), Ordering::Relaxed);
        }
        quiet
    }

    /// Asks for a signal when there is something to progress. True when there is something already (the descriptor is
    /// readable then, too).
    pub fn arm(&self) -> bool {
        let pending = self.arm_quietly();
        if pending {
            self.signal.raise();
        }
        pending
    }

    /// As [`Pe::arm`], for who sleeps here: the descriptor says nothing of what is there already.
    pub(crate) fn arm_quietly(&self) -> bool {
        self.signal.clean();
        self.adopt();
        self.rest_all();
        self.signal.arm();
        self.has_work()
    }

    /// Who slept here is awake. If it `rang`, the descriptor becomes unreadable.
    pub(crate) fn awake(&self, rang: bool) {
        self.signal.awake(rang);
    }

    /// No more signals; the descriptor becomes unreadable.
    pub fn disarm(&self) {
        self.signal.disarm();
        self.signal.drain();
    }

    /// Empty contexts leave the ring, so that a submit to one of them signals a sleeper.
    fn rest_all(&self) {
        let count = self.count.load(Ordering::Relaxed);
        let Some(mut prev) = core_ref(self.cursor.load(Ordering::Relaxed)) else { return };
        for _ in 0..count {
            let Some(core) = core_ref(prev.next.load(Ordering::Relaxed)) else { return };
            let calm = matches!(core.state(), State::Running | State::Idle)
                && core.in_flight() == 0
                && core.may_rest();
            if calm && self.rest(prev, core) {
                continue;
            }
            prev = core;
        }
    }

    /// Would a progress call find something to do or report?
    fn has_work(&self) -> bool {
        if !self.inbox.load(Ordering::Acquire).is_null() {
            return true;
        }
        let count = self.count.load(Ordering::Relaxed);
        let mut at = core_ref(self.cursor.load(Ordering::Relaxed));
        for _ in 0..count {
            let Some(core) = at else { return false };
            if core.needs_progress() {
                return true;
            }
            at = core_ref(core.next.load(Ordering::Relaxed));
        }
        false
    }
}

/// Leaves the callback even when it unwinds.
pub(crate) struct Leave(pub(crate) &'static Pe);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.leave();
    }
}
