//! What receive events of a managed queue tell: one record per queue, filled before the program is told, and valid while
//! its handler runs. C programs hold it as their event.

use super::packets::Packets;
use crate::sync::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use softdpu_memory::handle::Head;
use softdpu_memory::node::Lent;
use softdpu_net::{Check, Meta};
use softdpu_room::context::Core;
use softdpu_status::{Code, Error, Result};

/// What a queue tells about its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Want {
    /// Words of metadata.
    pub words: u8,
    /// The flow tag.
    pub flow_tag: bool,
    /// The hash.
    pub hash: bool,
    /// When it arrived.
    pub timestamp: bool,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Told {
    /// A packet arrived.
    Packet(Lent),
    /// So many packets arrived.
    Packets(&'static Packets, u16),
    /// A packet was lost.
    Failed(Code),
}

/// See the module. Arrays have an entry per packet.
#[derive(Debug)]
#[repr(C)]
pub struct Report {
    pub(crate) head: Head,
    pub(crate) core: &'static Core,
    pub(crate) want: Want,
    /// Calls the handlers of the program.
    pub(crate) tell: fn(&'static Report, Told),
    /// Success and error handler, and the program's data for them.
    pub(crate) handlers: [usize; 2],
    /// Are they handlers of several packets?
    pub(crate) batch: bool,
    pub(crate) user: u64,
    pub(crate) status: AtomicI32,
    pub(crate) l3: Box<[AtomicU8]>,
    pub(crate) l4: Box<[AtomicU8]>,
    pub(crate) metadata: Box<[AtomicU32]>,
    pub(crate) tags: Box<[AtomicU32]>,
    pub(crate) hashes: Box<[AtomicU32]>,
    pub(crate) stamps: Box<[AtomicU64]>,
}

fn array<T: Default>(len: usize) -> Result<Box<[T]>> {
    let mut all = Vec::new();
    all.try_reserve_exact(len).map_err(|_| Error::new(Code::NoMemory, "no memory for receive events"))?;
    all.resize_with(len, T::default);
    Ok(all.into_boxed_slice())
}

impl Report {
    /// For at most `most` packets at a time.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn new(
        core: &'static Core,
        want: Want,
        most: usize,
        (tell, batch): (fn(&'static Report, Told), bool),
        handlers: [usize; 2],
        user: u64,
    ) -> Result<Report> {
        let only = |wanted: bool| if wanted { most } else { 0 };
        Ok(Report {
            head: Head::unborn(),
            core,
            want,
            tell,
            handlers,
            batch,
            user,
            status: AtomicI32::new(0),
            l3: array(most)?,
            l4: array(most)?,
            metadata: array(most * usize::from(want.words))?,
            tags: array(only(want.flow_tag))?,
            hashes: array(only(want.hash))?,
            stamps: array(only(want.timestamp))?,
        })
    }

    /// Notes packet number `at`.
    #[inline]
    pub(crate) fn note(&self, at: usize, meta: &Meta) {
        self.l3[at].store((meta.l3 == Check::Good).into(), Relaxed);
        self.l4[at].store((meta.l4 == Check::Good).into(), Relaxed);
        if self.want.words > 0 {
            let words = usize::from(self.want.words);
            let places = &self.metadata[at * words..(at + 1) * words];
            places[0].store(meta.mark, Relaxed);
            places[1..].iter().for_each(|place| place.store(0, Relaxed));
        }
        if self.want.flow_tag {
            self.tags[at].store(meta.tag, Relaxed);
        }
        if self.want.hash {
            self.hashes[at].store(meta.hash, Relaxed);
        }
        if self.want.timestamp {
            self.stamps[at].store(meta.timestamp, Relaxed);
        }
    }

    /// Tells the program.
    pub(crate) fn tell(&'static self, told: Told) {
        let status = if let Told::Failed(code) = told { code.number() } else { 0 };
        self.status.store(status, Relaxed);
        (self.tell)(self, told);
    }
}
