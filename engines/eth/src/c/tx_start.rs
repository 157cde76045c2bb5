//! Send queues: what the program said, and what becomes of it when the queue starts.

use super::tx_setup::{BatchCallback, LargeBatchCallback};
use super::{lock, refuse};
use crate::batch::{Batch, BatchKind};
use crate::sync::{AtomicPtr, Ordering::Relaxed};
use crate::txq::{EthTxq, SendJob, Terms, TxSetup};
use core::ptr::null_mut;
use softdpu_memory::handle::{Object, Slab, kind};
use softdpu_room::context::Core;
use softdpu_room::life::Equipment;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex};

/// Kinds of tasks.
pub(super) const SEND: usize = 0;
pub(super) const LSO_SEND: usize = 1;
pub(super) const BATCH_SEND: usize = 2;
pub(super) const BATCH_LSO_SEND: usize = 3;

/// Tasks that may be added to a running queue: as many as it has, but at least so many.
const LEAST_EXPANSION: u32 = 1024;
const MOST_EXPANSION: u32 = 1 << 16;

// SAFETY: repr(C), head first.
unsafe impl Object for Batch {
    const KIND: u32 = kind::BATCH;
    const NAME: &'static str = "task batch";
}
static BATCHES: Slab<Batch> = Slab::new();

/// Batches of one kind: most tasks of each, success and error callback.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batches<F> {
    pub(super) most: u16,
    pub(super) calls: [F; 2],
}

/// What the program said of a queue.
#[derive(Debug)]
pub(super) struct TxSettings {
    pub(super) max_burst: u32,
    pub(super) list_len: u32,
    pub(super) words: u8,
    pub(super) mss: u16,
    pub(super) max_header: u16,
    /// Checksums that are filled in unless a task says otherwise.
    pub(super) flags: u16,
    /// By kind.
    pub(super) tasks: [u32; 4],
    pub(super) batches: Option<Batches<BatchCallback>>,
    pub(super) large_batches: Option<Batches<LargeBatchCallback>>,
}

/// What a send queue has beside its context.
#[derive(Debug)]
pub(super) struct TxPart {
    pub(super) settings: Mutex<TxSettings>,
    terms: Mutex<Option<Arc<Terms>>>,
    /// Free batches, plain and large.
    free: [AtomicPtr<Batch>; 2],
    all: Mutex<Vec<&'static Batch>>,
}

impl TxPart {
    pub(super) fn new(max_burst: u32) -> TxPart {
        let settings = TxSettings {
            max_burst,
            list_len: 1,
            words: 0,
            mss: 1500,
            max_header: 74,
            flags: 0,
            tasks: [0; 4],
            batches: None,
            large_batches: None,
        };
        TxPart {
            settings: Mutex::new(settings),
            terms: Mutex::new(None),
            free: [AtomicPtr::new(null_mut()), AtomicPtr::new(null_mut())],
            all: Mutex::new(Vec::new()),
        }
    }

    /// What the started queue goes by.
    ///
    /// # Errors
    /// BadState unless it was started.
    pub(super) fn terms(&self, call: &str) -> Result<Arc<Terms>> {
        lock(&self.terms).clone().ok_or_else(|| {
            log::error!(target: crate::LOG, "{call}: the queue is not started");
            Error::new(Code::BadState, "the queue is not started")
        })
    }

    fn free(&self, kind: BatchKind) -> &AtomicPtr<Batch> {
        &self.free[kind as usize]
    }

    /// A batch that nobody has.
    pub(super) fn take(&self, kind: BatchKind) -> Option<&'static Batch> {
        let list = self.free(kind);
        // SAFETY: free lists link batches of this queue, whose places are never given back.
        let batch = unsafe { list.load(Relaxed).as_ref() }?;
        list.store(batch.next.load(Relaxed), Relaxed);
        Some(batch)
    }

    /// A batch is back.
    pub(super) fn put(&self, batch: &'static Batch) {
        let list = self.free(batch.kind);
        batch.next.store(list.load(Relaxed), Relaxed);
        list.store(core::ptr::from_ref(batch).cast_mut(), Relaxed);
    }

    /// Makes batches of a kind.
    fn make(&self, core: &'static Core, kind: BatchKind, count: u32) -> Result<()> {
        let (most, words) = {
            let settings = lock(&self.settings);
            let most = match kind {
                BatchKind::Send => settings.batches.map(|b| b.most),
                BatchKind::Lso => settings.large_batches.map(|b| b.most),
            };
            (most.unwrap_or(0), settings.words)
        };
        let mut all = lock(&self.all);
        all.try_reserve(count as usize)
            .map_err(|_| Error::new(Code::NoMemory, "no memory for task batches"))?;
        for _ in 0..count {
            let made = BATCHES.make(Batch::new(core, kind, most.into(), words)?)?;
            // SAFETY: places of slabs are never given back.
            let batch: &'static Batch = unsafe { &*made.as_ptr() };
            // Alive as a handle only while the program has it.
            batch.head.kill();
            all.push(batch);
            self.put(batch);
        }
        Ok(())
    }

    /// Adds tasks of a kind to a running queue.
    pub(super) fn expand(&self, core: &'static Core, op: usize, count: u32) -> Result<()> {
        core.expand(op as u8, count)?;
        match op {
            BATCH_SEND => self.make(core, BatchKind::Send, count),
            BATCH_LSO_SEND => self.make(core, BatchKind::Lso, count),
            _ => Ok(()),
        }
    }

    /// Lets go of what an earlier run worked with. The context is idle.
    fn clear(&self) {
        *lock(&self.terms) = None;
        self.free.iter().for_each(|list| list.store(null_mut(), Relaxed));
        for batch in lock(&self.all).drain(..) {
            // SAFETY: the slab's own; the queue is idle, so that no batch flies and all were freed.
            unsafe { BATCHES.retire_at(batch) };
        }
    }
}

