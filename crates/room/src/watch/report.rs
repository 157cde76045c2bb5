//! Progress of a watched context: as of any other (`progress.rs`), with word of what lands and of callbacks.

use super::{Returned, Watched};
use crate::context::Core;
use crate::flight;
use crate::instrument::TaskId;
use crate::lane::Lane;
use crate::pe::Pe;
use crate::progress::{TO_HANDLER, Visit};
use crate::slot::Slot;
use softdpu_status::Code;

impl Slot {
    /// How it went, without the words.
    pub(crate) fn result(&self) -> Result<u64, Code> {
        self.outcome().map_err(|error| error.code())
    }

    /// Will its callback or handler be called?
    pub(crate) fn is_called(&self) -> bool {
        if self.context().is_local() { self.is_flying_here() } else { self.op() == usize::from(TO_HANDLER) }
    }
}

/// Rust: will nobody learn how it went, though the context runs?
pub(crate) fn is_forgotten(slot: &Slot) -> bool {
    !slot.context().is_local() && slot.flight.state() == flight::ORPHAN && slot.context().is_running()
}

impl Watched {
    /// Tells that a task lands. What engines with peers are through with was told of when they were.
    fn landed(&self, slot: &Slot) -> TaskId {
        // What handlers post to engines with peers is told of here alone.
        let late = slot.number() == 0;
        let (task, called) = (self.seen(slot), slot.is_called());
        if late || !self.inner.unordered() {
            self.watch.landed(&task, slot.result(), called);
        } else if called {
            self.watch.delivered(&task);
        }
        self.forget(slot);
        task
    }
}

impl Core {
    /// Tells that a task lands of which nobody is called.
    pub(crate) fn tell_landed(&self, slot: &Slot) {
        if let Some(watched) = self.work().watched() {
            watched.landed(slot);
        }
    }

    /// Tells that a task was refused before it had a place (Rust).
    #[cold]
    pub(crate) fn tell_full(&self) {
        match (self.work().watched(), self.work().gate()) {
            (Some(watched), _) => watched.watch.full(),
            (None, Some(gate)) => gate.tell_full(),
            (None, None) => {}
        }
    }

    /// Tells that a task is back without progress, and nobody is called.
    pub(crate) fn tell_flushed(&self, slot: &Slot) {
        if let Some(watched) = self.work().watched() {
            let task = watched.seen(slot);
            watched.watch.ended(&task, slot.result(), false);
            watched.forget(slot);
        } else if let Some(gate) = self.work().gate() {
            gate.tell_flushed(slot);
        }
    }

    /// Tells that a task has landed that the program freed in flight (C).
    pub(crate) fn tell_forgotten(&self, slot: &Slot) {
        match (self.work().watched(), self.work().gate()) {
            // Of others it is told with their landing that nobody is called.
            (Some(watched), _) if watched.inner.unordered() => watched.watch.forgotten(&watched.seen(slot)),
            (None, Some(gate)) => gate.tell_forgotten(slot),
            _ => {}
        }
    }
}

impl Pe {
    /// C: a visit of a watched context. The common case first, as in [`Pe::step`].
    #[inline(never)]
    pub(crate) fn visit_watched(&'static self, core: &'static Core, may_work: bool) -> Visit {
        let lane = core.lane();
        if !lane.is_unordered()
            && core.is_running_here()
            && let Some(number) = lane.front_number_here()
            && let Some(watched) = core.work().watched()
        {
            let slot = lane.numbered(number);
            if slot.is_queued() && slot.is_flying_here() && may_work && lane.begin_front(number) {
                let task = watched.seen(slot);
                let since = watched.watch.clock(&task);
                if let Some(output) = watched.inner.quick(slot) {
                    lane.lock().leave();
                    slot.succeed();
                    lane.pop_number(number);
                    watched.watch.each(|o| o.at_once(&task, since, output));
                    self.report(core, slot, false, || watched.watch.returned(&task));
                    return Visit::Reported;
                }
                core.carry_out(slot, lane);
                lane.lock().leave();
            }
        }
        self.visit::<true>(core, may_work)
    }

    /// C: reports a task of a watched context.
    pub(crate) fn report_watched(&'static self, core: &'static Core, slot: &'static Slot) {
        let failed = slot.status() != 0;
        match core.work().watched() {
            // The context may become idle and lose its engine in the callback, but not before it returned: a task is
            // being reported.
            Some(watched) => {
                let task = watched.landed(slot);
                self.report(core, slot, failed, || watched.watch.returned(&task));
            }
            None => self.report(core, slot, failed, || ()),
        }
    }

    /// Rust: lands a task of a watched context.
    pub(crate) fn deliver_watched(&'static self, core: &'static Core, slot: &'static Slot) {
        let Some(watched) = core.work().watched() else { return self.deliver::<false>(core, slot) };
        let called = slot.is_called();
        let task = watched.landed(slot);
        if is_forgotten(slot) {
            watched.watch.forgotten(&task);
        }
        let _returned = called.then(|| Returned(&watched.watch, task));
        self.deliver::<false>(core, slot);
    }

    /// Rust: a lane that is not the common case.
    #[inline(never)]
    pub(crate) fn sweep_special(&'static self, core: &'static Core, lane: &Lane, parts: &mut u32) -> usize {
        match (lane.is_unordered(), lane.is_watched()) {
            (false, _) => self.sweep_lane::<true>(core, lane, parts),
            (true, false) => self.sweep_peers::<false>(core, lane),
            (true, true) => self.sweep_peers::<true>(core, lane),
        }
    }
}
