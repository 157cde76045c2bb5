//! `doca_devinfo_get_*`: properties of local devices.
#![expect(unsafe_code, reason = "C entry points")]

use super::call::{enter, invalid, of_device, put, put_bytes, put_text};
use super::machine::machine;
use super::object::{DevInfo, function};
use crate::entry;
use softdpu_card::PciAddr;
use softdpu_memory::handle::checked;
use softdpu_status::{Code, Error, Result};
use std::ffi::{c_char, c_int};

/// `DOCA_DEVINFO_PCI_ADDR_SIZE`
pub(super) const PCI_ADDR_SIZE: usize = 13;
/// `DOCA_DEVINFO_IFACE_NAME_SIZE`
pub(super) const IFACE_NAME_SIZE: usize = 256;
/// `DOCA_DEVINFO_IBDEV_NAME_SIZE`
const IBDEV_NAME_SIZE: usize = 64;

/// Writes the PCI address, 12 characters and a zero.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `pci_addr_str` is NULL or good for 13 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_pci_addr_str(
    devinfo: *const DevInfo,
    pci_addr_str: *mut c_char,
) -> c_int {
    let call = "doca_devinfo_get_pci_addr_str";
    enter(call, || {
        // SAFETY: the caller's promise.
        unsafe {
            let text = function(devinfo, call)?.pci().to_string();
            put_text(call, pci_addr_str, PCI_ADDR_SIZE as u32, PCI_ADDR_SIZE, &text)
        }
    })
}

/// A PCI address that C hands in, in either form.
///
/// # Safety
/// `text` is NULL or a terminated string.
pub(super) unsafe fn address(call: &str, text: *const c_char) -> Result<PciAddr> {
    // SAFETY: the caller's promise.
    let Ok(text) = (unsafe { entry::text(text, "the address is NULL") }) else {
        return Err(invalid(call, format_args!("the address is NULL")));
    };
    let parsed = text.to_str().ok().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| {
        let text = text.to_string_lossy();
        invalid(
            call,
            format_args!("`{}` is not a PCI address like 0000:03:00.0 or 03:00.0", text.escape_debug()),
        )
    })
}

/// Compares the PCI address with a text in either form, without regard to case.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library, `pci_addr_str` is NULL or a terminated string, `is_equal` is
/// NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_is_equal_pci_addr(
    devinfo: *const DevInfo,
    pci_addr_str: *const c_char,
    is_equal: *mut u8,
) -> c_int {
    let call = "doca_devinfo_is_equal_pci_addr";
    enter(call, || {
        // SAFETY: the caller's promise.
        unsafe {
            let info = checked(devinfo, call)?;
            let wanted = address(call, pci_addr_str)?;
            // A bond is found under the address of each of its ports.
            let equal =
                info.function.pci() == wanted || info.function.bond_members().any(|pci| pci == wanted);
            put(call, is_equal, u8::from(equal))?;
            if let Some(search) = &info.search {
                search.note(|asked| {
                    asked.address = Some(wanted);
                    asked.matched |= equal;
                });
            }
        }
        Ok(())
    })
}

/// Writes the IPv4 address, 4 bytes in network order.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `ipv4_addr` is NULL or good for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_ipv4_addr(
    devinfo: *const DevInfo,
    ipv4_addr: *mut u8,
    size: u32,
) -> c_int {
    let call = "doca_devinfo_get_ipv4_addr";
    enter(call, || {
        // SAFETY: the caller's promise.
        let function = unsafe { function(devinfo, call)? };
        let address = function.ipv4();
        // The arguments are looked at first, whether there is an address or not.
        // SAFETY: the caller's promise; without an address nothing is written.
        unsafe { put_bytes(call, ipv4_addr, size, 4, address.as_ref().map_or(&[], |bytes| &bytes[..]))? };
        if address.is_none() {
            let others = machine().map(|machine| {
                let with = machine.functions().iter().filter(|other| other.ipv4().is_some());
                with.map(ToString::to_string).collect::<Vec<_>>().join(", ")
            });
            log::error!(
                target: "softdpu::device",
                "{call}: device {function} has no IPv4 address; devices that have one: {}",
                others.unwrap_or_default()
            );
            return Err(Error::new(Code::NotFound, "the device has no IPv4 address"));
        }
        Ok(())
    })
}

