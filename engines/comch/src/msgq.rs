//! A queue inside a process: producers and consumers without a connection, for immediate data.
//!
//! Both ends are here, so what a consumer does reaches the futures of producers in the same call. Their wakers are foreign
//! code: they are noted where something may be locked, and called after that.

use crate::caps::Caps;
use crate::face::{Wakers, note};
use crate::remote::{Parcel, Remote};
use crate::streams::{Carrier, Member, News, Role, Streams};
use crate::sync::{AtomicBool, Ordering};
use core::task::{Poll, Waker};
use softdpu_memory::device::Device;
use softdpu_status::{Code, Error, Result};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A started queue.
#[derive(Debug)]
pub struct Queue {
    device: Arc<Device>,
    streams: Streams,
    /// Waited for receives that were posted by now (Rust).
    fed: Mutex<Vec<Waker>>,
    /// Is anybody in there?
    any_fed: AtomicBool,
    /// Consumers that nobody was told of yet, and who waits for one (Rust).
    fresh: Mutex<Fresh>,
}

#[derive(Debug, Default)]
struct Fresh {
    ids: VecDeque<u32>,
    waiting: Vec<Waker>,
}

impl Queue {
    /// On a device, for so many producers and consumers.
    ///
    /// # Errors
    /// NotSupported: the device has neither.
    pub fn new(device: &Arc<Device>, producers: u32, consumers: u32) -> Result<Arc<Queue>> {
        let caps = Caps::of(device.function())?;
        if !caps.producer || !caps.consumer {
            return Err(Error::new(Code::NotSupported, "the device has no producers and consumers"));
        }
        let streams = Streams::new(1, [producers, consumers]);
        Ok(Arc::new(Queue {
            device: device.clone(),
            streams,
            fed: Mutex::default(),
            any_fed: AtomicBool::new(false),
            fresh: Mutex::default(),
        }))
    }

    fn fed(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.fed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self) -> MutexGuard<'_, Fresh> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next consumer that this has not named yet.
    pub(crate) fn poll_fresh(&self, waker: &Waker) -> Poll<u32> {
        let mut fresh = self.fresh();
        match fresh.ids.pop_front() {
            Some(id) => Poll::Ready(id),
            None => {
                note(&mut fresh.waiting, waker);
                Poll::Pending
            }
        }
    }

    /// A consumer that nobody was told of yet. Somebody may have something locked: who waits is woken by the next
    /// [`Carrier::wake`], which its thread sees to.
    fn tell(&self, id: u32) {
        let mut fresh = self.fresh();
        fresh.ids.push_back(id);
        let waiting = core::mem::take(&mut fresh.waiting);
        drop(fresh);
        if !waiting.is_empty() {
            self.fed().extend(waiting);
            self.any_fed.store(true, Ordering::Relaxed);
        }
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Producers and consumers that were not destroyed.
    pub fn members(&self) -> u32 {
        self.streams.children()
    }

    /// A new producer's place.
    ///
    /// # Errors
    /// NoMemory: as many as are allowed.
    pub fn producer(self: &Arc<Self>) -> Result<Member> {
        Member::new(self.clone(), Role::Producer)
    }

    /// A new consumer's place.
    ///
    /// # Errors
    /// As [`Queue::producer`].
    pub fn consumer(self: &Arc<Self>) -> Result<Member> {
        Member::new(self.clone(), Role::Consumer)
    }
}

impl Carrier for Queue {
    fn streams(&self) -> &Streams {
        &self.streams
    }

    fn announce(&self, news: &News<'_>) -> Result<()> {
        let [page, event] = news.bell.owned_fds()?;
        let parcel = Parcel {
            id: news.id,
            imm: news.imm,
            receives: news.receives.clone().produced_here(),
            ringer: Some(softdpu_link::Ringer::accept(page, news.bell.word, event)?),
            descriptor: Vec::new(),
        };
        if self.streams.add(Remote::new(parcel)) {
            self.tell(news.id);
        }
        self.streams.seen(news.id, true);
        Ok(())
    }

    fn feed(&self, id: u32) {
        if let Some(remote) = self.streams.remote(id) {
            let waiting = remote.take_waiting();
            let mut fed = self.fed();
            fed.extend(waiting);
            self.any_fed.store(true, Ordering::Relaxed);
        }
    }

    fn wake(&self) {
        // This thread sees what it noted itself; what others note, they look for.
        if !self.any_fed.load(Ordering::Relaxed) {
            return;
        }
        let mut fed = self.fed();
        self.any_fed.store(false, Ordering::Relaxed);
        let waiting = core::mem::take(&mut *fed);
        drop(fed);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn retract(&self, id: u32) {
        self.fresh().ids.retain(|&other| other != id);
        if let Some(remote) = self.streams.take_remote(id) {
            remote.close();
            let mut wake = Wakers::default();
            wake.add_all(&mut remote.take_waiting());
            // Perhaps in the drop of a progress engine.
            wake.wake_elsewhere();
        }
    }

    fn peer(&self) -> u32 {
        std::process::id()
    }

    fn is_up(&self) -> bool {
        true
    }
}
