//! Completions in a row: what a context with peers has ready is reported without another look at its engine or at other
//! contexts, a few times. And tasks that are through once they are admitted go that way at once (C).
//!
//! The bound: between two looks at the ring of contexts there are at most [`MOST`] reports, whoever they are of, after the
//! one that the look led to, and every look goes on to the next context. So a context that has something ready on a
//! progress engine with n contexts is reported within (n - 1) * (MOST + 1) + 1 calls, however long the others stream
//! (`tests/streak.rs` counts that).

use crate::context::Core;
use crate::handle::{core_ref, own8};
use crate::slot::Slot;
use crate::sync::{AtomicPtr, AtomicU32, Ordering};
use softdpu_status::{Code, Result};

/// Completions in a row that one look at the ring of contexts may be followed by.
const MOST: u32 = 16;

/// Who reported last. Belongs to the thread that the progress engine belongs to.
#[derive(Debug)]
pub(crate) struct Streak {
    /// The context, while it may have more; it is in the ring.
    core: AtomicPtr<Core>,
    /// Reports since the others were looked at.
    reports: AtomicU32,
}

impl Streak {
    pub(crate) const fn new() -> Streak {
        Streak { core: AtomicPtr::new(core::ptr::null_mut()), reports: AtomicU32::new(0) }
    }

    /// The ring goes on where it stood. Also before any context leaves the ring.
    #[inline(always)]
    pub(crate) fn end(&self) {
        self.core.store(core::ptr::null_mut(), Ordering::Relaxed);
    }

    /// This context has something to report.
    #[inline(always)]
    fn prefer(&self, core: &'static Core) {
        self.core.store(core::ptr::from_ref(core).cast_mut(), Ordering::Relaxed);
    }

    /// The ring came to this context, and it reports.
    #[inline(always)]
    pub(crate) fn begin(&self, core: &'static Core) {
        self.prefer(core);
        self.reports.store(0, Ordering::Relaxed);
    }

    /// The next report of the streak; whatever is not the common case is left to the ring.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<(&'static Core, &'static Slot)> {
        let core = core_ref(self.core.load(Ordering::Relaxed))?;
        let reports = self.reports.load(Ordering::Relaxed);
        let front = if reports < MOST && !core.has_wishes() { core.lane().front() } else { None };
        match front.filter(|slot| slot.is_flying_here() && slot.status() == 0) {
            Some(slot) => {
                self.reports.store(reports + 1, Ordering::Relaxed);
                core.lane().pop_front();
                Some((core, slot))
            }
            None => {
                self.end();
                None
            }
        }
    }
}

impl Core {
    /// What is known of an admitted task that is to be submitted now.
    #[inline(always)]
    pub(crate) fn settled(&self, slot: &Slot) -> Option<Result<u64, Code>> {
        if own8(&self.settles) == 0 { None } else { self.work().settled(slot) }
    }

    /// The task that was submitted just now is through.
    #[inline(always)]
    pub(crate) fn settle_task(&'static self, slot: &'static Slot, result: Result<u64, Code>) {
        if self.lane().settle(slot, result)
            && let Some(pe) = self.engine()
        {
            pe.streak.prefer(self);
        }
    }
}
