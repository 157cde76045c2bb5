//! A registered range, as the engines see it: one access word, a range, and the way to its bytes.

use crate::guard::Anchor;
use core::sync::atomic::{
    AtomicIsize, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::OnceLock;

/// Access rights of a memory map: the flags of the contract, combined with `|`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Access(u32);

impl Access {
    /// Devices of this process may read.
    pub const LOCAL_READ_ONLY: Access = Access(0);
    /// Devices of this process may read and write.
    pub const LOCAL_READ_WRITE: Access = Access(1 << 0);
    /// A remote RDMA peer may read.
    pub const RDMA_READ: Access = Access(1 << 1);
    /// A remote RDMA peer may write.
    pub const RDMA_WRITE: Access = Access(1 << 2);
    /// A remote RDMA peer may do atomics.
    pub const RDMA_ATOMIC: Access = Access(1 << 3);
    /// The other side of the PCIe link may read.
    pub const PCI_READ_ONLY: Access = Access(1 << 4);
    /// The other side of the PCIe link may read and write.
    pub const PCI_READ_WRITE: Access = Access(1 << 5);
    /// Accesses may be reordered.
    pub const PCI_RELAXED_ORDERING: Access = Access(1 << 6);

    const ALL: u32 = 0x7f;

    /// The mask as the contract numbers it.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// From the contract's numbers.
    ///
    /// # Errors
    /// The rule that is broken, in words: undefined bits, both PCI flags, relaxed ordering with a PCI export flag.
    pub const fn from_bits(bits: u32) -> Result<Access, &'static str> {
        let a = Access(bits);
        if bits & !Self::ALL != 0 {
            return Err("undefined access bits");
        }
        let pci = bits & (Self::PCI_READ_ONLY.0 | Self::PCI_READ_WRITE.0);
        if pci == Self::PCI_READ_ONLY.0 | Self::PCI_READ_WRITE.0 {
            return Err("PCI read-only and PCI read-write exclude each other");
        }
        if pci != 0 && bits & Self::PCI_RELAXED_ORDERING.0 != 0 {
            return Err("relaxed ordering cannot be combined with a PCI export flag");
        }
        Ok(a)
    }

    /// Are all flags of `other` in this mask?
    pub const fn contains(self, other: Access) -> bool {
        self.0 & other.0 == other.0
    }

    /// Is any flag of `other` in this mask?
    pub const fn intersects(self, other: Access) -> bool {
        self.0 & other.0 != 0
    }

    /// May anybody outside the process reach the memory?
    pub const fn is_shared(self) -> bool {
        self.0 & !Self::LOCAL_READ_WRITE.0 & !Self::PCI_RELAXED_ORDERING.0 != 0
    }
}

impl core::ops::BitOr for Access {
    type Output = Access;
    fn bitor(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }
}

impl core::ops::BitAnd for Access {
    type Output = Access;
    fn bitand(self, other: Access) -> Access {
        Access(self.0 & other.0)
    }
}

impl core::fmt::Debug for Access {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        const NAMES: [&str; 7] = [
            "LOCAL_READ_WRITE",
            "RDMA_READ",
            "RDMA_WRITE",
            "RDMA_ATOMIC",
            "PCI_READ_ONLY",
            "PCI_READ_WRITE",
            "PCI_RELAXED_ORDERING",
        ];
        if self.0 & 1 == 0 {
            f.write_str("LOCAL_READ_ONLY")?;
        }
        let mut first = self.0 & 1 == 0;
        for (i, name) in NAMES.iter().enumerate().filter(|(i, _)| self.0 >> i & 1 == 1) {
            write!(f, "{}{name}", if first || i > 0 && self.0 & ((1 << i) - 1) != 0 { "|" } else { "" })?;
            first = false;
        }
        Ok(())
    }
}

/// Bits of the access word. The word is what engines test, once per buffer: liveness, effective rights and the devices
/// the region is registered with, in one compare.
pub const ALIVE: u64 = 1 << 8;
/// A device of this process may read.
pub const CAN_READ: u64 = 1 << 9;
/// A device of this process may write.
pub const CAN_WRITE: u64 = 1 << 10;
/// Others may write while we look: only the copy routines for shared memory may touch it.
pub const SHARED: u64 = 1 << 11;
/// The bytes are not mapped here.
pub const FAR: u64 = 1 << 12;
/// The bytes stand elsewhere here than the addresses say: there is a delta.
pub const MOVED: u64 = 1 << 13;
/// Somebody else may end it at any time (an import): engines mark every access, and closing waits for them.
pub const GUARDED: u64 = 1 << 14;
/// It was exported: others may look at it, and write if they were allowed to, while a task works. Copies go on as before
/// (they show no more than the copy itself); engines that must not be watched, or not be changed under, use a bounce.
pub const EXPOSED: u64 = 1 << 15;
/// Every access needs another process to do something: whoever must not wait leaves it to a card's worker.
pub const SLOW: u64 = 1 << 0;
/// An RDMA peer may read: set on RDMA imports alone, heeded by the RDMA engine alone. The numbers are those of the rights.
pub const PEER_READ: u64 = 1 << 1;
/// An RDMA peer may write.
pub const PEER_WRITE: u64 = 1 << 2;
/// An RDMA peer may do atomics.
pub const PEER_ATOMIC: u64 = 1 << 3;
/// First device bit.
pub const DEVICE_SHIFT: u32 = 16;

