//! A consumer of the peer, as the producers of this end know it.

use crate::receives::Receives;
use crate::rings::Claims;
use crate::sync::{AtomicBool, Ordering};
use core::task::Waker;
use softdpu_link::Ringer;
use softdpu_memory::device::Device;
use softdpu_memory::export::{Imported, import_for_peer};
use softdpu_room::biased::Biased;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// What came over the line before a consumer is announced.
#[derive(Debug)]
pub(crate) struct Parcel {
    pub(crate) id: u32,
    pub(crate) imm: u32,
    pub(crate) receives: Receives,
    pub(crate) ringer: Option<Ringer>,
    /// Of its memory; none for those that take immediate data alone.
    pub(crate) descriptor: Vec<u8>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) parcel: Parcel,
    /// How far the producers of this end are.
    pub(crate) claims: Biased<Claims>,
    alive: AtomicBool,
    memory: Mutex<Option<Result<Arc<Imported>>>>,
    /// Who waits for receives to be posted (Rust).
    waiting: Mutex<Vec<Waker>>,
}

impl Remote {
    pub(crate) fn new(parcel: Parcel) -> Arc<Remote> {
        Arc::new(Remote {
            parcel,
            claims: Biased::new(Claims::default()),
            alive: AtomicBool::new(true),
            memory: Mutex::new(None),
            waiting: Mutex::default(),
        })
    }

    /// Was it not said to be gone?
    #[inline]
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// It is gone: nobody sends to it any more, and its memory is given up.
    pub(crate) fn end(&self) {
        self.close();
        self.feed();
    }

    /// As [`Remote::end`], but wakes nobody.
    pub(crate) fn close(&self) {
        self.alive.store(false, Ordering::Release);
        *self.memory.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Err(Error::new(Code::ConnectionReset, "the consumer is gone")));
    }

    /// Wakes `waker` when receives are posted, or the consumer is gone. Look for both after this.
    pub(crate) fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.iter().any(|other| other.will_wake(waker)) {
            waiting.push(waker.clone());
        }
        drop(waiting);
        self.parcel.receives.hunger();
    }

    /// Receives were posted, or there will be none.
    pub(crate) fn feed(&self) {
        self.take_waiting().into_iter().for_each(Waker::wake);
    }

    /// Who waits, to be woken by the caller.
    pub(crate) fn take_waiting(&self) -> Vec<Waker> {
        core::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Its memory, imported on `device` when it is first needed.
    ///
    /// # Errors
    /// Those of the import.
    pub(crate) fn memory(&self, device: &Arc<Device>) -> Result<Arc<Imported>> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory
            .get_or_insert_with(|| {
                if self.parcel.descriptor.is_empty() {
                    return Err(Error::new(Code::InvalidValue, "the consumer takes immediate data alone"));
                }
                import_for_peer(&self.parcel.descriptor, device).map(Arc::new)
            })
            .clone()
    }

    /// Wakes its program if that sleeps.
    #[inline]
    pub(crate) fn ring(&self) {
        if let Some(ringer) = &self.parcel.ringer {
            ringer.ring();
        }
    }
}
