//! `doca_buf_inventory.h`: pools of descriptors that can be aimed at any region of any started map.
//!
//! Taking and re-aiming a buffer stand on data paths: a few compares, no lock, no allocation, no panic border.
#![expect(unsafe_code, reason = "C entry points")]

use crate::buf::{self, buffer, handle};
use crate::call::{enter, output};
use crate::entry::{SUCCESS, number};
use crate::mmap::Mmap;
use softdpu_memory::handle::{Head, Object, Slab, checked, explain, kind, live};
use softdpu_memory::node::{Node, Store, check_window};
use softdpu_memory::region::Region;
use softdpu_status::{Code, Error, Result};
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

mod info;

pub use info::*;

/// The log target of this family.
const LOG: &str = "softdpu::inventory";

/// What C calls `struct doca_buf_inventory`. One thread at a time.
#[derive(Debug)]
#[repr(C)]
pub struct Inventory {
    head: Head,
    started: AtomicBool,
    store: Store,
    user_data: AtomicU64,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Inventory {
    const KIND: u32 = kind::INVENTORY;
    const NAME: &'static str = "buffer inventory";
}

static INVENTORIES: Slab<Inventory> = Slab::new();

impl Inventory {
    #[inline(always)]
    fn is_started(&self) -> bool {
        self.started.load(Relaxed)
    }

    #[cold]
    fn not_started(&self) -> Error {
        log::error!(target: LOG, "buffer inventory {self:p} is not started");
        Error::new(Code::BadState, "the inventory is not started")
    }

    #[cold]
    fn used_up(&self, wanted: usize) -> Error {
        log::error!(target: LOG, "buffer inventory {self:p}: {wanted} buffers wanted, {} of {} are free",
            self.store.available(), self.store.total());
        Error::new(Code::NoMemory, "the inventory has no free buffer")
    }

    /// A buffer with this window.
    #[inline(always)]
    fn take(&self, map: &Mmap, addr: usize, len: usize, data: usize, data_len: usize) -> Result<&Node> {
        if !self.is_started() {
            return Err(self.not_started());
        }
        let region = map.region();
        if !region.is_open() {
            map.allows_buffers()?;
        }
        check_window(region, addr, len, data, data_len)?;
        let Some(node) = self.store.take(region) else { return Err(self.used_up(1)) };
        node.aim(addr, len, data, data_len);
        Ok(node)
    }

    /// Copies of all descriptors of the list, linked in the same way.
    fn duplicate(&self, source: &Node) -> Result<&Node> {
        if !self.is_started() {
            return Err(self.not_started());
        }
        if source.is_member() {
            log::error!(target: LOG, "duplicating buffer {source:p}: it is a member of a list, not its head");
            return Err(Error::new(Code::NotPermitted, "not the head of its list"));
        }
        if let Some(node) = source.list().find(|node| node.is_sole()) {
            log::error!(target: LOG, "duplicating buffer {source:p}: {node:p} is a packet of a receive queue");
            return Err(Error::new(Code::NotPermitted, "a packet of a receive queue"));
        }
        if let Some(node) = source.list().find(|node| !node.region().is_open()) {
            let region: &Region = node.region();
            log::error!(target: LOG, "duplicating buffer {source:p}: the memory map [{:#x}, +{}) is not started",
                region.base(), region.len());
            return Err(Error::new(Code::BadState, "the memory map is not started"));
        }
        let elements = source.list().count();
        if elements > self.store.available() as usize {
            return Err(self.used_up(elements));
        }
        let mut copies = source.list().map(|node| {
            let copy = self.store.take(node.region())?;
            copy.aim(node.addr(), node.len(), node.data(), node.data_len());
            Some(copy)
        });
        let missing = || Error::new(Code::NoMemory, "the inventory has no free buffer");
        let first = copies.next().flatten().ok_or_else(missing)?;
        let mut last = first;
        for copy in copies.flatten() {
            Node::link(last, copy);
            last = copy;
        }
        Ok(first)
    }
}

/// A stopped inventory.
///
/// # Safety
/// `inventory` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_create(
    num_elements: usize,
    inventory: *mut *mut Inventory,
) -> c_int {
    enter("doca_buf_inventory_create", || {
        // SAFETY: the caller's promise.
        let slot = unsafe { output(inventory, "doca_buf_inventory_create") }?;
        if num_elements == 0 {
            log::error!(target: LOG, "a buffer inventory of 0 elements");
            return Err(Error::new(Code::InvalidValue, "an inventory needs elements"));
        }
        let store = Store::new();
        store.expand(elements(num_elements)?)?;
        let made = INVENTORIES.make(Inventory {
            head: Head::unborn(),
            started: AtomicBool::new(false),
            store,
            user_data: AtomicU64::new(0),
        });
        slot.set(made?.as_ptr());
        Ok(())
    })
}

fn elements(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| {
        log::error!(target: LOG, "{n} buffers in one inventory or pool, at most {}", u32::MAX);
        Error::new(Code::NoMemory, "too many buffers")
    })
}

/// Gives the descriptors back and ends the inventory.
///
/// # Safety
/// NULL or a handle of this library that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_destroy(inventory: *mut Inventory) -> c_int {
    enter("doca_buf_inventory_destroy", || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(inventory, "doca_buf_inventory_destroy") }?;
        let (total, free) = (this.store.total(), this.store.available());
        if free < total {
            log::error!(target: LOG, "buffer inventory {this:p} cannot be destroyed: {} of {total} buffers are out",
                total - free);
            return Err(Error::new(Code::InUse, "buffers are out"));
        }
        this.store.dissolve();
        // SAFETY: alive, and by the caller's promise nobody else uses it; all its descriptors have gone home.
        unsafe { INVENTORIES.retire(NonNull::from(this)) };
        Ok(())
    })
}