impl Drop for TxPart {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Makes the engine when it starts.
pub(super) fn start(core: &'static Core) -> Result<Equipment> {
    // SAFETY: set as the starter of send queues alone, which have a part of this type.
    let part = unsafe { super::part::<TxPart>(core) };
    part.clear();
    let (tasks, setup) = {
        let settings = lock(&part.settings);
        let total: u32 = settings.tasks.iter().sum();
        let expansion = total.clamp(LEAST_EXPANSION, MOST_EXPANSION);
        (settings.tasks, TxSetup { list_len: settings.list_len, max_header: settings.max_header, expansion })
    };
    if tasks == [0; 4] {
        let line = format_args!("doca_ctx_start: send queue {core:p}: set_conf of its tasks is missing");
        return refuse(Code::InvalidValue, "mandatory configuration is missing", line);
    }
    let (work, terms) = EthTxq::work(core.device(), setup)?;
    part.make(core, BatchKind::Send, tasks[BATCH_SEND])?;
    part.make(core, BatchKind::Lso, tasks[BATCH_LSO_SEND])?;
    *lock(&part.terms) = Some(terms);
    let pools = tasks.iter().enumerate().filter(|(_, n)| **n > 0).map(|(op, n)| (op as u8, *n)).collect();
    Ok((work, pools))
}

/// A batch has landed: the program is told.
pub(super) extern "C" fn landed(slot: *const Slot, address: u64, context: u64) {
    // SAFETY: tasks of these kinds carry the address of their batch, which stays while the queue runs; its queue has a part
    // of this type. The callbacks were given as functions of their types; nothing of ours is borrowed or locked in them.
    unsafe {
        let batch = &*(address as *const Batch);
        let part = super::part::<TxPart>(batch.core);
        if !batch.head.is(Batch::KIND) {
            // The program gave it up in flight.
            batch.core.release(&*slot);
            return part.put(batch);
        }
        let (count, user) = (batch.count.load(Relaxed), batch.user.load(Relaxed));
        let failed = usize::from((*slot).status() != 0);
        let (users, packets) = (batch.users.as_ptr(), batch.packets.as_ptr());
        let statuses = batch.statuses.as_ptr();
        match batch.kind {
            BatchKind::Send => {
                let call = lock(&part.settings).batches.map(|b| b.calls[failed]);
                if let Some(call) = call {
                    call(batch, count, context, user, users, packets, statuses);
                }
            }
            BatchKind::Lso => {
                let call = lock(&part.settings).large_batches.map(|b| b.calls[failed]);
                if let Some(call) = call {
                    call(batch, count, context, user, users, packets, batch.headers.as_ptr(), statuses);
                }
            }
        }
    }
}

/// Takes a batch for a program, with its task.
pub(super) fn take(
    core: &'static Core,
    part: &TxPart,
    kind: BatchKind,
    count: u16,
    user: u64,
    call: &str,
) -> Result<&'static Batch> {
    let (flags, mss, most) = {
        let settings = lock(&part.settings);
        let most = match kind {
            BatchKind::Send => settings.batches.map(|b| b.most),
            BatchKind::Lso => settings.large_batches.map(|b| b.most),
        };
        (settings.flags, settings.mss, most.unwrap_or(0))
    };
    if count == 0 || count > most {
        let line = format_args!("{call}: a batch of {count} tasks, allowed 1 to {most}");
        return refuse(Code::InvalidValue, "number of tasks", line);
    }
    let op = if kind == BatchKind::Send { BATCH_SEND } else { BATCH_LSO_SEND };
    let slot = core.allocate_checked(op, 0, call)?;
    let Some(batch) = part.take(kind) else {
        core.release(slot);
        return Err(Error::new(Code::NoMemory, "all batches are taken"));
    };
    slot.set_user_data(core::ptr::from_ref(batch) as u64);
    // SAFETY: the slot is the program's until it is submitted; its context is of this engine.
    unsafe { slot.job::<SendJob>().write(SendJob::batch(batch)) };
    batch.prepare(count, flags, mss);
    batch.user.store(user, Relaxed);
    batch.slot.store(core::ptr::from_ref(slot).cast_mut(), Relaxed);
    batch.head.wake(Batch::KIND);
    Ok(batch)
}
