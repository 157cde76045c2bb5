//! A context: an engine on a device, its tasks, its lane and its state. One type for all engines and both faces; C
//! programs hold it as their context handle.
//!
//! Threads: submitting belongs to one thread at a time, landing to the thread that progresses the engine it is connected
//! to; in C both are one thread at a time. Workers touch the lane only.

use crate::bench::{Bench, LanePair};
use crate::board::{Bell, Board};
use crate::calls::Calls;
use crate::engine::{EngineInfo, Work};
use crate::flight;
use crate::handle::own8;
use crate::lane::Lane;
use crate::pe::Pe;
use crate::slot::Slot;
use crate::sync::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use crate::wish::Wishes;
use softdpu_memory::device::Device;
use softdpu_memory::handle::{Head, kind};
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex};

/// Where a context is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// May be configured and started.
    Idle = 0,
    /// Started, runs once progress says so.
    Starting = 1,
    /// Takes tasks.
    Running = 2,
    /// Gives back what it has, then becomes idle.
    Stopping = 3,
}

impl State {
    fn from(n: u8) -> State {
        [State::Idle, State::Starting, State::Running, State::Stopping][usize::from(n & 3)]
    }
}

const RUNNING: u8 = State::Running as u8;

/// In the ring of its progress engine: a submit has nothing to tell.
pub(crate) const ACTIVE: u8 = 1;
/// The same where submits have no barrier: they look behind a full one every time.
pub(crate) const WATCHED: u8 = 2;

/// What stands in `active` for a context in the ring of its engine.
pub(crate) fn active() -> u8 {
    if crate::sync::is_asymmetric() { ACTIVE } else { WATCHED }
}

/// A context.
#[derive(Debug)]
#[repr(C)]
pub struct Core {
    // First line: what every submit and visit looks at.
    head: Head,
    state: AtomicU8,
    /// In the list its progress engine visits (or on the way there).
    pub(crate) active: AtomicU8,
    /// Running and ordered, in one byte.
    express: AtomicU8,
    /// Submit and progress are one thread at a time (C).
    local: bool,
    pub(crate) user: AtomicU64,
    pub(crate) next: AtomicPtr<Core>,
    bell: &'static Bell,
    work: WorkCell,
    pub(crate) pe: AtomicPtr<Pe>,
    lanes: Lanes,
    fatal: bool,
    /// The Rust handle is gone.
    pub(crate) abandoned: AtomicU8,
    pub(crate) buried: AtomicU8,
    /// C: tasks may be through once they are admitted.
    pub(crate) settles: AtomicU8,
    /// Running, and no instrument is asked before a task is allocated, in one byte.
    pub(crate) open: AtomicU8,
    /// For instruments: its number, 0 while it has none, and the tasks it accepted.
    pub(crate) number: AtomicU32,
    pub(crate) submitted: AtomicU64,
    /// What its engine asks of progress.
    pub(crate) wishes: Wishes,
    /// Visits in a row that found nothing.
    pub(crate) idle_visits: AtomicU32,
    /// C: tasks allocated and not freed.
    pub(crate) held: AtomicU32,
    /// How many progress calls there had been when a worker looked the last time.
    pub(crate) seen: AtomicU32,
    /// Nobody called progress while a worker napped, nor since.
    pub(crate) alone: AtomicU8,
    pub(crate) calls: Calls,
    board: &'static dyn Board,
    info: &'static EngineInfo,
    device: Arc<Device>,
    /// Program-side settings of the engine (C), by engine-defined key.
    pub(crate) settings: Mutex<Vec<(u32, u64)>>,
    starter: Mutex<Option<Starter>>,
}

