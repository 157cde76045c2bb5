//! Registered memory, and the buffers in it.
#![expect(unsafe_code, reason = "C entry points")]

use super::{answer, refuse, session};
use crate::buf::doca_buf_dec_refcount;
use crate::call::{enter, output};
use crate::dev::{Dev, device};
use crate::mmap::{self, Mmap};
use softdpu_memory::handle::{Head, Object, Slab, checked, kind, live};
use softdpu_memory::node::{Node, Store, check_window};
use softdpu_memory::region::{Access, Region};
use softdpu_status::{Code, Error, Result};
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `struct doca_mem`: a map of one device, and the descriptors of its buffers.
#[derive(Debug)]
#[repr(C)]
pub struct Mem {
    head: Head,
    map: *mut Mmap,
    dev: *const Dev,
    region: &'static Region,
    host: usize,
    device: u64,
    store: Store,
    bufs: Mutex<Bufs>,
}

/// Buffers that were made and not destroyed.
#[derive(Debug, Default)]
struct Bufs(Vec<NonNull<Node>>);

// SAFETY: addresses of descriptors, whose memory is never given back.
unsafe impl Send for Bufs {}

// SAFETY: repr(C), head first.
unsafe impl Object for Mem {
    const KIND: u32 = kind::PRIMER_MEMORY;
    const NAME: &'static str = "registered memory";
}

static MEMS: Slab<Mem> = Slab::new();

struct All(Vec<NonNull<Mem>>);
// SAFETY: addresses of objects that all threads share.
unsafe impl Send for All {}
static ALL: Mutex<All> = Mutex::new(All(Vec::new()));

fn all() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Is memory registered with the device?
pub(super) fn any_on(dev: *const Dev) -> bool {
    // SAFETY: memory in the list is alive, and leaves it under the lock.
    all().0.iter().any(|mem| unsafe { mem.as_ref() }.dev == dev)
}

/// Frees all memory of the device, buffers included. Returns how many registrations there were.
pub(super) fn release_all(dev: *const Dev) -> usize {
    let mut freed = 0;
    loop {
        // SAFETY: as above.
        let found = all().0.iter().copied().find(|mem| unsafe { mem.as_ref() }.dev == dev);
        let Some(mem) = found else { return freed };
        // SAFETY: alive; it belongs to whoever frees what its session left.
        let this = unsafe { mem.as_ref() };
        let bufs = std::mem::take(&mut this.bufs().0);
        for buf in bufs {
            // SAFETY: a descriptor, alive or not.
            let node = unsafe { live(buf.as_ptr().cast_const()) };
            if let Some(node) = node.filter(|node| std::ptr::eq(node.region(), this.region)) {
                session::wait_for(node);
                node.give_back_list();
            }
        }
        if this.unregister().is_err() {
            return freed;
        }
        freed += 1;
    }
}

impl Mem {
    fn bufs(&self) -> MutexGuard<'_, Bufs> {
        self.bufs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn new(dev: *mut Dev, addr: *mut c_void, len: usize, access: Access) -> Result<NonNull<Mem>> {
        let mut map = null_mut();
        // SAFETY: handles of this library and a live local.
        unsafe {
            answer(mmap::doca_mmap_create(&raw mut map))?;
            let set_up = || -> Result<NonNull<Mem>> {
                answer(mmap::doca_mmap_add_dev(map, dev))?;
                answer(mmap::doca_mmap_set_memrange(map, addr, len))?;
                answer(mmap::doca_mmap_set_permissions(map, access.bits()))?;
                answer(mmap::doca_mmap_start(map))?;
                let this = &*map;
                let mem = Mem {
                    head: Head::unborn(),
                    map,
                    dev,
                    region: this.region(),
                    host: addr as usize,
                    device: this.device_address(device(dev, "doca_mem_reg")?).unwrap_or(addr as u64),
                    store: Store::new(),
                    bufs: Mutex::default(),
                };
                let all = &mut all().0;
                all.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a registration"))?;
                let made = MEMS.make(mem)?;
                all.push(made);
                Ok(made)
            };
            set_up().inspect_err(|_| _ = mmap::doca_mmap_destroy(map))
        }
    }

    fn unregister(&self) -> Result<()> {
        // SAFETY: the map is this object's own. It refuses while buffers are left.
        answer(unsafe { mmap::doca_mmap_destroy(self.map) })?;
        self.store.dissolve();
        let this = NonNull::from(self);
        all().0.retain(|mem| *mem != this);
        // SAFETY: alive, out of the list; the caller lets nobody else use it.
        unsafe { MEMS.retire_at(self) };
        Ok(())
    }
}

