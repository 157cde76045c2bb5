//! Opening and closing devices. The same device gives the same handle every time; each open wants one close.
#![expect(unsafe_code, reason = "handles are pointers that C hands in")]

use super::call::{enter, invalid};
use super::fork;
use super::object::{Dev, DevInfo};
use crate::entry::guard_value;
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
        fork::watch();
        let opened = open(info)?;
        if let Some(search) = &info.search {
            search.note(|asked| asked.opened = true);
        }
        // SAFETY: not NULL and good for a write by the caller's promise.
        unsafe { dev.write(opened.as_ptr()) };
        Ok(())
    })
}

fn open(info: &DevInfo) -> Result<NonNull<Dev>> {
    let mut all = lock();
    for entry in &mut all.0 {
        // SAFETY: devices in the list are alive, and only go under the lock.
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
    all.0.push(Entry { dev, opens: 1 });
    Ok(dev)
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
        let users = Arc::strong_count(&object.device) - 1;
        if users > 0 {
            log::error!(
                target: "softdpu::device",
                "{call}: device {} is still used by {users} memory maps, contexts or representors",
                object.device.function().pci()
            );
            return Err(Error::new(Code::InUse, "the device is still used"));
        }
        let Entry { dev, .. } = all.0.swap_remove(at);
        // SAFETY: alive, just taken out of the list, and nobody but the handle holds its device.
        unsafe { Dev::retire(dev) };
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
