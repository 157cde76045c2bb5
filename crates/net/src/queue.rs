//! A receive queue as others see it: its number, and how it is woken.

use crate::sync::{AtomicU16, AtomicU32, Ordering};
use softdpu_link::armed;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// Wakes whoever turns a queue. Called from any thread, at most once per arming; must not wait, and not call into this crate.
pub trait Wake: Send + Sync {
    /// Something arrived.
    fn wake(&self);
}

/// What a queue wants to know about each frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Wants {
    pub(crate) hash: bool,
    pub(crate) timestamp: bool,
    pub(crate) checksums: bool,
}

/// A receive queue. Any thread.
pub struct Queue {
    number: AtomicU16,
    armed: AtomicU32,
    pub(crate) wants: Wants,
    wake: Arc<dyn Wake>,
    list: Arc<QueueList>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queue({}, armed: {})", self.number(), self.armed.load(Ordering::Relaxed))
    }
}

/// Where numbers of queues begin that nobody chose.
const FIRST_NUMBER: u16 = 0x8000;

impl Queue {
    /// The number that rules know it by; at first a free one from 0x8000 on.
    #[inline]
    pub fn number(&self) -> u16 {
        self.number.load(Ordering::Relaxed)
    }

    /// Gives it a number.
    ///
    /// # Errors
    /// AlreadyExist: another queue of this port, in this process, has it; with one log line.
    pub fn set_number(&self, number: u16) -> Result<()> {
        let all = self.list.lock();
        if all.iter().any(|other| !core::ptr::eq(&**other, self) && other.number() == number) {
            log::error!(target: crate::LOG, "queue number {number} is in use on this port");
            return Err(Error::new(Code::AlreadyExist, "queue number in use"));
        }
        self.number.store(number, Ordering::Relaxed);
        Ok(())
    }

    #[inline]
    pub(crate) fn arm(&self) {
        armed::arm(&self.armed);
    }

    #[inline]
    pub(crate) fn disarm(&self) {
        armed::disarm(&self.armed);
    }

    /// Wakes it, if it sleeps; after something was published.
    #[inline]
    pub(crate) fn rouse(&self) {
        if armed::wants_ring(&self.armed) {
            self.wake.wake();
        }
    }
}

/// The queues of a port in this process.
#[derive(Debug, Default)]
pub(crate) struct QueueList(Mutex<Vec<Arc<Queue>>>);

impl QueueList {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Queue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more, with a number that is free.
    pub(crate) fn add(self: &Arc<QueueList>, wake: Arc<dyn Wake>, wants: Wants) -> Result<Arc<Queue>> {
        let mut all = self.lock();
        let free = (FIRST_NUMBER..=u16::MAX).find(|number| all.iter().all(|queue| queue.number() != *number));
        let Some(number) = free else {
            log::error!(target: crate::LOG, "a port has {} receive queues, no number is left", all.len());
            return Err(Error::new(Code::Full, "too many receive queues"));
        };
        let queue = Arc::new(Queue {
            number: AtomicU16::new(number),
            armed: AtomicU32::new(0),
            wants,
            wake,
            list: Arc::clone(self),
        });
        all.push(Arc::clone(&queue));
        Ok(queue)
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn remove(&self, queue: &Arc<Queue>) {
        self.lock().retain(|other| !Arc::ptr_eq(other, queue));
    }

    /// Wakes all that sleep.
    pub(crate) fn rouse(&self) {
        // A copy, so that nothing is held while a queue is woken.
        let all: Vec<Arc<Queue>> = self.lock().clone();
        for queue in all {
            queue.rouse();
        }
    }
}
