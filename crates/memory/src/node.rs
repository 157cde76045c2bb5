//! Buffer descriptors: a window (head, data, length) on a region, possibly linked into a list.
//!
//! Descriptors come from one process-wide stock that is never given back to the system, so that a stale handle can
//! always be looked at. An inventory or a pool is a [`Store`]: a share of that stock. A descriptor belongs to one thread
//! at a time; it may cross threads while no two use it.
#![expect(unsafe_code, reason = "links between descriptors are raw pointers into type-stable memory")]

use crate::handle::{Head, Object, kind};
use crate::region::Region;
use core::any::Any;
use core::cell::{Cell, UnsafeCell};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

mod owned;
pub mod pair;
mod store;

pub use owned::{Lent, Owned};
pub use store::Store;

/// A buffer descriptor. `head <= data` and `data + data_len <= head + len` always hold.
#[derive(Debug)]
#[repr(C)]
pub struct Node {
    head: Head,
    refs: Cell<u16>,
    member: Cell<bool>,
    addr: Cell<usize>,
    len: Cell<usize>,
    data: Cell<usize>,
    data_len: Cell<usize>,
    next: Cell<*const Node>,
    region: Cell<*const Region>,
    prev: Cell<*const Node>,
    home: Cell<*const Store>,
    /// Keeps the region alive where ownership is counted (Rust); empty where the contract orders life times (C).
    keep: UnsafeCell<Option<Arc<dyn Any + Send + Sync>>>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Node {
    const KIND: u32 = kind::BUF;
    const NAME: &'static str = "buffer";
}

impl Node {
    const fn blank() -> Node {
        Node {
            head: Head::unborn(),
            refs: Cell::new(0),
            member: Cell::new(false),
            addr: Cell::new(0),
            len: Cell::new(0),
            data: Cell::new(0),
            data_len: Cell::new(0),
            next: Cell::new(core::ptr::null()),
            region: Cell::new(core::ptr::null()),
            prev: Cell::new(core::ptr::null()),
            home: Cell::new(core::ptr::null()),
            keep: UnsafeCell::new(None),
        }
    }

    /// Is the descriptor in use?
    #[inline(always)]
    pub fn is_live(&self) -> bool {
        self.head.is(kind::BUF)
    }

    /// The region it points into.
    #[inline(always)]
    pub fn region(&self) -> &Region {
        // SAFETY: set when the descriptor was taken, to a region that outlives it: by the count of live buffers of a
        // memory map object, or by `keep`. Regions of map objects are type-stable besides.
        unsafe { &*self.region.get() }
    }

    /// The same for a descriptor that may have been released, or never taken.
    #[inline]
    pub(crate) fn region_if_any(&self) -> Option<&Region> {
        // SAFETY: NULL until it is taken for the first time, then as in `region`.
        unsafe { self.region.get().as_ref() }
    }

    /// First address of the window.
    #[inline(always)]
    pub fn addr(&self) -> usize {
        self.addr.get()
    }

    /// Bytes of the window.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "a window, not a container")]
    pub fn len(&self) -> usize {
        self.len.get()
    }

    /// First address of the data.
    #[inline(always)]
    pub fn data(&self) -> usize {
        self.data.get()
    }

    /// Bytes of data.
    #[inline(always)]
    pub fn data_len(&self) -> usize {
        self.data_len.get()
    }

    /// First address behind the data.
    #[inline(always)]
    pub fn tail(&self) -> usize {
        self.data.get() + self.data_len.get()
    }

    /// Bytes free behind the data.
    #[inline(always)]
    pub fn room(&self) -> usize {
        self.addr.get() + self.len.get() - self.tail()
    }

