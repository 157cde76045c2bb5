//! A queue inside a process: producers and consumers without a connection, for immediate data.

use crate::caps::Caps;
use crate::remote::{Parcel, Remote};
use crate::streams::{Carrier, Member, News, Role, Streams};
use softdpu_memory::device::Device;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// A started queue.
#[derive(Debug)]
pub struct Queue {
    device: Arc<Device>,
    streams: Streams,
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
        Ok(Arc::new(Queue { device: device.clone(), streams: Streams::new(1, [producers, consumers]) }))
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
        self.streams.add(Remote::new(parcel));
        self.streams.seen(news.id, true);
        Ok(())
    }

    fn feed(&self, id: u32) {
        if let Some(remote) = self.streams.remote(id) {
            remote.feed();
        }
    }

    fn retract(&self, id: u32) {
        self.streams.end_remote(id);
    }

    fn peer(&self) -> u32 {
        std::process::id()
    }

    fn is_up(&self) -> bool {
        true
    }
}
