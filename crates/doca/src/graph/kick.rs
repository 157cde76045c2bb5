//! How a graph gets progress to come by when none of its tasks does: a task of the library's own, which does nothing but
//! complete.

use super::object::Graph;
use softdpu_card::{EngineKind, Function};
use softdpu_memory::device::Device;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::{Compute, Engine, EngineInfo, Work};
use softdpu_room::hook::Hook;
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::pe::Pe;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::convert::Infallible;
use std::sync::Arc;

/// Steps of graphs, as an engine.
#[derive(Debug)]
struct Steps;

impl Engine for Steps {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "graph", kind: EngineKind::Dma, tasks: &[], fatal: false };
    type Caps = ();
    type Config = ();
    type Job = ();
    type Event = Infallible;

    fn caps(_: &Function) -> Result<()> {
        Ok(())
    }

    fn build(_: &Arc<Device>, (): ()) -> Result<(Box<dyn Work>, u32)> {
        Err(Error::new(Code::NotSupported, "steps of graphs are the library's own"))
    }
}

impl Compute for Steps {
    type Engine = Steps;
    type Handlers = ();

    fn deliver((): &mut (), (): (), _: Result<u64>, _: &mut Outbox<'_, Steps>) -> Option<()> {
        None
    }

    fn check(&self, (): &()) -> Result<()> {
        Ok(())
    }

    fn run(&self, (): &mut ()) -> Result<u64> {
        Ok(0)
    }
}

/// The task, and the helper it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kick {
    core: &'static Core,
    slot: &'static Slot,
}

impl Kick {
    /// On a progress engine; `device` is any of the graph's.
    ///
    /// # Errors
    /// NoMemory.
    pub(super) fn new(pe: &'static Pe, device: Arc<Device>) -> Result<Kick> {
        let core = Core::helper(Steps::INFO, device, pe)?;
        let undone = |error: Error| {
            core.destroy().unwrap_or_else(stays);
            error
        };
        core.start(|| Ok((Computed::new(Steps, ()), vec![(0, 1)]))).map_err(undone)?;
        let slot = core.allocate(0, 0);
        Ok(Kick { core, slot: slot.ok_or(Error::new(Code::NoMemory, "no memory for a graph"))? })
    }

    /// Progress comes by, if it is not on its way.
    pub(super) fn give(self, hook: Hook, graph: &'static Graph) {
        if self.slot.is_held() {
            let data = core::ptr::from_ref(graph).expose_provenance() as u64;
            // It is held and its context runs, so there is nothing to refuse.
            let _ = self.core.submit_hooked(self.slot, hook, data);
        }
    }

    /// The end. While the task is being handed over (`visited`) the helper goes when that is through.
    pub(super) fn retire(self, visited: bool) {
        self.core.recall();
        self.core.release(self.slot);
        if visited {
            self.core.set_state_callback(Some(gone));
            // The callback does the rest.
            let _ = self.core.stop();
        } else {
            self.core.dissolve().unwrap_or_else(stays);
        }
    }

    /// Is this its task?
    pub(super) fn is_of(&self, slot: &Slot) -> bool {
        core::ptr::eq(self.slot, slot)
    }
}

fn stays(error: Error) {
    log::warn!(target: super::LOG, "a helper of a graph could not be taken back: {error}");
}

/// An idle helper goes for good.
extern "C" fn gone(_: u64, core: *const Core, _: u32, next: u32) {
    if next == State::Idle as u32
        && let Some(core) = super::object::context(core)
    {
        core.destroy().unwrap_or_else(stays);
    }
}