    /// Moves the data window.
    ///
    /// # Errors
    /// InvalidValue when it leaves the region window; nothing changes then.
    pub fn set_data(&self, data: usize, data_len: usize) -> Result<()> {
        let at = data.wrapping_sub(self.addr());
        if at > self.len() || data_len > self.len() - at {
            log::error!(target: "softdpu::buf",
                "buffer {self:p}: data [{data:#x}, +{data_len}) leaves the window [{:#x}, +{})", self.addr(), self.len());
            return Err(Error::new(Code::InvalidValue, "data leaves the window of the buffer"));
        }
        self.data.set(data);
        self.data_len.set(data_len);
        Ok(())
    }

    /// Grows the data by what was written behind it; the caller stayed within [`Node::room`].
    #[inline(always)]
    pub(crate) fn grow(&self, by: usize) {
        debug_assert!(by <= self.room());
        self.data_len.set(self.data_len.get() + by);
    }

    /// Aims the window, unchecked against the region; callers check with [`check_window`].
    #[inline(always)]
    pub fn aim(&self, addr: usize, len: usize, data: usize, data_len: usize) {
        self.addr.set(addr);
        self.len.set(len);
        self.data.set(data);
        self.data_len.set(data_len);
    }

    /// Re-aims a descriptor in use at another part of its region.
    ///
    /// # Errors
    /// InvalidValue when the window leaves the region, or the data the window; nothing changes then.
    pub fn reuse(&self, addr: usize, len: usize, data: usize, data_len: usize) -> Result<()> {
        check_window(self.region(), addr, len, data, data_len)?;
        self.aim(addr, len, data, data_len);
        Ok(())
    }

    /// References held by the program.
    #[inline]
    pub fn refs(&self) -> u16 {
        self.refs.get()
    }

    /// Sets the number of references.
    #[inline]
    pub fn set_refs(&self, refs: u16) {
        self.refs.set(refs);
    }

    /// Is it a member of a list without being its head?
    #[inline]
    pub fn is_member(&self) -> bool {
        self.member.get()
    }

    /// The next element of its list.
    #[inline(always)]
    pub fn next(&self) -> Option<&Node> {
        // SAFETY: links point at descriptors in use; their memory is never given back.
        unsafe { self.next.get().as_ref() }
    }

    /// Is neither of the two followed by another element?
    #[inline(always)]
    pub(crate) fn both_alone(&self, other: &Node) -> bool {
        self.next.get() as usize | other.next.get() as usize == 0
    }

    /// The element before it.
    pub fn prev(&self) -> Option<&Node> {
        // SAFETY: as for `next`.
        unsafe { self.prev.get().as_ref() }
    }

    /// The last element reachable from here.
    pub fn last(&self) -> &Node {
        let mut n = self;
        while let Some(next) = n.next() {
            n = next;
        }
        n
    }

    /// The elements from here on.
    pub fn list(&self) -> impl Iterator<Item = &Node> {
        core::iter::successors(Some(self), |n| n.next())
    }

    /// Appends the list `tail` behind `last`, the last element of a list. Both heads were checked by the caller.
    pub fn link(last: &Node, tail: &Node) {
        last.next.set(tail);
        tail.prev.set(last);
        tail.member.set(true);
    }

    /// Cuts the list just before this element, which becomes a head.
    pub fn cut(&self) {
        if let Some(prev) = self.prev() {
            prev.next.set(core::ptr::null());
        }
        self.prev.set(core::ptr::null());
        self.member.set(false);
        self.refs.set(1);
    }

    /// Gives this descriptor and everything linked behind it back, each to its own store.
    pub fn give_back_list(&self) {
        let mut at: *const Node = self;
        // SAFETY: links point at descriptors in use; the next link is read before the element goes.
        while let Some(node) = unsafe { at.as_ref() } {
            at = node.next.get();
            // SAFETY: a descriptor in use has the store it was taken from as its home, which stays while any is out.
            let home = unsafe { &*node.home.get() };
            // The keeper may own the store itself, so it goes only after the store was left.
            let keep = home.put(node);
            drop(keep);
        }
    }

