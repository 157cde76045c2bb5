//! Opening and closing devices. The same device gives the same handle every time; each open wants one close.
//!
//! Sessions of the textbook have handles of their own, which end with them.
#![expect(unsafe_code, reason = "handles are pointers that C hands in")]

use super::call::{enter, invalid};
use super::fork;
use super::object::{Dev, DevInfo};
use crate::entry::guard_value;
use softdpu_card::Function;
use softdpu_memory::device::Device;
use softdpu_memory::handle::{checked, live};
use softdpu_status::{Code, Error, Result};
use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The open devices. Every open and close happens under this lock, so that two threads cannot make two handles
/// for one device, nor one of them close what the other just got.
pub(super) struct Open(Vec<Entry>);

/// An open device and how often it was opened without being closed.
struct Entry {
    dev: NonNull<Dev>,
    opens: u32,
    /// The session it was opened in, 0 for none.
    owner: usize,
    /// The session is gone, and the handle with it.
    orphaned: bool,
}

// SAFETY: the objects are shared by all threads; the entry only holds their address.
unsafe impl Send for Entry {}

static OPEN: Mutex<Open> = Mutex::new(Open(Vec::new()));

pub(super) fn lock() -> MutexGuard<'static, Open> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a device, or takes one more reference on it.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `dev` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dev_open(devinfo: *mut DevInfo, dev: *mut *mut Dev) -> c_int {
    let call = "doca_dev_open";
    crate::log::softdpu_log_init();
    enter(call, || {
        // SAFETY: the caller's promise.
        let info = unsafe { checked(devinfo, call)? };
        if dev.is_null() {
            return Err(invalid(call, format_args!("the output is NULL")));
        }
        let opened = open(info, NOBODY)?;
        if let Some(search) = &info.search {
            search.note(|asked| asked.opened = true);
        }
        // SAFETY: not NULL and good for a write by the caller's promise.
        unsafe { dev.write(opened.as_ptr()) };
        Ok(())
    })
}

/// No session.
pub(crate) const NOBODY: usize = 0;

/// Opens a device for a session, or takes one more reference on it.
pub(crate) fn open(info: &DevInfo, owner: usize) -> Result<NonNull<Dev>> {
    fork::watch();
    let mut all = lock();
    for entry in all.0.iter_mut().filter(|entry| entry.owner == owner && !entry.orphaned) {
        // SAFETY: devices in the list are not retired, and only go under the lock.
        let object = unsafe { entry.dev.as_ref() };
        if Arc::ptr_eq(object.device.function(), &info.function) {
            let Some(opens) = entry.opens.checked_add(1) else {
                return Err(Error::new(Code::Initialization, "too many opens of one device"));
            };
            entry.opens = opens;
            return Ok(entry.dev);
        }
    }
    all.0.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a device"))?;
    let dev = Dev::make(Device::open(Arc::clone(&info.function))?)?;
    all.0.push(Entry { dev, opens: 1, owner, orphaned: false });
    Ok(dev)
}

impl Open {
    /// Maps, contexts and representors that hold the device.
    fn users(&self, device: &Arc<Device>) -> usize {
        // SAFETY: devices in the list are not retired, and only go under the lock.
        let same = |entry: &&Entry| Arc::ptr_eq(unsafe { &entry.dev.as_ref().device }, device);
        Arc::strong_count(device) - self.0.iter().filter(same).count()
    }

    /// Has the device another handle?
    fn has_another(&self, at: usize) -> bool {
        // SAFETY: as above.
        let device = |entry: &Entry| unsafe { Arc::as_ptr(&entry.dev.as_ref().device) };
        self.0.iter().filter(|entry| device(entry) == device(&self.0[at])).count() > 1
    }

    /// The handle goes.
    fn close(&mut self, at: usize) {
        let Entry { dev, .. } = self.0.swap_remove(at);
        // SAFETY: just taken out of the list, and what still uses the device holds that, not the handle.
        unsafe { Dev::retire(dev) };
    }
}

