//! Task batches: many sends that are submitted, carried out and reported as one. `struct doca_task_batch`.
//!
//! A batch is one task of the room with arrays beside it, which the program fills between taking the batch and submitting
//! it. They are made when the queue starts (or when the pool is enlarged) and stay with the batch.

use crate::caps::MOST_METADATA;
use crate::lent::{Gather, LentHeaders, packet};
use crate::sync::{AtomicI32, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};
use softdpu_memory::handle::Head;
use softdpu_memory::node::{Lent, Node};
use softdpu_room::context::Core;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};

/// Does a batch hold plain or large sends?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BatchKind {
    /// Frames.
    Send,
    /// Large sends.
    Lso,
}

/// See the module. Arrays have an entry per task.
#[derive(Debug)]
#[repr(C)]
pub struct Batch {
    pub(crate) head: Head,
    pub(crate) kind: BatchKind,
    pub(crate) core: &'static Core,
    /// The task it flies as; NULL while nobody has it.
    pub(crate) slot: AtomicPtr<Slot>,
    /// The next one in the pool.
    pub(crate) next: AtomicPtr<Batch>,
    pub(crate) count: AtomicU16,
    pub(crate) user: AtomicU64,
    pub(crate) packets: Box<[AtomicPtr<Node>]>,
    pub(crate) users: Box<[AtomicU64]>,
    pub(crate) statuses: Box<[AtomicI32]>,
    pub(crate) flags: Box<[AtomicU16]>,
    /// Flat: as many words per task as the queue has.
    pub(crate) metadata: Box<[AtomicU32]>,
    /// Of large sends.
    pub(crate) headers: Box<[AtomicPtr<Gather>]>,
    pub(crate) mss: Box<[AtomicU16]>,
}

fn array<T>(len: usize, make: impl Fn() -> T) -> Result<Box<[T]>> {
    let mut all = Vec::new();
    all.try_reserve_exact(len).map_err(|_| Error::new(Code::NoMemory, "no memory for task batches"))?;
    all.resize_with(len, make);
    Ok(all.into_boxed_slice())
}

impl Batch {
    /// For at most `most` tasks with `words` words of metadata each.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn new(core: &'static Core, kind: BatchKind, most: usize, words: u8) -> Result<Batch> {
        let large = if kind == BatchKind::Lso { most } else { 0 };
        let words = usize::from(words).min(MOST_METADATA);
        let none = core::ptr::null_mut();
        Ok(Batch {
            head: Head::unborn(),
            kind,
            core,
            slot: AtomicPtr::new(core::ptr::null_mut()),
            next: AtomicPtr::new(core::ptr::null_mut()),
            count: AtomicU16::new(0),
            user: AtomicU64::new(0),
            packets: array(most, || AtomicPtr::new(core::ptr::null_mut()))?,
            users: array(most, || AtomicU64::new(0))?,
            statuses: array(most, || AtomicI32::new(0))?,
            flags: array(most, || AtomicU16::new(0))?,
            metadata: array(most * words, || AtomicU32::new(0))?,
            headers: array(large, || AtomicPtr::new(none))?,
            mss: array(large, || AtomicU16::new(0))?,
        })
    }

    /// For `count` tasks of a program that took it: nothing in it but the queue's own settings.
    pub(crate) fn prepare(&self, count: u16, flags: u16, mss: u16) {
        let n = usize::from(count);
        self.count.store(count, Relaxed);
        self.packets[..n].iter().for_each(|p| p.store(core::ptr::null_mut(), Relaxed));
        self.flags[..n].iter().for_each(|f| f.store(flags, Relaxed));
        if self.kind == BatchKind::Lso {
            self.headers[..n].iter().for_each(|h| h.store(core::ptr::null_mut(), Relaxed));
            self.mss[..n].iter().for_each(|m| m.store(mss, Relaxed));
        }
    }

    /// Tasks in it.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.count.load(Relaxed))
    }

    #[inline]
    pub(crate) fn packet(&self, at: usize) -> Lent {
        packet(self.packets[at].load(Relaxed))
    }

    pub(crate) fn headers(&self, at: usize) -> LentHeaders {
        crate::lent::headers(self.headers[at].load(Relaxed))
    }

    pub(crate) fn mss(&self, at: usize) -> u16 {
        self.mss[at].load(Relaxed)
    }

    #[inline]
    pub(crate) fn flags(&self, at: usize) -> u16 {
        self.flags[at].load(Relaxed)
    }

    /// Task `at` is through.
    #[inline]
    pub(crate) fn finish(&self, at: usize, result: Result<(), Code>) {
        self.statuses[at].store(result.map_or_else(Code::number, |()| 0), Relaxed);
    }

    /// What the batch as a whole came to: the first failure, or success.
    pub(crate) fn outcome(&self) -> Result<u64, Code> {
        let failed = self.statuses[..self.len()].iter().map(|s| s.load(Relaxed)).find(|&s| s != 0);
        match failed {
            None => Ok(self.len() as u64),
            Some(number) => Err(Code::from_number(number).unwrap_or(Code::Unexpected)),
        }
    }
}
