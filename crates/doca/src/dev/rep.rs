//! Representors: listing, opening, closing.
#![expect(unsafe_code, reason = "handles are pointers that C hands in")]

use super::call::{enter, invalid};
use super::list::{REP_LISTS, make_all};
use super::object::{Dev, DevRep, RepInfo, device};
use super::open;
use crate::entry::guard_value;
use softdpu_card::Function;
use softdpu_memory::handle::{checked, live};
use softdpu_status::{Code, Error, Result};
use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// `DOCA_DEVINFO_REP_FILTER_NET`
const FILTER_NET: c_int = 1 << 1;
/// `DOCA_DEVINFO_REP_FILTER_EMULATED`
const FILTER_EMULATED: c_int = 1 << 2;

/// Closing is done under this lock, so that two threads cannot close the same representor.
static CLOSE: Mutex<()> = Mutex::new(());

/// Lists the representors that the device manages.
///
/// # Safety
/// `dev` is NULL or was given out by this library; the outputs are NULL or good for one write each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_create_list(
    dev: *mut Dev,
    filter: c_int,
    dev_list_rep: *mut *mut *mut RepInfo,
    nb_devs_rep: *mut u32,
) -> c_int {
    let call = "doca_devinfo_rep_create_list";
    enter(call, || {
        // SAFETY: the caller's promise.
        let device = unsafe { device(dev, call)? };
        if dev_list_rep.is_null() || nb_devs_rep.is_null() {
            return Err(invalid(call, format_args!("an output is NULL")));
        }
        check_filter(call, device.function(), filter)?;
        let elements = make_all(
            device
                .function()
                .representors()
                .iter()
                .map(|rep| RepInfo::make(Arc::clone(rep), Arc::downgrade(device))),
            // SAFETY: made just now and given to nobody.
            |info| unsafe { RepInfo::retire(info) },
        )?;
        // At most MAX_FUNCTIONS.
        let count = elements.len() as u32;
        let array = REP_LISTS.publish(elements, ())?;
        // SAFETY: not NULL and good for a write by the caller's promise.
        unsafe {
            dev_list_rep.write(array);
            nb_devs_rep.write(count);
        }
        Ok(())
    })
}

/// Refuses filters that mean nothing, and those that the device cannot serve. All software representors are of
/// network functions, so the filters that are served show the same list.
fn check_filter(call: &str, function: &Function, filter: c_int) -> Result<()> {
    if filter & !(FILTER_NET | FILTER_EMULATED) != 0 {
        return Err(invalid(
            call,
            format_args!("filter {filter:#x} has bits other than NET (2) and EMULATED (4)"),
        ));
    }
    if filter & FILTER_EMULATED != 0 {
        log::info!(target: "softdpu::device", "{call}: device {function} has no representors of emulated functions");
        return Err(Error::new(Code::NotSupported, "no representors of emulated functions"));
    }
    if !function.shows_representors() {
        log::info!(
            target: "softdpu::device",
            "{call}: device {function} is on side `{}`; representors are shown on side `dpu` only",
            function.side()
        );
        return Err(Error::new(Code::NotSupported, "representors are shown on the card only"));
    }
    Ok(())
}

/// Destroys a list of representors and its records. Opened representors stay open.
///
/// # Safety
/// `dev_list_rep` is any pointer value; during the call no other thread uses the list or its records.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_destroy_list(dev_list_rep: *mut *mut RepInfo) -> c_int {
    let call = "doca_devinfo_rep_destroy_list";
    enter(call, || {
        let (elements, ()) = REP_LISTS.take(call, dev_list_rep)?;
        for info in elements {
            // SAFETY: the records belong to the list, which is out of the table now.
            unsafe { RepInfo::retire(info) };
        }
        Ok(())
    })
}

/// Opens a representor. Every open gives a new handle; the device stays open as long as it lives.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `dev_rep` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dev_rep_open(devinfo: *mut RepInfo, dev_rep: *mut *mut DevRep) -> c_int {
    let call = "doca_dev_rep_open";
    enter(call, || {
        // SAFETY: the caller's promise.
        let info = unsafe { checked(devinfo, call)? };
        if dev_rep.is_null() {
            return Err(invalid(call, format_args!("the output is NULL")));
        }
        // Under the lock of the open devices: the device cannot be closed between the look and the hold.
        let devices = open::lock();
        let Some(manager) = info.manager.upgrade() else {
            let pci = info.representor.pci();
            return Err(invalid(call, format_args!("the device that listed representor {pci} was closed")));
        };
        drop(devices);
        let rep = DevRep::make(Arc::clone(&info.representor), manager)?;
        // SAFETY: not NULL and good for a write by the caller's promise.
        unsafe { dev_rep.write(rep.as_ptr()) };
        Ok(())
    })
}

/// Closes a representor that nothing uses any more.
///
/// # Safety
/// `dev` is NULL or was given out by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dev_rep_close(dev: *mut DevRep) -> c_int {
    let call = "doca_dev_rep_close";
    enter(call, || {
        let _one_at_a_time = CLOSE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller's promise.
        let rep = unsafe { checked(dev, call)? };
        let users = Arc::strong_count(&rep.open) - 1;
        if users > 0 {
            log::error!(
                target: "softdpu::device",
                "{call}: representor {} is still used by {users} servers",
                rep.open.representor().pci()
            );
            return Err(Error::new(Code::InUse, "the representor is still used"));
        }
        // SAFETY: alive, closed by this thread alone, and nobody but the handle holds it.
        unsafe { DevRep::retire(NonNull::from(rep)) };
        Ok(())
    })
}

/// The record of an opened representor, valid while it is open; NULL for NULL and for what is no open one.
///
/// # Safety
/// `dev_rep` is NULL or was given out by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dev_rep_as_devinfo(dev_rep: *mut DevRep) -> *mut RepInfo {
    guard_value(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        unsafe { live(dev_rep) }.map_or(std::ptr::null_mut(), |rep| rep.info.as_ptr())
    })
}