/// A session ends: its handles are dead. What nothing hangs on any more is closed; the rest stays for [`reap`].
/// Returns how many devices were open.
pub(crate) fn orphan(owner: usize, hangs: impl Fn(*const Dev) -> bool) -> usize {
    let (all, mut open) = (&mut *lock(), 0);
    while let Some(at) = all.0.iter().position(|entry| entry.owner == owner && !entry.orphaned) {
        let dev = all.0[at].dev;
        // SAFETY: devices in the list are not retired, and only go under the lock.
        unsafe { dev.as_ref() }.kill();
        all.0[at].orphaned = true;
        if !hangs(dev.as_ptr()) {
            all.close(at);
        }
        open += 1;
    }
    open
}

/// The first device of this owner that fits, in the order of opening.
pub(crate) fn first_open(owner: usize, fits: impl Fn(&Device) -> bool) -> Option<NonNull<Dev>> {
    let all = lock();
    let mut own = all.0.iter().filter(|entry| entry.owner == owner && !entry.orphaned).map(|entry| entry.dev);
    // SAFETY: devices in the list are not retired, and only go under the lock.
    own.find(|dev| fits(unsafe { &dev.as_ref().device }))
}

/// Closes a device whose session is gone; false when it is not one.
pub(crate) fn reap(dev: *const Dev) -> bool {
    let all = &mut *lock();
    let at = all.0.iter().position(|entry| entry.orphaned && entry.dev.as_ptr().cast_const() == dev);
    at.map(|at| all.close(at)).is_some()
}

/// Is the device open, or its session gone and it left behind? `None`: neither.
pub(crate) fn is_orphan(dev: *const Dev) -> Option<bool> {
    let all = lock();
    all.0.iter().find(|entry| entry.dev.as_ptr().cast_const() == dev).map(|entry| entry.orphaned)
}

/// Open handles, by the functions they stand for.
pub(crate) fn is_open(function: &Function) -> bool {
    // SAFETY: devices in the list are not retired, and only go under the lock.
    lock()
        .0
        .iter()
        .any(|entry| core::ptr::eq(&raw const **unsafe { entry.dev.as_ref() }.device.function(), function))
}

/// Drops one reference; the last one closes the device, unless something still uses it.
///
/// # Safety
/// `dev` is NULL or was given out by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dev_close(dev: *mut Dev) -> c_int {
    let call = "doca_dev_close";
    enter(call, || {
        let mut all = lock();
        // SAFETY: the caller's promise. Looked at under the lock, so that two threads cannot both close it.
        let object = unsafe { checked(dev, call)? };
        let Some(at) = all.0.iter().position(|entry| entry.dev.as_ptr() == dev) else {
            return Err(Error::new(Code::Unexpected, "a device that is not open is alive"));
        };
        if all.0[at].opens > 1 {
            all.0[at].opens -= 1;
            return Ok(());
        }
        // With other handles of the device about, somebody else may be the user.
        let users = all.users(&object.device);
        if users > 0 && !all.has_another(at) {
            log::error!(
                target: "softdpu::device",
                "{call}: device {} is still used by {users} memory maps, contexts or representors",
                object.device.function().pci()
            );
            return Err(Error::new(Code::InUse, "the device is still used"));
        }
        all.close(at);
        Ok(())
    })
}

/// Lets device resources be kept for a fast restart. A software card has none, as its capability says.
///
/// # Safety
/// `dev` is NULL or was given out by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dev_accelerate_resource_reclaim(dev: *mut Dev) -> c_int {
    let call = "doca_dev_accelerate_resource_reclaim";
    enter(call, || {
        // SAFETY: the caller's promise.
        let dev = unsafe { checked(dev, call)? };
        log::info!(
            target: "softdpu::device",
            "{call}: device {} does not support it, see \
             doca_devinfo_cap_is_accelerate_resource_reclaim_supported",
            dev.device.function().pci()
        );
        Err(Error::new(Code::NotSupported, "resource reclaim is not supported"))
    })
}

/// The record of an opened device, valid while it is open; NULL for NULL and for what is no open device.
///
/// # Safety
/// `dev` is NULL or was given out by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dev_as_devinfo(dev: *const Dev) -> *mut DevInfo {
    guard_value(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        unsafe { live(dev) }.map_or(std::ptr::null_mut(), |dev| dev.info.as_ptr())
    })
}
