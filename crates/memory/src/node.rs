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
use core::ptr::NonNull;
use softdpu_status::{Code, Error, Result};
use std::alloc::Layout;
use std::sync::{Arc, Mutex, MutexGuard};

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

/// The process-wide stock of descriptors.
struct Stock {
    free: *const Node,
    count: usize,
}
// SAFETY: addresses of descriptors nobody uses.
unsafe impl Send for Stock {}
static STOCK: Mutex<Stock> = Mutex::new(Stock { free: core::ptr::null(), count: 0 });

/// A share of the stock: what an inventory or a pool is made of. Belongs to one thread at a time unless made with
/// [`Store::shared`].
#[derive(Debug)]
pub struct Store {
    free: Cell<*const Node>,
    total: Cell<u32>,
    available: Cell<u32>,
    lock: Option<Mutex<()>>,
    tied: Cell<bool>,
}

impl Store {
    /// A store that one thread uses at a time.
    pub const fn new() -> Store {
        Store { free: Cell::new(core::ptr::null()), total: Cell::new(0), available: Cell::new(0), lock: None, tied: Cell::new(false) }
    }

    /// A store that many threads may use.
    pub const fn shared() -> Store {
        Store { lock: Some(Mutex::new(())), ..Store::new() }
    }

    /// The lock of a store for many threads.
    #[inline(always)]
    fn guard(&self) -> Option<MutexGuard<'_, ()>> {
        self.lock.as_ref().map(|l| l.lock().unwrap_or_else(|e| e.into_inner()))
    }

    /// From now on each descriptor keeps the window it was last aimed at, also while it lies in the store: slots of a
    /// pool. Such descriptors must not be aimed elsewhere.
    pub fn tie(&self) {
        self.tied.set(true);
    }

    /// Descriptors owned, in use or not.
    pub fn total(&self) -> u32 {
        let _guard = self.guard();
        self.total.get()
    }

    /// Descriptors available now.
    pub fn available(&self) -> u32 {
        let _guard = self.guard();
        self.available.get()
    }

    /// Takes `n` more descriptors from the stock.
    ///
    /// # Errors
    /// NoMemory; nothing changes then.
    pub fn expand(&self, n: u32) -> Result<()> {
        let mut stock = STOCK.lock().unwrap_or_else(|e| e.into_inner());
        if stock.count < n as usize {
            let fresh = (n as usize - stock.count).max(32);
            let no_memory = Error::new(Code::NoMemory, "no memory for buffers");
            let layout = Layout::array::<Node>(fresh).map_err(|_| no_memory)?;
            // SAFETY: the size is above zero.
            let start = unsafe { std::alloc::alloc(layout) }.cast::<Node>();
            if start.is_null() {
                log::error!(target: "softdpu::buf", "no memory for {n} buffers of {} bytes", size_of::<Node>());
                return Err(no_memory);
            }
            for i in 0..fresh {
                // SAFETY: inside the block just allocated, which is never freed.
                let node = unsafe {
                    start.add(i).write(Node::blank());
                    &*start.add(i)
                };
                node.next.set(stock.free);
                stock.free = node;
            }
            stock.count += fresh;
        }
        let _guard = self.guard();
        let total = self.total.get().checked_add(n).ok_or(Error::new(Code::NoMemory, "too many buffers"))?;
        for _ in 0..n {
            // SAFETY: the stock holds at least `n` descriptors.
            let node = unsafe { &*stock.free };
            stock.free = node.next.get();
            node.next.set(self.free.get());
            self.free.set(node);
        }
        stock.count -= n as usize;
        self.total.set(total);
        self.available.set(self.available.get() + n);
        Ok(())
    }

    /// Takes a descriptor, with one reference, no neighbours and no window; the region counts it.
    #[inline]
    pub fn take(&self, region: &Region) -> Option<&Node> {
        let _guard = self.guard();
        // SAFETY: the free list links descriptors of this store.
        let node = unsafe { self.free.get().as_ref() }?;
        self.free.set(node.next.get());
        self.available.set(self.available.get() - 1);
        node.next.set(core::ptr::null());
        node.prev.set(core::ptr::null());
        node.member.set(false);
        node.refs.set(1);
        node.region.set(region);
        node.home.set(self);
        region.retain();
        node.head.wake(kind::BUF);
        Some(node)
    }

    /// Takes a descriptor back; returns what kept its region, for the caller to drop.
    fn put(&self, node: &Node) -> Option<Arc<dyn Any + Send + Sync>> {
        node.head.kill();
        // Whoever still has it finds no data and no room: the shortest paths need no look at the head.
        node.data.set(node.addr.get() + node.len.get());
        node.data_len.set(0);
        node.region().release();
        // SAFETY: the descriptor is leaving use; nobody else looks at its keeper.
        let keep = unsafe { (*node.keep.get()).take() };
        {
            let _guard = self.guard();
            node.next.set(self.free.get());
            self.free.set(node);
            self.available.set(self.available.get() + 1);
        }
        keep
    }

    /// Gives all descriptors back to the stock. Those still out stay lost to this store; callers refuse to destroy a
    /// store with descriptors out.
    pub fn dissolve(&self) {
        let mut stock = STOCK.lock().unwrap_or_else(|e| e.into_inner());
        let _guard = self.guard();
        // SAFETY: the free list links descriptors of this store.
        while let Some(node) = unsafe { self.free.get().as_ref() } {
            self.free.set(node.next.get());
            node.next.set(stock.free);
            stock.free = node;
            stock.count += 1;
        }
        self.total.set(self.total.get() - self.available.get());
        self.available.set(0);
    }
}

