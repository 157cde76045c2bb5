//! Address objects.
#![expect(unsafe_code, reason = "C entry points")]

use super::{null_argument, output};
use crate::addr::{Address, AddressKind};
use crate::sync::{AtomicU32, Ordering};
use core::ffi::{CStr, c_char};
use core::ptr::NonNull;
use softdpu_memory::handle::{Head, Object, Slab, checked, kind};
use softdpu_room::entry::guard;
use softdpu_status::{Code, Error, Result};
use std::ffi::CString;

/// An address, as C programs hold it.
#[derive(Debug)]
#[repr(C)]
pub struct AddressObject {
    head: Head,
    address: Address,
    text: CString,
    /// Attempts to connect under way; one more for an object that belongs to a connection.
    pub(crate) uses: AtomicU32,
}

// SAFETY: repr(C), head first.
unsafe impl Object for AddressObject {
    const KIND: u32 = kind::RDMA_ADDRESS;
    const NAME: &'static str = "RDMA address";
}

static ADDRESSES: Slab<AddressObject> = Slab::new();

/// An object for an address.
pub(crate) fn make(address: Address, uses: u32) -> Result<NonNull<AddressObject>> {
    let text = CString::new(address.text()).map_err(|_| Error::new(Code::InvalidValue, "a zero byte"))?;
    ADDRESSES.make(AddressObject { head: Head::unborn(), address, text, uses: AtomicU32::new(uses) })
}

/// The object goes.
///
/// # Safety
/// It is alive, and nobody refers to it any more.
pub(crate) unsafe fn unmake(object: NonNull<AddressObject>) {
    // SAFETY: the caller's promise; all of them come from this slab.
    unsafe { ADDRESSES.retire(object) };
}

impl AddressObject {
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_addr_create(
    addr_type: u32,
    address: *const c_char,
    port: u16,
    addr: *mut *const AddressObject,
) -> i32 {
    const CALL: &str = "doca_rdma_addr_create";
    guard(|| {
        if address.is_null() {
            return null_argument(CALL, "address");
        }
        output(addr, CALL, "addr")?;
        let Some(kind) = AddressKind::from_number(addr_type) else {
            log::error!(target: crate::LOG, "{CALL}: address type {addr_type}, allowed 0 to 2");
            return Err(Error::new(Code::InvalidValue, "no such address type"));
        };
        // SAFETY: a text of the program, which ends.
        let text = unsafe { CStr::from_ptr(address) }.to_string_lossy();
        let object = make(Address::parse(kind, &text, port)?, 0)?;
        // SAFETY: non-NULL out parameter.
        unsafe { addr.write(object.as_ptr()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_addr_destroy(addr: *const AddressObject) -> i32 {
    const CALL: &str = "doca_rdma_addr_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let object = unsafe { checked(addr, CALL)? };
        let uses = object.uses.load(Ordering::Acquire);
        if uses > 0 {
            log::error!(target: crate::LOG, "{CALL}: address {}: {uses} connections use it", object.address);
            return Err(Error::new(Code::BadState, "a connection uses the address"));
        }
        if let Some(object) = NonNull::new(addr.cast_mut()) {
            // SAFETY: alive, and no connection refers to it.
            unsafe { unmake(object) };
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_addr_get_params(
    addr: *const AddressObject,
    addr_type: *mut u32,
    address: *mut *const c_char,
    port: *mut u16,
) -> i32 {
    const CALL: &str = "doca_rdma_addr_get_params";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let object = unsafe { checked(addr, CALL)? };
        output(addr_type, CALL, "addr_type")?;
        output(address, CALL, "address")?;
        output(port, CALL, "port")?;
        // SAFETY: non-NULL out parameters; the text lives as long as the object.
        unsafe {
            addr_type.write(object.address.kind() as u32);
            address.write(object.text.as_ptr());
            port.write(object.address.port());
        }
        Ok(())
    })
}
