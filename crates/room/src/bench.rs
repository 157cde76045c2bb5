//! What a context works with while it is started: its lanes and the slots of its tasks.

use crate::context::Core;
use crate::engine::Work;
use crate::flight;
use crate::lane::Lane;
use crate::slot::{self, Slot};
use crate::sync::{AtomicU32, Ordering};
use softdpu_status::{Code, Error, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The submit side's bench, and the bench of tasks posted by handlers.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct LanePair {
    pub(crate) main: Bench,
    pub(crate) outbox: Option<Bench>,
}

/// A lane, and the slots that tasks for it are taken from.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Bench {
    pub(crate) lane: Lane,
    pub(crate) slots: Vec<&'static Slot>,
    /// C: tasks added while it runs.
    added: Mutex<Vec<&'static Slot>>,
    scan: AtomicU32,
}

impl Bench {
    pub(crate) fn new(lane: Lane, slots: Vec<&'static Slot>) -> Bench {
        Bench { lane, slots, added: Mutex::new(Vec::new()), scan: AtomicU32::new(0) }
    }

    /// Rust: a free slot. Completions come back mostly in order, so the next one in the circle is free nearly always.
    #[inline]
    pub(crate) fn free_slot(&self) -> Option<&'static Slot> {
        let n = self.slots.len();
        let mut at = self.scan.load(Ordering::Relaxed) as usize;
        for tried in 0..n {
            if at >= n {
                at = 0;
            }
            let slot = self.slots[at];
            at += 1;
            if slot.flight.state() == flight::FREE {
                self.scan.store(at as u32, Ordering::Relaxed);
                return Some(slot);
            }
            // All of them fly: whoever asks a full queue again and again does not look at each every time.
            if tried == 0 && self.lane.in_flight() as usize >= n {
                return None;
            }
        }
        None
    }

    fn all_free(&self) -> bool {
        self.slots.iter().all(|s| s.flight.state() == flight::FREE)
    }

    fn added(&self) -> MutexGuard<'_, Vec<&'static Slot>> {
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is there one of which `holds` is true?
    pub(crate) fn any(&self, holds: impl Fn(&Slot) -> bool) -> bool {
        self.slots.iter().any(|slot| holds(slot)) || self.added().iter().any(|slot| holds(slot))
    }

    fn give_back(mut self) {
        slot::give_back(&mut self.slots);
        slot::give_back(&mut self.added());
    }
}

impl core::fmt::Debug for dyn Work {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Work")
    }
}

impl Core {
    /// Makes slots and lanes for `pools` (task kind, count) and installs the engine. Idle contexts only.
    ///
    /// # Errors
    /// NoMemory; nothing changes then.
    pub(crate) fn equip(&'static self, work: Box<dyn Work>, pools: &[(u8, u32)]) -> Result<()> {
        let (unordered, gated, watched) = (work.unordered(), work.gate().is_some(), work.watched().is_some());
        let total: u32 = pools.iter().map(|p| p.1).sum();
        let extra = if self.is_local() { 0 } else { total };
        let mut slots = Vec::new();
        let mut taken = pools.iter().try_for_each(|&(op, n)| slot::take(n as usize, self, op, &mut slots));
        let mut spare = Vec::new();
        taken = taken.and_then(|()| slot::take(extra as usize, self, 0, &mut spare));
        // Handlers may send any slot through the second lane.
        let lanes = taken.and_then(|()| {
            let mut main = Lane::new(total + extra + work.expansion(), unordered)?;
            if gated {
                main.gate();
            }
            let mut second = if self.is_local() { None } else { Some(Lane::new(total + extra, unordered)?) };
            if watched {
                core::iter::once(&mut main).chain(&mut second).for_each(Lane::watch);
            }
            Ok((main, second))
        });
        let (main, second) = match lanes {
            Ok(lanes) => lanes,
            Err(e) => {
                slot::give_back(&mut slots);
                slot::give_back(&mut spare);
                return Err(e);
            }
        };
        self.strip();
        self.calls.fill(&slots, gated);
        let outbox = second.map(|lane| Bench::new(lane, spare));
        self.benches().replace(LanePair { main: Bench::new(main, slots), outbox });
        self.settles.store(u8::from(work.settles()), Ordering::Relaxed);
        self.work_cell().replace(work);
        self.held.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Adds tasks of a kind to a running context (C), as many as its engine foresaw.
    ///
    /// # Errors
    /// NoMemory, with one log line when there would be more; nothing changes then.
    pub fn expand(&'static self, op: u8, count: u32) -> Result<()> {
        let (mut added, most) = (self.bench().added(), self.work().expansion());
        if count as usize > most as usize - added.len() {
            log::error!(target: "softdpu::task", "{} context {self:p}: {count} more tasks asked for, {} of {most} were added",
                self.info().name, added.len());
            return Err(Error::new(Code::NoMemory, "more tasks than can be added"));
        }
        let first = added.len();
        slot::take(count as usize, self, op, &mut added)?;
        self.calls.add(&added[first..], self.work().gate().is_some());
        Ok(())
    }

    /// Rust: is every slot back?
    pub(crate) fn all_free(&self) -> bool {
        let pair = self.benches().get();
        pair.main.all_free() && pair.outbox.as_ref().is_none_or(Bench::all_free)
    }

    /// Takes engine, lanes and slots away. Idle contexts only.
    pub(crate) fn strip(&'static self) {
        self.board().detach(self);
        self.work_cell().replace(Box::new(crate::handle::NoWork));
        let Ok(empty) = Lane::new(1, false) else { return };
        let old = self.benches().replace(LanePair { main: Bench::new(empty, Vec::new()), outbox: None });
        old.main.give_back();
        if let Some(outbox) = old.outbox {
            outbox.give_back();
        }
    }
}
