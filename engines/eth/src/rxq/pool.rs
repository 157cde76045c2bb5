//! The packet memory of a managed queue of the C face: part of a memory map, cut into equal windows, each with its buffer
//! descriptor.
//!
//! Taken and given back on the thread of the context alone, where the contract has the program.

use crate::sync::{AtomicU32, Ordering::Relaxed};
use softdpu_memory::node::{Node, Store};
use softdpu_memory::region::Region;
use softdpu_status::{Code, Error, Result};

/// Windows begin at multiples of this.
const ALIGN: usize = 64;
/// No array of packets has it.
const NOBODY: u32 = u32::MAX;

/// See the module.
#[derive(Debug)]
pub struct Pool {
    store: Store,
    region: &'static Region,
    base: usize,
    stride: usize,
    headroom: usize,
    /// Which array of packets each window was last handed out in.
    holders: Box<[AtomicU32]>,
}

/// Bytes of memory that one packet takes.
pub(crate) fn stride(window: usize) -> usize {
    window.next_multiple_of(ALIGN)
}

impl Pool {
    /// Cuts `[offset, offset + len)` of a map into windows of `window` bytes, with packets from `headroom` on.
    ///
    /// # Errors
    /// InvalidValue: the map is not started, is too short, or not one window fits, with one log line; NoMemory.
    pub fn new(
        region: &'static Region,
        offset: u64,
        len: u64,
        headroom: usize,
        window: usize,
    ) -> Result<Pool> {
        if !region.is_open() || offset + len > region.len() as u64 {
            log::error!(target: crate::LOG, "packet memory: bytes {offset} to {} of a memory map that is {}, {} bytes long",
                offset + len, if region.is_open() { "started" } else { "not started" }, region.len());
            return Err(Error::new(Code::InvalidValue, "packet memory leaves the memory map"));
        }
        let start = region.base() + offset as usize;
        let base = start.next_multiple_of(ALIGN);
        let stride = stride(window);
        // The last window needs no room behind it.
        let bytes = (len as usize).saturating_sub(base - start);
        let count = if bytes < window { 0 } else { (bytes - window) / stride + 1 };
        if count == 0 {
            log::error!(target: crate::LOG, "packet memory of {len} bytes; one packet takes {window}");
            return Err(Error::new(Code::InvalidValue, "packet memory too small"));
        }
        let no_memory = Error::new(Code::NoMemory, "more packets than can be held");
        let count = u32::try_from(count).map_err(|_| no_memory)?;
        let (mut holders, mut nodes) = (Vec::new(), Vec::new());
        holders.try_reserve_exact(count as usize).map_err(|_| no_memory)?;
        nodes.try_reserve_exact(count as usize).map_err(|_| no_memory)?;
        holders.resize_with(count as usize, || AtomicU32::new(NOBODY));
        let pool =
            Pool { store: Store::new(), region, base, stride, headroom, holders: holders.into_boxed_slice() };
        pool.store.tie();
        pool.store.keep_sole();
        pool.store.expand(count)?;
        while let Some(node) = pool.store.take(region) {
            let at = base + nodes.len() * stride;
            node.aim(at, window, at, 0);
            nodes.push(node);
        }
        // The store gives out first what came back last: the lowest window is to be the first.
        nodes.into_iter().rev().for_each(Node::give_back_list);
        Ok(pool)
    }

    /// A window for a packet. `None`: all are taken.
    #[inline]
    pub(crate) fn take(&self) -> Option<&Node> {
        let node = self.store.take(self.region)?;
        // Windows are tied, so that this is the one it was aimed at.
        node.aim(node.addr(), node.len(), node.addr() + self.headroom, 0);
        Some(node)
    }

    /// Windows.
    pub fn count(&self) -> u32 {
        self.store.total()
    }

    /// Windows that are taken.
    #[inline]
    pub(crate) fn taken(&self) -> u32 {
        self.store.total() - self.store.available()
    }

    /// Is a window free?
    #[inline]
    pub(crate) fn has_free(&self) -> bool {
        self.store.available() != 0
    }

    fn place(&self, node: &Node) -> Option<&AtomicU32> {
        self.holders.get(node.addr().wrapping_sub(self.base) / self.stride)
    }

    /// A packet goes out in array number `array`.
    #[inline]
    pub(crate) fn hand_out(&self, node: &Node, array: u32) {
        if let Some(place) = self.place(node) {
            place.store(array, Relaxed);
        }
    }

    /// Which array a packet went out in the last time.
    pub(crate) fn holder(&self, node: &Node) -> u32 {
        if node.is_from(&self.store) { self.place(node).map_or(NOBODY, |p| p.load(Relaxed)) } else { NOBODY }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.store.dissolve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use softdpu_memory::region::{CAN_READ, CAN_WRITE};

    static REGION: Region = Region::closed();

    #[test]
    fn windows_are_cut_and_come_back() {
        REGION.open(0x1001, 0x1000, 0, CAN_READ | CAN_WRITE);
        let pool = Pool::new(&REGION, 0, 0x1000, 16, 100).unwrap();
        // From 0x1040 on, every 128 bytes.
        assert_eq!(pool.count(), (0x2001 - 0x1040 - 100) / 128 + 1);
        let (a, b) = (pool.take().unwrap(), pool.take().unwrap());
        assert_eq!((a.addr(), a.data(), a.len(), b.addr()), (0x1040, 0x1050, 100, 0x10c0));
        assert_eq!(pool.taken(), 2);
        pool.hand_out(b, 7);
        assert_eq!((pool.holder(a), pool.holder(b)), (NOBODY, 7));
        b.give_back_list();
        assert_eq!(pool.take().unwrap().addr(), 0x10c0);
        a.give_back_list();
        b.give_back_list();
        assert!(Pool::new(&REGION, 0, 0x1001, 0, 100).is_err());
        assert!(Pool::new(&REGION, 0xff0, 16, 0, 100).is_err());
        assert_eq!(REGION.bufs(), 0);
    }
}
