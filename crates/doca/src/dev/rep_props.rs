//! `doca_devinfo_rep_get_*`: properties of representors.
#![expect(unsafe_code, reason = "C entry points")]

use super::call::{enter, of_rep, put_text};
use super::object::RepInfo;
use super::props::{IFACE_NAME_SIZE, PCI_ADDR_SIZE, address};
use softdpu_memory::handle::checked;
use std::ffi::{c_char, c_int};

/// `DOCA_DEVINFO_REP_VUID_SIZE`
const VUID_SIZE: usize = 128;

/// Writes the stable identifier of the represented function; the buffer must have 128 bytes.
///
/// # Safety
/// `devinfo_rep` is NULL or was given out by this library; `rep_vuid` is NULL or good for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_get_vuid(
    devinfo_rep: *const RepInfo,
    rep_vuid: *mut c_char,
    size: u32,
) -> c_int {
    let call = "doca_devinfo_rep_get_vuid";
    enter(call, || {
        // SAFETY: the caller's promise.
        unsafe { put_text(call, rep_vuid, size, VUID_SIZE, checked(devinfo_rep, call)?.representor.vuid()) }
    })
}

/// Writes the PCI address of the function as the host sees it, 12 characters and a zero.
///
/// # Safety
/// `devinfo_rep` is NULL or was given out by this library; `pci_addr_str` is NULL or good for 13 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_get_pci_addr_str(
    devinfo_rep: *const RepInfo,
    pci_addr_str: *mut c_char,
) -> c_int {
    let call = "doca_devinfo_rep_get_pci_addr_str";
    enter(call, || {
        // SAFETY: the caller's promise.
        unsafe {
            let text = checked(devinfo_rep, call)?.representor.pci().to_string();
            put_text(call, pci_addr_str, PCI_ADDR_SIZE as u32, PCI_ADDR_SIZE, &text)
        }
    })
}

/// The kind of the represented function.
///
/// # Safety
/// `devinfo_rep` is NULL or was given out by this library; `pci_func_type` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_get_pci_func_type(
    devinfo_rep: *const RepInfo,
    pci_func_type: *mut c_int,
) -> c_int {
    let call = "doca_devinfo_rep_get_pci_func_type";
    // SAFETY: the caller's promise.
    unsafe { of_rep(call, devinfo_rep, pci_func_type, |rep| Ok(rep.kind() as c_int)) }
}

/// Whether the represented function was plugged in at run time.
///
/// # Safety
/// `devinfo_rep` is NULL or was given out by this library; `is_hotplug` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_get_is_hotplug(
    devinfo_rep: *const RepInfo,
    is_hotplug: *mut u8,
) -> c_int {
    let call = "doca_devinfo_rep_get_is_hotplug";
    // SAFETY: the caller's promise.
    unsafe { of_rep(call, devinfo_rep, is_hotplug, |rep| Ok(rep.is_hotplug().into())) }
}

/// Writes the name of the representor's interface; the buffer must have 256 bytes.
///
/// # Safety
/// `devinfo_rep` is NULL or was given out by this library; `iface_name` is NULL or good for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_get_iface_name(
    devinfo_rep: *const RepInfo,
    iface_name: *mut c_char,
    size: u32,
) -> c_int {
    let call = "doca_devinfo_rep_get_iface_name";
    enter(call, || {
        // SAFETY: the caller's promise.
        unsafe {
            put_text(call, iface_name, size, IFACE_NAME_SIZE, checked(devinfo_rep, call)?.representor.iface())
        }
    })
}

/// The number of the represented function in its machine.
///
/// # Safety
/// `devinfo_rep` is NULL or was given out by this library; `vhca_id` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_get_vhca_id(
    devinfo_rep: *const RepInfo,
    vhca_id: *mut u16,
) -> c_int {
    let call = "doca_devinfo_rep_get_vhca_id";
    // SAFETY: the caller's promise.
    unsafe { of_rep(call, devinfo_rep, vhca_id, |rep| Ok(rep.vhca_id())) }
}

/// Compares the host's address of the function with a text in either form, without regard to case.
///
/// # Safety
/// `devinfo_rep` is NULL or was given out by this library, `pci_addr_str` is NULL or a terminated string, `is_equal`
/// is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_is_equal_pci_addr(
    devinfo_rep: *const RepInfo,
    pci_addr_str: *const c_char,
    is_equal: *mut u8,
) -> c_int {
    let call = "doca_devinfo_rep_is_equal_pci_addr";
    let read = |rep: &softdpu_card::Representor| {
        // SAFETY: the caller's promise.
        let wanted = unsafe { address(call, pci_addr_str)? };
        Ok(u8::from(rep.pci() == wanted))
    };
    // SAFETY: the caller's promise.
    unsafe { of_rep(call, devinfo_rep, is_equal, read) }
}
