//! The getters of a map: any state.
#![expect(unsafe_code, reason = "C entry points")]

use super::state::Mmap;
use crate::call::{enter, output};
use crate::dev::{Dev, device};
use softdpu_memory::handle::checked;
use softdpu_status::Code;
use std::ffi::{c_int, c_void};

/// The range; for an import the exporter's.
///
/// # Safety
/// NULL or a handle of this library; the outputs are NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_get_memrange(
    mmap: *const Mmap,
    addr: *mut *mut c_void,
    len: *mut usize,
) -> c_int {
    const CALL: &str = "doca_mmap_get_memrange";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (this, addr, len) = unsafe { (checked(mmap, CALL)?, output(addr, CALL)?, output(len, CALL)?) };
        let no_range =
            || this.refuse(Code::BadState, "no range was set", format_args!("{CALL}: no range was set"));
        let (base, bytes) = this.range().ok_or_else(no_range)?;
        addr.set(base as *mut c_void);
        len.set(bytes);
        Ok(())
    })
}

/// The key of the range on a device, in host byte order.
///
/// # Safety
/// NULL or handles of this library; `mkey` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_get_mkey(mmap: *const Mmap, dev: *const Dev, mkey: *mut u32) -> c_int {
    const CALL: &str = "doca_mmap_get_mkey";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (this, device, slot) = unsafe { (checked(mmap, CALL)?, device(dev, CALL)?, output(mkey, CALL)?) };
        slot.set(this.mkey(device)?);
        Ok(())
    })
}

/// Declares a call that reads one property.
macro_rules! getter {
    ($(#[$doc:meta])* $name:ident: $type:ty = |$this:ident| $value:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `mmap` is NULL or a handle of this library; `result` is NULL or good for one write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(mmap: *const Mmap, result: *mut $type) -> c_int {
            const CALL: &str = stringify!($name);
            enter(CALL, || {
                // SAFETY: the caller's promise.
                let ($this, slot) = unsafe { (checked(mmap, CALL)?, output(result, CALL)?) };
                slot.set($value);
                Ok(())
            })
        }
    };
}

getter! {
    /// The value stored for the program.
    doca_mmap_get_user_data: u64 = |this| this.lock().user_data
}
getter! {
    /// How many devices the map may hold.
    doca_mmap_get_max_num_devices: u32 = |this| this.lock().max_devices
}
getter! {
    /// Buffers that point into the map.
    doca_mmap_get_num_bufs: u32 = |this| this.region().bufs()
}
getter! {
    /// 1 once the map was exported.
    doca_mmap_get_exported: u8 = |this| u8::from(this.lock().was_exported)
}
getter! {
    /// 1 when the map was created from an export.
    doca_mmap_get_from_export: u8 = |this| u8::from(this.lock().import().is_some())
}