/// Who is told of regions that were closed.
static WHEN_CLOSED: OnceLock<fn(&Region)> = OnceLock::new();

/// Has `tell` called for every region that is closed from now on, on the thread that closes it, while its bytes are still
/// there: for whoever registered them somewhere else, too. One per process; false when there is one already.
pub fn when_closed(tell: fn(&Region)) -> bool {
    WHEN_CLOSED.set(tell).is_ok()
}

/// See [`when_closed`].
pub(crate) fn tell_closed(region: &Region) {
    if let Some(tell) = WHEN_CLOSED.get() {
        tell(region);
    }
}

/// A registered range. Lives as long as anything that points at it: inside a memory map object (C) or behind an `Arc`
/// (Rust). All fields may be read from any thread.
#[derive(Debug)]
#[repr(C)]
pub struct Region {
    pub(crate) access: AtomicU64,
    base: AtomicUsize,
    len: AtomicUsize,
    delta: AtomicIsize,
    bufs: AtomicU32,
    counted: AtomicU32,
    /// Accesses under way, of a guarded region.
    pub(crate) users: AtomicU32,
    /// Which of the process's regions it is, in the order in which they were opened first, from 1.
    number: AtomicU32,
    /// The access word it was opened with: what kind of region it is, also while it is being closed.
    made: AtomicU64,
    /// What its map grants, in the contract's numbers.
    granted: AtomicU32,
    /// The process that exported it, of an import.
    exporter: AtomicU32,
    /// What memory of another process hangs on.
    pub(crate) anchor: Anchor,
}

impl Region {
    /// A region that is not registered: every access is refused.
    pub const fn closed() -> Region {
        Region {
            access: AtomicU64::new(0),
            base: AtomicUsize::new(0),
            len: AtomicUsize::new(0),
            delta: AtomicIsize::new(0),
            bufs: AtomicU32::new(0),
            counted: AtomicU32::new(1),
            users: AtomicU32::new(0),
            number: AtomicU32::new(0),
            made: AtomicU64::new(0),
            granted: AtomicU32::new(0),
            exporter: AtomicU32::new(0),
            anchor: Anchor::new(),
        }
    }

    /// Opens the region: `[base, base + len)` as the program names it, `delta` bytes away from where it is mapped here.
    pub fn open(&self, base: usize, len: usize, delta: isize, word: u64) {
        static OPENED: AtomicU32 = AtomicU32::new(0);
        if self.number() == 0 {
            self.number.store(OPENED.fetch_add(1, Relaxed) + 1, Relaxed);
        }
        self.base.store(base, Relaxed);
        self.len.store(len, Relaxed);
        self.delta.store(delta, Relaxed);
        let moved = if delta == 0 { 0 } else { MOVED };
        self.made.store(word | moved, Relaxed);
        self.access.store(word | ALIVE | moved, core::sync::atomic::Ordering::Release);
    }

    /// Back to a fresh region, for whoever gets its place next. It is closed and no buffer points at it.
    pub(crate) fn reset(&self) {
        self.base.store(0, Relaxed);
        self.len.store(0, Relaxed);
        self.delta.store(0, Relaxed);
        self.bufs.store(0, Relaxed);
        self.counted.store(1, Relaxed);
        self.granted.store(0, Relaxed);
        self.exporter.store(0, Relaxed);
        self.number.store(0, Relaxed);
    }

    /// Which of the regions of this process it is: they are numbered as they are opened for the first time, from 1, and keep
    /// their number. 0 before.
    pub fn number(&self) -> u32 {
        self.number.load(Relaxed)
    }

    /// Another view of `other`, which has its number. Before it is opened.
    pub(crate) fn stand_for(&self, other: &Region) {
        self.number.store(other.number(), Relaxed);
    }