    /// What keeps the region alive, where ownership is counted.
    pub(crate) fn keeper(&self) -> Option<&(dyn Any + Send + Sync)> {
        // SAFETY: the keeper is set when the descriptor is taken and goes when it is given back; only the owner does
        // either, and nobody looks at a descriptor without its owner's leave.
        unsafe { (*self.keep.get()).as_deref() }
    }

    /// Does its window belong to it for good (see [`Store::tie`])?
    #[inline]
    pub fn is_tied(&self) -> bool {
        // SAFETY: as in `give_back_list`; a descriptor that was never taken has no home.
        unsafe { self.home.get().as_ref() }.is_some_and(|home| home.tied.get())
    }

    /// Is its window its alone (see [`Store::keep_sole`])?
    pub fn is_sole(&self) -> bool {
        // SAFETY: as in `is_tied`.
        unsafe { self.home.get().as_ref() }.is_some_and(|home| home.sole.get())
    }

    /// Does `home` own this descriptor?
    pub fn is_from(&self, home: &Store) -> bool {
        core::ptr::eq(self.home.get(), home)
    }
}

/// Checks a window on a region: the window inside the range, the data inside the window.
///
/// # Errors
/// InvalidValue, with one log line that has the numbers.
#[inline(always)]
pub fn check_window(region: &Region, addr: usize, len: usize, data: usize, data_len: usize) -> Result<()> {
    let at = data.wrapping_sub(addr);
    if region.holds(addr, len) && at <= len && data_len <= len - at {
        return Ok(());
    }
    Err(refuse_window(region, addr, len, data, data_len))
}

#[cold]
#[inline(never)]
fn refuse_window(region: &Region, addr: usize, len: usize, data: usize, data_len: usize) -> Error {
    if !region.holds(addr, len) {
        log::error!(target: "softdpu::buf", "window [{addr:#x}, +{len}) leaves the memory map's range [{:#x}, +{})",
            region.base(), region.len());
        return Error::new(Code::InvalidValue, "window leaves the range of the memory map");
    }
    log::error!(target: "softdpu::buf", "data [{data:#x}, +{data_len}) leaves the window [{addr:#x}, +{len})");
    Error::new(Code::InvalidValue, "data leaves the window of the buffer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::CAN_READ;

    #[test]
    fn a_store_gives_what_it_has_and_takes_lists_back() {
        let region = Region::closed();
        region.open(0x1000, 0x1000, 0, CAN_READ);
        let store = Store::new();
        store.expand(3).unwrap();
        let a = store.take(&region).unwrap();
        let b = store.take(&region).unwrap();
        let c = store.take(&region).unwrap();
        assert!(store.take(&region).is_none());
        assert_eq!((store.total(), store.available(), region.bufs()), (3, 0, 3));
        Node::link(a.last(), b);
        Node::link(a.last(), c);
        assert_eq!(a.list().count(), 3);
        c.cut();
        assert!(!c.is_member() && b.next().is_none());
        a.give_back_list();
        assert!(!a.is_live() && !b.is_live() && c.is_live());
        c.give_back_list();
        assert_eq!((store.available(), region.bufs()), (3, 0));
        store.dissolve();
        assert_eq!(store.total(), 0);
    }

    #[test]
    fn data_stays_inside_its_window() {
        let region = Region::closed();
        region.open(0x1000, 0x1000, 0, CAN_READ);
        let store = Store::new();
        store.expand(1).unwrap();
        let a = store.take(&region).unwrap();
        assert!(a.reuse(0x1000, 0x100, 0x1010, 0x20).is_ok());
        assert_eq!((a.room(), a.tail()), (0xd0, 0x1030));
        assert!(a.set_data(0xfff, 1).is_err());
        assert!(a.set_data(0x1000, 0x101).is_err());
        assert!(a.set_data(0x1100, 0).is_ok());
        assert!(a.reuse(0x1000, 0x1001, 0x1000, 0).is_err());
        assert_eq!(a.len(), 0x100);
        a.give_back_list();
        store.dissolve();
    }
}
