//! Export and import.
#![expect(unsafe_code, reason = "C entry points")]

use super::all;
use super::state::{LOG, Mmap};
use crate::call::{enter, output};
use crate::dev::{Dev, device};
use softdpu_memory::export::{Kind, MAX_DESCRIPTOR, import};
use softdpu_memory::handle::checked;
use softdpu_status::{Code, Error};
use std::ffi::{c_int, c_void};

/// The descriptor for the other side of the PCIe link.
///
/// # Safety
/// NULL or handles of this library; the outputs are NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_export_pci(
    mmap: *mut Mmap,
    dev: *const Dev,
    export_desc: *mut *const c_void,
    export_desc_len: *mut usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { export(mmap, dev, export_desc, export_desc_len, Kind::Pci, "doca_mmap_export_pci") }
}

/// The descriptor for an RDMA peer.
///
/// # Safety
/// As [`doca_mmap_export_pci`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_export_rdma(
    mmap: *mut Mmap,
    dev: *const Dev,
    export_desc: *mut *const c_void,
    export_desc_len: *mut usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { export(mmap, dev, export_desc, export_desc_len, Kind::Rdma, "doca_mmap_export_rdma") }
}

/// # Safety
/// As [`doca_mmap_export_pci`].
unsafe fn export(
    mmap: *mut Mmap,
    dev: *const Dev,
    export_desc: *mut *const c_void,
    export_desc_len: *mut usize,
    kind: Kind,
    call: &str,
) -> c_int {
    enter(call, || {
        // SAFETY: the caller's promise.
        let (this, device) = unsafe { (checked(mmap, call)?, device(dev, call)?) };
        // SAFETY: the caller's promise.
        let (desc, len) = unsafe { (output(export_desc, call)?, output(export_desc_len, call)?) };
        let (bytes, count) = this.export(device, kind)?;
        desc.set(bytes.cast());
        len.set(count);
        Ok(())
    })
}

/// A map over an exporter's memory, usable at once.
///
/// # Safety
/// `dev` is NULL or a handle of this library; `export_desc` is NULL or good for reading `export_desc_len` bytes;
/// `user_data` is NULL or good for one read, `mmap` for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_create_from_export(
    user_data: *const u64,
    export_desc: *const c_void,
    export_desc_len: usize,
    dev: *mut Dev,
    mmap: *mut *mut Mmap,
) -> c_int {
    const CALL: &str = "doca_mmap_create_from_export";
    crate::log::softdpu_log_init();
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (device, slot) = unsafe { (device(dev, CALL)?, output(mmap, CALL)?) };
        if export_desc.is_null() || export_desc_len == 0 || export_desc_len > MAX_DESCRIPTOR {
            log::error!(target: LOG, "{CALL}: {export_desc_len} bytes at {export_desc:p} are no descriptor, which has at \
                most {MAX_DESCRIPTOR} bytes");
            return Err(Error::new(Code::InvalidValue, "no export descriptor"));
        }
        // SAFETY: not NULL, and good for reading by the caller's promise; only read during the call.
        let bytes = unsafe { std::slice::from_raw_parts(export_desc.cast::<u8>(), export_desc_len) };
        // SAFETY: NULL, or good for one read by the caller's promise.
        let user_data = unsafe { user_data.as_ref() }.copied().unwrap_or_default();
        slot.set(all::make(Mmap::imported(import(bytes, device)?, user_data)?)?.as_ptr());
        Ok(())
    })
}
