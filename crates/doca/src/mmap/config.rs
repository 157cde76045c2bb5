//! The setters of a map: before start, and never on an import.
#![expect(unsafe_code, reason = "C entry points")]

use super::state::{Farewell, FreeCallback, Mmap};
use crate::call::enter;
use crate::dev::{Dev, MAX_EXPORT_ACCESS_TOKEN, device};
use softdpu_memory::dmabuf::DmabufRange;
use softdpu_memory::export::MAX_TOKEN;
use softdpu_memory::handle::checked;
use softdpu_memory::region::Access;
use softdpu_status::{Code, Result};
use std::ffi::{c_int, c_void};
use std::os::fd::BorrowedFd;

/// What the capability call promises is what the descriptors can carry.
const _: () = assert!(MAX_EXPORT_ACCESS_TOKEN == MAX_TOKEN);

/// Sets the range, once per map.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_set_memrange(mmap: *mut Mmap, addr: *mut c_void, len: usize) -> c_int {
    const CALL: &str = "doca_mmap_set_memrange";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(mmap, CALL) }?;
        set_range(this, CALL, addr as usize, len, || Ok(None))
    })
}

fn set_range(
    this: &Mmap,
    call: &str,
    base: usize,
    len: usize,
    dmabuf: impl FnOnce() -> Result<Option<DmabufRange>>,
) -> Result<()> {
    if base == 0 || len == 0 || base.checked_add(len).is_none() {
        let line = format_args!("{call}: [{base:#x}, +{len}) is no range: NULL, empty or wrapping");
        return Err(this.refuse(Code::InvalidValue, "no range", line));
    }
    let mut state = this.configurable(call, Code::BadState, Code::NotPermitted)?;
    if let Some((base, len)) = state.range {
        let line = format_args!("{call}: the range was set before, to [{base:#x}, +{len})");
        return Err(this.refuse(Code::NotPermitted, "the range was set before", line));
    }
    state.dmabuf = dmabuf()?;
    state.range = Some((base, len));
    Ok(())
}

/// A range out of a dmabuf (or of a memfd sealed against shrinking), which the program names by `addr`. The map has a
/// descriptor of its own afterwards.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_set_dmabuf_memrange(
    mmap: *mut Mmap,
    dmabuf_fd: c_int,
    addr: *mut c_void,
    dmabuf_offset: usize,
    len: usize,
) -> c_int {
    const CALL: &str = "doca_mmap_set_dmabuf_memrange";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(mmap, CALL) }?;
        // A descriptor that is not open is found out without borrowing it.
        let open = dmabuf_fd >= 0 && std::fs::symlink_metadata(format!("/proc/self/fd/{dmabuf_fd}")).is_ok();
        if !open {
            let line = format_args!("{CALL}: descriptor {dmabuf_fd} is not open");
            return Err(this.refuse(Code::InvalidValue, "no descriptor", line));
        }
        // SAFETY: open, as just seen; the program keeps it so during the call.
        let fd = unsafe { BorrowedFd::borrow_raw(dmabuf_fd) };
        set_range(this, CALL, addr as usize, len, || DmabufRange::new(fd, dmabuf_offset, len).map(Some))
    })
}

/// Sets the access mask.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_set_permissions(mmap: *mut Mmap, access_mask: u32) -> c_int {
    const CALL: &str = "doca_mmap_set_permissions";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(mmap, CALL) }?;
        let access = Access::from_bits(access_mask).map_err(|rule| {
            this.refuse(Code::InvalidValue, rule, format_args!("{CALL}: mask {access_mask:#x}: {rule}"))
        })?;
        this.configurable(CALL, Code::BadState, Code::NotPermitted)?.access = access;
        Ok(())
    })
}

/// Sets what `doca_mmap_destroy` calls.
///
/// # Safety
/// NULL or a handle of this library. The callback can be called with the range and `opaque` until then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_set_free_cb(
    mmap: *mut Mmap,
    free_cb: Option<FreeCallback>,
    opaque: *mut c_void,
) -> c_int {
    const CALL: &str = "doca_mmap_set_free_cb";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(mmap, CALL) }?;
        let Some(callback) = free_cb else {
            return Err(this.refuse(
                Code::InvalidValue,
                "no callback",
                format_args!("{CALL}: the callback is NULL"),
            ));
        };
        this.configurable(CALL, Code::BadState, Code::NotPermitted)?.farewell =
            Some(Farewell::new(callback, opaque));
        Ok(())
    })
}

/// Stores a value for the program. (`union doca_data` travels like a 64-bit integer.)
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_set_user_data(mmap: *mut Mmap, user_data: u64) -> c_int {
    const CALL: &str = "doca_mmap_set_user_data";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(mmap, CALL) }?;
        this.configurable(CALL, Code::BadState, Code::BadState)?.user_data = user_data;
        Ok(())
    })
}

/// Changes how many devices the map may hold, before the first start.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_set_max_num_devices(mmap: *mut Mmap, max_num_devices: u32) -> c_int {
    const CALL: &str = "doca_mmap_set_max_num_devices";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(mmap, CALL) }?;
        let mut state = this.configurable(CALL, Code::NotPermitted, Code::NotPermitted)?;
        if state.was_started {
            return Err(this.refuse(
                Code::NotPermitted,
                "was started",
                format_args!("{CALL}: the map was started before"),
            ));
        }
        let added = state.devices.len();
        if max_num_devices == 0 || (max_num_devices as usize) < added {
            let line = format_args!("{CALL}: a limit of {max_num_devices} devices, {added} are in the map");
            return Err(this.refuse(Code::InvalidValue, "device limit too low", line));
        }
        state.max_devices = max_num_devices;
        Ok(())
    })
}

/// Replaces the secret that later exports for `dev` carry.
///
/// # Safety
/// NULL or handles of this library; `token` is NULL or good for reading `token_sz` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_set_export_access_token(
    mmap: *mut Mmap,
    dev: *const Dev,
    token: *const u8,
    token_sz: usize,
) -> c_int {
    const CALL: &str = "doca_mmap_set_export_access_token";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (this, device) = unsafe { (checked(mmap, CALL)?, device(dev, CALL)?) };
        if token.is_null() || token_sz > MAX_TOKEN {
            let line = format_args!("{CALL}: {token_sz} bytes at {token:p}, at most {MAX_TOKEN}");
            return Err(this.refuse(Code::InvalidValue, "no token, or one that is too long", line));
        }
        // SAFETY: not NULL, and good for reading by the caller's promise; copied before the call returns.
        this.set_token(device, unsafe { std::slice::from_raw_parts(token, token_sz) })
    })
}
