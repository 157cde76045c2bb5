//! `doca_buf_pool.h`: equal slots of one map, laid out once and handed out as buffers.
//!
//! Each descriptor of the pool's store is aimed at its slot at start and stays aimed, so taking one is a pop.
#![expect(unsafe_code, reason = "C entry points")]

use crate::buf::{self, handle};
use crate::call::{enter, output};
use crate::entry::SUCCESS;
use crate::mmap::Mmap;
use softdpu_memory::handle::{Head, Object, Slab, checked, explain, kind, live};
use softdpu_memory::node::{Node, Store};
use softdpu_memory::region::Region;
use softdpu_status::{Code, Error, Result};
use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The log target of this family.
const LOG: &str = "softdpu::pool";

/// What C calls `struct doca_buf_pool`. One thread at a time.
#[derive(Debug)]
#[repr(C)]
pub struct Pool {
    head: Head,
    started: AtomicBool,
    store: Store,
    region: &'static Region,
    size: usize,
    alignment: AtomicUsize,
    user_data: AtomicU64,
    /// The map, looked at only through the kind word: the program may have destroyed it.
    map: *const Mmap,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Pool {
    const KIND: u32 = kind::POOL;
    const NAME: &'static str = "buffer pool";
}

static POOLS: Slab<Pool> = Slab::new();

impl Pool {
    /// Is the region still that of the map the pool was made for, and open?
    fn has_map(&self) -> bool {
        // SAFETY: a handle this library gave out; alive or not, its kind word can be read.
        let map = unsafe { live(self.map) };
        map.is_some_and(|map| core::ptr::eq(map.region(), self.region)) && self.region.is_open()
    }

    #[cold]
    fn no_map(&self) -> Error {
        log::error!(target: LOG, "buffer pool {self:p}: its memory map {:p} is not started", self.map);
        Error::new(Code::BadState, "the memory map is not started")
    }

    fn refuse_if_started(&self, call: &str) -> Result<()> {
        if self.started.load(Relaxed) {
            log::error!(target: LOG, "{call}: buffer pool {self:p} is started");
            return Err(Error::new(Code::BadState, "the pool is started"));
        }
        Ok(())
    }

    fn refuse_if_out(&self, call: &str) -> Result<()> {
        let (total, free) = (self.store.total(), self.store.available());
        if free < total {
            log::error!(target: LOG, "{call}: buffer pool {self:p}: {} of {total} buffers are out", total - free);
            return Err(Error::new(Code::InUse, "buffers are out"));
        }
        Ok(())
    }

    fn start(&self) -> Result<()> {
        if self.started.load(Relaxed) {
            return Ok(());
        }
        if !self.has_map() {
            return Err(self.no_map());
        }
        let (slots, alignment) = (self.store.total() as usize, self.alignment.load(Relaxed));
        let (base, end) = (self.region.base(), self.region.base() + self.region.len());
        let layout = || {
            let first = base.checked_next_multiple_of(alignment)?;
            let stride = self.size.checked_next_multiple_of(alignment)?;
            let last = first.checked_add(stride.checked_mul(slots - 1)?)?;
            (last.checked_add(self.size)? <= end).then_some((stride, last))
        };
        let Some((stride, last)) = layout() else {
            log::error!(target: LOG,
                "buffer pool {self:p}: {slots} slots of {} bytes aligned to {alignment} do not fit into [{base:#x}, +{})",
                self.size, self.region.len());
            return Err(Error::new(Code::Initialization, "the slots do not fit into the range"));
        };
        self.lay_out(last, stride);
        self.started.store(true, Relaxed);
        Ok(())
    }

    /// Aims every descriptor at its slot, from the last slot down, and puts them back in the order they came. What
    /// went back last is taken first: slot 0.
    fn lay_out(&self, last_slot: usize, stride: usize) {
        let mut slot = last_slot;
        let mut taken: Option<(&Node, &Node)> = None;
        while let Some(node) = self.store.take(self.region) {
            node.aim(slot, self.size, slot, 0);
            slot = slot.wrapping_sub(stride);
            taken = Some(match taken {
                None => (node, node),
                Some((first, last)) => {
                    Node::link(last, node);
                    (first, node)
                }
            });
        }
        if let Some((first, _)) = taken {
            first.give_back_list();
        }
        self.store.tie();
    }

    /// A slot as an empty buffer.
    #[inline(always)]
    fn take(&self) -> Result<&Node> {
        if !self.started.load(Relaxed) {
            log::error!(target: LOG, "buffer pool {self:p} is not started");
            return Err(Error::new(Code::BadState, "the pool is not started"));
        }
        if !self.has_map() {
            return Err(self.no_map());
        }
        let Some(node) = self.store.take(self.region) else {
            log::error!(target: LOG, "buffer pool {self:p}: all of its {} buffers are out", self.store.total());
            return Err(Error::new(Code::Empty, "the pool has no free buffer"));
        };
        node.aim(node.addr(), node.len(), node.addr(), 0);
        Ok(node)
    }
}

/// A stopped pool of `num_elements` slots of `element_size` bytes of a map.
///
/// # Safety
/// `mmap` is NULL or a handle of this library; `buf_pool` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_pool_create(
    num_elements: usize,
    element_size: usize,
    mmap: *const Mmap,
    buf_pool: *mut *mut Pool,
) -> c_int {
    enter("doca_buf_pool_create", || {
        // SAFETY: the caller's promise.
        let map = unsafe { checked(mmap, "doca_buf_pool_create") }?;
        // SAFETY: the caller's promise.
        let slot = unsafe { output(buf_pool, "doca_buf_pool_create") }?;
        if num_elements == 0 || element_size == 0 {
            log::error!(target: LOG, "a buffer pool of {num_elements} slots of {element_size} bytes");
            return Err(Error::new(Code::InvalidValue, "a pool needs slots with bytes"));
        }
        if map.range().is_none() {
            log::error!(target: LOG, "a buffer pool on memory map {map:p}, which has no range");
            return Err(Error::new(Code::InvalidValue, "the memory map has no range"));
        }
        let too_many = |_| {
            log::error!(target: LOG, "{num_elements} slots in one buffer pool, at most {}", u32::MAX);
            Error::new(Code::NoMemory, "too many slots")
        };
        let store = Store::new();
        store.expand(u32::try_from(num_elements).map_err(too_many)?)?;
        let made = POOLS.make(Pool {
            head: Head::unborn(),
            started: AtomicBool::new(false),
            store,
            region: map.region(),
            size: element_size,
            alignment: AtomicUsize::new(1),
            user_data: AtomicU64::new(0),
            map: mmap,
        });
        slot.set(made?.as_ptr());
        Ok(())
    })
}

