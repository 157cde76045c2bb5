//! Asking the kernel to make a dmabuf of a memory file.
#![expect(unsafe_code, reason = "the request to the driver takes a structure by address")]

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The driver's structure.
#[repr(C)]
struct Create {
    memfd: u32,
    flags: u32,
    offset: u64,
    size: u64,
}

const CLOEXEC: u32 = 1;

/// `UDMABUF_CREATE`: write, 24 bytes, type `u`, number 0x42.
const CREATE: u32 = 1 << 30 | (size_of::<Create>() as u32) << 16 | (b'u' as u32) << 8 | 0x42;

/// Makes a dmabuf of whole pages of a memory file that is sealed against shrinking.
///
/// # Errors
/// ENOENT (no such driver), EACCES, EINVAL (not such a file, not whole pages), ENOMEM.
pub(crate) fn create(memfd: BorrowedFd<'_>, offset: u64, size: u64) -> Result<OwnedFd, Errno> {
    let driver = open("/dev/udmabuf", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let request = Create { memfd: memfd.as_raw_fd() as u32, flags: CLOEXEC, offset, size };
    // SAFETY: the driver reads the structure, of the size that the request's number carries, and keeps no pointer.
    let made = unsafe { libc::ioctl(driver.as_raw_fd(), CREATE.into(), &raw const request) };
    if made < 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    // SAFETY: a new descriptor that nobody else knows of.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}
