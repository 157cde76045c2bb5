//! Tasks of the C face whose completion goes to the library itself: steps of a graph.
//!
//! They fly as any other task; that they are HOOKED takes them off the shortest way of progress, which costs the others
//! nothing. Whoever hooks a task may also need to be called without one: a [helper](Core::helper) is a context of no
//! engine with a task for that.
#![expect(unsafe_code, reason = "the hook is kept as an address")]

use crate::context::{Core, State};
use crate::engine::EngineInfo;
use crate::flight;
use crate::pe::Pe;
use crate::progress::Visit;
use crate::slot::Slot;
use crate::sync::Ordering;
use softdpu_memory::device::Device;
use softdpu_status::{Code, Result};
use std::sync::Arc;

/// Is told that a task is back, which belongs to the program again: inside progress, with nothing borrowed or locked. True
/// when it told the program of something, which ends the call of progress.
pub type Hook = fn(&'static Slot, u64) -> bool;

impl Core {
    /// As [`Core::submit`]; `hook` is told of the completion with `data`, no callback is called.
    pub fn submit_hooked(&'static self, slot: &'static Slot, hook: Hook, data: u64) -> i32 {
        if !self.is_running_here() || !slot.flight.is_here(flight::HELD) {
            return self.refusal(slot);
        }
        if let Err(code) = self.work().admit(slot) {
            return code.number();
        }
        slot.next_free.store(hook as *mut Slot, Ordering::Relaxed);
        slot.hook_data.store(data, Ordering::Relaxed);
        slot.launch();
        slot.flight.set(flight::HOOKED);
        self.lane().push(slot);
        if self.is_unnoticed() {
            return self.nudge();
        }
        0
    }

    /// A context of no engine, for the library's own steps on the progress engine of others; `info` names it, and no tasks.
    ///
    /// # Errors
    /// NoMemory.
    pub fn helper(info: &'static EngineInfo, device: Arc<Device>, pe: &'static Pe) -> Result<&'static Core> {
        let core = crate::handle::make_core(Core::new(info, device, pe.board(), true)?)?;
        core.connect(pe).inspect_err(|_| crate::handle::retire_core(core))?;
        Ok(core)
    }

    /// Takes back what flies of a helper, whose tasks take no time: they belong to the caller again, and nobody is told.
    pub fn recall(&'static self) {
        let lane = self.lane();
        while lane.in_flight() != 0 {
            // A worker may be at it.
            if lane.lock().enter() {
                while let Some(slot) = lane.next() {
                    slot.finish(Err(Code::IoFailed));
                }
                lane.lock().leave();
            }
            while let Some(slot) = lane.front().filter(|slot| slot.is_ready()) {
                lane.pop_front();
                slot.flight.set(flight::HELD);
            }
        }
    }
}

impl Core {
    /// The end of a helper that has nothing in flight, also inside callbacks of others. Its hook is not on the stack.
    ///
    /// # Errors
    /// InUse, when something does fly.
    pub fn dissolve(&'static self) -> Result<()> {
        self.set_state(State::Stopping);
        if let Some(pe) = self.engine() {
            pe.settle(self);
        }
        self.destroy()
    }
}

impl Slot {
    /// Is it allocated, and not in flight?
    pub fn is_held(&self) -> bool {
        self.flight.is_here(flight::HELD)
    }
}

impl Pe {
    /// A task is back that no callback is called for: a hooked one, or one that was freed in flight.
    #[cold]
    #[inline(never)]
    pub(crate) fn hand_over(&'static self, core: &'static Core, slot: &'static Slot) -> Visit {
        if slot.flight.is_here(flight::ORPHAN) {
            core.tell_forgotten(slot);
            core.recycle(slot);
            return if self.settle(core) { Visit::Reported } else { Visit::Worked };
        }
        let stopped = slot.status() != 0 && core.is_fatal() && core.is_running();
        if stopped {
            self.fail(core, slot);
        }
        slot.flight.set(flight::HELD);
        let data = slot.hook_data.load(Ordering::Relaxed);
        // SAFETY: a hooked slot has the hook that `submit_hooked` stored.
        let hook = unsafe { core::mem::transmute::<*mut Slot, Hook>(slot.next_free.load(Ordering::Relaxed)) };
        self.enter();
        let told = hook(slot, data);
        self.leave();
        let idle = !core.is_running() && self.settle(core);
        match stopped || told || idle {
            true => Visit::Reported,
            // A helper that comes by again and again must not keep the others from working. It stays in the ring for now:
            // the hook may have ended other helpers, the one before it among them.
            false if core.info().tasks.is_empty() => {
                core.idle_visits.store(0, Ordering::Relaxed);
                Visit::Nothing
            }
            false => Visit::Worked,
        }
    }
}