/// Opens the inventory for allocation.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_start(inventory: *mut Inventory) -> c_int {
    enter("doca_buf_inventory_start", || {
        // SAFETY: the caller's promise.
        unsafe { checked(inventory, "doca_buf_inventory_start") }?.started.store(true, Relaxed);
        Ok(())
    })
}

/// Closes it; buffers that are out stay valid.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_stop(inventory: *mut Inventory) -> c_int {
    enter("doca_buf_inventory_stop", || {
        // SAFETY: the caller's promise.
        unsafe { checked(inventory, "doca_buf_inventory_stop") }?.started.store(false, Relaxed);
        Ok(())
    })
}

/// Adds descriptors.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_expand(inventory: *mut Inventory, num_elements: u32) -> c_int {
    enter("doca_buf_inventory_expand", || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(inventory, "doca_buf_inventory_expand") }?;
        if num_elements == 0 {
            log::error!(target: LOG, "buffer inventory {this:p} cannot be expanded by 0 elements");
            return Err(Error::new(Code::InvalidValue, "expanding by nothing"));
        }
        if !this.is_started() {
            return Err(this.not_started());
        }
        this.store.expand(num_elements)
    })
}

/// A buffer on `[addr, addr + len)` of a map with the data `[data, data + data_len)`.
///
/// # Safety
/// The handles are NULL or of this library; `buf` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_buf_get_by_args(
    inventory: *mut Inventory,
    mmap: *mut Mmap,
    addr: *mut c_void,
    len: usize,
    data: *mut c_void,
    data_len: usize,
    buf: *mut *mut Node,
) -> c_int {
    // SAFETY: the caller's promise.
    let (Some(this), Some(map), false) = (unsafe { live(inventory) }, unsafe { live(mmap) }, buf.is_null())
    else {
        // SAFETY: the caller's promise.
        return unsafe { refuse_take(inventory, mmap) };
    };
    match this.take(map, addr as usize, len, data as usize, data_len) {
        Ok(node) => {
            // SAFETY: not NULL, and good for a write by the caller's promise.
            unsafe { buf.write(handle(Some(node))) };
            SUCCESS
        }
        Err(error) => error.code().number(),
    }
}

/// # Safety
/// The handles are NULL or of this library.
#[cold]
unsafe fn refuse_take(inventory: *const Inventory, mmap: *const Mmap) -> c_int {
    const CALL: &str = "taking a buffer";
    // SAFETY: the caller's promise.
    unsafe {
        if live(inventory).is_none() {
            return explain(inventory, CALL).code().number();
        }
        if live(mmap).is_none() {
            return explain(mmap, CALL).code().number();
        }
    }
    buf::null(CALL)
}

/// Descriptors of this inventory that look at the same bytes as a list does.
///
/// # Safety
/// The handles are NULL or of this library; `dst_buf` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_buf_dup(
    inventory: *mut Inventory,
    src_buf: *const Node,
    dst_buf: *mut *mut Node,
) -> c_int {
    enter("doca_buf_inventory_buf_dup", || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(inventory, "doca_buf_inventory_buf_dup") }?;
        // SAFETY: the caller's promise.
        let source = unsafe { checked(src_buf, "doca_buf_inventory_buf_dup") }?;
        // SAFETY: the caller's promise.
        let slot = unsafe { output(dst_buf, "doca_buf_inventory_buf_dup") }?;
        slot.set(handle(Some(this.duplicate(source)?)));
        Ok(())
    })
}

/// Aims a buffer at another part of its map.
#[inline(always)]
fn reuse(node: &Node, addr: *mut c_void, len: usize, data: *mut c_void, data_len: usize) -> c_int {
    if node.is_tied() {
        return slot_of_a_pool(node);
    }
    number(node.reuse(addr as usize, len, data as usize, data_len))
}

#[cold]
fn slot_of_a_pool(node: &Node) -> c_int {
    log::error!(target: LOG, "buffer {node:p} is a slot of a buffer pool and cannot be aimed elsewhere");
    Code::InvalidValue.number()
}

/// Aims a buffer at region `[addr, addr + len)` and data `[data, data + data_len)`.
///
/// # Safety
/// `buf` is NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_buf_reuse_by_args(
    buf: *mut Node,
    addr: *mut c_void,
    len: usize,
    data: *mut c_void,
    data_len: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { buffer(buf, "doca_buf_inventory_buf_reuse_by_args") } {
        Ok(node) => reuse(node, addr, len, data, data_len),
        Err(number) => number,
    }
}

/// Aims a buffer at `[addr, addr + len)`, without data: a destination.
///
/// # Safety
/// `buf` is NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_buf_reuse_by_addr(
    buf: *mut Node,
    addr: *mut c_void,
    len: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { buffer(buf, "doca_buf_inventory_buf_reuse_by_addr") } {
        Ok(node) => reuse(node, addr, len, addr, 0),
        Err(number) => number,
    }
}

/// Aims a buffer at `[data, data + data_len)`, all of it data: a source.
///
/// # Safety
/// `buf` is NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_buf_reuse_by_data(
    buf: *mut Node,
    data: *mut c_void,
    data_len: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { buffer(buf, "doca_buf_inventory_buf_reuse_by_data") } {
        Ok(node) => reuse(node, data, data_len, data, data_len),
        Err(number) => number,
    }
}