/// Registers `len` bytes at `addr` with a device.
///
/// # Safety
/// NULL or a handle of this library; the memory stays mapped until it is unregistered; `mem` is NULL or good for one
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_mem_reg(
    dev: *mut Dev,
    addr: *mut c_void,
    len: usize,
    access: u32,
    mem: *mut *mut Mem,
) -> c_int {
    const CALL: &str = "doca_mem_reg";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (device, slot) = unsafe { (device(dev, CALL)?, output(mem, CALL)?) };
        let page = rustix::param::page_size();
        let odd = device.function().settings().strict && !(addr as usize | len).is_multiple_of(page);
        let rights = match access {
            0 => Some(Access::LOCAL_READ_ONLY),
            1 => Some(Access::LOCAL_READ_WRITE),
            _ => None,
        };
        let Some(rights) = rights.filter(|_| !addr.is_null() && len > 0 && !odd) else {
            let strict = if odd { " (a strict card wants whole pages)" } else { "" };
            let line = format_args!(
                "{CALL}: {len} bytes at {addr:p} with access {access} cannot be registered{strict}"
            );
            return Err(refuse(Code::InvalidValue, "no memory to register", line));
        };
        slot.set(Mem::new(dev, addr, len, rights)?.as_ptr());
        Ok(())
    })
}

/// Where the program sees the memory.
///
/// # Safety
/// NULL or a handle of this library; `addr` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_mem_get_host_addr(mem: *const Mem, addr: *mut *mut c_void) -> c_int {
    const CALL: &str = "doca_mem_get_host_addr";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (mem, slot) = unsafe { (checked(mem, CALL)?, output(addr, CALL)?) };
        slot.set(mem.host as *mut c_void);
        Ok(())
    })
}

/// Where the device sees the memory.
///
/// # Safety
/// NULL or a handle of this library; `addr` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_mem_get_dev_addr(mem: *const Mem, addr: *mut u64) -> c_int {
    const CALL: &str = "doca_mem_get_dev_addr";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (mem, slot) = unsafe { (checked(mem, CALL)?, output(addr, CALL)?) };
        slot.set(mem.device);
        Ok(())
    })
}

/// Ends a registration; refused while buffers are left. Safe on NULL.
///
/// # Safety
/// NULL or a handle of this library that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_mem_unreg(mem: *mut Mem) -> c_int {
    const CALL: &str = "doca_mem_unreg";
    enter(CALL, || {
        if mem.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { checked(mem, CALL) }?.unregister()
    })
}

/// A window of the memory, all of it data.
///
/// # Safety
/// NULL or a handle of this library; `buf` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_buf_create(
    mem: *mut Mem,
    offset: usize,
    len: usize,
    buf: *mut *const Node,
) -> c_int {
    const CALL: &str = "doca_buf_create";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (mem, slot) = unsafe { (checked(mem, CALL)?, output(buf, CALL)?) };
        let at = mem.host.checked_add(offset).ok_or_else(|| {
            let line =
                format_args!("{CALL}: offset {offset} leaves the memory of {} bytes", mem.region.len());
            refuse(Code::InvalidValue, "outside of the memory", line)
        })?;
        check_window(mem.region, at, len, at, len)?;
        let bufs = &mut mem.bufs().0;
        bufs.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a buffer"))?;
        if mem.store.available() == 0 {
            mem.store.expand(32)?;
        }
        let node = mem.store.take(mem.region).ok_or(Error::new(Code::NoMemory, "no memory for a buffer"))?;
        node.aim(at, len, at, len);
        bufs.push(NonNull::from(node));
        slot.set(node);
        Ok(())
    })
}

/// Frees a buffer, after waiting for a device that reads it. Safe on NULL.
///
/// # Safety
/// NULL or a handle of this library that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_buf_destroy(buf: *mut Node) -> c_int {
    const CALL: &str = "doca_buf_destroy";
    enter(CALL, || {
        if buf.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let node = unsafe { checked(buf.cast_const(), CALL) }?;
        session::wait_for(node);
        let region = std::ptr::from_ref(node.region());
        // SAFETY: alive, as just found.
        answer(unsafe { doca_buf_dec_refcount(buf, null_mut()) })?;
        // SAFETY: descriptors stay readable.
        if unsafe { live(buf.cast_const()) }.is_none() {
            forget(buf, region);
        }
        Ok(())
    })
}

/// The buffer is not one of its memory's any more.
fn forget(buf: *mut Node, region: *const Region) {
    for mem in &all().0 {
        // SAFETY: memory in the list is alive, and leaves it under the lock.
        let mem = unsafe { mem.as_ref() };
        if std::ptr::eq(mem.region, region) {
            mem.bufs().0.retain(|other| other.as_ptr() != buf);
        }
    }
}
