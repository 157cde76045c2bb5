//! The life of a context: create, connect, start, stop, destroy.

use crate::board::Board;
use crate::context::{Core, State};
use crate::engine::{EngineInfo, Work};
use crate::hardware::Begun;
use crate::pe::Pe;
use crate::sync::Ordering;
use softdpu_memory::device::Device;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// What a start needs: the engine, and how many tasks of which kind.
pub type Equipment = (Box<dyn Work>, Vec<(u8, u32)>);

impl Core {
    /// A context for the C face: idle, connected to nothing.
    ///
    /// # Errors
    /// NotSupported when the device lacks the engine; NoMemory.
    pub fn create(
        info: &'static EngineInfo,
        device: Arc<Device>,
        board: &'static dyn Board,
    ) -> Result<&'static Core> {
        Self::make(info, device, board, true)
    }

    pub(crate) fn make(
        info: &'static EngineInfo,
        device: Arc<Device>,
        board: &'static dyn Board,
        local: bool,
    ) -> Result<&'static Core> {
        crate::sync::init();
        let function = device.function();
        if !function.supports(info.kind) {
            log::error!(target: "softdpu::ctx", "device {} has no {} engine (profile {})",
                function.pci(), info.name, function.card().profile());
            return Err(Error::new(Code::NotSupported, "the device lacks this engine"));
        }
        crate::handle::make_core(Core::new(info, device, board, local)?)
    }

    /// Connects to a progress engine, once.
    ///
    /// # Errors
    /// BadState unless idle, NotPermitted when connected already, NoMemory.
    pub fn connect(&'static self, pe: &'static Pe) -> Result<()> {
        self.require(State::Idle, "connect")?;
        if self.engine().is_some() {
            log::error!(target: "softdpu::ctx", "{} context {self:p} is connected to a progress engine already", self.info().name);
            return Err(Error::new(Code::NotPermitted, "connected already"));
        }
        let mut connected = pe.connected();
        connected.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory"))?;
        connected.push(self);
        self.pe.store(core::ptr::from_ref(pe).cast_mut(), Ordering::Relaxed);
        Ok(())
    }

    /// Starts an idle, connected context. `Ok(true)`: it runs. `Ok(false)`: it is starting; progress makes it run, or idle
    /// again. `equip` makes the engine and says how many tasks it takes.
    ///
    /// # Errors
    /// BadState, NotConnected, NoMemory, and what `equip` and the engine answer.
    pub fn start(&'static self, equip: impl FnOnce() -> Result<Equipment>) -> Result<bool> {
        self.require(State::Idle, "start")?;
        let Some(pe) = self.engine() else {
            log::error!(target: "softdpu::ctx",
                "{} context {self:p}: start needs a progress engine; connect one first", self.info().name);
            return Err(Error::new(Code::NotConnected, "no progress engine is connected"));
        };
        let (work, pools) = equip()?;
        self.equip(crate::gate::equipped(work, self), &pools)?;
        self.forget_wishes();
        let begun = self.work().start(self)?;
        let state = if begun == Begun::Running { State::Running } else { State::Starting };
        self.set_state(state);
        self.board().attach(self);
        crate::report::started(self.board());
        if self.lane().is_unordered() {
            // What comes from peers is found by visits; it stays in the ring until it is idle.
            self.activate();
        }
        pe.tell_state(self, State::Idle, state);
        Ok(begun == Begun::Running)
    }

    /// Stops from any state. `Ok(true)`: idle now. `Ok(false)`: stopping; completes in progress.
    ///
    /// # Errors
    /// None today; kept for engines that must tell a peer.
    pub fn stop(&'static self) -> Result<bool> {
        let (State::Running | State::Starting, Some(pe)) = (self.state(), self.engine()) else {
            return Ok(self.state() == State::Idle);
        };
        let previous = self.state();
        let nested = pe.is_in_callback();
        self.set_state(State::Stopping);
        pe.tell_state(self, previous, State::Stopping);
        if !nested && pe.settle(self) {
            return Ok(true);
        }
        // Progress must visit it, even when nothing flies any more.
        if self.state() == State::Stopping && self.active.load(Ordering::Relaxed) == 0 {
            self.activate();
        }
        Ok(false)
    }

    /// Ends an idle context and disconnects it.
    ///
    /// # Errors
    /// InUse unless idle; nothing changes then.
    pub fn destroy(&'static self) -> Result<()> {
        if self.state() != State::Idle {
            log::error!(target: "softdpu::ctx",
                "{} context {self:p}: destroy while {:?} with {} tasks in flight and {} unfreed; stop it and progress until idle",
                self.info().name, self.state(), self.in_flight(), self.tasks_held());
            return Err(Error::new(Code::InUse, "the context is not idle"));
        }
        if let Some(pe) = self.engine() {
            pe.unlink(self);
            pe.connected().retain(|c| !core::ptr::eq(*c, self));
        }
        crate::handle::retire_core(self);
        Ok(())
    }

    /// Hands a task to the engine (C). The caller owns it. 0: accepted; otherwise the contract's number, and the caller
    /// still owns it.
    #[inline(always)]
    pub fn submit(&'static self, slot: &'static crate::slot::Slot) -> i32 {
        if !self.is_express() || !slot.flight.is_here(crate::flight::HELD) {
            return self.submit_slowly(slot);
        }
        slot.launch();
        self.lane().push(slot);
        if self.is_unnoticed() {
            return self.nudge();
        }
        0
    }

    /// As [`Core::submit`], after checking the task's parameters.
    #[inline(never)]
    pub fn try_submit(&'static self, slot: &'static crate::slot::Slot) -> i32 {
        if self.is_running_here()
            && slot.flight.is_here(crate::flight::HELD)
            && let Err(e) = self.work().check(slot)
        {
            return e.code().number();
        }
        self.submit(slot)
    }

    /// Engines with peers admit tasks one by one; the others come here only to be refused.
    #[cold]
    #[inline(never)]
    fn submit_slowly(&'static self, slot: &'static crate::slot::Slot) -> i32 {
        if !self.is_running_here() || !slot.flight.is_here(crate::flight::HELD) {
            return self.refusal(slot);
        }
        if let Err(code) = self.work().admit(slot) {
            return code.number();
        }
        let settled = self.settled(slot);
        slot.launch();
        self.lane().push(slot);
        if let Some(result) = settled {
            self.settle_task(slot, result);
        }
        if self.is_unnoticed() {
            return self.nudge();
        }
        0
    }

    /// Why a submit was refused: BAD_STATE, with one log line.
    #[cold]
    #[inline(never)]
    pub(crate) fn refusal(&self, slot: &crate::slot::Slot) -> i32 {
        let name = self.info().name;
        if !self.is_running() {
            log::error!(target: "softdpu::task", "{name} task {slot:p}: submit while its context {self:p} is {:?}, must be Running", self.state());
        } else {
            log::error!(target: "softdpu::task", "{name} task {slot:p}: submitted while in flight");
        }
        Code::BadState.number()
    }
}