impl Default for Store {
    fn default() -> Self {
        Store::new()
    }
}

// SAFETY: a store is used by one thread at a time, or (made by `shared`) takes its lock around every look and change.
unsafe impl Send for Store {}
// SAFETY: only stores made by `shared` are offered to several threads; see above.
unsafe impl Sync for Store {}

/// The store that buffers of the Rust face come from.
static COMMON: Store = Store::shared();

/// A descriptor owned by value: what the Rust face's buffers are made of. Dropping it gives the whole list back.
#[derive(Debug)]
pub struct Owned(NonNull<Node>);

// SAFETY: the only way to the descriptor (and those linked behind it) is this value; stores and regions behind it are
// made for several threads.
unsafe impl Send for Owned {}
// SAFETY: a shared reference gives only reads of plain cells that nobody writes while it is shared.
unsafe impl Sync for Owned {}

impl Owned {
    /// A descriptor on `region`, kept alive by `keep`, which must own the region.
    ///
    /// # Errors
    /// NoMemory; InvalidValue when the window leaves the region.
    pub(crate) fn new(region: &Region, keep: Arc<dyn Any + Send + Sync>, addr: usize, len: usize) -> Result<Owned> {
        check_window(region, addr, len, addr, 0)?;
        let node = loop {
            if let Some(node) = COMMON.take(region) {
                break node;
            }
            COMMON.expand(64)?;
        };
        // SAFETY: fresh from the store, nobody else looks at it.
        unsafe { *node.keep.get() = Some(keep) };
        node.aim(addr, len, addr, 0);
        Ok(Owned(node.into()))
    }

    /// A descriptor of `store`, which also holds windows that were aimed before: the one that the free descriptor
    /// carries since [`Owned::aim`] is kept, its data is empty. Allocates nothing. `keep` must own region and store.
    pub(crate) fn again(store: &Store, region: &Region, keep: Arc<dyn Any + Send + Sync>) -> Option<Owned> {
        let node = store.take(region)?;
        // SAFETY: fresh from the store, nobody else looks at it.
        unsafe { *node.keep.get() = Some(keep) };
        node.aim(node.addr(), node.len(), node.addr(), 0);
        Some(Owned(node.into()))
    }

    /// Aims a descriptor at a window; it stays aimed there when it goes back to its store.
    ///
    /// # Errors
    /// InvalidValue when the window leaves the region; nothing changes then.
    pub(crate) fn aim(&mut self, addr: usize, len: usize) -> Result<()> {
        self.node().reuse(addr, len, addr, 0)
    }

    /// The descriptor.
    #[inline(always)]
    pub fn node(&self) -> &Node {
        // SAFETY: in use until this value goes.
        unsafe { self.0.as_ref() }
    }

    /// Appends `tail`'s list to this one's end.
    pub fn chain(&mut self, tail: Owned) {
        Node::link(self.node().last(), tail.node());
        core::mem::forget(tail);
    }

    /// Splits off everything behind the first element.
    pub fn unchain(&mut self) -> Option<Owned> {
        let next = self.node().next()?;
        next.cut();
        Some(Owned(next.into()))
    }

    /// Lends the descriptor to a flying task. The value itself travels with the task.
    #[inline(always)]
    pub fn lend(&self) -> Lent {
        Lent(self.0)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.node().give_back_list();
    }
}

/// A descriptor lent to a flying task: the program does not touch it until the task is back (in Rust by ownership, in C
/// by contract). It may be stale in C, so every use asks whether it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Lent(NonNull<Node>);

// SAFETY: whoever turns the task has the descriptor to itself while it flies.
unsafe impl Send for Lent {}
// SAFETY: as above; several threads that carry out one task only read it.
unsafe impl Sync for Lent {}

/// Stands where a C program gave no buffer.
struct Nobody(Node);
// SAFETY: never in use, so nobody changes it.
unsafe impl Sync for Nobody {}
static NOBODY: Nobody = Nobody(Node::blank());

impl Lent {
    /// From a C handle. What is no descriptor in use (NULL, released, another kind of object) stands for nobody's
    /// descriptor, which never is.
    ///
    /// # Safety
    /// NULL, or a handle this library gave out (possibly stale).
    #[inline(always)]
    pub unsafe fn from_handle(ptr: *const Node) -> Lent {
        // SAFETY: per this function's contract.
        match unsafe { crate::handle::live(ptr) } {
            Some(node) => Lent(NonNull::from(node)),
            None => Lent(NonNull::from(&NOBODY.0)),
        }
    }

    /// The handle, NULL for nobody's.
    #[inline(always)]
    pub fn handle(self) -> *const Node {
        if core::ptr::eq(self.0.as_ptr(), &NOBODY.0) { core::ptr::null() } else { self.0.as_ptr() }
    }

    /// The descriptor, in use or not: one that is not in use has no data and no room.
    #[inline(always)]
    pub fn any<'a>(self) -> &'a Node {
        // SAFETY: descriptors are never given back to the system.
        unsafe { &*self.0.as_ptr() }
    }

    /// The descriptor, if it is in use.
    #[inline(always)]
    pub fn node<'a>(self) -> Option<&'a Node> {
        // SAFETY: descriptors are never given back to the system, so looking is always defined.
        let node = unsafe { &*self.0.as_ptr() };
        if node.is_live() { Some(node) } else { None }
    }
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