/// Ends the pool.
///
/// # Safety
/// NULL or a handle of this library that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_pool_destroy(buf_pool: *mut Pool) -> c_int {
    enter("doca_buf_pool_destroy", || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(buf_pool, "doca_buf_pool_destroy") }?;
        this.refuse_if_out("doca_buf_pool_destroy")?;
        this.store.dissolve();
        // SAFETY: alive, and by the caller's promise nobody else uses it; all its descriptors have gone home.
        unsafe { POOLS.retire(NonNull::from(this)) };
        Ok(())
    })
}

/// Lays the slots out and opens the pool.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_pool_start(buf_pool: *mut Pool) -> c_int {
    // SAFETY: the caller's promise.
    enter("doca_buf_pool_start", || unsafe { checked(buf_pool, "doca_buf_pool_start") }?.start())
}

/// Closes the pool.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_pool_stop(buf_pool: *mut Pool) -> c_int {
    enter("doca_buf_pool_stop", || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(buf_pool, "doca_buf_pool_stop") }?;
        this.refuse_if_out("doca_buf_pool_stop")?;
        this.started.store(false, Relaxed);
        Ok(())
    })
}

/// Takes a slot. A data path call: no lock, no allocation, no panic border.
///
/// # Safety
/// `buf_pool` is NULL or a handle of this library; `buf` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_pool_buf_alloc(buf_pool: *mut Pool, buf: *mut *mut Node) -> c_int {
    // SAFETY: the caller's promise.
    let Some(this) = (unsafe { live(buf_pool) }) else {
        // SAFETY: the caller's promise.
        return unsafe { explain(buf_pool, "doca_buf_pool_buf_alloc") }.code().number();
    };
    if buf.is_null() {
        return buf::null("doca_buf_pool_buf_alloc");
    }
    match this.take() {
        Ok(node) => {
            // SAFETY: not NULL, and good for a write by the caller's promise.
            unsafe { buf.write(handle(Some(node))) };
            SUCCESS
        }
        Err(error) => error.code().number(),
    }
}

/// Stores a value for the program. (`union doca_data` travels like a 64-bit integer.)
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_pool_set_user_data(buf_pool: *mut Pool, user_data: u64) -> c_int {
    enter("doca_buf_pool_set_user_data", || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(buf_pool, "doca_buf_pool_set_user_data") }?;
        this.refuse_if_started("doca_buf_pool_set_user_data")?;
        this.user_data.store(user_data, Relaxed);
        Ok(())
    })
}

/// Asks for slot addresses that are multiples of `element_alignment`.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_pool_set_element_alignment(
    buf_pool: *mut Pool,
    element_alignment: usize,
) -> c_int {
    enter("doca_buf_pool_set_element_alignment", || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(buf_pool, "doca_buf_pool_set_element_alignment") }?;
        this.refuse_if_started("doca_buf_pool_set_element_alignment")?;
        if !element_alignment.is_power_of_two() {
            log::error!(target: LOG, "buffer pool {this:p}: alignment {element_alignment} is not a power of two");
            return Err(Error::new(Code::InvalidValue, "alignment is not a power of two"));
        }
        this.alignment.store(element_alignment, Relaxed);
        Ok(())
    })
}

/// Declares a call that reads one property.
macro_rules! getter {
    ($(#[$doc:meta])* $name:ident: $type:ty = |$this:ident| $value:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `buf_pool` is NULL or a handle of this library; `result` is NULL or good for one write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(buf_pool: *const Pool, result: *mut $type) -> c_int {
            enter(stringify!($name), || {
                // SAFETY: the caller's promise.
                let $this = unsafe { checked(buf_pool, stringify!($name)) }?;
                // SAFETY: the caller's promise.
                unsafe { output(result, stringify!($name)) }?.set($value);
                Ok(())
            })
        }
    };
}

getter! {
    /// The value stored for the program.
    doca_buf_pool_get_user_data: u64 = |this| this.user_data.load(Relaxed)
}
getter! {
    /// The alignment of the slots.
    doca_buf_pool_get_element_alignment: usize = |this| this.alignment.load(Relaxed)
}
getter! {
    /// All slots.
    doca_buf_pool_get_num_elements: u32 = |this| this.store.total()
}
getter! {
    /// Slots that can be taken now.
    doca_buf_pool_get_num_free_elements: u32 = |this| this.store.available()
}
