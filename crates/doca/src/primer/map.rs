//! Maps as the second skeleton uses them: started without a device, keys without one, descriptors.
#![expect(unsafe_code, reason = "C entry points")]

use crate::call::{enter, output};
use crate::entry::guard_value;
use crate::mmap::Mmap;
use softdpu_memory::handle::checked;
use std::ffi::c_int;
use std::os::fd::{IntoRawFd, OwnedFd};

/// As [`crate::mmap::doca_mmap_start`]; a map without devices is registered with every one there is and will be.
///
/// # Safety
/// NULL or a handle of this library. The range stays mapped while the map is started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_mmap_start(mmap: *mut Mmap) -> c_int {
    const CALL: &str = "doca_mmap_start";
    // SAFETY: the caller's promise.
    enter(CALL, || unsafe { checked(mmap, CALL) }?.start_for(true))
}

/// The key of the range on its first device.
///
/// # Safety
/// NULL or a handle of this library; `mkey` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_mmap_get_mkey(mmap: *const Mmap, mkey: *mut u32) -> c_int {
    const CALL: &str = "doca_mmap_get_mkey";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (map, slot) = unsafe { (checked(mmap, CALL)?, output(mkey, CALL)?) };
        slot.set(map.any_mkey()?);
        Ok(())
    })
}

/// A descriptor of the memory, which the program closes.
///
/// # Safety
/// NULL or a handle of this library; `fd` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_mmap_export_dmabuf(mmap: *mut Mmap, fd: *mut c_int) -> c_int {
    const CALL: &str = "doca_mmap_export_dmabuf";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (map, slot) = unsafe { (checked(mmap, CALL)?, output(fd, CALL)?) };
        slot.set(OwnedFd::from(map.dmabuf()?).into_raw_fd());
        Ok(())
    })
}

/// Is what [`softdpu_primer_mmap_export_dmabuf`] gives a dmabuf of the kernel?
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_mmap_dmabuf_is_native(mmap: *const Mmap) -> u8 {
    guard_value(0, || {
        // SAFETY: the caller's promise.
        let map = unsafe { checked(mmap, "doca_mmap_dmabuf_is_native") };
        u8::from(map.and_then(Mmap::dmabuf).is_ok_and(|made| made.is_real()))
    })
}
