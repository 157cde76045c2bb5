//! Memory that this process shares with the kernel: rings and frames.
#![expect(unsafe_code, reason = "maps memory that the kernel writes, and gives its words as atomics")]

use crate::sync::{AtomicU32, AtomicU64};
use core::ptr::NonNull;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use std::os::fd::BorrowedFd;

/// A mapping; unmapped on drop.
#[derive(Debug)]
pub(crate) struct KernelMap {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: reached through atomics, opaque copies, and slices whose rules stand with `KernelMap::bytes`.
unsafe impl Send for KernelMap {}
// SAFETY: as above.
unsafe impl Sync for KernelMap {}

impl KernelMap {
    /// What a socket offers at an offset.
    pub(crate) fn of_socket(fd: BorrowedFd<'_>, len: usize, offset: u64) -> Result<KernelMap, Errno> {
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe {
            mmap(
                core::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                fd,
                offset,
            )?
        };
        Ok(KernelMap { base: NonNull::new(base.cast()).ok_or(Errno::NOMEM)?, len })
    }

    /// New memory of this process, all zero, to be handed to the kernel.
    pub(crate) fn of_process(len: usize) -> Result<KernelMap, Errno> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: as above.
        let base = unsafe {
            mmap_anonymous(core::ptr::null_mut(), len, protection, MapFlags::PRIVATE | MapFlags::POPULATE)?
        };
        Ok(KernelMap { base: NonNull::new(base.cast()).ok_or(Errno::NOMEM)?, len })
    }

    pub(crate) fn address(&self) -> u64 {
        self.base.as_ptr() as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn place(&self, at: usize, n: usize) -> *mut u8 {
        assert!(at <= self.len && n <= self.len - at, "{n} bytes at {at} of {}", self.len);
        // SAFETY: inside of the mapping, see above.
        unsafe { self.base.as_ptr().add(at) }
    }

    /// The word of 32 bits at a multiple of 4.
    #[inline(always)]
    pub(crate) fn word32(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4), "word at {at}");
        // SAFETY: mapped as long as `self`, aligned; the kernel's accesses are those of another processor.
        unsafe { AtomicU32::from_ptr(self.place(at, 4).cast()) }
    }

    /// The word of 64 bits at a multiple of 8.
    #[inline(always)]
    pub(crate) fn word64(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8), "word at {at}");
        // SAFETY: as for `word32`.
        unsafe { AtomicU64::from_ptr(self.place(at, 8).cast()) }
    }

    /// Bytes as they lie.
    ///
    /// # Safety
    /// Nobody writes them while the slice lives: the kernel has handed them over, and does not get them back meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn bytes(&self, at: usize, n: usize) -> &[u8] {
        // SAFETY: inside of the mapping; not written, as the caller promises.
        unsafe { core::slice::from_raw_parts(self.place(at, n), n) }
    }

    /// Writes bytes.
    #[inline(always)]
    pub(crate) fn put(&self, at: usize, bytes: &[u8]) {
        // SAFETY: `bytes` is readable, the place is mapped writable for as many bytes.
        unsafe { softdpu_link::copy_shared(bytes.as_ptr(), self.place(at, bytes.len()), bytes.len()) }
    }
}

impl Drop for KernelMap {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrowed from it is left.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.len) };
    }
}