    /// Notes what the map grants. Before the region is opened; engines go by the access word, this is for those who hand
    /// parts of the range on.
    pub fn grant(&self, access: Access) {
        self.granted.store(access.0, Relaxed);
    }

    /// What the map grants.
    pub fn granted(&self) -> Access {
        Access(self.granted.load(Relaxed))
    }

    /// Notes the process whose export was imported. Before the region is opened.
    pub(crate) fn come_from(&self, process: u32) {
        self.exporter.store(process, Relaxed);
    }

    /// The process whose export was imported; 0 where nothing was.
    #[inline(always)]
    pub fn exporter(&self) -> u32 {
        self.exporter.load(Relaxed)
    }

    /// Marks an open region as exported.
    pub fn expose(&self) {
        self.access.fetch_or(EXPOSED, SeqCst);
    }

    /// The access word.
    #[inline(always)]
    pub fn word(&self) -> u64 {
        self.access.load(Relaxed)
    }

    /// What it was opened with, whether it is still open or not: how its bytes are to be moved while an access is marked.
    #[inline(always)]
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Relaxed)
    }

    /// Is it open, to whoever reads what it stands for afterwards?
    #[inline(always)]
    pub(crate) fn is_alive(&self) -> bool {
        self.access.load(core::sync::atomic::Ordering::Acquire) & ALIVE != 0
    }

    /// Is it registered?
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.word() & ALIVE != 0
    }

    /// First address, as the program (or the exporter) names it.
    #[inline(always)]
    pub fn base(&self) -> usize {
        self.base.load(Relaxed)
    }

    /// Bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len.load(Relaxed)
    }

    /// Is the range empty (never opened)?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What to add to a program's address to reach the byte in this process.
    #[inline(always)]
    pub fn delta(&self) -> isize {
        self.delta.load(Relaxed)
    }

    /// Does `[addr, addr + len)` lie inside?
    #[inline(always)]
    pub fn holds(&self, addr: usize, len: usize) -> bool {
        let at = addr.wrapping_sub(self.base());
        at <= self.len() && len <= self.len() - at
    }

    /// Live buffers that point here.
    pub fn bufs(&self) -> u32 {
        self.bufs.load(Relaxed)
    }

    /// Makes the buffer count safe for several threads; from then on it only keeps the object's place (see
    /// [`Region::is_counted`]).
    pub fn share(&self) {
        self.counted.store(0, Relaxed);
    }

    /// Is the buffer count part of the contract (true until [`Region::share`])?
    #[inline(always)]
    pub fn is_counted(&self) -> bool {
        self.counted.load(Relaxed) != 0
    }

    /// One more buffer points here.
    #[inline(always)]
    pub fn retain(&self) {
        if self.is_counted() {
            self.bufs.store(self.bufs.load(Relaxed) + 1, Relaxed);
        } else {
            self.bufs.fetch_add(1, Relaxed);
        }
    }

    /// One buffer less; true when it was the last.
    #[inline(always)]
    pub fn release(&self) -> bool {
        if self.is_counted() {
            let n = self.bufs.load(Relaxed).wrapping_sub(1);
            self.bufs.store(n, Relaxed);
            n == 0
        } else {
            self.bufs.fetch_sub(1, core::sync::atomic::Ordering::AcqRel) == 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_follow_the_contract() {
        for bits in [0x00, 0x01, 0x10, 0x20, 0x21, 0x27, 0x03, 0x05, 0x07, 0x40, 0x41] {
            assert!(Access::from_bits(bits).is_ok(), "{bits:#x}");
        }
        for bits in [0x80, 0x30, 0x31, 0x50, 0x60, u32::MAX] {
            assert!(Access::from_bits(bits).is_err(), "{bits:#x}");
        }
        let a = Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE;
        assert!(a.contains(Access::PCI_READ_WRITE) && a.is_shared() && !Access::LOCAL_READ_WRITE.is_shared());
        assert_eq!(format!("{a:?}"), "LOCAL_READ_WRITE|PCI_READ_WRITE");
        assert_eq!(format!("{:?}", Access::RDMA_READ), "LOCAL_READ_ONLY|RDMA_READ");
    }

    #[test]
    fn windows_at_the_edges() {
        let r = Region::closed();
        r.open(0x1000, 0x100, 0, CAN_READ);
        assert!(r.holds(0x1000, 0x100) && r.holds(0x1100, 0) && r.holds(0x10ff, 1));
        assert!(
            !r.holds(0x1000, 0x101) && !r.holds(0xfff, 1) && !r.holds(0x1101, 0) && !r.holds(usize::MAX, 2)
        );
        r.close();
        assert!(!r.is_open());
    }
}