/// Writes the IPv6 address, 16 bytes in network order.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `ipv6_addr` is NULL or good for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_ipv6_addr(
    devinfo: *const DevInfo,
    ipv6_addr: *mut u8,
    size: u32,
) -> c_int {
    let call = "doca_devinfo_get_ipv6_addr";
    // SAFETY: the caller's promise.
    enter(call, || unsafe { put_bytes(call, ipv6_addr, size, 16, &function(devinfo, call)?.ipv6()) })
}

/// Writes the Ethernet address, 6 bytes.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `mac_addr` is NULL or good for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_mac_addr(
    devinfo: *const DevInfo,
    mac_addr: *mut u8,
    size: u32,
) -> c_int {
    let call = "doca_devinfo_get_mac_addr";
    // SAFETY: the caller's promise.
    enter(call, || unsafe { put_bytes(call, mac_addr, size, 6, &function(devinfo, call)?.mac()) })
}

/// Writes the name of the network interface; the buffer must have 256 bytes.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `iface_name` is NULL or good for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_iface_name(
    devinfo: *const DevInfo,
    iface_name: *mut c_char,
    size: u32,
) -> c_int {
    let call = "doca_devinfo_get_iface_name";
    enter(call, || {
        // SAFETY: the caller's promise.
        let info = unsafe { checked(devinfo, call)? };
        note_name(info);
        // SAFETY: the caller's promise.
        unsafe { put_text(call, iface_name, size, IFACE_NAME_SIZE, info.function.iface()) }
    })
}

/// Writes the name of the RDMA device; the buffer must have 64 bytes.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `ibdev_name` is NULL or good for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_ibdev_name(
    devinfo: *const DevInfo,
    ibdev_name: *mut c_char,
    size: u32,
) -> c_int {
    let call = "doca_devinfo_get_ibdev_name";
    enter(call, || {
        // SAFETY: the caller's promise.
        let info = unsafe { checked(devinfo, call)? };
        note_name(info);
        // SAFETY: the caller's promise.
        unsafe { put_text(call, ibdev_name, size, IBDEV_NAME_SIZE, info.function.ibdev()) }
    })
}

fn note_name(info: &DevInfo) {
    if let Some(search) = &info.search {
        search.note(|asked| asked.named = true);
    }
}

/// The local identifier of an InfiniBand port; the ports of software cards are Ethernet.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `lid` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_lid(devinfo: *const DevInfo, lid: *mut u16) -> c_int {
    let call = "doca_devinfo_get_lid";
    let read = |function: &softdpu_card::Function| {
        log::info!(target: "softdpu::device", "{call}: the port of device {function} is Ethernet, not InfiniBand");
        Err(Error::new(Code::NotSupported, "the link layer is Ethernet"))
    };
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, lid, read) }
}

/// The rate of the port in bits per second.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `active_rate` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_active_rate(
    devinfo: *const DevInfo,
    active_rate: *mut u64,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { of_device("doca_devinfo_get_active_rate", devinfo, active_rate, |f| Ok(f.active_rate())) }
}

/// The number of the function in its machine.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `vhca_id` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_vhca_id(devinfo: *const DevInfo, vhca_id: *mut u16) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { of_device("doca_devinfo_get_vhca_id", devinfo, vhca_id, |f| Ok(f.vhca_id())) }
}

/// The kind of the function: `DOCA_PCI_FUNC_TYPE_PF`, `_VF`, `_SF`.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `pci_func_type` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_pci_func_type(
    devinfo: *const DevInfo,
    pci_func_type: *mut c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { of_device("doca_devinfo_get_pci_func_type", devinfo, pci_func_type, |f| Ok(f.kind() as c_int)) }
}

/// The number of a scalable function; other kinds answer NOT_SUPPORTED.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `sf_index` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_sf_index(devinfo: *const DevInfo, sf_index: *mut u32) -> c_int {
    let call = "doca_devinfo_get_sf_index";
    let read = |function: &softdpu_card::Function| {
        function.sf_index().ok_or_else(|| {
            log::info!(target: "softdpu::device", "{call}: device {function} is a {}, not an sf", function.kind());
            Error::new(Code::NotSupported, "not a scalable function")
        })
    };
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, sf_index, read) }
}

/// The index of the network interface.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `iface_index` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_get_iface_index(
    devinfo: *const DevInfo,
    iface_index: *mut u32,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { of_device("doca_devinfo_get_iface_index", devinfo, iface_index, |f| Ok(f.iface_index())) }
}