/// Makes the engine of a context from its settings (C).
pub type Starter = fn(&'static Core) -> Result<crate::life::Equipment>;

/// Lanes are made at start and replaced only while idle; see `handle.rs` for the cell.
pub(crate) type Lanes = crate::handle::IdleCell<LanePair>;
pub(crate) type WorkCell = crate::handle::IdleCell<Box<dyn Work>>;

impl Core {
    /// An idle context that is connected to nothing.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn new(
        info: &'static EngineInfo,
        device: Arc<Device>,
        board: &'static dyn Board,
        local: bool,
    ) -> Result<Core> {
        Ok(Core {
            head: Head::unborn(),
            state: AtomicU8::new(State::Idle as u8),
            active: AtomicU8::new(0),
            local,
            express: AtomicU8::new(0),
            fatal: info.fatal,
            abandoned: AtomicU8::new(0),
            user: AtomicU64::new(0),
            calls: Calls::new(),
            pe: AtomicPtr::new(core::ptr::null_mut()),
            next: AtomicPtr::new(core::ptr::null_mut()),
            idle_visits: AtomicU32::new(0),
            held: AtomicU32::new(0),
            buried: AtomicU8::new(0),
            settles: AtomicU8::new(0),
            open: AtomicU8::new(0),
            number: AtomicU32::new(0),
            submitted: AtomicU64::new(0),
            wishes: Wishes::new(),
            seen: AtomicU32::new(0),
            alone: AtomicU8::new(0),
            lanes: Lanes::new(LanePair { main: Bench::new(Lane::new(1, false)?, Vec::new()), outbox: None }),
            work: WorkCell::new(Box::new(crate::handle::NoWork)),
            board,
            bell: board.bell(),
            info,
            device,
            settings: Mutex::new(Vec::new()),
            starter: Mutex::new(None),
        })
    }

    /// What the room knows of its engine.
    pub fn info(&self) -> &'static EngineInfo {
        self.info
    }

    /// Is it a context of this engine?
    #[inline]
    pub fn is_of(&self, engine: &EngineInfo) -> bool {
        core::ptr::eq(self.info, engine) || self.info.name == engine.name
    }

    /// The device it works on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The board that turns its lane.
    pub fn board(&self) -> &'static dyn Board {
        self.board
    }

    /// Where it is in its life.
    #[inline]
    pub fn state(&self) -> State {
        State::from(self.state.load(Ordering::Acquire))
    }

    #[inline(always)]
    pub(crate) fn is_running(&self) -> bool {
        self.state.load(Ordering::Relaxed) == RUNNING
    }

    /// As [`Core::is_running`], for the C face, where nobody else changes the state.
    #[inline(always)]
    pub(crate) fn is_running_here(&self) -> bool {
        own8(&self.state) == RUNNING
    }

    pub(crate) fn set_state(&self, state: State) {
        let express = state == State::Running && !self.lane().is_special();
        self.express.store(u8::from(express), Ordering::Relaxed);
        self.set_open(state == State::Running);
        self.state.store(state as u8, Ordering::Release);
    }

    /// Does it run, and report in order? Then progress may take the shortest way (C).
    #[inline(always)]
    pub(crate) fn is_express(&self) -> bool {
        own8(&self.express) != 0
    }

    /// STARTING to RUNNING, unless somebody asked for a stop meanwhile. Ordered engines never get here.
    pub(crate) fn begin_running(&self) -> bool {
        let (from, to) = (State::Starting as u8, RUNNING);
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// RUNNING (or STARTING) to STOPPING; true for whoever did it.
    pub(crate) fn leave_running(&self) -> bool {
        let to = State::Stopping as u8;
        [State::Running as u8, State::Starting as u8]
            .iter()
            .any(|&from| self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok())
    }

    #[inline(always)]
    pub(crate) fn is_local(&self) -> bool {
        self.local
    }

    #[inline(always)]
    pub(crate) fn is_fatal(&self) -> bool {
        self.fatal
    }

    /// Program's cookie.
    #[inline(always)]
    pub fn user_data(&self) -> u64 {
        self.user.load(Ordering::Relaxed)
    }

    /// Sets the program's cookie.
    pub fn set_user_data(&self, data: u64) {
        self.user.store(data, Ordering::Relaxed);
    }

    /// For `bench.rs`, which replaces them while idle.
    pub(crate) fn benches(&self) -> &Lanes {
        &self.lanes
    }

    /// As [`Core::benches`].
    pub(crate) fn work_cell(&self) -> &WorkCell {
        &self.work
    }

    #[inline(always)]
    pub(crate) fn lane(&self) -> &Lane {
        &self.lanes.get().main.lane
    }

    #[inline(always)]
    pub(crate) fn bench(&self) -> &Bench {
        &self.lanes.get().main
    }

    #[inline(always)]
    pub(crate) fn outbox(&self) -> Option<&Bench> {
        self.lanes.get().outbox.as_ref()
    }

    /// Both lanes.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = &Lane> {
        core::iter::once(self.lane()).chain(self.outbox().map(|b| &b.lane))
    }

    /// The engine; one that refuses everything until the context was started.
    #[inline(always)]
    pub(crate) fn work(&self) -> &dyn Work {
        self.work.get().as_ref()
    }

    /// Tasks submitted whose completion was not reported.
    pub fn in_flight(&self) -> u32 {
        self.lanes().map(Lane::in_flight).sum()
    }

    /// C: is there a task in flight (or freed in flight) of which `holds` is true? For objects that tasks refer to, before
    /// they go.
    pub fn any_in_flight(&self, holds: impl Fn(&Slot) -> bool) -> bool {
        let in_flight =
            |slot: &&Slot| matches!(slot.flight.state(), flight::FLYING | flight::HOOKED | flight::ORPHAN);
        self.bench().any(|slot| in_flight(&slot) && holds(slot))
    }

    /// The progress engine it is connected to.
    pub fn engine(&self) -> Option<&'static Pe> {
        crate::handle::pe_ref(self.pe.load(Ordering::Relaxed))
    }

    /// Puts a filled slot into a lane. The caller owns the slot and saw RUNNING.
    #[inline(always)]
    pub(crate) fn launch(&'static self, slot: &'static Slot, lane: &Lane) {
        slot.launch();
        lane.push(slot);
        if self.is_unnoticed() {
            self.nudge();
        }
    }

    /// Must somebody be told of a submit?
    #[inline(always)]
    pub(crate) fn is_unnoticed(&self) -> bool {
        // Publish first, then look: the other half is in `Pe::is_quiet` and `Bell::lie_down`.
        crate::sync::light_barrier();
        self.active.load(Ordering::Relaxed) != ACTIVE || self.bell.is_asleep()
    }

    /// Tells whoever must be told of a submit. Returns success, so that a C submit may end with it.
    #[cold]
    #[inline(never)]
    pub(crate) fn nudge(&'static self) -> i32 {
        if self.active.load(Ordering::Relaxed) != ACTIVE {
            self.activate();
        }
        self.ring_if_asleep();
        0
    }

    /// Workers that sleep are rung.
    pub(crate) fn ring_if_asleep(&self) {
        if self.bell.is_asleep() {
            self.bell.ring();
        }
    }

    /// Gets the progress engine to visit it.
    #[cold]
    #[inline(never)]
    pub(crate) fn activate(&'static self) {
        if self.local {
            let Some(pe) = self.engine() else { return };
            self.active.store(ACTIVE, Ordering::Relaxed);
            pe.link(self);
            if pe.signal.is_armed() {
                pe.signal.raise();
            }
            return;
        }
        crate::sync::fence(Ordering::SeqCst);
        if self.active.load(Ordering::Relaxed) == 0 {
            crate::ending::invite(self);
        }
    }

    /// Refuses unless the context is in `state`.
    ///
    /// # Errors
    /// BadState, with one log line.
    pub fn require(&self, state: State, call: &str) -> Result<()> {
        let now = self.state();
        if now == state {
            return Ok(());
        }
        log::error!(target: "softdpu::ctx", "{call}: {} context {self:p} is {now:?}, must be {state:?}", self.info.name);
        Err(Error::new(Code::BadState, "context is in another state"))
    }

    /// The context behind a handle that was found alive; contexts live in type-stable memory.
    #[inline(always)]
    pub fn as_static(&self) -> &'static Core {
        crate::handle::forever(self)
    }

    /// Sets an engine-defined setting (C).
    pub fn set(&self, key: u32, value: u64) {
        let mut settings = self.settings.lock().unwrap_or_else(|e| e.into_inner());
        match settings.iter_mut().find(|s| s.0 == key) {
            Some(setting) => setting.1 = value,
            None => settings.push((key, value)),
        }
    }

    /// An engine-defined setting (C).
    pub fn setting(&self, key: u32) -> Option<u64> {
        self.settings.lock().unwrap_or_else(|e| e.into_inner()).iter().find(|s| s.0 == key).map(|s| s.1)
    }

    /// What makes the engine at start (C); none until the mandatory configuration is there.
    pub fn set_starter(&self, starter: Starter) {
        *self.starter.lock().unwrap_or_else(|e| e.into_inner()) = Some(starter);
    }

    /// See [`Core::set_starter`].
    pub fn starter(&self) -> Option<Starter> {
        *self.starter.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Is the handle alive?
    #[inline(always)]
    pub fn is_live(&self) -> bool {
        self.head.is(kind::CTX)
    }
}
