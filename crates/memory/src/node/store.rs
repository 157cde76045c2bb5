//! The stock of descriptors, and the shares of it that inventories and pools are.
#![expect(unsafe_code, reason = "links between descriptors are raw pointers into type-stable memory")]

use super::Node;
use crate::handle::kind;
use crate::region::Region;
use core::any::Any;
use core::cell::Cell;
use softdpu_status::{Code, Error, Result};
use std::alloc::Layout;
use std::sync::{Arc, Mutex, MutexGuard};

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
    pub(super) tied: Cell<bool>,
    pub(super) sole: Cell<bool>,
}

impl Store {
    /// A store that one thread uses at a time.
    pub const fn new() -> Store {
        Store {
            free: Cell::new(core::ptr::null()),
            total: Cell::new(0),
            available: Cell::new(0),
            lock: None,
            tied: Cell::new(false),
            sole: Cell::new(false),
        }
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

    /// From now on the window of each descriptor is its alone: nobody may make a second descriptor of it, since the bytes
    /// are used anew as soon as the first goes.
    pub fn keep_sole(&self) {
        self.sole.set(true);
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
    pub(super) fn put(&self, node: &Node) -> Option<Arc<dyn Any + Send + Sync>> {
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
